"""The builder, driven by makers whose right result is known; `test_rearc` drives it through a wheel."""

from __future__ import annotations

import fcntl
import io
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from charm.drawing.terminal import show
from charm.errors import CharmError
from charm.synthesis.build import MAX_TIME_LIMITS, Rejected, Sample, build_pairs, collect
from charm.tasks.pairs_file import Plan, load_pairs, read_manifest, write_manifest

PLAN = Plan("toy", "1", seed=0, pairs=4, time_limit=5.0)

# What attempt i gives: two good pairs, each kind of fault, and again good pairs.
SCRIPT: list[Sample | Rejected] = [
    ([[1, 2]], [[2, 1]]),
    ([[1, 3]], [[3, 1]]),
    ([[1, 2]], [[2, 1]]),  # duplicate
    ([[5, 5]], [[5, 5]]),  # identity
    ([[1, 2]], [[1], [2]]),  # the same cells in another shape are another pair
    Rejected("made up"),
    ([[1, 10]], [[1, 1]]),  # illegal: colour
    ([[1] * 31], [[1]]),  # illegal: side
    ([[1, 2], [3]], [[1]]),  # illegal: ragged
    ((), [[1]]),  # illegal: empty
    (((7,),), ((8, 8), (8, 8))),
    ([[0]], [[1]]),  # one too many
]


def scripted(task: str, index: int) -> Sample | Rejected:
    return SCRIPT[index % len(SCRIPT)]


def spinning(task: str, index: int) -> Sample | Rejected:
    try:
        while index % 2:
            pass
    except Exception:  # what a provider does with the exceptions of its generators
        return Rejected("swallowed")
    return ([[index // 10, index % 10]], [[1]])


def test_keeps_the_good_and_counts_the_rest() -> None:
    block, record = collect(scripted, "t", pairs=4, time_limit=5.0)
    assert block.index.tolist() == [0, 1, 4, 10]
    assert [(a.tolist(), b.tolist()) for a, b in map(block.pair, range(4))] == [
        ([[1, 2]], [[2, 1]]),
        ([[1, 3]], [[3, 1]]),
        ([[1, 2]], [[1], [2]]),
        ([[7]], [[8, 8], [8, 8]]),
    ]
    assert record.attempts == 11
    assert record.rejects == {"duplicate": 1, "identity": 1, "illegal grid": 4, "made up": 1}
    assert (record.pairs, record.shortfall, record.sha256) == (4, None, block.content())


def test_attempts_are_bounded() -> None:
    block, record = collect(scripted, "t", pairs=6, time_limit=5.0)
    assert len(block) == record.pairs == 5
    assert record.attempts == 120 == 5 + sum(record.rejects.values())
    assert record.shortfall == "5 of 6 pairs in 120 attempts, mostly rejected as duplicate"


def test_time_limit_ends_an_attempt_then_the_task() -> None:
    handler, began = signal.getsignal(signal.SIGPROF), time.process_time()
    block, record = collect(spinning, "t", pairs=40, time_limit=0.05)
    assert record.rejects == {"time limit": MAX_TIME_LIMITS}
    assert block.index.tolist() == [0, 2, 4, 6, 8]
    assert record.shortfall == "5 of 40 pairs in 10 attempts, mostly rejected as time limit"
    assert time.process_time() - began < 5
    assert signal.getsignal(signal.SIGPROF) == handler
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_a_seed_that_could_not_be_read_again_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match=r"seed must be >= -2\^63 and < 2\^63"):
        build_pairs(tmp_path, replace(PLAN, seed=10**40), scripted, ["a"])


def test_summary_tells_what_fell_short(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=120)
    summary = build_pairs(tmp_path, Plan("toy", "1", 0, 6, 5.0), scripted, ["b", "a", "b"])
    assert list(summary.short) == ["b", "a"] or list(summary.short) == ["a", "b"]
    assert summary.built == 2
    assert summary.as_json()["manifest"]["tasks"]["a"]["pairs"] == 5
    assert summary.line() == f"{tmp_path}: 2 tasks made in {summary.seconds:,.0f} s"
    show(summary.table(), console=console)
    shown = " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]
    assert "toy (1), seed 0" in shown
    assert "short: a, 5 of 6 pairs in 120 attempts" in shown
    assert "rejected: illegal grid │ 80 │ 2" in shown


def test_damaged_files_are_made_again_and_more_tasks_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_pairs(tmp_path, PLAN, scripted, ["a", "b", "c"])
    good = (tmp_path / "b.npz").read_bytes()
    (tmp_path / "b.npz").write_bytes(good[:50])
    (tmp_path / "c.npz").unlink()
    with pytest.raises(CharmError):
        load_pairs(tmp_path)
    summary = build_pairs(tmp_path, PLAN, scripted, ["a", "b", "c", "d"])
    assert summary.built == 3
    assert "b.npz: truncated" in capsys.readouterr().err
    assert (tmp_path / "b.npz").read_bytes() == good
    assert list(load_pairs(tmp_path)) == ["a", "b", "c", "d"]


def test_damaged_tasks_not_asked_for_stay_unfinished(tmp_path: Path) -> None:
    build_pairs(tmp_path, PLAN, scripted, ["a", "b"])
    (tmp_path / "b.npz").unlink()
    build_pairs(tmp_path, PLAN, scripted, ["a"])
    with pytest.raises(CharmError, match="1 tasks are not built yet"):
        load_pairs(tmp_path)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan("toy", "1", 5, 4, 5.0), "contains pairs with seed 0, but 5"),
        (Plan("toy", "2", 0, 4, 5.0), "contains pairs with version 1, but 2"),
    ],
)
def test_a_folder_holds_one_plan(tmp_path: Path, plan: Plan, words: str) -> None:
    build_pairs(tmp_path, PLAN, scripted, [])
    with pytest.raises(CharmError, match=words):
        build_pairs(tmp_path, plan, scripted, ["a"])


