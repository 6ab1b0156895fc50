"""Train small writers with one change of the recipe each, and compare them on fresh pairs of the same rules.

python -m benchmarks.writer_recipe benchmarks/results/writer_recipe.json

Every run sees the same pairs in the same order; only the change differs. A run takes one thread of a CPU for about five
minutes, so all take three and a half hours; `--workers 12` makes 12 at a time, `--only NAME ...` and `--seed N` a part
of them, and `--gather RECORD ...` puts parts together. What the record already has is not repeated.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import torch

from benchmarks.shards import Run, Shape, add_flags, complete
from charm.arc.run import arc_job
from charm.devices import place
from charm.models.model import CharmModel
from charm.models.writer.config import WriterConfig
from charm.models.writer.packs import Packs
from charm.runs.settings import SHORT_RUN, TrainConfig
from charm.synthesis.build import Rejected
from charm.tasks.batch import PairBank
from charm.tasks.dataset import DataConfig, Dataset, TaskSet, assemble
from charm.tasks.keys import MemoryConfig
from charm.tasks.sampling import SWAPS
from charm.tasks.sequences import pack_pairs, sequence_lengths
from charm.tasks.task import Pair, Task
from rearc2.workbench.packages import ReArc2, package_ids

RULES, PAIRS, FRESH, LONGEST_SIDE = 16, 150, 32, 10
UPDATES, TOKENS, SEEDS, VIEWS = 2000, 2048, (0, 1, 2), 8
REASONER = WriterConfig(
    width=64, heads=4, layers=4, inner_multiple=32, rope_base=100.0, reads="whole", compute_dtype="float32"
)
BASE = TrainConfig(
    data=DataConfig(train=(), evaluate=(), auxiliary=(), views=VIEWS, balanced=True, fixed_colors="output-only"),
    reasoner=REASONER,
    memory=MemoryConfig(rank=0, colors="free", composer="add"),
    optimizer=replace(SHORT_RUN, lr=5e-3, factor_weight_decay=0.01, warmup=30, cooldown=0.4, ema=0.98),
    steps=UPDATES,
    tokens=TOKENS,
    checkpoint_every=UPDATES,
    evaluate_every=0,
)


def cooked(**changes: Any) -> TrainConfig:
    return replace(BASE, reasoner=replace(REASONER, **changes))


def remembered(**changes: Any) -> TrainConfig:
    return replace(BASE, memory=replace(BASE.memory, **changes))


RECIPES = {
    "as now": BASE,
    "film": cooked(recipe=("film",)),
    "film-only": cooked(recipe=("film-only",)),
    "root-loss": cooked(recipe=("root-loss",)),
    "next-place": cooked(recipe=("next-place",)),
    "task width 32": remembered(task_width=32),
    "own colours flagged": replace(remembered(colors="flagged"), data=replace(BASE.data, augment="own-colors")),
    "own colours in half": replace(BASE, data=replace(BASE.data, augment="own-colors")),
    "film of symmetries": remembered(composer="film"),
    "film, colours": remembered(composer="film", colors="named"),
    "film, colours, rows": remembered(composer="film", colors="named", rank=8),
    "table of instances": remembered(design="table", colors="named", rank=REASONER.width),
    "2 layers twice": cooked(layers=2, recurrences=2),
    "2 layers twice, steps": cooked(layers=2, recurrences=2, recipe=("steps",)),
}


@cache
def rules() -> tuple[list[Task], list[Task]]:
    """Draw pairs of the first rules whose grids are small: tasks to train on, and fresh pairs of the same rules."""
    source, trained, fresh = ReArc2(), [], []
    for name in package_ids():
        found: dict[tuple[bytes, ...], Pair] = {}
        for index in count():
            made = source.make(name, index)
            if index == 3 * (PAIRS + FRESH) or (index == 20 and len(found) < 10):
                break
            if isinstance(made, Rejected):
                continue
            pair = Pair(*(np.array(grid, np.uint8) for grid in made))
            if max(max(grid.shape) for grid in pair.grids()) <= LONGEST_SIDE:
                found[tuple(grid.tobytes() for grid in pair.grids())] = pair
            if len(found) == PAIRS + FRESH:
                pairs = tuple(found.values())
                trained.append(Task(name, pairs[:PAIRS], ()))
                fresh.append(Task(name, pairs[PAIRS:], ()))
                break
        if len(trained) == RULES:
            return trained, fresh
    raise SystemExit(f"only {len(trained)} rules have grids this small")


@torch.no_grad()
def measured(model: CharmModel, data: Dataset, fresh: list[Task], rows: list[int]) -> dict[str, float]:
    """Read fresh pairs, each under the view of a memory row."""
    bank = PairBank.of([pair for task in fresh for pair in task.train])
    keys, row_N = data.keys(), torch.tensor(rows)
    swapped = SWAPS[keys.dihedral.numpy()[rows]]
    ends_N = torch.from_numpy(np.cumsum(sequence_lengths(bank.shape.numpy(), swapped)))
    pack = pack_pairs(bank, keys, torch.arange(len(rows)), row_N, ends_N, int(ends_N[-1]))
    likely_N = model.reasoner.log_likelihood(pack, model.task(row_N))
    _, metrics = model.reasoner.loss(pack, model.task(row_N))
    return {
        "fresh loss": -float(likely_N.sum()) / int(pack.wanted_L.sum()),
        "fresh exact": 100 * float(metrics["exact_accuracy"]),
    }


def run(config: TrainConfig, seed: int, trained: list[Task], fresh: list[Task]) -> dict[str, float]:
    """Train one writer; return its loss and exact share on fresh pairs under random views, and its size."""
    config = replace(config, seed=seed, data=replace(config.data, seed=seed))
    data = assemble(TaskSet(train=tuple(trained)), config.data)
    with place("cpu") as here:
        job = arc_job(config, here, lambda text: None, data)
        for step in range(config.steps):
            learned = job.update(step)
        job.model.eval()
        packs = job.learner.examples
        assert isinstance(packs, Packs)
        with job.average.applied():
            draw = np.random.default_rng(0)
            views = [int(row) for task in fresh for row in draw.choice(data.instances.rows(task.id), FRESH)]
            found = measured(job.model, data, fresh, views)
        edges, answers = packs.pack.edges_N2[:-1].long(), packs.pack.answers_N.long()
        _, training = config.reasoner.flops(edges.diff(), answers - edges[:-1])
    return {
        **found,
        "last training loss": float(learned["loss"]),
        "memory parameters": sum(one.numel() for one in job.model.memory.parameters()),
        "shared parameters": sum(one.numel() for one in job.model.reasoner.parameters()),
        "training FLOP per token": training / int(edges[-1]),
    }


SHAPE = Shape(
    kind="recipe",
    seeds=SEEDS,
    means={"fresh loss": 4, "fresh exact": 4},
    constants={"memory parameters": 0, "shared parameters": 0, "training FLOP per token": 4},
    head={
        "what": "changes of a small writer's recipe: loss and exact answers on fresh pairs of the same rules",
        "command": "python -m benchmarks.writer_recipe benchmarks/results/writer_recipe.json",
        "size": f"{RULES} rules of Re-ARC2 on grids up to {LONGEST_SIDE} x {LONGEST_SIDE}, {PAIRS} pairs each and "
        f"{FRESH} fresh ones under random ones of {VIEWS} views; {UPDATES} updates of {TOKENS} tokens; width 64, "
        "4 layers",
    },
)


def make(name: str, seed: int) -> Run:
    return run(RECIPES[name], seed, *rules())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_flags(parser, SEEDS)
    complete(parser.parse_args(), SHAPE, list(RECIPES), make)


if __name__ == "__main__":
    main()
