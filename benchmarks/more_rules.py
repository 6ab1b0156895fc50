"""Make more rules for a base from those that it learns: one grid of every pair changed, or two rules in a row.

python -m benchmarks.more_rules FOLDER --changed 1200 --composed 1200 --pairs 60 --workers 16
python -m benchmarks.more_rules FOLDER --heavy rules_00.jsonl.gz rules_01.jsonl.gz      puzzles of ARC-Heavy

Changed: every input, or every output, of a rule is turned, mirrored, framed, enlarged or recoloured in the same way.
Composed: the output of one rule is the input of another, as that rule's verifier computes it. Two rules whose first
attempts mostly fail, give back what they got, or give one grid for all inputs, make no new rule.

Only rules of the base's own tasks are used, never those of an evaluation set. A made rule has an id like
"25ff71a9~output-turn1" or "25ff71a9+a79310a0", and its pairs are files of pairs, as `charm data rearc` writes them.
All are compared with the evaluation sets and ConceptARC; a rule that shares a pair with one of them is removed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from charm.arc.presets import preset
from charm.processes import process_pool
from charm.synthesis.build import Rejected, Sample, build_pairs, collect
from charm.synthesis.rearc import ReArc, fetch_package
from charm.tasks.audit import audit
from charm.tasks.dataset import load_tasks
from charm.tasks.pairs_file import (
    Manifest,
    Plan,
    TaskRecord,
    load_pairs,
    pack_pairs,
    read_manifest,
    write_block,
    write_manifest,
)
from charm.tasks.sources import load_source
from charm.tasks.task import COLORS, MAX_SIDE, Grid, Pair, as_grid
from charm.tasks.view import turn
from rearc2.workbench.packages import ReArc2, apply_rule, load_package, package_ids

TIME_LIMIT = 0.5  # CPU seconds of an attempt
TRIED, NEEDED = 12, 8  # attempts of a composition, and how many of them must make a pair
LEAST_PAIRS = 20  # of a rule that is kept
CHECKED = ("arc1/evaluation", "arc2/evaluation", "concept-arc")


def recolored(grid: Grid, shift: int) -> Grid:
    """Exchange all colours but 0 in a circle."""
    return np.where(grid == 0, 0, (grid.astype(np.int64) - 1 + shift) % (COLORS - 1) + 1).astype(np.uint8)


CHANGES: dict[str, Callable[[Grid], Grid]] = {
    **{f"turn{number}": lambda grid, number=number: turn(grid, number) for number in range(1, 8)},  # type: ignore[misc]
    **{f"frame{color}": lambda grid, color=color: np.pad(grid, 1, constant_values=color) for color in (0, 5)},  # type: ignore[misc]
    "enlarge2": lambda grid: grid.repeat(2, 0).repeat(2, 1),
    **{f"shift{by}": lambda grid, by=by: recolored(grid, by) for by in (1, 2, 4, 7)},  # type: ignore[misc]
}


@dataclass(frozen=True)
class Rules:
    """The rules of a base: their generators and verifiers, Re-ARC's or Re-ARC2's; and those made of them."""

    package: Path
    seed: int = 0

    def generated(self, task: str, index: int) -> Sample | Rejected:
        if task in _rearc2_ids():
            return ReArc2(seed=self.seed).make(task, index)
        return ReArc(self.package, self.seed).make(task, index)

    def apply(self, task: str, grid: Grid) -> Grid:
        """Return the output of a rule for any input; the verifier's exceptions are passed on."""
        if task in _rearc2_ids():
            return as_grid(apply_rule(load_package(task).verify, grid).tolist(), task)
        rows = tuple(map(tuple, grid.tolist()))
        return as_grid(ReArc(self.package).verify(task, rows), task)

    def make(self, name: str, index: int) -> Sample | Rejected:
        """Make attempt `index` of a changed or composed rule."""
        if "~" in name:
            return self.changed(*name.split("~"), index)
        return self.composed(*name.split("+"), index)

    def changed(self, task: str, change: str, index: int) -> Sample | Rejected:
        made = self.generated(task, index)
        if isinstance(made, Rejected):
            return made
        side, kind = change.split("-")
        before, after = (np.array(grid, np.uint8) for grid in made)
        before, after = (CHANGES[kind](before), after) if side == "input" else (before, CHANGES[kind](after))
        if max(before.shape + after.shape) > MAX_SIDE:
            return Rejected("larger than a grid may be")
        return before, after

    def composed(self, first: str, second: str, index: int) -> Sample | Rejected:
        made = self.generated(first, index)
        if isinstance(made, Rejected):
            return made
        before, between = (np.array(grid, np.uint8) for grid in made)
        try:
            after = self.apply(second, between)
        except Exception:
            return Rejected("verifier exception")
        if any(np.array_equal(after, grid) for grid in (before, between)):
            return Rejected("nothing new")
        return before, after


@cache
def _rearc2_ids() -> set[str]:
    return set(package_ids())


def learned_tasks() -> list[str]:
    """Return the ids of the tasks that `base` learns."""
    return sorted(task.id for task in load_tasks(preset("base").data).train)


