from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from rich.console import Console

from charm.drawing.terminal import show
from charm.errors import CharmError
from charm.tasks.audit import (
    AnyView,
    AuditReport,
    GeneratedMatch,
    _fingerprints,
    audit,
    audit_tables,
    canonical,
    common_view,
)
from charm.tasks.pairs_file import pack_pairs
from charm.tasks.sources import ARC_SPLITS, Source, load_source
from charm.tasks.task import Pair, Task
from charm.tasks.view import DIHEDRALS, IDENTITY, VIEWS, View

# Every symmetry and recolouring that matters to grids in colours 0..2.
SMALL_VIEWS = [AnyView(d, (*p, *range(3, 10))) for d in range(DIHEDRALS) for p in permutations((0, 1, 2))]


def random_pair(rng: np.random.Generator, colors: int, *sides: int) -> Pair:
    shapes = rng.choice(sides, size=(2, 2))
    return Pair(*(rng.integers(0, colors, shape, dtype=np.uint8) for shape in shapes))


def random_view(rng: np.random.Generator) -> View:
    return View.from_code(int(rng.integers(VIEWS)))


def random_task(rng: np.random.Generator, task_id: str) -> Task:
    pairs = [random_pair(rng, 10, 3, 4, 5) for _ in range(4)]
    return Task(task_id, tuple(pairs[:3]), tuple(pairs[3:]))


def test_canonical_form_against_trying_every_view() -> None:
    rng = np.random.default_rng(0)
    pairs = [random_pair(rng, 3, 1, 2) for _ in range(150)]
    forms = [canonical(pair) for pair in pairs]
    outcomes = []
    for first, form in zip(pairs, forms, strict=True):
        images = {view.apply_to_pair(first) for view in SMALL_VIEWS}
        equivalent = [second in images for second in pairs]
        assert equivalent == [form == other for other in forms]
        outcomes += equivalent
    assert 0.01 < np.mean(outcomes) < 0.5


def test_canonical_form_of_random_views() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        pair = random_pair(rng, 10, 1, 2, 7)
        assert canonical(random_view(rng).apply_to_pair(pair)) == canonical(pair)
        assert canonical(Pair(pair.input, None)) != canonical(pair)


def test_colour_0_moves() -> None:
    black = Pair(np.zeros((1, 2), np.uint8), np.zeros((1, 1), np.uint8))
    red, blue = (Pair(np.full_like(black.input, c), np.full_like(black.output, c)) for c in (1, 2))
    assert canonical(red) == canonical(blue) == canonical(black)
    assert common_view([red], [blue]) == View(0, (0, 2, 1, *range(3, 10)))
    assert common_view([black], [red]) == AnyView(0, (1, 0, *range(2, 10)))


def test_a_copy_that_moves_colour_0_is_found() -> None:
    task = random_task(np.random.default_rng(6), "official")
    moved = AnyView(3, (7, 0, *range(1, 7), 8, 9)).apply_to_task(task)
    report = audit([Source("a", "1", (task,)), Source("b", "1", (replace(moved, id="copy"),))])
    (match,) = report.matches
    assert match.kind == "equivalent"
    assert match.view == AnyView(3, (7, 0, *range(1, 7), 8, 9))
    assert "rotate 270 ccw, colours 7012345689" in str(match.view)


def test_generated_pairs_are_compared_with_evaluated_ones() -> None:
    rng = np.random.default_rng(7)
    asked, trained = random_task(rng, "asked"), random_task(rng, "trained")
    sources = [Source("arc1/training", "1", (trained,)), Source("arc1/evaluation", "1", (asked,))]
    others = [random_pair(rng, 10, 3, 4, 5) for _ in range(20)]
    moved = AnyView(1, (3, *range(3), *range(4, 10)))
    # Number 4 equals a test pair of the asked task and number 7 a demonstration; number 9 is no leak.
    others[4] = moved.apply_to_pair(asked.test[0])
    others[7] = asked.train[1]
    others[9] = trained.test[0]
    others[11] = Pair(asked.train[0].input, asked.train[0].output[::-1])
    report = audit(sources, {"rearc": {"made": pack_pairs(others, range(20))}})
    assert report.compared == {"rearc": 20}
    assert set(report.generated) == {
        GeneratedMatch("rearc", "made", "arc1/evaluation", "asked", "test 0", (4,)),
        GeneratedMatch("rearc", "made", "arc1/evaluation", "asked", "train 1", (7,)),
    }
    assert json.loads(json.dumps(report.to_json()))["generated_matches"][0]["task"] == "asked"
    table = audit_tables(report)[-1]
    assert "20 of rearc compared" in table.title
    assert table.rows == [["rearc made", "arc1/evaluation asked", "test 0, train 1", "2"]]


