"""Each criterion refuses what it is for. A sound package is spoiled in one way at a time."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from charm.errors import CharmError
from charm.synthesis.build import collect
from charm.tasks.task import Pair
from rearc2.workbench import check as check_module
from rearc2.workbench.check import Report, check_package, problems
from rearc2.workbench.coverage import coverage, simple_rules
from rearc2.workbench.packages import ROOT, ReArc2, Rejected, load_package, official_pairs

TASK = "00576224"
GOOD = (ROOT / "tasks" / f"{TASK}.py").read_text("utf-8")
FEW = GOOD.replace("range(1, 10)", "(3, 7, 8)")  # 36 pairs with all three colours


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "ids.txt", tmp_path)
    (tmp_path / "tasks").mkdir()
    return tmp_path


def checked(root: Path, source: str, pairs: int = 40) -> Report:
    (root / "tasks" / f"{TASK}.py").write_text(source)
    return check_package(TASK, pairs, root)


def spoiled(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def only(report: Report, criterion: int, words: str) -> None:
    assert report.failures
    assert all(failure.startswith(f"{criterion}. ") for failure in report.failures), report.failures
    assert any(words in failure for failure in report.failures), report.failures


def test_a_sound_package_passes(root: Path) -> None:
    report = checked(root, GOOD, 120)
    assert report.failures == []
    assert report.record.pairs == 120
    found = report.as_check()
    assert found.passed
    assert found.sha256 == load_package(TASK, root).sha256
    assert found.ranges["out height"] == "6..6 | 6..6"


def test_1_verify_must_reproduce_the_official_pairs(root: Path) -> None:
    # Both functions are wrong in the same way, so that only the official pairs reveal it.
    source = spoiled(", ::-1]", "]").replace("[np.fliplr(block)] * 3", "plain").replace("plain, mirrored", "plain, _")
    source = source.replace("plain, _ = [block] * 3, plain", "plain = [block] * 3").replace("mirrored", "plain")
    report = checked(root, source)
    assert sum("verify differs from the official output of" in failure for failure in report.failures) == 3
    assert "12 cells differ, first (row, column) [2, 0]" in report.failures[0]


def test_1_wrong_pairs_are_declared_not_hidden(root: Path) -> None:
    only(
        checked(root, GOOD + '\nWRONG = {"train 1": "a slip"}\n'),
        1,
        "declared wrong, but verify reproduces it",
    )


def test_2_a_pair_that_verify_refutes(root: Path) -> None:
    source = spoiled("    return block, np", "    if block[0, 0] == 5:\n        mirrored = plain\n    return block, np")
    report = checked(root, source, 120)
    only(report, 2, "verifier mismatch in")
    assert "cells differ, first (row, column)" in report.failures[0]


def test_2_exceptions_and_illegal_grids_are_named(root: Path) -> None:
    source = spoiled("    height = len(grid)", "    height = len(grid)\n    grid[0, 0] = 1")
    assert any("read-only" in failure for failure in checked(root, source).failures)


def test_2_colours_outside_the_palette(root: Path) -> None:
    only(checked(root, spoiled("range(1, 10)", "range(1, 11)")), 2, "illegal grid in")


def test_2_a_cap_must_be_the_true_one(root: Path) -> None:
    excused = '\nEXCEPTIONS = {"colours in": "few", "colours out": "few", "in colours": "few",'
    excused += ' "out colours": "few",'
    excused += ' "in objects": "few", "out objects": "few"}\n'
    with_cap = {cap: checked(root_of(root, cap), FEW + excused + f"CAP = {cap}\n", 100) for cap in (36, 30, 50)}
    texts = {cap: [f for f in report.failures if f.startswith("2.")] for cap, report in with_cap.items()}
    assert with_cap[36].record.pairs == 36
    assert texts[36] == []
    assert texts[30] == ["2. CAP is 30, but there are more pairs"]
    assert texts[50] == ["2. CAP is 50, but only 36 pairs were found"]


def root_of(root: Path, name: object) -> Path:
    """A separate root, because packages are loaded once per path."""
    folder = root / str(name)
    (folder / "tasks").mkdir(parents=True)
    shutil.copy(root / "ids.txt", folder)
    return folder


def test_2_too_few_pairs_without_a_cap(root: Path) -> None:
    failures = checked(root, FEW, 100).failures
    assert any("36 of 100 pairs" in failure and "declare CAP = 36" in failure for failure in failures)


def test_2_a_slow_package_is_stopped(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_module, "SECONDS", 1e-4)
    assert any("were not enough" in failure for failure in checked(root, GOOD).failures)


def test_3_pairs_must_not_depend_on_earlier_ones_or_on_the_hash_seed(root: Path) -> None:
    source = spoiled("range(1, 10)", "[ord(c) - 96 for c in {*'abcdefghi'}]")
    only(checked(root, source), 3, "is different when it is made alone")


def test_4_the_two_functions_are_independent(root: Path) -> None:
    source = spoiled("    return block, np.block([plain, mirrored, plain])", "    return block, verify(block)")
    only(checked(root, source), 4, "generate uses verify")


def test_5_the_official_pairs_must_be_covered_or_excused(root: Path) -> None:
    narrow = spoiled("range(1, 10)", "range(1, 9)")
    only(checked(root, narrow, 100), 5, "colours in: 9 (as in train 0) is never generated")
    reason = '\nEXCEPTIONS = {"colours in": "a reason", "colours out": "a reason"}\n'
    report = checked(root_of(root, "excused"), narrow + reason, 100)
    assert report.passed
    assert report.as_check().declared == {"colours in": "a reason", "colours out": "a reason"}
    only(checked(root_of(root, "unneeded"), GOOD + reason, 100), 5, "declared but not needed")


def test_5_rivals_must_agree_with_the_generated_pairs(root: Path) -> None:
    agreeing = "\n\ndef rival(grid: Grid) -> Grid:\n    rows = grid, grid[:, ::-1], grid\n"
    agreeing += "    return np.vstack([np.tile(row, (1, 3)) for row in rows])\n"
    assert checked(root_of(root, "agrees"), GOOD + agreeing, 120).passed
    # Explains the official pairs, since none has a 1.
    failing = agreeing.replace("    rows", "    grid = np.where(grid == 1, 2, grid)\n    rows")
    only(checked(root_of(root, "differs"), GOOD + failing, 120), 5, "rival disagrees with generated pair")
    other = agreeing.replace("grid[:, ::-1]", "grid")
    assert any("no rival reading" in failure for failure in checked(root_of(root, "no"), GOOD + other).failures)


def test_5_a_rival_that_fails_does_not_agree(root: Path) -> None:
    """It reproduces the official pairs, since none has a 1, and raises on a generated one that has."""
    raising = "\n\ndef rival(grid: Grid) -> Grid:\n    if (grid == 1).any():\n        raise ValueError\n"
    raising += "    return verify(grid)\n"
    only(checked(root, GOOD + raising, 120), 5, "rival disagrees with generated pair")


@pytest.mark.parametrize("count", [1, 5, 6, 8])
def test_3_every_pair_that_does_not_come_out_again_counts(
    root: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """A single one fails the package; many are listed up to five and counted."""
    found = [f"pair {number} differs" for number in range(count)]

    def fresh_process(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, json.dumps(found), "")

    monkeypatch.setattr(check_module.subprocess, "run", fresh_process)
    report = checked(root, GOOD)
    assert not report.passed
    assert report.failures[:5] == [f"3. {problem}" for problem in found[:5]]
    assert len(report.failures) == min(count, 6)
    if count > 5:
        assert f"and {count - 5} more pairs" in report.failures[5]


def test_3_the_fresh_process_verifies_and_makes_every_pair_again() -> None:
    """A rule, or a generator, that is another there: each pair is named with what is wrong with it."""
    package = load_package(TASK)
    block, _ = collect(ReArc2().make, TASK, 5, 5.0)

    def forgetful(grid: np.ndarray) -> np.ndarray:
        found = package.verify(grid)
        return found if (grid != block.pair(2)[0]).any() else found[::-1, ::-1]

    assert problems(package, block) == []
    (refuted,) = problems(replace(package, verify=forgetful), block)
    assert refuted.startswith("pair 2 ")
    assert "is not verified" in refuted
    other = replace(package, generate=lambda rng: package.generate(Random(rng.random())))
    assert [text.split(" (")[0] for text in problems(other, block)] == [f"pair {k}" for k in (4, 3, 2, 1, 0)]


def test_2_a_cap_is_for_fewer_pairs_than_a_package_gives(root: Path) -> None:
    only(checked(root_of(root, "many"), GOOD + "\nCAP = 1000\n"), 2, "CAP is 1000; it is for tasks with fewer")
    assert checked(root_of(root, "fewer"), GOOD + "\nCAP = 999\n").passed


def test_2_a_generator_that_fails_now_and_then_is_named(root: Path) -> None:
    source = spoiled(
        "    plain, mirrored",
        "    if block[0, 0] == 5:\n        raise ValueError('five')\n    plain, mirrored",
    )
    report = checked(root, source, 120)
    assert any(failure.startswith("2. generator exception in") for failure in report.failures)
    assert any("generate: " in failure and "five" in failure for failure in report.failures)


def test_1_a_pair_declared_wrong_must_exist(root: Path) -> None:
    only(checked(root, GOOD + '\nWRONG = {"train 7": "a slip"}\n'), 1, "WRONG names 'train 7'")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def generate(:", "cannot be imported (SyntaxError"),
        ('"""Rule."""\nimport nothing_like_this', "cannot be imported (ModuleNotFoundError"),
        ('"""Rule."""\ndef verify(grid): return grid', "function generate is missing"),
        ("def generate(rng): ...\ndef verify(grid): ...", "the docstring that states the rule is missing"),
        (GOOD + "CAP = 'many'", "CAP must be of type int"),
        (GOOD + "WRONG = {'train 1': ''}", "WRONG must map each finding to its reason"),
    ],
)
def test_broken_packages_are_named(root: Path, source: str, words: str) -> None:
    (root / "tasks" / f"{TASK}.py").write_text(source)
    with pytest.raises(CharmError) as error:
        load_package(TASK, root)
    assert words in str(error.value)
    assert f"{TASK}.py" in str(error.value)


def test_official_inputs_are_never_made(root: Path) -> None:
    official = next(iter(official_pairs(TASK).values()))
    source = spoiled("random_cells(rng, (2, 2), range(1, 10))", "np.array(rng.getstate()[0:0] or [[7, 9], [4, 3]])")
    (root / "tasks" / f"{TASK}.py").write_text(source)
    assert official.input.tolist() == [[7, 9], [4, 3]]
    outcome = ReArc2(root).make(TASK, 0)
    assert isinstance(outcome, Rejected)
    assert outcome.reason == "official input"


# Coverage and simple rules, on pairs made by hand.


def pair(before: object, after: object) -> Pair:
    return Pair(np.array(before, np.uint8), np.array(after, np.uint8))


def test_sizes_and_objects_outside_the_range_are_found() -> None:
    official = {"train 0": pair([[1, 0, 1], [0, 0, 0]], [[1]])}
    generated = [pair([[0, 1, 0], [0, 0, 0]], [[1]]), pair([[0, 0, 2], [0, 0, 0], [0, 0, 0]], [[2]])]
    found = coverage(official, generated)
    assert set(found.findings) == {"in objects"}
    assert found.findings["in objects"] == "in objects: 2 in train 0 is outside the generated 1..1"


def test_the_trivial_corner_is_found() -> None:
    def dots(count: int) -> Pair:
        row = [[0, 3] * count + [0] * (40 - 2 * count)]
        return pair(row, [[cell * 2 for cell in row[0]]])

    official = {"train 0": dots(9), "train 1": dots(10)}
    easy = [dots(1)] * 95 + [dots(10)] * 5
    assert "hard: in objects" in coverage(official, easy).findings
    assert "hard: in objects" not in coverage(official, [dots(1)] * 80 + [dots(10)] * 20).findings


def test_a_simple_rule_is_found_unless_it_is_the_rule() -> None:
    rng = np.random.default_rng(0)
    grids = [rng.integers(0, 10, (3, 4)) for _ in range(50)]
    mirrored = [pair(grid, grid[:, ::-1]) for grid in grids]
    turned = [pair(grid, grid[::-1, ::-1]) for grid in grids]
    assert list(simple_rules(turned[:3], mirrored)) == ["simple: mirror left-right"]
    assert simple_rules(mirrored[:3], mirrored) == {}
    constant = [pair(grid, [[4]]) for grid in grids]
    assert list(simple_rules([pair(grids[0], [[4]]), pair(grids[1], [[3]])], constant)) == ["simple: constant output"]
    swapped = [pair(grid, (grid + 1) % 10) for grid in grids]
    assert list(simple_rules(turned[:3], swapped)) == ["simple: fixed recolouring"]
    frequent = [pair([[c, c, c], [c, 0, 0]], [[c]]) for c in range(1, 9)]
    assert list(simple_rules(turned[:3], frequent)) == ["simple: most frequent colour"]
