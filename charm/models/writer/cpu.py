"""The writer's parts on a CPU: cheap ones in fewer passes over memory, and products by the faster library.

Autograd's own passes take almost half of an update there. For a GPU there are compilers. The results are the same but
for rounding.
"""

from __future__ import annotations

import platform
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from charm.models.layers import NORM_EPS

FEWEST_ROWS = 8  # with fewer, MKL is faster everywhere


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
    """Return x plus a branch of which this share is dropped, to 1 part in 65,536.

    64 random bits decide for four numbers.
    """
    bits = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    kept = bits[: x.numel()].view(x.shape) >= round(share * 2**16) - 2**15
    return torch.addcmul(x, branch, kept.to(x.dtype), value=1 / (1 - share))


def linear(x: Tensor, weight: Tensor) -> Tensor:
    """Return x [..., inputs] times the transpose of weight [outputs, inputs], in the type of x."""
    weight = weight.to(x.dtype)
    float_cpu = x.device.type == "cpu" and x.dtype == torch.float32
    if not float_cpu or torch.compiler.is_compiling() or not has_slow_mkl():
        return F.linear(x, weight)
    if x.numel() < FEWEST_ROWS * x.shape[-1]:
        return F.linear(x, weight)
    return _Product.apply(x, weight)


@lru_cache(maxsize=1)
def has_slow_mkl() -> bool:
    """Return whether MKL multiplies here, on an AMD processor with AVX-512, and oneDNN could.

    MKL computes with half of an AMD processor's vector width: measured on Zen 5, 120 GFLOP/s on a core where oneDNN has
    230 to 280. Which of the two computes depends on the processor and on shapes alone, so runs can be repeated.
    """
    if not (torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()):
        return False
    cores = Path("/proc/cpuinfo")
    name = cores.read_text(errors="replace") if cores.is_file() else platform.processor()
    return "AuthenticAMD" in name and torch.backends.cpu.get_cpu_capability().startswith("AVX512")


class _Product(torch.autograd.Function):
    """x times the transpose of a weight, forward and backward by oneDNN."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _multiply(x, weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None]:
        (grad,), (x, weight) = grads, ctx.saved_tensors
        for_x = _multiply(grad, weight.T) if ctx.needs_input_grad[0] else None
        for_weight = None
        if ctx.needs_input_grad[1]:
            rows, outputs = x.reshape(-1, x.shape[-1]), grad.reshape(-1, grad.shape[-1])
            for_weight = _multiply(outputs.T, rows.T)
        return for_x, for_weight


def _multiply(x: Tensor, weight: Tensor) -> Tensor:
    found: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], "")
    return found
