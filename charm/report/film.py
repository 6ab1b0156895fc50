"""Films of refinement: the model's answer after each step."""

import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from math import isqrt
from pathlib import Path

import numpy as np
import torch

from charm.errors import CharmError, charm_errors
from charm.evaluation.scoring import OUTCOMES, Scores
from charm.files import read_json, write_atomically
from charm.models.model import CharmModel
from charm.models.network import AskedBatch
from charm.runs.checkpoint import folder_of, steps_of
from charm.runs.settings import read_config
from charm.tasks.canvas import crop
from charm.tasks.dataset import Dataset, load_dataset
from charm.tasks.task import COLORS, Grid, Question


def refinement_film(
    model: CharmModel, data: Dataset, question: Question, steps: int, device: torch.device | str
) -> list[Grid]:
    """Predict the answer to a question in its original view, after each of `steps` refinement steps.

    The model must be on `device` and bound to the rows of `data`. A prediction without a grid is 0 x 0.
    """
    if question not in data.questions:
        raise CharmError(f"{question} is not a question of this dataset")
    number = data.questions.index(question)
    row = torch.from_numpy(data.question_rows(question, 1)).long().to(device)  # the first view is the original
    bank, keys, which = data.question_bank.to(device), data.keys().to(device), torch.tensor([number])
    with torch.inference_mode():
        canvas = data.question_sides[number], data.question_bounds
        asked = AskedBatch(bank, keys, which.to(device), row, model.task(row), *canvas)
    answers = [answer[0].cpu().numpy() for answer, _ in model.reasoner.answers(asked, steps)]
    return [crop(answer.reshape(isqrt(answer.size), -1)) for answer in answers]


def make_films(
    run: Path, scores: Scores, count: int, device: torch.device | str, data: Path | None = None
) -> dict[Question, list[Grid]]:
    """Make `count` films in which something changes, or as many as there are, with the newest checkpoint."""
    steps = steps_of(run)
    if not steps:
        raise CharmError(f"{run}: films need a checkpoint, but the run has none")
    config = read_config(run, data)
    model = CharmModel.from_pretrained(folder_of(run, steps[-1]), device)
    dataset = load_dataset(config.data, model.instances)
    films: dict[Question, list[Grid]] = {}
    for question in in_turn(scores):
        frames = refinement_film(model, dataset, question, config.evaluate_loops[0], device)
        if any(not np.array_equal(frame, frames[0]) for frame in frames):
            films[question] = frames
        if len(films) == count:
            break
    return films


def in_turn(scores: Scores) -> list[Question]:
    """Return the first test of every task, one of each outcome in turn, in the order of the split."""
    by_outcome = [[task for task in scores.tasks if task.outcome == outcome] for outcome in OUTCOMES]
    turns = [task for row in zip_longest(*by_outcome) for task in row if task is not None]
    return [Question(task.task_id, task.outputs[0].test_index) for task in turns]


def write_films(run: Path, films: Mapping[Question, Sequence[Grid]]) -> None:
    """Write RUN/films.json, with grids as nested lists of colours."""
    entries = [
        {"task": question.task_id, "test": question.test_index, "frames": [one.tolist() for one in frames]}
        for question, frames in films.items()
    ]
    write_atomically(run / "films.json", json.dumps(entries) + "\n")


def read_films(run: Path) -> dict[Question, list[Grid]]:
    """Read RUN/films.json; empty if there is none."""
    path = run / "films.json"
    if not path.is_file():
        return {}
    with charm_errors(f"{path}: not a record of films", ValueError, KeyError, TypeError, OverflowError):
        films = [(str(one["task"]), int(one["test"]), one["frames"]) for one in read_json(path)]
        return {Question(task, test): [_frame(frame) for frame in frames] for task, test, frames in films}


def _frame(rows: list[list[int]]) -> Grid:
    cells = np.array(rows, np.int64).reshape(len(rows), -1 if rows else 0)
    if cells.size and not 0 <= cells.min() <= cells.max() < COLORS:
        raise ValueError(f"colours must be in 0..9, got {cells.max()}")
    return cells.astype(np.uint8)
