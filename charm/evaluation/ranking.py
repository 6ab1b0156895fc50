"""Ranking: the candidates of every question, best first; and the submission made of the best two.

Candidates are ordered by weighted votes, then by mean confidence (weighted alike), then by content hash; another
voting rule (`charm.evaluation.protocols.ORDERS`) comes before these. A 0 x 0 grid, a prediction that holds no grid, is
a candidate like any other, as in the reference evaluator. Sums are taken in an order that the votes' content alone
decides, so the ranking is bit for bit the same whatever the order of files, ranks or batches.

Several models may vote: `pool_opinions`. A candidate that no view wrote, but a search found, has no votes. Instead of
them it has a weight, the votes that could be expected if each view drew its answer by chance (`Found`).

A submission has ARC Prize's format: {task: [{"attempt_1": grid, "attempt_2": grid}, ...]} in test order.

    K  candidates of all questions, each question's best first      V  votes of one ballot
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError
from charm.evaluation.protocols import ORDERS, Ballot
from charm.files import write_atomically
from charm.runs.votes import Candidates, Votes, log_odds, merge, pool, probability, select_candidates
from charm.tasks.task import Grid, Question

JsonGrid = list[list[int]]
Submission = dict[str, list[dict[str, JsonGrid]]]

ATTEMPTS = ("attempt_1", "attempt_2")
# The format demands a grid. Kaggle's sample submission has this one, and no public task has it as an answer.
# Whether a test input has an answer is in the log of a solve: a private task may have this grid.
NO_ANSWER: JsonGrid = [[0, 0], [0, 0]]


# Log-probability by question, hash of the candidate and row of the judge.
Judgements = dict[tuple[int, int, int], float]


@dataclass(frozen=True, eq=False)
class Opinion:
    """What one model says: its votes, what its views think of candidates, and answers that a search found."""

    votes: Votes
    judgements: Judgements
    """Of candidates, those of other models among them; empty if the model does not judge."""
    found: Candidates


@dataclass(frozen=True, eq=False)
class Found:
    """Candidates that no view wrote, each once."""

    candidates: Candidates
    weight_K: npt.NDArray[np.float64]
    """In place of votes."""
    logit_K: npt.NDArray[np.float64]
    """How likely they are, as log-odds."""


def pool_opinions(opinions: Sequence[Opinion]) -> tuple[Votes, Found]:
    """Return the votes of all models and what only searches found.

    A candidate is as likely as the geometric mean over all views that judged it, of any model. Votes for one that none
    judged keep what its writer thought of it. What was found weighs as many votes as could be expected of each model:
    the mean probability over its judges, times its votes on the question.
    """
    votes = merge([one.votes for one in opinions])
    table, _ = pool([votes.candidates, *(one.found for one in opinions)])
    size, questions = len(table), int(table.question_K.max(initial=-1)) + 1
    place_of = {name: k for k, name in enumerate(zip(table.question_K.tolist(), table.hash_K.tolist(), strict=True))}
    total_K, judges_K, weight_K = np.zeros((3, size))
    for one in opinions:
        judged = [(place_of[name[:2]], likely) for name, likely in one.judgements.items() if name[:2] in place_of]
        place_J, likely_J = np.array(judged, np.float64).reshape(-1, 2).T
        own_K, own_total_K, chance_K = (
            np.bincount(place_J.astype(np.int64), weights=weights, minlength=size)
            for weights in (None, likely_J, np.exp(likely_J))
        )
        total_K, judges_K = total_K + own_total_K, judges_K + own_K
        cast_Q = np.bincount(one.votes.question_V, minlength=questions)
        weight_K += chance_K / np.maximum(own_K, 1) * cast_Q[table.question_K]
    logit_K = log_odds(total_K / np.maximum(judges_K, 1))
    voted = np.arange(size) < len(votes.candidates)  # they come first
    place_V = votes.candidate_V
    logit_V = np.where(judges_K[place_V] > 0, logit_K[place_V], votes.logit_V).astype(np.float32)
    new = ~voted & (judges_K > 0)
    return replace(votes, logit_V=logit_V), Found(select_candidates(table, new), weight_K[new], logit_K[new])


@dataclass(frozen=True, eq=False)
class Candidate:
    """One proposed answer with its votes."""

    grid: Grid
    place: int  # in the arrays of its ranking
    votes: int
    weight: float
    """The votes, weighted by the age of their checkpoints."""
    confidence: float
    """Mean over its votes of the likelihood or halting, as the model has it (`NetworkConfig.sure`)."""


@dataclass(frozen=True, eq=False)
class Ranking:
    questions: tuple[Question, ...]
    start: npt.NDArray[np.int64]  # [questions + 1]: question q owns places start[q] up to start[q + 1]
    hash_K: npt.NDArray[np.uint64]
    shape_K2: npt.NDArray[np.uint8]
    votes_K: npt.NDArray[np.int64]
    weight_K: npt.NDArray[np.float64]
    confidence_K: npt.NDArray[np.float64]
    ballots: tuple[Ballot, ...]
    places: tuple[npt.NDArray[np.int64], ...]  # per ballot: place of each of its candidates
    candidates: Candidates
    candidate_K: npt.NDArray[np.int64]  # places in `candidates`

    def span(self, question: int) -> range:
        """Return the positions of a question's candidates, best first."""
        return range(int(self.start[question]), int(self.start[question + 1]))

    def grid(self, place: int) -> Grid:
        return self.candidates.grid(int(self.candidate_K[place]))

    def top(self, question: int, count: int) -> list[Candidate]:
        """Return the best `count` candidates of a question, or as many as there are."""
        columns = (self.votes_K, self.weight_K, self.confidence_K)
        places = self.span(question)[:count]
        return [Candidate(self.grid(n), n, *(column[n].item() for column in columns)) for n in places]

    def best(self, count: int) -> dict[Question, list[Candidate]]:
        """Return the best candidates of every question, at most `count` of each."""
        return {question: self.top(number, count) for number, question in enumerate(self.questions)}


