"""Submissions in ARC Prize format: {task: [{"attempt_1": grid, "attempt_2": grid}, ...]} in test order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from charm.errors import CharmError
from charm.evaluation.ranking import Candidate, Ranking
from charm.files import write_atomically
from charm.tasks.task import Question

JsonGrid = list[list[int]]
Submission = dict[str, list[dict[str, JsonGrid]]]

ATTEMPTS = ("attempt_1", "attempt_2")
# The format demands a grid. Kaggle's sample submission has this one, and no public task has it as an answer.
# Whether a test input has an answer is in the log of a solve: a private task may have this grid.
NO_ANSWER: JsonGrid = [[0, 0], [0, 0]]


def make_submission(ranking: Ranking, questions: Sequence[Question]) -> Submission:
    """Two attempts for every question of every task.

    A missing second attempt repeats the first. An empty grid is submitted as `NO_ANSWER`, and so is each attempt at a
    question without candidates.
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
        grids = [candidate.grid.tolist() or NO_ANSWER for candidate in best[: len(ATTEMPTS)]] or [NO_ANSWER]
        entries.append({"attempt_1": grids[0], "attempt_2": grids[-1]})
    return submission


def write_submission(path: Path, submission: Submission) -> None:
    write_atomically(path, json.dumps(submission))
