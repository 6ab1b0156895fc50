"""Records, the builder, facts, previews, the commands and the list of Re-ARC's failing tasks."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from charm.errors import CharmError
from charm.synthesis.build import collect
from charm.synthesis.rearc import ReArc, fetch_package
from charm.tasks.pairs_file import (
    Manifest,
    Plan,
    load_pairs,
    read_block,
    read_manifest,
    write_block,
    write_manifest,
)
from charm.tasks.task import Pair, Task
from rearc2.workbench import commands
from rearc2.workbench.check import check_package
from rearc2.workbench.facts import facts_text, grids_text
from rearc2.workbench.packages import (
    ROOT,
    apply_rule,
    build_rearc2,
    built_version,
    load_package,
    official_pairs,
    package_ids,
    package_sha256,
)
from rearc2.workbench.preview import generated_pairs, sheet, write_html
from rearc2.workbench.quarantine import _reasons, quarantine, quarantine_page
from rearc2.workbench.records import (
    Check,
    accepted_ids,
    read_record,
    reading_state,
    record_check,
    record_reading,
    state,
)
from tests.toy import write_rearc_package

TASK, OTHER = "00576224", "03560426"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "rearc2"
    (folder / "tasks").mkdir(parents=True)
    shutil.copy(ROOT / "ids.txt", folder)
    for task in (TASK, OTHER):
        shutil.copy(ROOT / "tasks" / f"{task}.py", folder / "tasks")
    return folder


def a_check(root: Path, task: str = TASK, passed: bool = True) -> Check:
    return Check(load_package(task, root).sha256, passed, 1000, 1001, 1, "0" * 64)


def test_the_state_of_a_package(root: Path) -> None:
    assert package_ids(root) == [TASK, OTHER]
    assert (state(TASK, root), state("05a7bcf2", root)) == ("unchecked", "missing")
    record_check(TASK, a_check(root), root)
    record_check(OTHER, a_check(root, OTHER, passed=False), root)
    assert (state(TASK, root), state(OTHER, root)) == ("accepted", "failed")
    assert accepted_ids(root) == [TASK]
    with (root / "tasks" / f"{TASK}.py").open("a") as file:
        file.write("\n# changed\n")
    assert state(TASK, root) == "unchecked"
    (root / "tasks" / "12345678.py").touch()
    with pytest.raises(CharmError, match="is not a task of Re-ARC2's list"):
        package_ids(root)


def test_check_and_reading_share_a_record(root: Path) -> None:
    record_reading(TASK, "agreed", "clear", root)
    record_check(TASK, a_check(root), root)
    record = read_record(TASK, root)
    assert record.check == a_check(root)
    assert record.reading is not None
    assert (record.reading.verdict, reading_state(TASK, root), reading_state(OTHER, root)) == (
        "agreed",
        "agreed",
        "unread",
    )
    with (root / "tasks" / f"{TASK}.py").open("a") as file:
        file.write("\n# changed\n")
    assert reading_state(TASK, root) == "stale"
    record_reading("05a7bcf2", "open", "two readings fit; tried both", root)
    assert state("05a7bcf2", root) == "open"


@pytest.mark.parametrize(
    ("task", "verdict", "note", "words"),
    [
        ("12345678", "agreed", "", "is not a task of Re-ARC2"),
        (TASK, "fine", "", "a verdict must be one of agreed, fixed, open"),
        (TASK, "open", "", "needs a note"),
        ("05a7bcf2", "agreed", "", "the package does not exist yet"),
    ],
)
def test_bad_verdicts_are_refused(root: Path, task: str, verdict: str, note: str, words: str) -> None:
    with pytest.raises(CharmError, match=words):
        record_reading(task, verdict, note, root)
    assert not (root / "checks").exists()


def test_a_damaged_record_is_named(root: Path) -> None:
    (root / "checks").mkdir()
    (root / "checks" / f"{TASK}.json").write_text("{}")
    with pytest.raises(CharmError, match=f"{TASK}.json: not a record"):
        read_record(TASK, root)


def test_built_sets_hold_corrected_official_pairs(tmp_path: Path) -> None:
    """Only a set that is built has them: checks draw from the generator alone."""
    task = "17829a00"
    package, official = load_package(task), official_pairs(task)
    (name,) = package.wrong
    found = build_rearc2(tmp_path / "pairs", [task], pairs=3)
    block = read_block(found.folder, task, found.manifest.tasks[task].sha256)
    grid, answer = block.pair(0)
    assert np.array_equal(grid, official[name].input)
    assert not np.array_equal(answer, official[name].output)
    assert np.array_equal(answer, apply_rule(package.verify, grid))
    others = [pair.input for pair in official.values()]
    assert not any(np.array_equal(block.pair(k)[0], one) for k in (1, 2) for one in others)
    # A set from before is stale for these packages only.
    manifest = read_manifest(found.folder)
    old = replace(manifest.tasks[task], version=(package_sha256(task) or "")[:16])
    write_manifest(found.folder, Manifest(manifest.plan, [], {task: old}))
    assert build_rearc2(tmp_path / "pairs", [task], pairs=3).built == 1
    assert (package_sha256("00dbd492") or "")[:16] == built_version("00dbd492")


def test_build_stores_verified_pairs_and_resumes(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    first = build_rearc2(folder, [TASK], pairs=5, root=root)
    assert (first.built, first.manifest.plan.provider) == (1, "rearc2")
    both = build_rearc2(folder, [TASK, OTHER], pairs=5, root=root)
    assert both.built == 1
    blocks = load_pairs(folder)
    assert {task: len(block) for task, block in blocks.items()} == {TASK: 5, OTHER: 5}
    assert blocks[TASK].content() == check_package(TASK, 5, root).record.sha256
    with pytest.raises(CharmError, match="--replace"):
        build_rearc2(folder, [OTHER], seed=1, pairs=5, root=root)
    again = build_rearc2(folder, [OTHER], seed=1, pairs=5, replace=True, root=root)
    assert list(again.manifest.tasks) == [OTHER]
    assert not (folder / f"{TASK}.npz").exists()


def test_only_what_changed_packages_made_is_made_again(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    before = build_rearc2(folder, [TASK, OTHER], pairs=5, root=root).manifest.tasks
    package = root / "tasks" / f"{TASK}.py"
    package.write_text(package.read_text() + "\n# changed\n")
    # Pairs of a package that is not asked for now do not stay if it has changed: it is unknown what they are.
    assert list(build_rearc2(folder, [OTHER], pairs=5, root=root).manifest.tasks) == [OTHER]
    after = build_rearc2(folder, [TASK, OTHER], pairs=5, root=root)
    assert after.built == 1
    assert after.manifest.tasks[OTHER] == before[OTHER]
    assert after.manifest.tasks[TASK].version != before[TASK].version
    assert after.manifest.tasks[TASK].sha256 == before[TASK].sha256


def test_a_task_with_few_pairs_is_whole_with_them(root: Path, tmp_path: Path) -> None:
    package = root / "tasks" / f"{TASK}.py"
    package.write_text(package.read_text() + "\nCAP = 3\n")
    found = build_rearc2(tmp_path / "pairs", [TASK], pairs=5, root=root)
    assert found.short == {}
    assert found.manifest.tasks[TASK].pairs == 3
    assert found.manifest.tasks[TASK].attempts < 20


def test_facts_of_a_known_task() -> None:
    text = facts_text("00dbd492")
    assert "2222222..   2222222.." in text
    assert "output size: same as the input" in text
    assert "input sizes: 7x7, 9x9, 13x13, 15x15, 20x20, all square" in text
    assert "input background 0; colours always 0 2" in text
    assert "roles: 0 kept or becomes 3 4 8; 2 kept" in text
    assert "2: 9x9 at (1,1) n=32 sym all" in text
    assert "changed cells: 88 (0->3 x48, 0->4 x24, 0->8 x16)" in text
    assert "output size: constant" in facts_text(TASK)
    assert "the input is part of the output at (0, 0)" in facts_text(TASK)


def test_grids_side_by_side_or_stacked() -> None:
    small, wide = np.array([[1, 0], [2, 3]]), np.ones((1, 90), int)
    assert grids_text({"in": small, "out": small[:1]}) == "in   out\n1.   1.\n23"
    assert grids_text({"": wide, " ": wide}).split("\n\n")[1] == "1" * 90


def test_a_sheet_shows_official_pairs_above_generated_ones(root: Path, tmp_path: Path) -> None:
    panel = sheet(TASK, generated_pairs(TASK, 7, root=root), root)
    assert len(panel.tiles) == 2 * (3 + 7)
    assert np.array_equal(panel.tiles[0].tokens, official_pairs(TASK)["train 0"].input + 2)
    assert max(tile.y for tile in panel.tiles[:6]) < min(tile.y for tile in panel.tiles[6:])
    assert all(tile.x + tile.cell * tile.tokens.shape[1] <= panel.width for tile in panel.tiles)
    assert all(tile.y + tile.cell * tile.tokens.shape[0] <= panel.height for tile in panel.tiles)
    assert len(sheet(TASK, {}).tiles) == 6
    write_html({TASK: panel}, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().count("<svg") == 1


def test_list_and_facts_commands(capsys: pytest.CaptureFixture[str]) -> None:
    commands.list_packages(json=True)
    found = json.loads(capsys.readouterr().out)
    assert sum(map(len, found.values())) == 609
    commands.facts("03560426")
    assert "always 10x10" in capsys.readouterr().out
    with pytest.raises(CharmError, match="state must be one of"):
        commands.list_packages(state="great")


def test_check_command_exits_by_the_outcome(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands.check((TASK,), quick=True)
    assert f"{TASK} passes (quick, not recorded)" in capsys.readouterr().out
    with pytest.raises(CharmError, match="name the packages"):
        commands.check(())
    (root / "tasks" / f"{TASK}.py").write_text('"""Rule."""\ndef generate(rng): ...\ndef verify(grid): return grid')
    monkeypatch.setattr("rearc2.workbench.check.check_package", lambda task, pairs: check_package(task, pairs, root))
    with pytest.raises(SystemExit):
        commands.check((TASK,), quick=True)
    shown = capsys.readouterr().out
    assert f"{TASK} is refused" in shown
    assert "generate: TypeError: cannot unpack" in shown


def test_preview_and_audit_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands.preview((TASK,), html=tmp_path / "a\x1b]0;owned\x07.html", pairs=2)
    assert "a\\x1b]0;owned\\x07.html" in capsys.readouterr().out  # shown, not sent to the terminal
    commands.preview((TASK,), png=tmp_path / "a.png", html=tmp_path / "a.html", pairs=2)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(CharmError, match="a picture shows one package"):
        commands.preview((TASK, OTHER))
    commands.audit()
    assert "packages have a second reading" in capsys.readouterr().out
    with pytest.raises(CharmError, match="name the task"):
        commands.audit(verdict="agreed")


def test_rearc_tasks_that_fail_are_told_with_the_reason(toy_wheel: tuple[Path, str], tmp_path: Path) -> None:
    rearc = ReArc(fetch_package(tmp_path, *toy_wheel))

    def reasons(task: str, official: Pair) -> list[str]:
        block, record = collect(rearc.make, task, 40, 5.0)
        write_block(tmp_path, task, block)
        return _reasons((rearc, tmp_path, Task(task, (official,), ()), record))

    rng = Random(0)
    grid = np.array([[rng.randrange(9) for _ in range(4)] for _ in range(3)], np.uint8)
    right, wrong = Pair(grid, grid[:, ::-1].copy()), Pair(grid, grid[::-1].copy())
    # The toy's grids are so small and plain that two simple rules often agree.
    assert all(text.startswith("6. simple: half turn") for text in reasons("00000001", right))
    found = reasons("00000001", wrong)
    assert found[0] == "1. train 0 (numbered as in ARC-AGI-1): the verifier gives another output"
    assert any(text.startswith("6. simple: mirror left-right explains 100%") for text in found)
    faults = reasons("00000002", right)
    assert any(text.startswith("2. generator exception in") for text in faults)
    assert any(text.startswith("2. illegal grid in") for text in faults)
    assert reasons("00000004", right)[0].startswith("2. 6 of 40 pairs")
    page = quarantine_page({"00000002": faults, "00000003": ["2. verifier mismatch in 1 of 40 attempts"]}, 5)
    assert "2 of 5 Re-ARC tasks" in page
    assert "**Only a verifier mismatch** (in how many of all attempts): 00000003 (1 of 40)." in page
    assert f"| 00000002 | {'; '.join(faults)} |" in page


def test_quarantine_reads_a_folder_of_pairs(tmp_path: Path) -> None:
    # ARC-AGI-1's 67a3c6ac is the mirror image; 68b16354 turns upside down, so the same verifier is wrong there.
    folder = tmp_path / "pairs"
    folder.mkdir()
    generator = "def generate_67a3c6ac(rng, diff_lb, diff_ub):\n"
    generator += "    grid = tuple(tuple(rng.randrange(9) for _ in range(6)) for _ in range(5))\n"
    generator += "    return {'input': grid, 'output': tuple(row[::-1] for row in grid)}\n"
    verifier = "def verify_67a3c6ac(grid):\n    return tuple(row[::-1] for row in grid)\n"
    package = write_rearc_package(
        tmp_path,
        generator + "generate_68b16354 = generate_67a3c6ac\n",
        verifier + "verify_68b16354 = verify_67a3c6ac\n",
    )
    manifest = Manifest(Plan("rearc", "toy", 0, 10, 5.0))
    for task in ("67a3c6ac", "68b16354"):
        block, manifest.tasks[task] = collect(ReArc(package).make, task, 10, 5.0)
        write_block(folder, task, block)
    write_manifest(folder, manifest)
    found = quarantine(folder, package)
    assert list(found) == ["68b16354"]
    assert "1. train 0" in found["68b16354"][0]
    assert found["68b16354"][-1].startswith("6. simple: mirror left-right explains 100%")
    with pytest.raises(CharmError, match="task 007bbfb7 has no pairs"):
        quarantine(folder, package, tasks=["007bbfb7"])
