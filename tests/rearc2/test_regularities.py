"""Regularities are found where they were planted, and only those that the generated pairs break."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import numpy as np
import pytest

from charm.errors import CharmError
from charm.tasks.task import Pair
from rearc2.workbench import commands, records
from rearc2.workbench.check import check_package, regularities_of
from rearc2.workbench.packages import ROOT
from rearc2.workbench.records import NOT_JUDGED, Check, read_record, record_check, record_judgement
from rearc2.workbench.regularities import broken_regularities

TASK = "00576224"


def two_blocks(rng: Random, centred: bool) -> Pair:
    """Two blocks side by side, the right one two rows lower than the left if they are centred."""
    before = np.zeros((12, 12), np.uint8)
    top, shift = rng.randint(0, 4), 2 if centred else rng.choice([1, 2, 3])
    before[top : top + 7, 0:3] = 1
    before[top + shift : top + shift + 3, 6:9] = 2
    after = before.copy()
    after[-1, -1] = 5
    return Pair(before, after)


def pairs(centred: bool, count: int) -> list[Pair]:
    rng = Random(3)
    return [two_blocks(rng, centred) for _ in range(count)]


def test_blocks_that_are_officially_centred_and_generated_off_centre_are_listed() -> None:
    name = "facing objects are centred on each other"
    found = broken_regularities(pairs(True, 8), pairs(False, 100))
    assert name in found
    assert found[name].cases == 8
    assert 0.2 < found[name].share < 0.5
    assert name not in broken_regularities(pairs(True, 8), pairs(True, 100))
    # One official case is no surprise, and one official exception ends the regularity.
    assert name not in broken_regularities(pairs(True, 1), pairs(False, 100))
    assert name not in broken_regularities([*pairs(True, 8), *pairs(False, 20)], pairs(False, 100))


def the_odd_one(rng: Random, own_color: bool) -> Pair:
    """Three bars, of which the longest is the answer; it may be the only one of its colour."""
    before = np.zeros((9, 9), np.uint8)
    colors = [3, 4, 4] if own_color else rng.choice([[3, 4, 4], [4, 3, 4], [4, 4, 3], [4, 4, 4]])
    for row, length, color in zip(rng.sample([0, 2, 4, 6, 8], 3), (5, 3, 2), colors, strict=True):
        before[row, 1 : 1 + length] = color
    return Pair(before, np.full((1, 5), colors[0], np.uint8))


def test_a_second_property_that_singles_out_the_answer_is_listed() -> None:
    rng = Random(1)
    official = [the_odd_one(rng, own_color=True) for _ in range(4)]
    found = broken_regularities(official, [the_odd_one(rng, own_color=False) for _ in range(100)])
    assert "the answer: with a colour of its own" in found
    assert "the answer: largest" not in found  # it is so in the generated pairs too


def test_constants_gaps_and_colours() -> None:
    def dots(columns: list[int], color: int) -> Pair:
        grid = np.zeros((5, 20), np.uint8)
        grid[2, columns] = color
        return Pair(grid, grid[::-1].copy())

    official = [dots([1, 4, 7], 2), dots([3, 5, 7], 2), dots([0, 6, 12], 2), dots([2, 5, 8], 2)]
    rng = Random(0)
    generated = [dots(rng.sample(range(0, 20, 2), rng.randint(2, 6)), rng.randint(1, 9)) for _ in range(100)]
    found = broken_regularities(official, generated)
    assert {
        "objects in line have equal gaps",
        "number of objects always 3",
        "colour 2 is in the input",
    } <= set(found)
    assert "objects have one colour" not in found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "ids.txt", tmp_path)
    (tmp_path / "tasks").mkdir()
    shutil.copy(ROOT / "tasks" / f"{TASK}.py", tmp_path / "tasks")
    return tmp_path


def a_check(regularities: dict[str, str]) -> Check:
    return Check("0" * 64, True, 1000, 1000, 1, "0" * 64, regularities=regularities)


def test_judgements_stay_while_the_regularity_is_broken(root: Path) -> None:
    record_check(TASK, a_check({"a": "5 of 5", "b": "4 of 4"}), root)
    record_judgement(TASK, "a", "widened", "the rule looks at no side", root)
    assert read_record(TASK, root).judgement_texts() == {"a": "widened: the rule looks at no side", "b": NOT_JUDGED}
    record_check(TASK, a_check({"a": "5 of 5"}), root)
    assert read_record(TASK, root).judgements == {"a": "widened: the rule looks at no side"}
    record_check(TASK, a_check({}), root)
    assert read_record(TASK, root).judgements == {}
    record_check(TASK, a_check({"a": "5 of 5"}), root)
    for name, verdict, note, words in (
        ("b", "widened", "why", "no broken regularity named 'b'; recorded: 'a'"),
        ("a", "fine", "why", "must be one of widened, rival; got fine"),
        ("a", "rival", "", "needs a note"),
    ):
        with pytest.raises(CharmError, match=words):
            record_judgement(TASK, name, verdict, note, root)


def test_a_check_and_the_list_alone_agree(root: Path) -> None:
    report = check_package(TASK, 200, root)
    assert report.as_check().regularities == regularities_of(TASK, root)


def test_the_command_lists_what_is_not_judged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = records.Record(a_check({"a": "5 of 5", "b": "4 of 4"}), None, {"a": "widened: so"})
    monkeypatch.setattr(records, "read_record", lambda task: record)
    commands.regularities((TASK,), open=True)
    assert capsys.readouterr().out == (f"{TASK} b (4 of 4); not judged\n1 regularities in 1 of 1 tasks\n")
    commands.regularities((TASK,))
    assert "a (5 of 5); widened: so" in capsys.readouterr().out
    with pytest.raises(CharmError, match="name the task to judge"):
        commands.regularities((), judge="a", verdict="widened", note="so")
