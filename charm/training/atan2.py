"""Adam with atan2 in place of a division: no epsilon, and bounded steps. HRM's, TRM's and URM's own optimizer.

w <- w (1 - lr decay) - lr / (1 - beta1^t) atan2(m, sqrt(v / (1 - beta2^t)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.optim import Optimizer

from charm.training.assembly import to_move


class AdamAtan2(Optimizer):
    """As version 0.0.3 of the package adam-atan2. `lr` may be a number or a tensor on the parameters' device."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.95),
        weight_decay: float = 0.1,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        assert closure is None
        for group in self.param_groups:
            weights, gradients, updates, averages, squares = to_move(
                self,
                group,
                updates=lambda weight: weight.new_zeros(()),
                average=torch.zeros_like,
                square=torch.zeros_like,
            )
            if not weights:
                continue
            beta1, beta2 = group["betas"]
            torch._foreach_add_(updates, 1)
            torch._foreach_lerp_(averages, gradients, 1 - beta1)
            torch._foreach_mul_(squares, beta2)
            torch._foreach_addcmul_(squares, gradients, gradients, 1 - beta2)
            torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
            for weight, count, average, square in zip(weights, updates, averages, squares, strict=True):
                angle = torch.atan2(average, (square / (1 - beta2**count)).sqrt())
                weight -= angle * (group["lr"] / (1 - beta1**count))
        return None
