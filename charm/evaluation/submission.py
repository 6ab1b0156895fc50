"""Submissions in ARC Prize format: {task: [{"attempt_1": grid, "attempt_2": grid}, ...]} in test order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from charm.errors import CharmError
from charm.evaluation.ranking import Candidate, Ranking
from charm.files import write_atomically
from charm.tasks.questions import Question

Rows = list[list[int]]
Submission = dict[str, list[dict[str, Rows]]]

ATTEMPTS = ("attempt_1", "attempt_2")
NO_ANSWER: Rows = [[0]]  # the format demands a grid


def make_submission(ranking: Ranking, questions: Sequence[Question]) -> Submission:
    """Two attempts for every question of every task.

    A missing second attempt repeats the first; a question without candidates gets a single black cell twice.
    """
    number = {question: q for q, question in enumerate(ranking.questions)}
    best = {
        question: ranking.top(number[question], len(ATTEMPTS)) if question in number else []
        for question in questions
    }
    return attempts(best)


def attempts(ranked: Mapping[Question, Sequence[Candidate]]) -> Submission:
    """The submission of ranked candidates, questions in test order."""
    submission: Submission = {}
    for question, best in ranked.items():
        entries = submission.setdefault(question.task_id, [])
        if question.test_index != len(entries):
            raise CharmError(
                f"submission: {question} is not in test order, test {len(entries)} should come first"
            )
        grids = [candidate.grid.tolist() for candidate in best[: len(ATTEMPTS)]] or [NO_ANSWER]
        entries.append({"attempt_1": grids[0], "attempt_2": grids[-1]})
    return submission


def write_submission(path: Path, submission: Submission) -> None:
    write_atomically(path, json.dumps(submission))


def score_submission(
    submission: Mapping[str, Sequence[Mapping[str, Rows]]], solutions: Mapping[str, Sequence[Rows]]
) -> dict[str, float]:
    """pass@2 of a submission, as plain as can be: it shares nothing with the ranking and checks it.

    `solutions` is {task id: [output, ...]}, the form in which ARC Prize publishes them. Every task of the
    solutions must be answered. Returns "pass@2" (mean over puzzles) and "pass@2/outputs".
    """
    if not solutions:
        raise CharmError("submission: there are no solutions to score against")
    hits_of = []
    for task_id, outputs in solutions.items():
        if task_id not in submission:
            raise CharmError(f"submission: task {task_id} is missing")
        entries = submission[task_id]
        if len(entries) != len(outputs):
            raise CharmError(
                f"submission: task {task_id} has {len(entries)} answers for {len(outputs)} test inputs"
            )
        for number, entry in enumerate(entries):
            if any(attempt not in entry for attempt in ATTEMPTS):
                raise CharmError(f"submission: task {task_id}, test {number} lacks attempt_1 or attempt_2")
        hits_of.append(
            [
                any(entry[attempt] == output for attempt in ATTEMPTS)
                for entry, output in zip(entries, outputs, strict=True)
            ]
        )
    return {
        "pass@2": sum(sum(hits) / len(hits) for hits in hits_of) / len(hits_of),
        "pass@2/outputs": sum(map(sum, hits_of)) / sum(map(len, hits_of)),
    }
