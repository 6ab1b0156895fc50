"""Muon with Polar Express, row normalisation (NorMuon) and cautious weight decay.

torch.optim.Muon has none of the three; with all three off the two agree (tests/language/test_muon.py).
Shapes: N stacked matrices of one shape, O outputs, I inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from charm.training.assembly import to_move

# Odd polynomials a x + b x^3 + c x^5 that, applied in turn, map singular values in (0, 1] close to 1.
POLAR_EXPRESS = (
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
)
SAFETY = 1.01  # keeps the largest singular value below 1, so that rounding errors cannot make it diverge


def polar(
    matrices_NOI: Tensor,
    dtype: torch.dtype = torch.bfloat16,
    coefficients: Sequence[tuple[float, float, float]] = POLAR_EXPRESS,
    safety: float = SAFETY,
) -> Tensor:
    """Approximate U V^T of each matrix's singular value decomposition U S V^T, computed in `dtype`."""
    is_tall = matrices_NOI.shape[-2] > matrices_NOI.shape[-1]
    x = (matrices_NOI.mT if is_tall else matrices_NOI).to(dtype)  # wide, so that the products are small
    x = x / (torch.linalg.matrix_norm(x, keepdim=True) * safety + 1e-6)
    for a, b, c in coefficients:
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if is_tall else x


def even_out(update_NOI: Tensor, square_N: Tensor, beta2: float) -> Tensor:
    """Divide each line across the longer axis by its running root mean square, keeping each matrix's norm.

    `square_N` is that running mean, [N, O, 1] or [N, 1, I], and is updated here.
    """
    axis = -1 if square_N.shape[-1] == 1 else -2
    update = update_NOI.float()
    square_N.lerp_(update.square().mean(dim=axis, keepdim=True), 1 - beta2)
    evened = update * square_N.clamp_min(1e-10).rsqrt()
    before, after = (torch.linalg.matrix_norm(one, keepdim=True) for one in (update, evened))
    return evened * (before / after.clamp_min(1e-10))


class NorMuon(Optimizer):
    """Nesterov momentum, then its polar factor with normalised rows; decays weights only where the update agrees."""

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.02,
        momentum: float = 0.95,
        beta2: float = 0.9,
        weight_decay: float = 0.0,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        self.dtype = dtype
        defaults = {"lr": lr, "momentum": momentum, "beta2": beta2, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        assert closure is None
        for group in self.param_groups:
            columns = to_move(self, group, momentum=torch.zeros_like, square=_lines)
            ready = sorted(zip(*columns, strict=True), key=_shape)
            for shape, same in groupby(ready, key=_shape):
                self._step(list(zip(*same, strict=True)), shape, group)
        return None

    def _step(self, columns: Sequence[Sequence[Tensor]], shape: Sequence[int], group: dict[str, Any]) -> None:
        """Update matrices of one shape together: a few large products instead of many small ones."""
        outputs, inputs = shape
        weights, gradients, momentum, square = (torch.stack(list(column)) for column in columns)
        momentum.lerp_(gradients, 1 - group["momentum"])
        update = polar(gradients.lerp_(momentum, group["momentum"]), self.dtype)
        update = even_out(update, square, group["beta2"])
        rate = group["lr"] * math.sqrt(max(1, outputs / inputs))
        cautious = weights * (update * weights >= 0)
        weights -= rate * (update + group["weight_decay"] * cautious)
        for old, new in ((columns[0], weights), (columns[2], momentum), (columns[3], square)):
            torch._foreach_copy_(list(old), list(new))


def _shape(columns: Sequence[Tensor]) -> tuple[int, ...]:
    return tuple(columns[0].shape)


def _lines(weight: Tensor) -> Tensor:
    """A zero for each line across the longer axis."""
    outputs, inputs = weight.shape
    return weight.new_zeros((outputs, 1) if outputs >= inputs else (1, inputs))
