"""Time the parts of a solve with the released model: its updates (`charm bench solve`) and votes (`charm bench votes`).

Run it in two versions of the code, in turns, to compare them. The hash is over all votes: equal answers, equal hash.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from charm.bench.training import ceiling_line, product_tflops, seconds_each
from charm.config import at_least
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.predict import Request, predict
from charm.paths import released_model
from charm.progress import status
from charm.solving.group import Solver
from charm.solving.options import SolveOptions
from charm.tables import Table
from charm.tasks.sources import load_source


@dataclass(frozen=True)
class SolveBench:
    """Updates of a solve, or votes on tasks that the model has learned; with the released model."""

    tasks: int = 12
    """Number of tasks that are learned together, or asked."""
    views: int = 8
    """Views of each task that vote."""
    seconds: float = 8.0
    """How long updates are timed."""

    def __post_init__(self) -> None:
        at_least(1, self, "tasks", "views")
        if self.seconds <= 0:
            raise CharmError(f"seconds must be positive, got {self.seconds}")


def measure_solve(options: SolveBench, place: Place) -> dict[str, float]:
    """Time updates while unseen tasks are learned together."""
    solver = Solver(released_model(), SolveOptions(), place)
    tasks = [task.blind() for task in load_source("arc1/evaluation").tasks[: options.tasks]]
    solver.start.prepare(tasks, 60.0)
    learning = solver.start.adaptation()
    each = seconds_each(lambda: learning.update(0.1), options.seconds)
    (work,) = learning.examples.workloads(solver.model)
    amount, unit = learning.examples.work
    return {"updates/s": 1 / each, f"{unit}/s": amount / each, "TFLOP/s": work.size()[2] / each / 1e12}


def measure_votes(options: SolveBench, place: Place) -> dict[str, float | str]:
    """Time the votes on training tasks."""
    solver = Solver(released_model(), SolveOptions(), place)
    data = solver.start.prepare(load_source("arc1/training").tasks[: options.tasks])
    began = time.perf_counter()
    found = predict(Request(solver.model, data, (1,), options.views, 128), place)[1]
    seconds, order = time.perf_counter() - began, np.argsort(found.job_V)
    voted = found.candidates.hash_K[found.candidate_V[order]]
    cells = int(found.candidates.area_K[found.candidate_V].sum())
    return {
        "seconds": seconds,
        "votes/s": len(found) / seconds,
        "cells/s": cells / seconds,
        "hash": hashlib.sha256(found.job_V[order].tobytes() + voted.tobytes()).hexdigest()[:12],
    }


def bench_solving(names: Sequence[str], options: SolveBench, place: Place) -> tuple[Any, ...]:
    """Measure "solve", "votes" or both; return the numbers, a table of them, and the machine with its ceiling."""
    found: dict[str, Any] = {}
    for name in names:
        with status(f"timing {name}"):
            found[name] = measure_votes(options, place) if name == "votes" else measure_solve(options, place)
    ceiling = product_tflops(place.device, "bfloat16" if place.device.type == "cuda" else "float32")
    if "solve" in found and place.device.type != "cpu":  # where updates may use a faster library than this product
        found["solve"]["of ceiling"] = found["solve"]["TFLOP/s"] / ceiling
    rows = [
        (name, measure, value if isinstance(value, str) else f"{value:,.4g}")
        for name, some in found.items()
        for measure, value in some.items()
    ]
    title = f"A solve of {options.tasks} tasks, votes of {options.views} views"
    machine = f"{place.describe()}, torch {torch.__version__}"
    table = Table(("part", "measure", "value"), rows, title)
    return {**found, "ceiling_tflops": ceiling, "machine": machine}, table, ceiling_line(machine, ceiling)
