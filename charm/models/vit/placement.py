"""Asking a vit: each step of an answer is a new random placement of the question on its large canvas.

Dimension letters: N questions under views, T cells, V tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from charm.models.canvas.answers import Placement, lift_grids, placed_inputs, refine
from charm.models.canvas.halting import log_odds
from charm.models.network import AskedBatch
from charm.tasks import keyed
from charm.tasks.canvas import FULL_SIDE, LARGE_SIDE, MARGIN, most_scale
from charm.tasks.keyed import Numbers

if TYPE_CHECKING:
    from charm.models.vit.network import Vit


def random_placement(question_N: Tensor, row_N: Tensor, bound_N: Numbers, draw: int) -> Placement:
    """The `draw`-th random scale and place of each question, decided by (question, memory row, draw) alone.

    Uniform over the scales at which a grid of side `bound_N` fits, then over its places. The bound is the longest side
    that the task shows: the answer's own size is not known.
    """
    counters = question_N.cpu().numpy().astype(np.int64) << 32 | row_N.cpu().numpy()
    table = np.array([1, *(most_scale(longest, LARGE_SIDE) for longest in range(1, FULL_SIDE + 1))])
    scale = 1 + keyed.below(keyed.key_of("asked scale", draw), counters, table[bound_N])
    room = LARGE_SIDE - MARGIN - bound_N * scale
    top = MARGIN + keyed.below(keyed.key_of("asked top", draw), counters, room)
    left = MARGIN + keyed.below(keyed.key_of("asked left", draw), counters, room)
    return Placement(*(torch.from_numpy(part).to(row_N.device) for part in (top, left, scale)))


def placed_answers(vit: Vit, asked: AskedBatch, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield a vit's answers and their log-odds, one for each of `steps` random placements."""
    bound_N = np.array(asked.bounds, np.int64)[asked.question_N.cpu()]
    for draw in range(1, steps + 1):
        where = random_placement(asked.question_N, asked.row_N, bound_N, draw)
        for logits_NTV, _ in refine(vit, placed_inputs(asked, where), asked.task_ND, 1):
            found_NT, best_NT = logits_NTV.log_softmax(-1).max(-1)
            answer_NT, inside_NT = lift_grids(best_NT, where)
            yield answer_NT, _log_odds(found_NT, inside_NT, answer_NT)


def _log_odds(found_NT: Tensor, inside_NT: Tensor, answer_NT: Tensor) -> Tensor:
    """Of answers, from the log-probabilities of their tokens: the tokens of one cell count as one."""
    mean_N = torch.where(inside_NT, found_NT, 0.0).sum(1) / inside_NT.sum(1).clamp(min=1)
    sure_N = mean_N * (answer_NT > 0).sum(1)
    sure_N = torch.where(inside_NT.any(1), sure_N, -100.0).clamp(max=-1e-7)
    return log_odds(sure_N)