def counting(task: str, index: int) -> Sample | Rejected:
    """Every third attempt fails, every fifth repeats another; task "c" has 7 pairs at most."""
    if index % 3 == 2:
        return Rejected("third")
    number = index % 7 if task == "c" else index // 5
    return ([[number // 10 % 10, number % 10]], [[1], [int(task, 16) % 10]])


@pytest.mark.parametrize("steps", [(1, 20), (4, 9, 20)])
def test_extending_gives_the_bytes_of_building_at_once(tmp_path: Path, steps: tuple[int, ...]) -> None:
    tasks = ["a", "b", "c"]
    build_pairs(tmp_path / "once", Plan("toy", "1", 0, 20, 5.0), counting, tasks)
    for pairs in steps:  # a task that is not named is extended too
        summary = build_pairs(tmp_path / "parts", Plan("toy", "1", 0, pairs, 5.0), counting, tasks)
        tasks = tasks[:1]
        assert summary.built == 3
    once, parts = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("once", "parts"))
    assert once == parts
    assert len(load_pairs(tmp_path / "parts")["a"]) == 20
    # Fewer pairs than there are change nothing.
    assert build_pairs(tmp_path / "parts", Plan("toy", "1", 0, 1, 5.0), counting, tasks).built == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "parts").iterdir()} == once


def test_an_interrupted_extension_is_not_loaded_and_continues(tmp_path: Path) -> None:
    build_pairs(tmp_path / "once", Plan("toy", "1", 0, 20, 5.0), counting, ["a", "b"])
    build_pairs(tmp_path / "parts", Plan("toy", "1", 0, 5, 5.0), counting, ["a", "b"])
    manifest = read_manifest(tmp_path / "parts")
    manifest.plan = Plan("toy", "1", 0, 20, 5.0)  # what a kill after the first write leaves
    manifest.unfinished = ["a", "b"]
    write_manifest(tmp_path / "parts", manifest)
    for tasks in (None, ["a"]):
        with pytest.raises(CharmError, match=r"not built yet|have no pairs"):
            load_pairs(tmp_path / "parts", tasks)
    assert build_pairs(tmp_path / "parts", manifest.plan, counting, ["a"]).built == 2
    for path in (tmp_path / "once").iterdir():
        assert path.read_bytes() == (tmp_path / "parts" / path.name).read_bytes()


def test_one_build_at_a_time(tmp_path: Path) -> None:
    with open(tmp_path / ".lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(CharmError, match="in use by another build"):
            build_pairs(tmp_path, PLAN, scripted, ["a"])
    assert build_pairs(tmp_path, PLAN, scripted, ["a"]).built == 1


def test_bad_requests(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="must be positive"):
        build_pairs(tmp_path, PLAN, scripted, ["a"], workers=0)
    (tmp_path / "file").touch()
    with pytest.raises(CharmError, match="file: cannot create the folder"):
        build_pairs(tmp_path / "file", PLAN, scripted, ["a"])


def test_makers_numpy_grids_are_welcome() -> None:
    block, _ = collect(lambda task, i: (np.full((2, 3), i), np.zeros((1, 1), int)), "t", 5, 5.0)
    assert [block.pair(k)[0][1, 2] for k in range(5)] == [0, 1, 2, 3, 4]
