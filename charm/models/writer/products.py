"""Float32 products on a CPU: oneDNN's where they are faster than MKL's, with the same results but for rounding.

MKL computes with half of an AMD processor's vector width: measured on Zen 5, 120 GFLOP/s on a core where oneDNN has
230 to 280. Which of the two computes depends on the processor and on shapes alone, so runs can be repeated.
"""

from __future__ import annotations

import platform
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

FEWEST_ROWS = 8  # with fewer, MKL is faster everywhere


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
    """Whether MKL multiplies here, on an AMD processor with AVX-512, and oneDNN could."""
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
