"""The answers of a run or of a solve as JSON values, from which a page's script draws each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError
from charm.evaluation.evaluate import Evaluation
from charm.evaluation.ranking import Ranking
from charm.evaluation.scoring import Scores
from charm.report.folder import JsonObject
from charm.tasks.dataset import DataConfig, evaluated_tasks
from charm.tasks.instances import Instances
from charm.tasks.task import Grid, Question, Task, digits
from charm.tasks.view import decode

BUDGET = 14_000_000  # maximum characters of candidates, so that a page of 400 tasks stays under 30 MB
LEAST = 5  # minimum number of candidates for each question
Films = Mapping[Question, Sequence[Grid]]  # the prediction after each refinement step; 0 x 0 if there is none


class TaskGrids(NamedTuple):
    """The grids of a task as text; a solve may know the test inputs only."""

    demos: list[list[str]]
    tests: list[tuple[str, str | None]]  # input, and the output if it is known

    @classmethod
    def of(cls, task: Task) -> TaskGrids:
        """Return the grids of a task with its known answers."""
        tests = [(digits(pair.input), None if pair.output is None else digits(pair.output)) for pair in task.test]
        return cls([[digits(grid) for grid in pair.grids()] for pair in task.train], tests)


def task_entries(
    scores: Scores, grids: Mapping[str, TaskGrids], found: Mapping[Question, JsonObject]
) -> list[JsonObject]:
    """Return every scored task, in order: its demonstrations, and its tests with what was `found` for them.

    `found` has at least the "candidates" of a question, best first.
    """
    entries = []
    for result in scores.tasks:
        demos, asked = grids[result.task_id]
        tests: list[JsonObject] = []
        for output in result.outputs:
            given, truth = asked[output.test_index]
            own = found.get(Question(result.task_id, output.test_index), {"candidates": []})
            about = {"outcome": output.outcome, "rank": output.rank, "none": output.no_answer_votes}
            more = output.candidates - len(own["candidates"])
            tests.append({"input": given, "truth": truth, **about, "more": more, **own})
        entries.append({"id": result.task_id, "outcome": result.outcome, "demos": demos, "tests": tests})
    return entries


# Runs


def voting_steps(ranking: Ranking) -> list[int]:
    """Return the checkpoints that voted, newest first."""
    return sorted({ballot.step for ballot in ranking.ballots}, reverse=True)


def affordable(ranking: Ranking) -> int:
    """Return the number of candidates for each question that fit on a page."""
    count_Q = np.diff(ranking.start)
    rank_K = np.arange(len(ranking.votes_K)) - np.repeat(ranking.start[:-1], count_Q)
    # A view has one vote in each ballot, which bounds the views of a candidate.
    votes_Q = np.array([_all_votes(ranking, q) for q in range(len(count_Q))], np.int64)
    views_K = np.minimum(ranking.votes_K, np.repeat(votes_Q // len(ranking.ballots), count_Q))
    # Approximate characters of a candidate: names and scores, grid rows, votes by checkpoint, places of its views.
    height_K, width_K = ranking.shape_K2.astype(np.int64).T
    size_K = 120 + height_K * (width_K + 1) + 4 * len(voting_steps(ranking)) + 5 * views_K
    fits = np.cumsum(np.bincount(rank_K, size_K)) <= BUDGET
    return max(LEAST, int(fits.sum()))


def run_entries(
    data: DataConfig,
    evaluation: Evaluation,
    top: int,
    instances: Instances | None = None,
    films: Films | None = None,
    zeroed: Mapping[Question, Grid] | None = None,
) -> list[JsonObject]:
    """Return the `task_entries` of a run, with `top` candidates for each test and the right one if it ranks lower.

    `instances` maps votes to views; without it, views are only counted. A test's "views" are ten digits each: the
    symmetry and what colours 1 to 9 become. A candidate's "which" are indices into these views. `zeroed` are the first
    answers with the memory zeroed. Films in which nothing changes are left out.
    """
    ranking, films = evaluation.ranking, films or {}
    right = {Question(one.task_id, out.test_index): out.rank for one in evaluation.scores.tasks for out in one.outputs}
    if unknown := sorted(set(films) - set(right)):
        raise CharmError(f"films include {unknown[0]}, which is not a question of this run")
    shown = {}
    for number, question in enumerate(ranking.questions):
        shown[question] = ranking.top(number, top)
        rank = right.get(question)
        if rank is not None and rank > top:
            shown[question].append(ranking.top(number, rank)[-1])
    voters = _voters(ranking, [candidate.place for some in shown.values() for candidate in some])
    codes = None if instances is None else instances.table()[1]
    found: dict[Question, JsonObject] = {question: {"candidates": []} for question in right}
    for number, (question, some) in enumerate(shown.items()):
        first, total = ranking.span(number).start, _all_votes(ranking, number)
        test = found[question] = {"candidates": []}
        for one in some:
            candidate = {
                "rank": one.place - first + 1,
                "grid": digits(one.grid),
                "votes": one.votes,
                "share": round(one.votes / total, 4),
                "weight": None if one.weight == one.votes else round(one.weight, 2),
                "confidence": round(one.confidence, 4),
                "by": voters[one.place].by,
                "views": len(voters[one.place].row_N),
            }
            test["candidates"].append(candidate)
        if codes is not None:
            _name_views(test, [voters[one.place].row_N for one in some], codes)
    for question, test in found.items():
        frames = [digits(grid) for grid in films.get(question, ())]
        if len(set(frames)) > 1:
            test["film"] = frames
        if zeroed is not None:
            test["zeroed"] = digits(zeroed[question]) if question in zeroed else ""
    return task_entries(evaluation.scores, {task.id: TaskGrids.of(task) for task in evaluated_tasks(data)}, found)


class _Voters(NamedTuple):
    by: list[int]  # votes from every voting step, newest first
    row_N: npt.NDArray[np.int64]  # memory rows, each a view, that voted; ascending


def _name_views(test: JsonObject, rows: Sequence[npt.NDArray[np.int64]], codes: npt.NDArray[np.uint32]) -> None:
    """Add to a test which views voted for each candidate, from its memory `rows`; `codes` are the views of all rows."""
    row_N = np.unique(np.concatenate([*rows, np.zeros(0, np.int64)]))
    if len(row_N) and row_N[-1] >= len(codes):
        raise CharmError("the votes refer to memory rows that are not in the newest checkpoint")
    dihedral_N, colors_NC = decode(codes[row_N])
    views = np.column_stack([dihedral_N, colors_NC[:, 1:]]).astype(np.uint8)
    test["views"] = (views + ord("0")).tobytes().decode()
    for shown, voted in zip(test["candidates"], rows, strict=True):
        shown["which"] = np.searchsorted(row_N, voted).tolist()


def _all_votes(ranking: Ranking, question: int) -> int:
    """Count all votes on a question, including those without a grid."""
    span = ranking.span(question)
    return int(ranking.votes_K[span.start : span.stop].sum())


def _voters(ranking: Ranking, places: Sequence[int]) -> dict[int, _Voters]:
    """Return the voters of each of these places, in one pass over all votes: an evaluation has millions."""
    steps = voting_steps(ranking)
    # Place -> number among `places`, -1 for the others.
    number = np.full(len(ranking.votes_K), -1, np.int64)
    number[np.array(places, np.int64)] = np.arange(len(places))
    votes_SP = np.zeros((len(steps), len(places)), np.int64)
    pairs = []
    for ballot, place_of in zip(ranking.ballots, ranking.places, strict=True):
        number_V = number[place_of[ballot.votes.candidate_V]]
        kept_V = number_V >= 0
        votes_SP[steps.index(ballot.step)] += np.bincount(number_V[kept_V], minlength=len(places))
        pairs.append(number_V[kept_V] << 32 | ballot.votes.row_V[kept_V])
    pair_N = np.unique(np.concatenate(pairs))  # a candidate and a row that voted for it
    start_P = np.searchsorted(pair_N >> 32, np.arange(len(places) + 1))
    by_PS, row_N = votes_SP.T.tolist(), pair_N & 0xFFFFFFFF
    return {place: _Voters(by_PS[n], row_N[start_P[n] : start_P[n + 1]]) for n, place in enumerate(places)}
