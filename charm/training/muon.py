"""Muon: momentum whose matrices are made orthogonal before they are applied.

The same update as torch.optim.Muon with Nesterov momentum and the rate adjusted to AdamW's size, against which it is
tested. Ours makes all matrices of one shape orthogonal in one batch, a quarter of the launches for a typical model, and
takes its learning rate from the device too, so that an update can be recorded as a CUDA graph. URM's own Muon has other
polynomials, iterates in float32, and its momentum is a sum of gradients, not a mean: it rounds other numbers to
bfloat16.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from charm.training.assembly import to_move

Polynomial = tuple[float, float, float]  # a x + b x^3 + c x^5 of the singular values
NEWTON_SCHULZ: tuple[Polynomial, ...] = 5 * ((3.4445, -4.7750, 2.0315),)
# URM runs five stages of a schedule of eight, so that singular values from 0.005 to 1 end between 0.45 and 1.83.
URM_STAGES: tuple[Polynomial, ...] = (
    (7.2086, -15.5131, 9.0178),
    (3.9623, -2.5813, 0.4542),
    (3.9466, -2.5765, 0.4544),
    (3.8991, -2.5671, 0.4566),
    (3.7186, -2.5308, 0.4653),
)
NORM_EPS = 1e-7


class Muon(Optimizer):
    """For parameters that are matrices. `lr` may be a number or a tensor on the parameters' device."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        urm: bool = False,
    ) -> None:
        """With `urm` the polynomials and the momentum are URM's; parameter groups may differ in it."""
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "urm": urm})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        assert closure is None
        for group in self.param_groups:
            weights, gradients, averages = to_move(self, group, momentum_buffer=torch.zeros_like)
            if not weights:
                continue
            momentum = group["momentum"]
            if group["urm"]:
                torch._foreach_mul_(averages, momentum)
                torch._foreach_add_(averages, gradients)
                changes = list(torch._foreach_add(gradients, averages, alpha=momentum))
            else:
                torch._foreach_lerp_(averages, gradients, 1 - momentum)
                changes = list(torch._foreach_lerp(gradients, averages, momentum))

            by_shape: dict[torch.Size, list[int]] = defaultdict(list)
            for number, change in enumerate(changes):
                by_shape[change.shape].append(number)
            for shape, numbers in by_shape.items():
                # Entries of an orthogonal matrix have a mean square of 1 / max(shape); AdamW's changes about 0.2^2.
                size = 0.2 * max(shape) ** 0.5
                batch = torch.stack([changes[number] for number in numbers])
                if group["urm"]:
                    batch = orthogonalized(batch, URM_STAGES, torch.float32)
                else:
                    batch = orthogonalized(batch).float()
                for number, change in zip(numbers, (batch * (size * group["lr"])).unbind(), strict=True):
                    changes[number] = change
            torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
            torch._foreach_sub_(weights, changes)
        return None


def orthogonalized(
    matrices_KRC: Tensor, stages: Sequence[Polynomial] = NEWTON_SCHULZ, dtype: torch.dtype = torch.bfloat16
) -> Tensor:
    """Nearly U V^T of each U S V^T, rounded to bfloat16: quintic Newton-Schulz iterations in `dtype`."""
    x = matrices_KRC.bfloat16().to(dtype)
    wide = x.shape[1] <= x.shape[2]
    x = x if wide else x.mT  # the smaller Gram matrix
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=NORM_EPS)
    for a, b, c in stages:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x if wide else x.mT
