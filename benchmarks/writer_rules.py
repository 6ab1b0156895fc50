"""Do unseen rules get easier for a writer that knows more rules? Small bases, the same unseen rules, equal updates.

python -m benchmarks.writer_rules benchmarks/results/writer_rules.json [--heavy rules_00.jsonl.gz ...]

Each base learns rules of Re-ARC2 on small grids: a few, many, or a few and as many made ones as there are in "many"
(changed, composed: see benchmarks/more_rules.py; or puzzles of ARC-Heavy). Then it learns three demonstrations each
of the unseen rules together, as `charm solve` does, and reads fresh pairs of them under several views. All bases make
the same number of updates. Every run has one thread: `--workers 12` makes 12 at a time. What the record already has is
not repeated.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from benchmarks.flagship import read_answers
from benchmarks.more_rules import Rules, changed_names, composes, read_heavy
from benchmarks.shards import Run, Shape, add_flags, complete
from benchmarks.writer_recipe import BASE, LONGEST_SIDE
from charm.arc.run import arc_job
from charm.devices import place
from charm.models.model import CharmModel
from charm.solving.options import SolveOptions, WriterRecipe
from charm.solving.starts import NewVectors
from charm.synthesis.build import Rejected, Sample, collect
from charm.tasks.batch import PairBank
from charm.tasks.dataset import DataConfig, TaskSet, assemble
from charm.tasks.task import Pair, Task
from rearc2.workbench.packages import package_ids

PAIRS, DEMONSTRATIONS, FRESH = 40, 3, 5  # of a rule; of an unseen one
TRIES, TIME_LIMIT = 6, 2.0  # attempts for each pair, and CPU seconds of an attempt
FEW, UNSEEN = 48, 24
BASE_UPDATES, UPDATES, VIEWS, READ, SEEDS = 1200, 500, 20, 8, (0, 1)
LEARNED = DataConfig(views=64, balanced=True, fixed_colors="output-only")


def pairs_of(rules: Rules, name: str) -> list[Pair]:
    """Return `PAIRS` pairs of a rule on small grids, or none if too few of its attempts are small."""

    def small(task: str, index: int) -> Sample | Rejected:
        made = rules.make(task, index) if "~" in task or "+" in task else rules.generated(task, index)
        if isinstance(made, Rejected) or max(side for grid in made for side in np.shape(grid)) <= LONGEST_SIDE:
            return made
        return Rejected("large")

    if not len(collect(small, name, 1, TIME_LIMIT)[0]):  # none of the first attempts is small
        return []
    block, record = collect(small, name, PAIRS, TIME_LIMIT)
    return block.pairs() if len(block) == PAIRS and record.attempts <= TRIES * PAIRS else []


def heavy_tasks(files: Sequence[Path], count: int) -> list[Task]:
    """Return the first puzzles of ARC-Heavy on small grids."""
    some = (
        Task(name, tuple(pairs), ())
        for name, pairs in read_heavy(files)
        if max(side for pair in pairs for grid in pair.grids() for side in grid.shape) <= LONGEST_SIDE
    )
    return list(islice(some, count))


def sets_of_rules(heavy: Sequence[Path]) -> tuple[dict[str, list[Task]], list[Task]]:
    """Return the rules of each base, and the unseen ones with demonstrations and test pairs."""
    rules, rng = Rules(Path()), random.Random(0)
    found = {name: Task(name, tuple(pairs), ()) for name in package_ids() if (pairs := pairs_of(rules, name))}
    names = list(found)
    rng.shuffle(names)
    unseen = [Task(name, found[name].train[:DEMONSTRATIONS], found[name].train[-FRESH:]) for name in names[:UNSEEN]]
    known = names[UNSEEN:]
    few, more = known[:FEW], len(known) - FEW
    print(f"{len(found)} rules are small; {UNSEEN} unseen, {FEW} in every base, {more} more", flush=True)
    first = [found[name] for name in few]

    def made(draw: Callable[[], str], good: Callable[[str], bool]) -> list[Task]:
        taken: dict[str, Task] = {}
        while len(taken) < more:
            name = draw()
            if name not in taken and good(name) and (pairs := pairs_of(rules, name)):
                taken[name] = Task(name, tuple(pairs), ())
        return list(taken.values())

    bases = {
        "no rules": [],
        f"{FEW // 4} rules": first[: FEW // 4],
        f"{FEW} rules": first,
        f"{FEW + more} rules": [found[name] for name in known],
        f"{FEW} rules, {more} changed": first + made(lambda: changed_names(few, 1, rng)[0], lambda name: True),
        f"{FEW} rules, {more} composed": first
        + made(lambda: "+".join(rng.sample(few, 2)), lambda name: composes(rules, name)),
    }
    if heavy:
        bases[f"{FEW} rules, {more} of ARC-Heavy"] = first + heavy_tasks(heavy, more)
    return bases, unseen


def run(known: list[Task], unseen: list[Task], seed: int) -> dict[str, Any]:
    """Train a base and let it learn the unseen rules; return what it makes of fresh pairs of them."""
    data_config = replace(BASE.data, views=VIEWS, seed=seed)
    config = replace(BASE, seed=seed, data=data_config, steps=BASE_UPDATES, checkpoint_every=BASE_UPDATES)
    data = assemble(TaskSet(train=tuple(known or unseen)), data_config)
    found: dict[str, Any] = {}
    with place("cpu") as here:
        job = arc_job(config, here, lambda text: None, data)
        for step in range(config.steps if known else 0):
            learned = job.update(step)
            if step >= config.steps - 10:
                found["loss of the base"] = float(learned["loss"])
        recipe = WriterRecipe(tokens=config.tokens, rehearse=0.0, compile="off", lr=2.5e-3)
        options = SolveOptions(steps=UPDATES, seed=seed, writer=recipe)
        with job.average.applied():
            start = NewVectors(job.model, LEARNED, options, here)
        data = start.prepare(unseen)
        learning = start.adaptation(config.tokens)
        for step in range(UPDATES):
            learning.update(step / UPDATES)
        _, found["exact demonstrations"] = learning.progress()
        return found | read_unseen(start.model, data, unseen)


def read_unseen(model: CharmModel, data: Any, unseen: list[Task]) -> dict[str, Any]:
    rows = [data.question_rows(question, READ) for question in data.questions]
    pair_N = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    bank = PairBank.of([pair for task in unseen for pair in task.test])
    wrong_N, tokens_N, nats_N = read_answers(model, data, bank, pair_N, np.concatenate(rows).astype(np.int64)).numpy()
    exact = [float((wrong_N[pair_N == number] == 0).mean()) for number in range(len(rows))]
    return {
        "loss": float(nats_N.sum() / tokens_N.sum()),
        "a view": 100 * mean(exact),
        "majority": 100 * mean(one >= 0.5 for one in exact),
        "exact": [round(one, 3) for one in exact],
    }


SHAPE = Shape(
    kind="base",
    seeds=SEEDS,
    means={"loss": 3, "a view": 3, "majority": 3},
    constants={},
    head={
        "what": "small bases that know different rules learn the same unseen ones: fresh pairs, read under views",
        "command": "python -m benchmarks.writer_rules benchmarks/results/writer_rules.json --heavy FILES",
        "size": f"grids up to {LONGEST_SIDE} x {LONGEST_SIDE}, {PAIRS} pairs of a rule under {VIEWS} views, width 64, "
        f"4 layers; {BASE_UPDATES} updates of {BASE.tokens} tokens for each base, then {UPDATES} on {UNSEEN} unseen "
        f"rules with {DEMONSTRATIONS} demonstrations; {FRESH} fresh pairs of each, {READ} views",
    },
)


def make(bases: dict[str, list[Task]], unseen: list[Task], name: str, seed: int) -> Run:
    return run(bases[name], unseen, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_flags(parser, SEEDS)
    parser.add_argument("--heavy", type=Path, nargs="*", default=[], help="files of ARC-Heavy")
    options = parser.parse_args()
    bases, unseen = ({}, []) if options.gather else sets_of_rules(options.heavy)
    complete(options, SHAPE, list(bases), partial(make, bases, unseen))


if __name__ == "__main__":
    main()
