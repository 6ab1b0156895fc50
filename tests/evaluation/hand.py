"""Votes and canvases written by hand, one at a time."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from charm.evaluation.decode import collect, hash_grid
from charm.runs.archive import Header, write_votes
from charm.runs.settings import read_config
from charm.runs.votes import Candidates, Votes, merge
from charm.tasks.dataset import asked_inputs
from charm.tasks.task import Question
from charm.tasks.view import View


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
