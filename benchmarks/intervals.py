"""Recompute from the records how far two differences are known: CoSE minus a full table, and continual learning.

python benchmarks/intervals.py

Seeds say how far a result would move with another run, tasks how far with other tasks. Tasks and seeds are drawn
with replacement (the bootstrap), independently, and the 2.5 and 97.5 % quantiles of the mean difference are printed.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

RESULTS = Path(__file__).parent / "results"
DRAWS = 10_000


class Interval(NamedTuple):
    mean: float
    low: float
    high: float


def over_tasks_and_seeds(difference_ST: npt.NDArray[np.float64]) -> Interval:
    """Bootstrap the mean of S seeds x T tasks over both. Row s is the difference in seed s, in points."""
    seeds, tasks = difference_ST.shape
    rng = np.random.default_rng(0)
    means = [
        difference_ST[rng.integers(seeds, size=seeds)][:, rng.integers(tasks, size=tasks)].mean() for _ in range(DRAWS)
    ]
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(difference_ST.mean()), float(low), float(high))


@cache
def main_claim(
    first: str = "train.cose",
    second: str = "train.table",
    tasks: int = 179,
    record: str = "full-cose-ablation-no-rearc_small",
) -> Interval:
    """Compare CoSE with a full table in tasks solved whole: records keep their ids, not the share of a task."""
    runs = _read(record)["runs"]
    solved = {(run["variant"], run["seed"]): frozenset(run["tasks"]["solved"]) for run in runs}
    named = sorted(set().union(*solved.values()))
    seeds = sorted(seed for name, seed in solved if name == first)
    difference_ST = np.zeros((len(seeds), tasks))  # zero for tasks that no run has solved
    for row, seed in enumerate(seeds):
        ours, theirs = solved[first, seed], solved[second, seed]
        difference_ST[row, : len(named)] = [100 * ((task in ours) - (task in theirs)) for task in named]
    return over_tasks_and_seeds(difference_ST)


@cache
def continual() -> Interval:
    """Compare memory-only CoSE with a table of its size on the stream; tasks are drawn, runs are averaged."""
    runs = [run for run in _read("continual_study")["runs"] if run["part"] == "orders"]
    tasks = sorted(runs[0]["final"])

    def scores(memory: str) -> npt.NDArray[np.float64]:
        return np.mean([[run["final"][task] for task in tasks] for run in runs if run["memory"].startswith(memory)], 0)

    return over_tasks_and_seeds(100 * (scores("CoSE") - scores("Table"))[None])


def reads_of_a_row(updates: int = 1000, batch: int = 768, tasks: int = 179, views: int = 64) -> float:
    """Count how often a row of a full table is read in a run of the main claim."""
    return updates * batch / (tasks * views)


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return found


def main() -> None:
    shown = (
        ("CoSE - full table, tasks solved whole", main_claim()),
        ("CoSE - table of its size, continual learning, over tasks", continual()),
    )
    for name, found in shown:
        print(f"{name}: {found.mean:+.1f} points, 95 % interval {found.low:.1f} to {found.high:.1f}")


if __name__ == "__main__":
    main()
