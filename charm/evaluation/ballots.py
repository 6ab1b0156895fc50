"""Ballots: the votes that a protocol lets count, with their weight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from charm.errors import CharmError
from charm.evaluation.archive import pass_folder, passes, read_pass
from charm.evaluation.protocols import Protocol
from charm.evaluation.votes import Votes
from charm.tasks.questions import Question


@dataclass(frozen=True, eq=False)
class Ballot:
    """Votes of one checkpoint; every one of them counts `weight`."""

    votes: Votes
    step: int
    weight: float = 1.0


def first_views(votes: Votes, count: int) -> Votes:
    """The votes of each question's first `count` views, in the order of their memory rows."""
    pair_V = votes.question_V.astype(np.int64) << 32 | votes.row_V
    pairs, place_V = np.unique(pair_V, return_inverse=True)
    question = pairs >> 32
    view = np.arange(len(pairs)) - np.searchsorted(question, question, side="left")
    return votes.select(view[place_V] < count)


def load_ballots(
    votes_folder: Path, protocol: Protocol, steps: Iterable[int] | None = None
) -> tuple[tuple[Question, ...], list[Ballot]]:
    """The questions, and the ballots of the checkpoints that the protocol selects among `steps`.

    `steps` defaults to every checkpoint that has votes. A pass that the protocol needs and that is not there,
    or not finished, is an error: a ranking over fewer votes than it claims would be no result.
    """
    weights = protocol.weights(passes(votes_folder) if steps is None else steps)
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
                    f"{folder}: {found.views} views have voted and {protocol.views} shall; make their votes first"
                )
            if questions is not None and found.questions != questions:
                raise CharmError(f"{folder}: these votes answer other questions than the newest")
            questions = found.questions
            votes = found.votes if protocol.views == "all" else first_views(found.votes, protocol.views)
            ballots.append(Ballot(votes, step, weight))
    assert questions is not None  # a protocol has at least one refinement depth
    return questions, ballots
