"""Votes and scores during training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from charm.devices import Place
from charm.evaluation.predict import Request, predict_votes
from charm.model import CharmModel
from charm.runs.archive import forget_later_votes
from charm.runs.folder import RESULTS
from charm.runs.metrics import Exam, LogEntry
from charm.tasks.dataset import Dataset

# Scores the votes on disk after a checkpoint has voted: (data, run folder, step, loops, views) -> headline scores.
Score = Callable[[Dataset, Path, int, Sequence[int], int], dict[str, float]]


@dataclass(frozen=True)
class Voting:
    """Lets the model vote on the data's questions into the run folder, and scores all votes so far."""

    loops: tuple[int, ...]
    views: int  # of each question; 0 is all
    score: Score

    def examine(self, model: CharmModel, data: Dataset, place: Place, exam: Exam) -> LogEntry | None:
        def advance(done: int, total: int) -> None:
            exam.report(f"evaluation: {done:,} of {total:,} votes")

        request = Request(model, data, self.loops, self.views or None)
        predict_votes(request, place, exam.out / "votes", exam.step, advance, exam.stop, exam.run)
        if place.any(exam.stop()):
            return None
        if not place.is_main:
            return LogEntry({}, "")
        scores = self.score(data, exam.out, exam.step, self.loops, self.views)
        return LogEntry(scores, ", ".join(f"{name} {share:.2%}" for name, share in scores.items()))

    def forget(self, out: Path, step: int) -> bool:
        return any([forget_later_votes(out / name, step) for name in RESULTS if name != "eval"])
