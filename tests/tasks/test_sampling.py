import subprocess
import sys

import numpy as np
import pytest

from charm.errors import CharmError
from charm.tasks.sampling import IndexBlock, Mixture, Stream
from tests.toy import batch
from tests.toy.pairs import make_stream


def as_rows(draw: object) -> list[tuple[int, ...]]:
    return list(zip(*(getattr(draw, name).tolist() for name in ("pair_N", "row_N", "top_N", "left_N")), strict=True))


def test_index_holds_every_combination_as_often_as_it_should() -> None:
    mixture = make_stream().mixture
    assert len(mixture) == 5 * 3 + 2 * 10 * 2 + 2
    pairs, rows = mixture.locate(np.arange(len(mixture)))
    found: dict[tuple[int, int], int] = {}
    for key in zip(pairs.tolist(), rows.tolist(), strict=True):
        found[key] = found.get(key, 0) + 1
    expected = {(p, r): 1 for p in range(5) for r in range(1, 4)}
    expected |= {(p, r): 2 for p in (5, 6) for r in range(4, 14)}
    expected |= {(7, 20): 1, (19, 20): 1}
    assert found == expected


def test_an_epoch_meets_every_entry_once() -> None:
    stream = make_stream(slots=1)
    size = len(stream.mixture)
    for epoch in (0, 1, 5):
        draw = stream.draw(np.zeros(size, int), epoch * size + np.arange(size))
        seen = sorted(zip(draw.pair_N.tolist(), draw.row_N.tolist(), strict=True))
        pairs, rows = stream.mixture.locate(np.arange(size))
        assert seen == sorted(zip(pairs.tolist(), rows.tolist(), strict=True))
    first = stream.draw(np.zeros(size, int), np.arange(size)).pair_N
    second = stream.draw(np.zeros(size, int), size + np.arange(size)).pair_N
    assert first.tolist() != second.tolist()


def test_a_restart_at_any_step_continues_identically() -> None:
    stream = make_stream()
    run = [as_rows(batch(stream, step)) for step in range(20)]
    again = make_stream()
    assert [as_rows(batch(again, step)) for step in range(13, 20)] == run[13:]
    assert as_rows(batch(make_stream(seed=1), 0)) != run[0]


def test_slots_advance_on_their_own() -> None:
    """A slot that halted twice gets what it would have got later, independent of the others."""
    stream = make_stream()
    draw = stream.draw(np.array([5, 2]), np.array([9, 4]))
    assert as_rows(draw) == [as_rows(batch(stream, 9))[5], as_rows(batch(stream, 4))[2]]


def test_translation_keeps_grid_and_boundary_on_the_canvas() -> None:
    stream = make_stream(slots=64)
    origin = 0
    tops = []
    for step in range(200):
        draw = batch(stream, step)
        swaps = np.isin(stream.dihedrals[draw.row_N], [1, 3, 6, 7])
        extent = stream._extent[draw.pair_N]
        height = np.where(swaps, extent[:, 1], extent[:, 0])
        width = np.where(swaps, extent[:, 0], extent[:, 1])
        assert (draw.top_N + height + 1 <= 30)[height < 30].all()
        assert (draw.left_N + width + 1 <= 30)[width < 30].all()
        assert not draw.top_N[height >= 29].any()
        origin += int(((draw.top_N == 0) & (draw.left_N == 0)).sum())
        tops.extend(draw.top_N[height <= 10].tolist())
    assert origin / (200 * 64) > 0.2
    assert max(tops) >= 18


def test_origin_has_probability_a_fifth_for_a_small_grid() -> None:
    blocks = [IndexBlock(np.zeros(1, np.int32), np.ones(1, np.int32))]
    stream = Stream(Mixture(blocks), np.ones((1, 4), int), np.zeros(2, int), 30, 20_000, 0)
    draw = batch(stream, 0)
    share = ((draw.top_N == 0) & (draw.left_N == 0)).mean()
    assert share == pytest.approx(0.2 + 0.8 / 29**2, abs=0.01)
    assert np.bincount(draw.top_N[draw.top_N > 0], minlength=29)[1:].min() > 400


def test_two_processes_make_the_same_bytes() -> None:
    program = (
        "import hashlib\nfrom tests.toy import batch\nfrom tests.toy.pairs import make_stream\n"
        "d = batch(make_stream(), 7)\n"
        "data = b''.join(x.tobytes() for x in (d.pair_N, d.row_N, d.top_N, d.left_N))\n"
        "print(hashlib.sha256(data).hexdigest())"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env).stdout
        for env in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
    ]
    assert len(runs[0].strip()) == 64
    assert runs[0] == runs[1]


def test_nothing_to_train_on_is_said() -> None:
    with pytest.raises(CharmError, match="nothing to train on"):
        Mixture([IndexBlock(np.zeros(0, np.int32), np.ones(1, np.int32))])
    with pytest.raises(CharmError, match="does not fit on a canvas of side 10"):
        Stream(make_stream().mixture, np.full((20, 4), 12), np.zeros(21, int), 10, 1, 0)
