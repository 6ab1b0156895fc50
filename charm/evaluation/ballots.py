"""Ballots: the votes that count under a protocol, with their weight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from charm.errors import CharmError
from charm.evaluation.protocols import Protocol
from charm.runs.archive import damaged_passes, pass_folder, passes, read_pass, same_run
from charm.runs.votes import Votes
from charm.tasks.task import Question


@dataclass(frozen=True, eq=False)
class Ballot:
    """Votes of one checkpoint, each with the same `weight`."""

    votes: Votes
    step: int
    weight: float = 1.0


def first_views(votes: Votes, count: int | Literal["all"]) -> Votes:
    """The votes of each question's first `count` views, in the order of their memory rows, or all."""
    if count == "all":
        return votes
    jobs, place_V = np.unique(votes.job_V, return_inverse=True)
    question = jobs >> 32
    view = np.arange(len(jobs)) - np.searchsorted(question, question, side="left")
    return votes.select(view[place_V] < count)


def ballots_of(votes: Mapping[int, Votes], protocol: Protocol, step: int = 0) -> list[Ballot]:
    """The ballots of one checkpoint's votes in memory, by refinement depth as `predict` returns them."""
    ballots = []
    for loops in protocol.loops:
        if loops not in votes:
            raise CharmError(f"there are no votes after {loops} refinement steps, only {sorted(votes)}")
        ballots.append(Ballot(first_views(votes[loops], protocol.views), step))
    return ballots


def load_ballots(
    votes_folder: Path, protocol: Protocol, steps: Iterable[int] | None = None, run: str = ""
) -> tuple[tuple[Question, ...], list[Ballot]]:
    """The questions, and the ballots of the checkpoints that the protocol selects among `steps`.

    `steps` defaults to every checkpoint that has votes, damaged ones included. A pass that the protocol needs and that
    is not there, not finished or made by another run than `run` is an error: a ranking over fewer votes than it claims
    would be no result.
    """
    if steps is None:
        depths = set(protocol.loops)
        damaged = {step for step, loops in damaged_passes(votes_folder).items() if depths & set(loops)}
        steps = {*passes(votes_folder), *damaged}
    weights = protocol.weights(steps)
    if not weights:
        raise CharmError(f"{votes_folder}: no checkpoint has votes yet")
    questions: tuple[Question, ...] | None = None
    ballots = []
    for step, weight in weights.items():
        for loops in protocol.loops:
            found = read_pass(votes_folder, step, loops)
            folder = pass_folder(votes_folder, step, loops)
            if found.missing:
                ranks = ", ".join(map(str, found.missing))
                raise CharmError(f"{folder}: the votes of rank {ranks} are missing or not finished")
            if protocol.views != "all" and 0 < found.views < protocol.views:
                raise CharmError(
                    f"{folder}: protocol needs votes from {protocol.views} views but only {found.views} have them; "
                    "run `charm eval` first"
                )
            if questions is not None and found.questions != questions:
                raise CharmError(f"{folder}: these votes answer other questions than the newest")
            if not same_run(found.run, run):
                raise CharmError(
                    f"{folder}: these votes were made by another run; remove them and evaluate again"
                )
            questions, run = found.questions, run or found.run
            ballots.append(Ballot(first_views(found.votes, protocol.views), step, weight))
    assert questions is not None  # a protocol has at least one refinement depth
    return questions, ballots
