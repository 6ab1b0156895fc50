"""Measure a writer on one CPU core: updates of a solve, and votes. Processor time counts: others may use the machine.

python -m benchmarks.writer_cpu

Run it in two versions of the code, in turns, to compare them. The hash is over all votes: equal answers, equal hash.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import numpy as np
import torch

from charm.devices import Place
from charm.evaluation.predict import Request, predict
from charm.solving.group import Solver
from charm.solving.options import SolveOptions
from charm.tasks.sources import load_source

ROOT = Path(__file__).parent.parent
SECONDS = 8.0
TASKS, VIEWS = 12, 8


def updates(solver: Solver, source: str) -> float:
    """Updates in a second of processor time while the first task of a source is learned."""
    tasks = load_source(source).tasks[:1]
    learning = solver.start.adaptation(tasks, solver.start.prepare(tasks, 60.0))
    for _ in range(3):
        learning.update(0.0)
    made, began = 0, time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        learning.update(0.1)
        made += 1
    return made / spent


def votes(solver: Solver) -> tuple[float, str]:
    """Seconds of processor time for the votes on tasks that the model knows, and a hash of the votes."""
    data = solver.start.prepare(load_source("arc1/training").tasks[:TASKS])
    began = time.process_time()
    found = predict(Request(solver.model, data, (1,), VIEWS, 128), solver.place)[1]
    seconds, order = time.process_time() - began, np.argsort(found.job_V)
    voted = found.candidates.hash_K[found.candidate_V[order]]
    return seconds, hashlib.sha256(found.job_V[order].tobytes() + voted.tobytes()).hexdigest()[:12]


def main() -> None:
    torch.set_num_threads(1)
    place = Place(torch.device("cpu"))
    solver = Solver(ROOT / "charm" / "released" / "base", SolveOptions(), place)
    of_example = updates(solver, str(ROOT / "examples" / "task.json"))
    seconds, voted = votes(solver)
    print(json.dumps({"updates/s": of_example, "votes s": seconds, "votes": voted}))


if __name__ == "__main__":
    main()
