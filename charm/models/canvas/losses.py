"""The loss of one refinement step: stablemax cross-entropy of the cells and the halt head's cross-entropy.

Shapes: B examples, T cells, V tokens.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from charm.models.canvas.halting import halt_logit
from charm.tasks.canvas import PAD


def stablemax(x: Tensor) -> Tensor:
    """s(x) = x + 1 from zero up, 1 / (1 - x) below: positive, rising, and s(x) * s(-x) = 1."""
    # The clamp keeps the branch that is not taken away from its pole at 1, whose gradient would be NaN.
    return torch.where(x >= 0, x + 1, 1 / (1 - x.clamp(max=0)))


def stablemax_cross_entropy(logits_BTV: Tensor, targets_BT: Tensor) -> Tensor:
    """-ln(s(z_y) / sum_j s(z_j)) of every cell, [B, T], in the logits' own type.

    Written as log1p(sum over j != y of s(z_j) s(-z_y)). All terms are positive and nothing is subtracted, so
    float32 keeps its full relative precision down to the smallest losses and up to logits of 1e18. The plain
    quotient needs float64 for that, which some devices do not have.
    """
    targets_BT1 = targets_BT.long().unsqueeze(-1)
    others_BT = stablemax(logits_BTV).scatter(-1, targets_BT1, 0.0).sum(-1)
    return torch.log1p(others_BT * stablemax(-logits_BTV.gather(-1, targets_BT1)).squeeze(-1))


def refinement_loss(
    logits_BTV: Tensor, halt: Tensor, targets_BT: Tensor, global_batch: int, halt_weight: float = 0.5
) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss to minimise, and what to log.

    Per example: the mean over its non-pad targets of the cross-entropy, plus halt_weight times the binary
    cross-entropy of the halt logit against "all of them are right". The sum over examples is divided by
    `global_batch`, so ranks and micro-batches add up. An example without any target contributes nothing.

    The metrics are detached scalar tensors: means over the examples with a target, and their number.
    `token_accuracy` is the mean over examples of the share of right cells.
    """
    wanted_BT = targets_BT != PAD
    cells_B = wanted_BT.sum(1)
    valid_B = cells_B > 0
    cells_B = cells_B.clamp(min=1)
    nll_BT = stablemax_cross_entropy(logits_BTV, targets_BT)
    token_B = torch.where(wanted_BT, nll_BT, 0.0).sum(1) / cells_B

    right_BT = (logits_BTV.argmax(-1) == targets_BT) & wanted_BT
    exact_B = (right_BT | ~wanted_BT).all(1)
    halt_B = halt_logit(halt)
    doubt_B = F.binary_cross_entropy_with_logits(halt_B, exact_B.to(halt_B.dtype), reduction="none")
    doubt_B = torch.where(valid_B, doubt_B, 0.0)

    loss = (token_B + halt_weight * doubt_B).sum() / global_batch
    examples = valid_B.sum()

    def mean(value_B: Tensor) -> Tensor:
        return (value_B.detach() * valid_B).sum() / examples.clamp(min=1)

    metrics = {
        "token_loss": mean(token_B),
        "halt_loss": mean(doubt_B),
        "token_accuracy": mean(right_BT.sum(1) / cells_B),
        "exact_accuracy": mean(exact_B),
        "halt_accuracy": mean((halt_B > 0) == exact_B),
        "examples": examples,
    }
    return loss, metrics


def canvas_loss(
    logits_BTV: Tensor, targets_BT: Tensor, global_batch: int
) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss of a model that answers in one step: the mean softmax cross-entropy of all targets of the batch.

    Large grids count for more, as they do in VARC. The loss of a part of the batch is weighed by its examples. The
    metrics are `refinement_loss`'s, but for the halt head's.
    """
    wanted_BT = targets_BT != PAD
    nll_BT = F.cross_entropy(logits_BTV.flatten(0, 1), targets_BT.long().flatten(), reduction="none")
    nll_BT = nll_BT.view_as(targets_BT)
    mean = torch.where(wanted_BT, nll_BT, 0.0).sum() / wanted_BT.sum().clamp(min=1)
    right_BT = (logits_BTV.argmax(-1) == targets_BT) & wanted_BT
    valid_B = wanted_BT.any(1)
    examples = valid_B.sum()
    exact_B = (right_BT | ~wanted_BT).all(1) & valid_B
    metrics = {
        "token_loss": mean.detach(),
        "token_accuracy": right_BT.sum() / wanted_BT.sum().clamp(min=1),
        "exact_accuracy": exact_B.sum() / examples.clamp(min=1),
        "examples": examples,
    }
    return mean * (len(targets_BT) / global_batch), metrics


def continue_loss(
    halt_B2: Tensor, next_halt_B2: Tensor, last_B: Tensor, global_batch: int, weight: float = 0.5
) -> Tensor:
    """HRM's further loss on the continue logit: it should foresee what one more step (without gradient) says.

    The target is the probability of the next step's halt logit where that step must halt (`last_B`: this slot
    has made all its steps), elsewhere of the larger of its halt and continue logits.
    """
    foreseen_B = torch.where(last_B, next_halt_B2[:, 0], next_halt_B2.amax(1)).detach().sigmoid()
    doubt = F.binary_cross_entropy_with_logits(halt_B2[:, 1], foreseen_B, reduction="sum")
    return weight * doubt / global_batch
