"""pass@k in two conventions, and the outcome of each task.

A question is passed at k when its answer is among the first k candidates. `pass@k` averages over a puzzle's
test outputs, then over puzzles; `pass@k/outputs` averages over test outputs. Every puzzle of the answer key
counts, and a question without candidates is wrong. Blind questions, whose answer is unknown, cannot be
scored: they are left out of both averages and counted in `blind_outputs`; a puzzle with only blind questions
counts in `blind_puzzles`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from charm.evaluation.decode import hash_grid
from charm.evaluation.ranking import Ranking
from charm.tasks.task import Grid, Question

KS = (1, 2, 5, 10, 100, 1000)
SOLVED_AT = 2  # ARC allows two attempts

AnswerKey = Mapping[Question, Grid | None]  # every question of the split; None where it is blind

# From best to worst. A task's outcome is the worst of its outputs'; only a task with nothing to score is blind.
OUTCOMES = (
    "solved",  # among the first two candidates
    "near miss",  # proposed, but ranked third or lower
    "wrong cells",  # the right size was proposed, the right grid never
    "wrong size",
    "no answer",  # no candidate, or only the empty one
    "blind",
)
WORSE = ("blind", *OUTCOMES[:-1])  # for the outcome of a task


@dataclass(frozen=True)
class OutputResult:
    test_index: int
    outcome: str
    rank: int | None  # of the right answer among the candidates, 1 for the best
    candidates: int  # the empty one included
    no_answer_votes: int  # for the empty one


@dataclass(frozen=True)
class TaskResult:
    task_id: str
    outcome: str
    outputs: tuple[OutputResult, ...]


@dataclass(frozen=True)
class Scores:
    metrics: dict[str, float]  # "pass@k" and "pass@k/outputs"; empty if everything is blind
    puzzles: int  # denominator of pass@k
    outputs: int  # denominator of pass@k/outputs
    blind_puzzles: int
    blind_outputs: int
    tasks: tuple[TaskResult, ...]

    def accuracy(self) -> dict[str, float | None]:
        """Return each task's share of solved outputs; None if nothing can be scored."""
        outcomes = {task.task_id: [output.outcome for output in task.outputs] for task in self.tasks}
        scored = {task: [one for one in found if one != "blind"] for task, found in outcomes.items()}
        return {task: found.count("solved") / len(found) if found else None for task, found in scored.items()}

    def of(self, task_ids: Container[str]) -> Scores:
        some = (task for task in self.tasks if task.task_id in task_ids)
        return _scores({Question(task.task_id, output.test_index): output for task in some for output in task.outputs})

    def to_json(self) -> dict[str, Any]:
        found = Counter(task.outcome for task in self.tasks)
        outcomes = {outcome: found[outcome] for outcome in OUTCOMES}
        return {**asdict(self), "outcomes": outcomes}


def score(ranking: Ranking, answers: AnswerKey) -> Scores:
    """Score every question of the answer key; questions that the ranking does not know have no answer."""
    number = {question: q for q, question in enumerate(ranking.questions)}
    results = {}
    for question, answer in answers.items():
        span = ranking.span(number[question]) if question in number else range(0)
        own, rank = slice(span.start, span.stop), None
        if answer is not None:
            # The hash finds the place, the cells decide.
            same_hash = np.flatnonzero(ranking.hash_K[own] == hash_grid(answer)).tolist()
            rank = next((n + 1 for n in same_hash if np.array_equal(ranking.grid(span[n]), answer)), None)
        shapes = ranking.shape_K2[own]
        outcome = _outcome(answer, {(height, width) for height, width in shapes.tolist() if height}, rank)
        empty = int(ranking.votes_K[own][shapes[:, 0] == 0].sum())
        results[question] = OutputResult(question.test_index, outcome, rank, len(span), empty)
    return _scores(results)


def score_grids(ranked: Mapping[Question, Sequence[Grid]], answers: AnswerKey) -> Scores:
    """Score ranked grids, best first, where there is no ranking with its votes; none of them is empty."""
    results = {}
    for question, answer in answers.items():
        grids, rank = ranked.get(question, ()), None
        if answer is not None:
            rank = next((n for n, grid in enumerate(grids, 1) if np.array_equal(grid, answer)), None)
        outcome = _outcome(answer, {grid.shape for grid in grids}, rank)
        results[question] = OutputResult(question.test_index, outcome, rank, len(grids), 0)
    return _scores(results)


def _scores(results: Mapping[Question, OutputResult]) -> Scores:
    outputs_of: dict[str, list[OutputResult]] = {}
    for question, result in results.items():
        outputs_of.setdefault(question.task_id, []).append(result)
    tasks = tuple(
        TaskResult(task_id, max((one.outcome for one in outputs), key=WORSE.index), tuple(outputs))
        for task_id, outputs in outputs_of.items()
    )

    ranks_of = [[output.rank for output in task.outputs if output.outcome != "blind"] for task in tasks]
    scored = [ranks for ranks in ranks_of if ranks]
    metrics = {}
    for k in KS if scored else ():
        hits = [[rank is not None and rank <= k for rank in ranks] for ranks in scored]
        metrics[f"pass@{k}"] = float(np.mean([np.mean(hit) for hit in hits]))
        metrics[f"pass@{k}/outputs"] = float(np.mean(np.concatenate(hits)))
    outputs = sum(map(len, scored))
    return Scores(metrics, len(scored), outputs, len(tasks) - len(scored), len(results) - outputs, tasks)


def _outcome(answer: Grid | None, proposed: set[tuple[int, ...]], rank: int | None) -> str:
    """Name the outcome of a question; `proposed` has the shapes of its candidates."""
    if answer is None:
        return "blind"
    if not proposed:
        return "no answer"
    if rank is not None:
        return "solved" if rank <= SOLVED_AT else "near miss"
    return "wrong cells" if answer.shape in proposed else "wrong size"
