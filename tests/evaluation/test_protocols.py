from dataclasses import replace

import pytest

from charm.errors import CharmError
from charm.evaluation.evaluate import own_protocol
from charm.evaluation.protocols import PROTOCOLS, Protocol, depths_text, protocol_named
from charm.runs.settings import TrainConfig

TEN_THOUSANDS = [10_000 * n for n in range(1, 61)]


def test_windows_count_back_from_the_newest() -> None:
    chosen = {name: list(protocol.weights(TEN_THOUSANDS)) for name, protocol in PROTOCOLS.items()}
    assert chosen["none"] == chosen["continual"] == [600_000]
    assert chosen["standard"] == [10_000 * n for n in range(60, 50, -1)]
    assert chosen["extra"] == [10_000 * n for n in range(60, 30, -1)]
    assert chosen["xrm"] == chosen["urm"] == TEN_THOUSANDS[::-1]
    assert list(Protocol(window="half").weights([3, 1, 2])) == [
        3,
        2,
    ]  # any order in; the larger half of three
    assert list(Protocol(window=10).weights([5, 7])) == [7, 5]
    assert PROTOCOLS["standard"].weights([]) == {}


def test_decay_halves_every_ten_checkpoints_whatever_their_steps() -> None:
    weights = [*PROTOCOLS["extra"].weights([1, 2, *range(1000, 1058)]).values()]
    assert (weights[0], weights[10], weights[20]) == (1.0, 0.5, 0.25)
    assert weights[1] == pytest.approx(0.9330329915368074)  # the tenth root of one half
    assert set(PROTOCOLS["standard"].weights(TEN_THOUSANDS).values()) == {1.0}


# tab:ttc-protocols, its column of relative compute, to the one digit that it prints.
PAPER_COMPUTE = {"xrm": 1e4, "urm": 1e5, "none": 1, "standard": 1e4, "extra": 6e4, "continual": 1e3}


def test_relative_compute_is_the_papers() -> None:
    """Runs of 600k updates have 60 checkpoints; HRM's and TRM's own have ten (100,000 epochs, one every 10,000)."""
    assert PAPER_COMPUTE.keys() == PROTOCOLS.keys()
    for name, protocol in PROTOCOLS.items():
        views = 1000 if protocol.views == "all" else protocol.views
        checkpoints = len(protocol.weights(range(10 if name == "xrm" else 60)))
        cost = views * checkpoints * len(protocol.loops)
        assert float(f"{cost:.0e}") == PAPER_COMPUTE[name], name


def test_depths_and_views_are_the_papers() -> None:
    deep = {name for name, protocol in PROTOCOLS.items() if protocol.loops == (16, 24)}
    assert deep == {"extra", "urm"}
    assert all(PROTOCOLS[name].loops == (16,) for name in PROTOCOLS.keys() - deep)
    assert {name for name, protocol in PROTOCOLS.items() if protocol.views == 1} == {"none"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"views": 0}, "views is 0"),
        ({"views": "some"}, "views is 'some'"),
        ({"window": -1}, "window is -1"),
        ({"window": "recent"}, "window is 'recent'"),
        ({"half_life": 0.0}, "half_life is 0.0"),
        ({"order": "loudest"}, "order must be one of votes, likelihood; got 'loudest'"),
        ({"half_life": float("nan")}, "half_life is nan"),
        ({"loops": ()}, r"loops is \(\)"),
        ({"loops": (16, 16)}, "loops is"),
        ({"loops": (0,)}, "loops is"),
        ({"loops": (256,)}, "loops is"),
    ],
)
def test_impossible_fields_are_refused(change: dict, message: str) -> None:
    with pytest.raises(CharmError, match=message):
        replace(PROTOCOLS["standard"], **change)


@pytest.mark.parametrize(
    ("loops", "words"),
    [
        ((1,), ""),  # a writer, or a vit with one placement
        ((16,), "16 refinement steps"),
        ((16, 24), "16 and 24 refinement steps"),
        ((1, 2), "1 and 2 refinement steps"),
        ((1, 2, 3), "steps 1 to 3"),  # a vit's placements
        ((1, 2, 4), "1 and 2 and 4 refinement steps"),
    ],
)
def test_depths_in_words(loops: tuple[int, ...], words: str) -> None:
    assert depths_text(loops) == words


def test_names() -> None:
    assert replace(protocol_named("extra"), half_life=None, window=3) == Protocol(window=3, loops=(16, 24))
    with pytest.raises(CharmError, match="no protocol 'fast'; the names are none, standard"):
        protocol_named("fast")


def test_no_checkpoints_vote_that_are_not_there() -> None:
    assert len(Protocol(window=10).weights(range(3))) == 3
    assert len(Protocol(window="half").weights(range(5))) == 3
    assert len(Protocol(window="current").weights(range(5))) == 1


def test_overrides_change_what_is_given_and_nothing_else() -> None:
    extra = PROTOCOLS["extra"]
    config = TrainConfig(evaluate_loops=(16, 24))
    assert own_protocol(config, "extra") == own_protocol(config, "extra", views=None) == extra
    for field, value in (("views", 3), ("window", "all"), ("loops", (4,)), ("half_life", 2.0)):
        assert own_protocol(config, "extra", **{field: value}) == replace(extra, **{field: value})
