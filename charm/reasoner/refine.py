"""Refinement in evaluation: a fixed number of steps from the initial state, every step visible."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from charm.errors import CharmError
from charm.reasoner.backbone import Reasoner
from charm.reasoner.vit import Vit


# As a decorator, inference mode is on only while the generator itself runs, never in the caller's loop.
@torch.inference_mode()
def refine(
    reasoner: Reasoner | Vit, tokens_BT: Tensor, task_BD: Tensor, steps: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields (token logits [B, T, V], halt logits) after each of `steps` steps; there is no early halting.

    The last pair is the answer; the ones before make curves and pictures. Cells form a square canvas.
    """
    cells = tokens_BT.shape[1]
    side = math.isqrt(cells)
    if side * side != cells:
        raise CharmError(f"expected a square canvas, got {cells} cells")
    state = reasoner.initial_state(len(tokens_BT), cells)
    for _ in range(steps):
        state, logits_BTV, halt = reasoner(state, tokens_BT, task_BD, side)
        yield logits_BTV, halt
