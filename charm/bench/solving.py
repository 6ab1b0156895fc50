"""Time the parts of a solve with the released model: its updates (`charm bench solve`) and votes (`charm bench votes`).

On a GPU each is also timed the plain way, in the same run: updates with attention by FlashAttention, votes launched
kernel by kernel. The hash is over all votes: equal answers, equal hash.
"""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from charm.bench.training import ceiling_line, machine_and_ceiling, seconds_each
from charm.config import at_least
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.predict import Request, judge_votes, predict
from charm.paths import released_model
from charm.progress import status
from charm.runs.votes import Votes
from charm.solving.group import Solver
from charm.solving.options import SolveOptions
from charm.tables import Table
from charm.tasks.dataset import Dataset
from charm.tasks.keyed import Numbers
from charm.tasks.sampling import SWAPS
from charm.tasks.sequences import sequence_lengths
from charm.tasks.sources import load_source

Kernels = Literal["auto", "plain"]
BATCH_CPU = 128  # votes that a CPU is asked for at once


@dataclass(frozen=True)
class SolveBench:
    """Updates of a solve, or votes on tasks that the model has learned; with the released model."""

    tasks: int = 0
    """Number of tasks that are learned together, or asked; 0 is 400 on a GPU and 12 elsewhere."""
    views: int = 8
    """Views of each task that vote."""
    seconds: float = 8.0
    """How long updates are timed."""
    repeats: int = 1
    """How often updates and votes are timed; the medians count."""
    compare: bool = True
    """On a GPU, also time the plain way."""

    def __post_init__(self) -> None:
        at_least(0, self, "tasks")
        at_least(1, self, "views", "repeats")
        if self.seconds <= 0:
            raise CharmError(f"seconds must be positive, got {self.seconds}")

    def sized(self, place: Place) -> SolveBench:
        """Return these options with a number of tasks for this machine."""
        return replace(self, tasks=self.tasks or (400 if place.device.type == "cuda" else 12))


def measure(name: str, options: SolveBench, place: Place) -> dict[str, Any]:
    """Measure "solve" or "votes", on a GPU next to the plain way."""
    time_part = time_votes if name == "votes" else time_updates
    found, votes = time_part(options, place, "auto")
    if place.device.type != "cuda" or not options.compare:
        return found
    plain, others = time_part(options, place, "plain")
    beside = {f"plain {part}": plain[part] for part in found if part.endswith(", s") or part in ("tokens/s", "hash")}
    if votes and others:
        beside["same votes"] = float((_voted(votes) == _voted(others)).mean())
    return found | beside | {"ratio": found["tokens/s"] / plain["tokens/s"]}


def _solver(place: Place, kernels: Kernels) -> Solver:
    """Load the released model, to compute with these kernels."""
    solver = Solver(released_model(), SolveOptions(), place)
    config: Any = solver.model.reasoner.config
    solver.model.reasoner.config = replace(config, kernels=kernels)
    return solver


def time_updates(options: SolveBench, place: Place, kernels: Kernels) -> tuple[dict[str, Any], None]:
    """Time updates while unseen tasks are learned together. The first one's seconds begin when the model is loaded."""
    tasks = [task.blind() for task in load_source("arc1/evaluation").tasks[: options.tasks]]
    began = time.perf_counter()
    solver = _solver(place, kernels)
    solver.start.prepare(tasks, SolveOptions().budget)
    learning = solver.start.adaptation()
    learning.update(0.1)
    if place.device.type == "cuda":
        torch.cuda.synchronize()
    first = time.perf_counter() - began
    timed = (seconds_each(lambda: learning.update(0.1), options.seconds) for _ in range(options.repeats))
    each = statistics.median(timed)
    (work,) = learning.examples.workloads(solver.model)
    amount, unit = learning.examples.work
    tflops = work.size()[2] / each / 1e12
    learning.close()
    return {"first update, s": first, "updates/s": 1 / each, f"{unit}/s": amount / each, "TFLOP/s": tflops}, None


def time_votes(options: SolveBench, place: Place, kernels: Kernels) -> tuple[dict[str, Any], Votes]:
    """Time writing votes on training tasks, and judging alone; rates are of writing but for votes/s."""
    solver, on_gpu = _solver(place, kernels), place.device.type == "cuda"
    data, model = solver.start.prepare(load_source("arc1/training").tasks[: options.tasks]), solver.model
    batch = solver.how.asked_at_once if on_gpu else BATCH_CPU

    def vote(views: int) -> Votes:
        return predict(Request(model, data, (1,), views, batch), place)[1]

    if on_gpu:
        vote(1)  # builds kernels
    runs = []
    for _ in range(options.repeats):
        began = time.perf_counter()
        found = vote(options.views)
        runs.append(time.perf_counter() - began)
    seconds = statistics.median(runs)
    began = time.perf_counter()
    judge_votes(model, data, found, options.views)
    judging = time.perf_counter() - began
    asked_V, answer_V = _tokens(data, found)
    counting: Any = model.config.reasoner
    operations, _ = counting.flops(torch.from_numpy(asked_V + answer_V), torch.from_numpy(asked_V))
    writing = max(seconds - judging, 1e-9)
    measured: dict[str, Any] = {"seconds": seconds, "writing, s": writing, "judging, s": judging}
    measured |= {"votes/s": len(found) / seconds, "tokens/s": int(answer_V.sum()) / writing}
    measured["TFLOP/s"] = operations / writing / 1e12
    measured["hash"] = hashlib.sha256(np.sort(found.job_V).tobytes() + _voted(found).tobytes()).hexdigest()[:12]
    return measured, found


def _voted(votes: Votes) -> npt.NDArray[np.uint64]:
    """Return the hash of the candidate of every vote, by job."""
    return votes.candidates.hash_K[votes.candidate_V[np.argsort(votes.job_V)]]


def _tokens(data: Dataset, votes: Votes) -> tuple[Numbers, Numbers]:
    """Return the tokens of every vote's question and answer under its view; an answer that is no grid has none."""
    swaps_V = SWAPS[data.keys().dihedral.numpy()[votes.row_V]]
    asked_V2 = data.question_bank.shape.numpy()[votes.question_V, :2]
    found_V2 = votes.candidates.shape_K2[votes.candidate_V]
    empty_V2 = np.zeros_like(found_V2)
    asked_V = sequence_lengths(np.hstack([asked_V2, empty_V2]), swaps_V) - 1  # without END
    answer_V = sequence_lengths(np.hstack([empty_V2, found_V2]), swaps_V) - 2  # without START and ANSWER
    return asked_V, np.where(found_V2.any(1), answer_V, 0)


def bench_solving(names: Sequence[str], options: SolveBench, place: Place) -> tuple[Any, ...]:
    """Measure "solve", "votes" or both; return the numbers, a table of them, and the machine with its ceiling."""
    found: dict[str, Any] = {}
    options = options.sized(place)
    for name in names:
        with status(f"timing {name}"):
            found[name] = measure(name, options, place)
    about = machine_and_ceiling(place, "bfloat16" if place.device.type == "cuda" else "float32")
    if place.device.type != "cpu":  # where updates may use a faster library than this product
        for some in found.values():
            some["of ceiling"] = some["TFLOP/s"] / about["ceiling_tflops"]
    rows = [
        (name, measure, value if isinstance(value, str) else f"{value:,.4g}")
        for name, some in found.items()
        for measure, value in some.items()
    ]
    title = f"A solve of {options.tasks} tasks, votes of {options.views} views"
    return found | about, Table(("part", "measure", "value"), rows, title), ceiling_line(about)