def test_fingerprints_are_those_of_every_view() -> None:
    rng = np.random.default_rng(8)
    pair = random_pair(rng, 10, 5, 6, 7)
    views = [AnyView(int(rng.integers(8)), tuple(map(int, rng.permutation(10)))) for _ in range(50)]
    images = [view.apply_to_pair(pair) for view in views]
    assert len(set(_fingerprints(pack_pairs(images, range(50))).tolist())) == 1
    different = [random_pair(rng, 10, 5, 6, 7) for _ in range(50)]
    assert len(set(_fingerprints(pack_pairs(different, range(50))).tolist())) == 50


def test_common_view_against_trying_every_view() -> None:
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(400):
        first = [random_pair(rng, 3, 1, 2) for _ in range(2)]
        # Half the time: the same pairs, each under its own view, which need not be a common one.
        second = [random_pair(rng, 3, 1, 2) for _ in range(2)]
        if rng.random() < 0.5:
            choices = rng.integers(len(SMALL_VIEWS), size=2)
            second = [SMALL_VIEWS[k].apply_to_pair(p) for k, p in zip(choices, first[::-1], strict=True)]
        exists = any(
            sorted(view.apply_to_pair(p).content for p in first) == sorted(p.content for p in second)
            for view in SMALL_VIEWS
        )
        view = common_view(first, second)
        assert (view is not None) == exists
        if view is not None:
            found += 1
            assert sorted(view.apply_to_pair(p).content for p in first) == sorted(p.content for p in second)
    assert 15 < found < 360


def test_common_view_counts_pairs() -> None:
    pair = random_pair(np.random.default_rng(3), 10, 3)
    assert common_view([pair], [pair]) == IDENTITY
    assert common_view([pair], [pair, pair]) is None
    assert common_view([pair], [Pair(pair.input, None)]) is None


def test_relations() -> None:
    rng = np.random.default_rng(4)
    a, b, c, d = (random_task(rng, name) for name in "abcd")
    view, other_view = random_view(rng), random_view(rng)
    left = Source("left", "1", (a, b, c, d))
    copy = Task("copy", a.train[::-1], a.test)  # a in another order
    turned = view.apply_to_task(Task("turned", b.train[::-1], c.test))  # b's demonstrations with another test
    # c's demonstrations, but not all under one view; and its test as a demonstration
    apart = (view.apply_to_pair(c.train[0]), *map(other_view.apply_to_pair, c.train[1:]))
    mixed = Task("mixed", (*apart, c.test[0]), d.test)
    namesake = Task("d", random_task(rng, "").train, d.test)
    stranger = random_task(rng, "c")
    right = Source("right", "1", (copy, turned, mixed, namesake, stranger))

    report = audit([left, right])
    kinds = {match.ids: match.kind for match in report.matches if match.sources == ("left", "right")}
    assert kinds == {
        ("a", "copy"): "identical",
        ("b", "turned"): "equivalent",
        ("c", "turned"): "overlapping",  # by its test
        ("c", "mixed"): "overlapping",
        ("d", "mixed"): "overlapping",
        ("d", "d"): "overlapping",
        ("c", "c"): "different",
    }
    matches = {match.ids: match for match in report.matches}
    found = matches["b", "turned"].view
    assert found is not None
    assert {found.apply_to_pair(pair) for pair in b.train} == set(turned.train)
    shared = [(pair.first, pair.second, pair.identical) for pair in matches["a", "copy"].pairs]
    assert shared == [
        ("train 0", "train 2", True),
        ("train 1", "train 1", True),
        ("train 2", "train 0", True),
        ("test 0", "test 0", True),
    ]
    assert [(p.first, p.second, p.identical) for p in matches["c", "mixed"].pairs] == [
        ("train 0", "train 0", False),
        ("train 1", "train 1", False),
        ("train 2", "train 2", False),
        ("test 0", "train 3", True),
    ]
    assert report.matrix["left", "right"] == {
        "same id, identical": 0,
        "same id, changed": 2,
        "other id, identical": 1,
        "other id, equivalent": 1,
        "other id, overlapping": 3,
        "shared pairs": 4 + 3 + 4 + 1,
    }
    # Within the right source: c's test is in `turned` and `mixed`, d's in `mixed` and `d`.
    assert report.matrix["right", "right"]["other id, overlapping"] == 2
    assert not any(report.matrix["left", "left"].values())


