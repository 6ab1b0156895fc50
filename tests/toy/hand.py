"""Votes and canvases written by hand, one at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from charm.evaluation.decode import collect, hash_grid
from charm.evaluation.protocols import Ballot
from charm.evaluation.ranking import Ranking, rank
from charm.runs.archive import Header, write_votes
from charm.runs.settings import read_config
from charm.runs.votes import Candidates, Votes, merge, probability
from charm.tasks.dataset import asked_inputs
from charm.tasks.task import Question
from charm.tasks.view import DIHEDRALS, View
from tests.toy import hand


def grid(text: str) -> np.ndarray:
    """'12/34' is [[1, 2], [3, 4]]; '' holds no cell."""
    rows = [[int(cell) for cell in row] for row in text.split("/") if row]
    return np.array(rows, np.uint8).reshape(len(rows), len(rows[0]) if rows else 0)


def votes(*entries: tuple[int, str, int, float], loops: int = 16) -> Votes:
    """From (question, grid, row, confidence), a probability."""
    return merge([_vote(*entry, loops) for entry in entries])


def _vote(question: int, text: str, row: int, confidence: float, loops: int) -> Votes:
    cells = grid(text)
    return Votes(
        Candidates(
            np.array([question], np.int32),
            np.array([hash_grid(cells)], np.uint64),
            np.array([cells.shape], np.uint8),
            cells.reshape(-1),
        ),
        np.array([0], np.int32),
        np.array([row], np.int32),
        logits(confidence),
        np.array([loops], np.uint8),
    )


def logits(*probabilities: float) -> np.ndarray:
    with np.errstate(divide="ignore"):
        exact = np.array(probabilities, np.float64)
        return (np.log(exact) - np.log1p(-exact)).astype(np.float32)


def canvas(cells: np.ndarray, side: int = 30) -> np.ndarray:
    """Tokens of a grid at the origin: colours from 2, an L of 1 just outside, 0 elsewhere."""
    tokens = np.zeros((side, side), np.uint8)
    height, width = cells.shape
    tokens[height : height + 1, :width] = 1
    tokens[:height, width : width + 1] = 1
    tokens[:height, :width] = cells + 2
    return tokens


def predict(predictions: list[tuple[int, np.ndarray, View, int, float]], side: int = 30) -> Votes:
    """Collect (question, grid in the task's frame, view, row, confidence) as a model would have drawn them."""
    questions, grids, views, rows, confidences = zip(*predictions, strict=True)
    tokens = [canvas(view.apply(cells), side).reshape(-1) for view, cells in zip(views, grids, strict=True)]
    return collect(
        torch.from_numpy(np.stack(tokens)),
        torch.from_numpy(logits(*confidences)),
        torch.tensor(questions),
        torch.tensor([view.code for view in views]),
        torch.tensor(rows),
        loops=16,
    )


def listed(found: Votes) -> list[tuple[int, str, int, float, int]]:
    """The votes in a comparable form that does not depend on their order: question, grid, row, logit, loops."""
    entries = []
    for v in range(len(found)):
        cells = found.candidates.grid(int(found.candidate_V[v]))
        text = "/".join("".join(map(str, row)) for row in cells)
        entry = (found.question_V[v], text, found.row_V[v], found.logit_V[v], found.loops_V[v])
        entries.append((int(entry[0]), text, int(entry[2]), float(entry[3]), int(entry[4])))
    return sorted(entries)


def cast(run: Path, step: int, questions: Sequence[Question], found: Votes, loops: int = 16) -> Path:
    """Write votes on questions of a run's tasks into its folder."""
    asked = asked_inputs(read_config(run).data)
    inputs = tuple(asked[question] for question in questions)
    return write_votes(run / "votes", Header(step, loops, 0, 1, tuple(questions), True, inputs=inputs), found)


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


def ranking_of(orders: dict[Question, list[str]]) -> Ranking:
    """A ranking with these candidates in this order."""
    entries = []
    for q, texts in enumerate(orders.values()):
        for place, text in enumerate(texts):
            entries += [(q, text, row, 0.5) for row in range(len(texts) - place)]
    return rank([Ballot(hand.votes(*entries), 1)], list(orders))


# Task a has two outputs: one first, one third. b is second, c has the right size only, d the wrong size only,
# e no grid, f was never asked of the model.
ORDERS = {
    Question("a", 0): ["1", "2"],
    Question("a", 1): ["2", "3", "1"],
    Question("b", 0): ["5", "1"],
    Question("c", 0): ["55/55", "12/35"],
    Question("d", 0): ["1", "11"],
    Question("e", 0): ["", ""],
}


ANSWERS = {
    Question("a", 0): hand.grid("1"),
    Question("a", 1): hand.grid("1"),
    Question("b", 0): hand.grid("1"),
    Question("c", 0): hand.grid("12/34"),
    Question("d", 0): hand.grid("1/1"),
    Question("e", 0): hand.grid("1"),
    Question("f", 0): hand.grid("1"),
}


def random_predictions(seed: int, count: int) -> list[tuple[int, np.ndarray, View, int, float]]:
    """Few different grids over few questions, so that candidates repeat."""
    rng = np.random.default_rng(seed)
    grids = [rng.integers(0, 10, rng.integers(1, 13, 2)).astype(np.uint8) for _ in range(6)]
    grids.append(np.zeros((0, 0), np.uint8))
    predictions = []
    for row in range(count):
        view = View(int(rng.integers(DIHEDRALS)), (0, *(int(c) + 1 for c in rng.permutation(9))))
        confidence = float(np.float32(rng.random()))
        predictions.append((int(rng.integers(4)), grids[rng.integers(len(grids))], view, row, confidence))
    return predictions
