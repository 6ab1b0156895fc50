from dataclasses import dataclass

import numpy as np

from charm.evaluation.ranking import Ranking
from charm.runs.votes import probability


@dataclass(frozen=True)
class Voter:
    """One view of one checkpoint that proposed a candidate."""

    step: int
    loops: int
    row: int
    confidence: float
    weight: float


def voters(ranking: Ranking, place: int) -> list[Voter]:
    """Who voted for the candidate at `place`, newest checkpoint first: the slow way, one vote after the other."""
    found = []
    for ballot, places in zip(ranking.ballots, ranking.places, strict=True):
        votes = ballot.votes
        for v in np.flatnonzero(places[votes.candidate_V] == place):
            confidence = float(probability(votes.logit_V[v]))
            where = (ballot.step, int(votes.loops_V[v]), int(votes.row_V[v]))
            found.append(Voter(*where, confidence, ballot.weight))
    return sorted(found, key=lambda voter: (-voter.step, voter.loops, voter.row, -voter.confidence))