def test_same_source_twice() -> None:
    source = Source("s", "1", ())
    with pytest.raises(CharmError, match="sources must be different"):
        audit([source, source])


@pytest.fixture(scope="module")
def arc() -> AuditReport:
    return audit([load_source(name) for name in ARC_SPLITS])


def test_overlap_of_arc_1_and_2(arc: AuditReport) -> None:
    """Known of the public sets: 391, 376 and 6 tasks in common, all but ac0c5833 with identical pairs."""
    identical = {names: counts["same id, identical"] for names, counts in arc.matrix.items()}
    assert {names: count for names, count in identical.items() if count} == {
        ("arc1/training", "arc2/training"): 391,
        ("arc1/evaluation", "arc2/training"): 375,
        ("arc1/evaluation", "arc2/evaluation"): 6,
    }
    (changed,) = [match for match in arc.matches if match.heading == "same id, changed"]
    assert changed.ids == ("ac0c5833", "ac0c5833")
    assert changed.sources == ("arc1/evaluation", "arc2/training")


def test_copies_under_another_id(arc: AuditReport) -> None:
    """Known: 070dd51e is 40853293, and db695cfb has the demonstrations of 55783887."""
    copies = [(*m.sources, *m.ids, m.kind) for m in arc.matches if m.ids[0] != m.ids[1] and m.view is not None]
    assert copies == [
        ("arc1/training", "arc1/evaluation", "40853293", "070dd51e", "identical"),
        ("arc1/training", "arc2/training", "40853293", "070dd51e", "identical"),
        ("arc1/evaluation", "arc2/evaluation", "55783887", "db695cfb", "equivalent"),
    ]


def test_new_tasks_of_arc_2(arc: AuditReport) -> None:
    """Known: sharing no id with ARC-AGI-1 leaves 233 and 114 tasks, sharing no pair 233 and 113."""
    for split, by_id, by_pair in (("arc2/training", 233, 233), ("arc2/evaluation", 114, 113)):
        new = {task.id for task in load_source(split).tasks}
        old = [m for m in arc.matches if m.sources[0].startswith("arc1") and m.sources[1] == split]
        new -= {match.ids[1] for match in old if match.ids[0] == match.ids[1]}
        assert len(new) == by_id
        assert len(new - {match.ids[1] for match in old if match.pairs}) == by_pair


def test_json_and_text(arc: AuditReport) -> None:
    data = json.loads(json.dumps(arc.to_json()))
    assert len(data["matches"]) == len(arc.matches)
    (entry,) = [match for match in data["matches"] if match["ids"] == ["55783887", "db695cfb"]]
    assert entry["view"] == {"dihedral": 0, "colors": list(range(10))}
    assert len(entry["pairs"]) == 5
    counts = {tuple(cell["sources"]): cell["counts"] for cell in data["matrix"]}
    assert counts == arc.matrix

    console = Console(width=200, color_system=None)
    with console.capture() as capture:
        show(*audit_tables(arc), console=console)
    text = capture.get()
    assert "391" in text
    (line,) = [line for line in text.splitlines() if "db695cfb" in line]
    assert "equivalent" in line
    assert "train 0 = train 4" in line


def test_names_fit_into_a_small_terminal(arc: AuditReport) -> None:
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        show(*audit_tables(arc), console=console)
    assert "…" not in capture.get()
    assert "· arc2/evaluation" in capture.get()
