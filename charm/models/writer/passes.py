"""The writer's cheap parts on a CPU, forward and backward in fewer passes over memory than autograd would make.

Autograd's own passes take almost half of an update there. For a GPU there are compilers.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from charm.models.layers import NORM_EPS


class RmsNorm(torch.autograd.Function):
    """x over its root mean square along the last axis."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        square = torch.linalg.vector_norm(x, dim=-1, keepdim=True).square_()
        scale = square.div_(x.shape[-1]).add_(NORM_EPS).rsqrt_()
        normal = x * scale
        ctx.save_for_backward(normal, scale)
        return normal

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (grad,), (normal, scale) = grads, ctx.saved_tensors
        along = (grad * normal).mean(-1, keepdim=True)
        return torch.addcmul(grad, normal, along, value=-1).mul_(scale)


class Rotate(torch.autograd.Function):
    """Turns pair (i, i + K/2) of x [..., H, K] by the angles with these cosines and sines [..., 1, K/2]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        ctx.save_for_backward(cos, sin)
        return _turned(x, cos, sin, 1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        cos, sin = ctx.saved_tensors
        return _turned(grads[0], cos, sin, -1), None, None


def _turned(x: Tensor, cos: Tensor, sin: Tensor, way: int) -> Tensor:
    found = torch.empty_like(x, memory_format=torch.contiguous_format)
    first, second = x.chunk(2, dim=-1)
    a, b = found.chunk(2, dim=-1)
    torch.mul(first, cos, out=a).addcmul_(second, sin, value=-way)
    torch.mul(second, cos, out=b).addcmul_(first, sin, value=way)
    return found


class GatedSilu(torch.autograd.Function):
    """The first half of x through SiLU, times the second."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        gate, up = x.chunk(2, dim=-1)
        opened = F.silu(gate)
        ctx.save_for_backward(x, opened)
        return opened * up

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (grad,), (x, opened) = grads, ctx.saved_tensors
        gate, up = x.chunk(2, dim=-1)
        found = torch.empty_like(x)
        for_gate, for_up = found.chunk(2, dim=-1)
        torch.mul(grad, opened, out=for_up)
        torch.ops.aten.silu_backward.grad_input(grad * up, gate, grad_input=for_gate)
        return found


def add_dropped(x: Tensor, branch: Tensor, share: float) -> Tensor:
    """x plus a branch of which this share is dropped, to 1 part in 65,536; 64 random bits decide for four numbers."""
    bits = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    kept = bits[: x.numel()].view(x.shape) >= round(share * 2**16) - 2**15
    return torch.addcmul(x, branch, kept.to(x.dtype), value=1 / (1 - share))
