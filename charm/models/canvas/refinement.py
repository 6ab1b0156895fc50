"""One refinement step in training: carry in, forward, loss, gradients, carry out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from charm.models.canvas.halting import halt_now, minimum_steps
from charm.models.canvas.losses import canvas_loss, continue_loss, refinement_loss
from charm.models.config import NetworkConfig

if TYPE_CHECKING:
    from charm.models.canvas.slots import Slots
    from charm.models.model import CharmModel


@dataclass(frozen=True)
class Refinement:
    """Settings of a refinement step in training."""

    kind: str
    limit: int
    """Maximum number of refinement steps per example."""
    exploration: float
    """Share of examples that must not halt before a randomly drawn depth."""
    batch: int
    """Slots over all processes; the loss is a mean over them."""
    halt_weight: float
    """Weight of the halting loss."""
    accumulate: int = 1
    """Number of micro-batches per update."""

    @staticmethod
    def of(reasoner: NetworkConfig, batch: int, halt_weight: float, accumulate: int = 1) -> Refinement:
        limits = (reasoner.kind, reasoner.depth, reasoner.explored)
        return Refinement(*limits, batch, halt_weight, accumulate)


def refine_prepared(model: CharmModel, slots: Slots, settings: Refinement) -> dict[str, Tensor]:
    """Refill what halted, refine every slot once, leave gradients of the loss, and decide who halts now.

    `Slots.prepare` is the host's half of the work; nothing here synchronises with the host.
    """
    slots.take(model)
    part = len(slots) // settings.accumulate
    halts, sums = [], []
    for first in range(0, len(slots), part):
        at = slice(first, first + part)
        state, logits, halt = model(slots.state_SBLD[:, at], slots.inputs_BT[at], slots.row_B[at], slots.side)
        if settings.kind == "vit":
            loss, metrics = canvas_loss(logits, slots.targets_BT[at], settings.batch)
        else:
            loss, metrics = refinement_loss(
                logits, halt, slots.targets_BT[at], settings.batch, settings.halt_weight
            )
        if settings.kind == "hrm" and halt.dim() == 2:
            with torch.no_grad():
                _, _, next_halt = model(state, slots.inputs_BT[at], slots.row_B[at], slots.side)
            last = slots.steps_B[at] + 1 >= settings.limit
            loss = loss + continue_loss(halt, next_halt, last, settings.batch, settings.halt_weight)
        loss.backward()
        slots.state_SBLD[:, at] = state
        halts.append(halt.detach())
        sums.append({"loss": loss.detach() * settings.batch / part, **metrics})

    slots.steps_B += 1
    minimum = minimum_steps(slots.exploration_B2, settings.exploration, settings.limit)
    slots.halted_B.copy_(halt_now(torch.cat(halts), slots.steps_B, settings.limit, minimum, settings.kind))
    metrics = {name: torch.stack([one[name] for one in sums]).float().mean() for name in sums[0]}
    metrics["halted"] = slots.halted_B.float().mean()
    metrics["halted_steps"] = (slots.halted_B * slots.steps_B).float().mean()
    metrics["early"] = (slots.halted_B & (slots.steps_B < settings.limit)).float().mean()
    return metrics