def rank(
    ballots: Sequence[Ballot], questions: Sequence[Question], order: str = "votes", found: Found | None = None
) -> Ranking:
    """Pool the ballots and what searches found, and order the candidates of each question."""
    if not ballots:
        raise CharmError("there are no votes to rank")
    tables = [ballot.votes.candidates for ballot in ballots]
    if found is not None:
        tables.append(found.candidates)
    candidates, place_of = pool(tables)
    question, hashes = candidates.question_K, candidates.hash_K
    votes, weight, confidence, odds = _tally(ballots, place_of[: len(ballots)], len(question))
    if found is not None:
        without = votes[place_of[-1]] == 0
        at, logit = place_of[-1][without], found.logit_K[without]
        weight[at], confidence[at], odds[at] = found.weight_K[without], probability(logit), np.exp(logit)
    support = ORDERS[order](weight, confidence)
    best_first = np.lexsort((hashes, -odds, -weight, -support, question))  # the last key counts most
    place = np.empty(len(question), np.int64)
    place[best_first] = np.arange(len(best_first))
    return Ranking(
        tuple(questions),
        np.searchsorted(question[best_first], np.arange(len(questions) + 1)),
        hashes[best_first],
        candidates.shape_K2[best_first],
        votes[best_first],
        weight[best_first],
        confidence[best_first],
        tuple(ballots),
        tuple(place[own] for own in place_of[: len(ballots)]),
        candidates,
        best_first,
    )


def _tally(
    ballots: Sequence[Ballot], place_of: Sequence[npt.NDArray[np.int32]], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Sum votes, weighted votes, mean confidence and the odds of that mean; `place_of` numbers a ballot's candidates.

    The odds, confidence / doubt, put means in the same order as the means themselves, and still differ where
    they round to 1. Counts of equal weight are added before they are multiplied, and confidences are added from the
    smallest up: all sums then depend on what was voted and not on the order in which it is read.
    """
    votes, weight, confidence, doubt = np.zeros(size, np.int64), *np.zeros((3, size))
    for value in sorted({ballot.weight for ballot in ballots}):
        chosen = [b for b, ballot in enumerate(ballots) if ballot.weight == value]
        voted = np.concatenate([place_of[b][ballots[b].votes.candidate_V] for b in chosen])
        sure = np.concatenate([ballots[b].votes.logit_V for b in chosen])
        order = np.argsort(sure)
        voted, sure = voted[order], sure[order]
        counted = np.bincount(voted, minlength=size)
        votes += counted
        weight += value * counted
        confidence += value * np.bincount(voted, weights=probability(sure), minlength=size)
        doubt += value * np.bincount(voted, weights=probability(-sure), minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):  # what a search found has no votes
        return votes, weight, confidence / weight, confidence / doubt


def attempts(ranked: Mapping[Question, Sequence[Candidate]]) -> Submission:
    """Make the submission of ranked candidates: two attempts at every question of every task, in test order.

    A missing second attempt repeats the first. An empty grid is submitted as `NO_ANSWER`, and so is each attempt at a
    question without candidates.
    """
    submission: Submission = {}
    for question, best in ranked.items():
        entries = submission.setdefault(question.task_id, [])
        if question.test_index != len(entries):
            raise CharmError(f"submission: {question} is not in test order, test {len(entries)} should come first")
        grids = [candidate.grid.tolist() or NO_ANSWER for candidate in best[: len(ATTEMPTS)]] or [NO_ANSWER]
        entries.append({"attempt_1": grids[0], "attempt_2": grids[-1]})
    return submission


def write_submission(path: Path, submission: Submission) -> None:
    write_atomically(path, json.dumps(submission))
