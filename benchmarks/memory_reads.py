"""Compare memories on the training split when a row is read as often as in the paper: five times the updates.

python -m benchmarks.memory_reads benchmarks/results/memory_reads.json --workers 10 [--runs FOLDER] [--device cuda]

The runs are those of `charm reproduce tab:full-cose-ablation-no-rearc --size small` with 5,000 updates instead of
1,000, and the full table also with a third and three times the rate of its rows, so that it cannot lose by its rate
alone. A row is read 335 times, in the paper about 330. What the record has is not repeated; a run that was stopped
continues from its checkpoint in the folder.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.shards import Run, Shape, add_flags, complete
from charm.devices import place
from charm.paper.runs import VARIANTS, SizeName, Variant
from charm.paper.work import Shelf, run_one
from charm.signals import stop_early

SEEDS = (0, 1, 2, 3, 4)
TIMES = 5  # as many updates as the runs of the tables
RATES = {
    "train.table": 1.0,
    "train.table-r32": 1.0,
    "train.composition": 1.0,
    "train.cose": 1.0,
    "train.cose-gated": 1.0,
    "train.table, rate x 3": 3.0,
    "train.table, rate / 3": 1 / 3,
}
MEASURES = ("pass@1", "pass@2", "pass@1000", "loss")


@dataclass(frozen=True, eq=False)
class Longer(Variant):
    """A run of the paper's with more updates and another rate of the rows."""

    rate: float = 1.0

    def at(self, size: SizeName, seed: int = 0) -> Any:
        config = super().at(size, seed)
        rows = replace(config.optimizer, row_lr=config.optimizer.row_lr * self.rate)
        return replace(config, steps=TIMES * config.steps, optimizer=rows)

    def home(self, size: SizeName) -> str:
        return f"reads.{self.name}" + (f"-rate{self.rate:.2g}" if self.rate != 1.0 else "")


def longer(name: str) -> Longer:
    return Longer(**vars(VARIANTS[name.split(",")[0]]), rate=RATES[name])


def make(runs: Path, size: SizeName, device: str, at_once: int, name: str, seed: int) -> Run:
    """Make one run, or continue it, and return its scores."""
    run = Shelf(runs, size).run(longer(name), seed)
    with stop_early(), place(device) as here:
        run_one(run, here, at_once=at_once)
    found = run.read()
    assert found is not None
    kept = ("parameters", "seconds", "tasks", "machine", "torch", "date", "at_once")
    return {**{name: found["scores"][name] for name in MEASURES}, **{name: found[name] for name in kept}}


SHAPE = Shape(
    kind="variant",
    seeds=SEEDS,
    means=dict.fromkeys(MEASURES, 4),
    constants={},
    head={
        "what": "memories on the training split, a row read as often as in the paper, and rates of a table's rows",
        "command": "python -m benchmarks.memory_reads benchmarks/results/memory_reads.json --workers 10",
        "size": VARIANTS["train.table"].size("small").about.replace("1,000 updates", "5,000 updates"),
    },
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_flags(parser, SEEDS)
    parser.add_argument("--runs", type=Path, default=Path("runs/memory-reads"), help="folder of the runs")
    parser.add_argument("--size", choices=("small", "smoke"), default="small")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    one = partial(make, options.runs, options.size, options.device, options.workers)
    complete(options, SHAPE, list(RATES), one)


if __name__ == "__main__":
    main()
