"""A film of refinement: what the model would answer after each step."""

from __future__ import annotations

import numpy as np
import torch

from charm.errors import CharmError
from charm.model import CharmModel
from charm.reasoner.refine import refine
from charm.tasks.batch import view_tokens
from charm.tasks.canvas import crop
from charm.tasks.dataset import Dataset
from charm.tasks.questions import Question
from charm.tasks.task import Grid
from charm.tasks.view import IDENTITY


def refinement_film(
    model: CharmModel, data: Dataset, question: Question, steps: int, device: torch.device | str
) -> list[Grid]:
    """The prediction for the question as it stands, under no view, after each of `steps` refinement steps.

    The model is on `device` and bound to the rows of `data`. A prediction that holds no grid is 0 x 0.
    """
    if question not in data.questions:
        raise CharmError(f"{question} is not a question of this dataset")
    number = data.questions.index(question)
    side = data.question_sides[number]
    pair = torch.tensor([number], device=device)
    row = torch.tensor([data.instances.row(question.task_id, IDENTITY)], device=device)
    corner = torch.zeros_like(pair)
    bank, keys = data.question_bank.to(device), data.keys().to(device)
    with torch.inference_mode():
        tokens, _ = view_tokens(bank, keys, pair, row, corner, corner, side, outputs=False)
        task = model.task(row)
    answers = [logits[0].argmax(-1) for logits, _ in refine(model.reasoner, tokens, task, steps)]
    return [crop(answer.cpu().numpy().astype(np.uint8).reshape(side, side)) for answer in answers]
