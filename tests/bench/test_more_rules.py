"""Rules made of others: their pairs follow from the original rules, and none is a pair of an evaluated task."""

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest

from benchmarks import more_rules
from benchmarks.more_rules import CHANGES, Rules, changed_names, leaking, learned_tasks, read_heavy, remove
from charm.synthesis.build import Rejected, build_pairs
from charm.tasks.pairs_file import Manifest, Plan, TaskRecord, pack_pairs, read_manifest, write_block, write_manifest
from charm.tasks.sources import load_source
from charm.tasks.view import View
from rearc2.workbench.packages import load_package, package_ids

RULES = Rules(Path("no Re-ARC here"))


@pytest.fixture(scope="module")
def tasks() -> list[str]:
    """Rules of Re-ARC2 that `base` learns."""
    return sorted({*package_ids()} & {*learned_tasks()})


def test_only_rules_of_the_bases_own_tasks_are_used(tasks: list[str]) -> None:
    evaluated = {task.id for name in ("arc1/evaluation", "arc2/evaluation") for task in load_source(name).tasks}
    names = changed_names(learned_tasks(), 500, random.Random(0))
    assert len(set(names)) == 500
    assert len(learned_tasks()) == 631
    assert not {name.split("~")[0] for name in names} & evaluated


@pytest.mark.parametrize("kind", CHANGES)
def test_one_side_of_a_pair_is_changed(kind: str, tasks: list[str]) -> None:
    expected = {
        "turn": lambda grid: View(int(kind[-1])).apply(grid),
        "fram": lambda grid: np.pad(grid, 1, constant_values=int(kind[-1])),
        "enla": lambda grid: np.kron(grid, np.ones((2, 2), grid.dtype)),
        "shif": lambda grid: np.array([0, *np.roll(np.arange(1, 10), -int(kind[-1]))])[grid],
    }[kind[:4]]
    made = 0
    for task in tasks[:3]:
        original = RULES.generated(task, 0)
        if isinstance(original, Rejected):
            continue
        before, after = (np.array(grid) for grid in original)
        for side, (new_before, new_after) in {
            "input": (expected(before), after),
            "output": (before, expected(after)),
        }.items():
            found = RULES.make(f"{task}~{side}-{kind}", 0)
            if isinstance(found, Rejected):
                assert max(new_before.shape + new_after.shape) > 30
                continue
            np.testing.assert_array_equal(found[0], new_before)
            np.testing.assert_array_equal(found[1], new_after)
            made += 1
    assert made


def test_changes_can_be_undone() -> None:
    """So that the changed rule asks for as much as the original one."""
    rng = np.random.default_rng(0)
    grids = [rng.integers(0, 10, (4, 5)).astype(np.uint8) for _ in range(200)]
    for kind, change in CHANGES.items():
        assert len({change(grid).tobytes() for grid in grids}) == len({grid.tobytes() for grid in grids}), kind


def test_a_composed_rule_is_one_verifier_after_another(tasks: list[str]) -> None:
    made = 0
    for first, second in zip(tasks[:12], tasks[12:24], strict=True):
        found = RULES.make(f"{first}+{second}", 0)
        if isinstance(found, Rejected):
            continue
        before, after = found
        between = load_package(first).verify(np.array(before, np.int64))
        np.testing.assert_array_equal(after, load_package(second).verify(np.array(between, np.int64)))
        made += 1
    assert made >= 3


def test_rules_with_a_pair_of_an_evaluated_task_are_found(
    tasks: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(more_rules, "CHECKED", ("arc1/evaluation", "arc2/evaluation"))
    plan, made = Plan("more-rules", "1", 0, 3, 3.0), [f"{tasks[0]}~output-turn1", f"{tasks[1]}~input-shift2"]
    build_pairs(tmp_path, plan, RULES.make, made)
    assert leaking(tmp_path, made) == set()
    pair = View(3, (0, 2, 1, 3, 5, 4, 6, 7, 9, 8)).apply_to_pair(load_source("arc2/evaluation").tasks[0].test[0])
    block = pack_pairs([pair], [0])
    manifest = read_manifest(tmp_path)
    manifest.tasks["leak"] = TaskRecord(1, 1, {}, block.content(), None)
    write_block(tmp_path, "leak", block)
    write_manifest(tmp_path, manifest)
    assert leaking(tmp_path, [*made, "leak"]) == {"leak"}
    remove(tmp_path, {"leak"})
    assert leaking(tmp_path, made) == set()
    assert not (tmp_path / "leak.npz").exists()
    assert isinstance(read_manifest(tmp_path), Manifest)


def test_puzzles_of_arc_heavy_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rules.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(json.dumps({"id": "hs_1", "pairs": [[["012", "345"], ["9"]]]}) + "\n")
    ((name, pairs),) = read_heavy([path])
    assert name == "heavy-hs_1"
    assert pairs[0].input.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert pairs[0].output is not None
    assert pairs[0].output.tolist() == [[9]]