def changed_names(tasks: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Draw names of changed rules, all different."""
    every = [f"{task}~{side}-{kind}" for task in tasks for side in ("input", "output") for kind in CHANGES]
    return rng.sample(every, min(count, len(every)))


def composes(rules: Rules, name: str) -> bool:
    """Return whether two rules in a row are a rule: most attempts make a pair, and outputs differ."""

    failed = 0

    def few(task: str, index: int) -> Sample | Rejected:
        nonlocal failed
        if failed > TRIED - NEEDED:
            return Rejected("tried enough")
        failed += 1  # also where the attempt is cut off
        made = rules.make(task, index)
        failed -= not isinstance(made, Rejected)
        return made

    block, _ = collect(few, name, NEEDED, TIME_LIMIT)
    outputs = {block.pair(number)[1].tobytes() for number in range(len(block))}
    return len(block) == NEEDED and len(outputs) > NEEDED // 2


def composed_names(rules: Rules, tasks: Sequence[str], count: int, rng: random.Random, workers: int) -> list[str]:
    """Draw names of composed rules that make pairs, fewer than `count` where 40 times as many do not have them."""
    found: list[str] = []
    drawn: set[str] = set()
    with process_pool(workers) as pool:
        while len(found) < count and len(drawn) < 40 * count:
            names = {"+".join(rng.sample(list(tasks), 2)) for _ in range(max(4 * workers, count))} - drawn
            drawn |= names
            order = sorted(names)
            good = pool.map(partial(composes, rules), order, chunksize=4)
            found += [name for name, one in zip(order, good, strict=True) if one]
            print(f"{len(found):,} of {len(drawn):,} compositions make pairs", flush=True)
    return found[:count]


def lines_of(files: Sequence[Path]) -> Iterator[str]:
    for file in files:
        with gzip.open(file, "rt") as lines:
            yield from lines


def read_heavy(files: Sequence[Path]) -> Iterator[tuple[str, list[Pair]]]:
    """Yield the puzzles of ARC-Heavy."""
    return map(puzzle_of, lines_of(files))


def puzzle_of(line: str) -> tuple[str, list[Pair]]:
    """Read a puzzle of ARC-Heavy: {"id", "pairs"}, a grid as rows of digits."""
    puzzle = json.loads(line)
    grids = [[as_grid([[*map(int, row)] for row in one], puzzle["id"]) for one in some] for some in puzzle["pairs"]]
    return f"heavy-{puzzle['id']}", [Pair(*both) for both in grids]


def write_heavy(folder: Path, line: str) -> tuple[str, TaskRecord]:
    """Write the pairs of a puzzle; return its name and its entry in the manifest."""
    name, pairs = puzzle_of(line)
    block = pack_pairs(pairs, range(len(pairs)))
    write_block(folder, name, block)
    return name, TaskRecord(len(pairs), len(pairs), {}, block.content(), None)


def remove(folder: Path, tasks: Collection[str]) -> None:
    """Remove rules from a folder of pairs."""
    manifest = read_manifest(folder)
    manifest.tasks = {task: record for task, record in manifest.tasks.items() if task not in tasks}
    manifest.unfinished = []
    write_manifest(folder, manifest)
    for task in tasks:
        (folder / f"{task}.npz").unlink(missing_ok=True)


def leaking(folder: Path, some: Collection[str]) -> set[str]:
    """Return those of some rules that share a pair with an evaluated task, up to symmetry and recolouring."""
    report = audit([load_source(name) for name in CHECKED], {folder.name: load_pairs(folder, some)})
    return {match.generated for match in report.generated}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--changed", type=int, default=0, help="rules to make of one changed grid")
    parser.add_argument("--composed", type=int, default=0, help="rules to make of two in a row")
    parser.add_argument("--heavy", type=Path, nargs="*", default=[], help="files of ARC-Heavy")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    folder, began = options.folder, time.monotonic()
    rng, tasks = random.Random(options.seed), learned_tasks()
    rules = Rules(fetch_package(), options.seed)
    plan = Plan("more-rules", "1", options.seed, options.pairs, TIME_LIMIT)
    names = changed_names(tasks, options.changed, rng)
    if options.composed:
        names += composed_names(rules, tasks, options.composed, rng, options.workers)
    if names:
        print(build_pairs(folder, plan, rules.make, names, options.workers).line(), flush=True)
    if options.heavy:
        folder.mkdir(parents=True, exist_ok=True)
        manifest = read_manifest(folder) if names else Manifest(plan)
        with process_pool(options.workers) as pool:
            manifest.tasks |= pool.map(partial(write_heavy, folder), lines_of(options.heavy), chunksize=32)
        write_manifest(folder, manifest)
    few = {task for task, record in read_manifest(folder).tasks.items() if record.pairs < LEAST_PAIRS}
    remove(folder, few)
    rest = [*read_manifest(folder).tasks]
    with process_pool(options.workers) as pool:
        chunks = [rest[first :: 2 * options.workers] for first in range(2 * options.workers)]
        leaks = set[str]().union(*pool.map(partial(leaking, folder), chunks))
    remove(folder, leaks)
    print(f"{read_manifest(folder)}; {len(few)} rules with few pairs and {len(leaks)} with a pair of an evaluated task")
    print(f"are removed; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
