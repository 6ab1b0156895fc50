"""Which optimizer updates which weights of a language model, and how its settings change over a run; its Muon.

NorMuon is Muon with Polar Express, row normalisation and cautious weight decay. torch.optim.Muon has none of the three;
with all three off the two agree (tests/language/test_muon.py). Shapes: N stacked matrices of one shape, O outputs, I
inputs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from charm.language.config import LMConfig
from charm.language.gpt import GPT
from charm.memory.sharding import sharded_tables
from charm.training.optimizers import OptimizerSet, group_tensors, optimizer_of

REFERENCE_BATCH = 2**19  # tokens; learning rates grow with the square root of the batch
REFERENCE_WIDTH = 768  # learning rates of embeddings and head fall with the square root of the width
EPS = 1e-10
MOMENTUM = (0.85, 0.97, 0.90)  # Muon's at the start, after MOMENTUM_WARMUP updates, and at the end
MOMENTUM_WARMUP = 400
WARMDOWN, FINAL = 0.65, 0.05  # the last share of a run, over which rates fall to a share of their full size


def parameter_groups(model: GPT, config: LMConfig) -> dict[str, list[dict[str, Any]]]:
    """List parameter groups for Muon, AdamW and the n-gram tables, with settings at full rate."""
    rates = config.optimizer
    by_batch = math.sqrt(config.batch / REFERENCE_BATCH)
    by_width = by_batch * (model.config.model_width / REFERENCE_WIDTH) ** -0.5
    multiplier = rates.memory_multiplier
    dense_multiplier = multiplier if rates.memory_scope == "all" else 1.0
    memories = model.ngram_memories()
    tables = [rows.weight for rows in model.ngram_tables()]
    small = [memory.convolution.weight for memory in memories]
    small += [memory.router.weight for memory in memories if memory.variant == "mixture"]
    apart = {id(parameter) for parameter in (*tables, *small)}
    maps = [p for memory in memories for p in memory.parameters() if id(p) not in apart]

    def muon(parameters: list[nn.Parameter], lr: float) -> dict[str, Any]:
        return {"params": parameters, "lr": lr * by_batch, "weight_decay": rates.weight_decay, "beta2": 0.9}

    def adamw(parameters: Any, lr: float, betas: tuple[float, float], decay: float) -> dict[str, Any]:
        return {"params": list(parameters), "lr": lr, "betas": betas, "weight_decay": decay}

    return {
        "muon": [
            muon(list(model.blocks.parameters()), rates.matrix_lr),
            muon(maps, rates.matrix_lr * dense_multiplier),
        ],
        "adamw": [
            adamw(model.embedding.parameters(), 0.3 * by_width, (0.8, 0.995), 0.001),
            adamw(model.values.parameters(), 0.15 * by_width, (0.8, 0.995), 0.01),
            adamw(model.head.parameters(), rates.head_lr * by_width, (0.8, 0.96), 0.01),
            adamw([model.residual_scale], 0.005 * by_batch, (0.8, 0.95), 0.05),
            adamw([model.input_scale], 0.5 * by_batch, (0.96, 0.95), 0.0),
            adamw([model.smear_gate.weight, model.smear, model.backout], 0.2, (0.8, 0.95), 0.0),
            adamw(small, rates.memory_lr * dense_multiplier * by_batch, (0.8, 0.95), 0.0),
        ],
        "tables": [adamw(tables, rates.memory_lr * multiplier * by_batch, (0.8, 0.995), 0.0)],
    }


class LMOptimizers(OptimizerSet):
    """Muon for matrices, AdamW for the rest; the tables have a separate optimizer."""

    def __init__(self, model: GPT, config: LMConfig) -> None:
        self.config = config
        groups = parameter_groups(model, config)
        adam = {"eps": EPS, "fused": model.head.weight.device.type in ("cpu", "cuda", "xpu")}
        optimizers = [
            *optimizer_of(NorMuon, groups["muon"], dtype=getattr(torch, model.config.compute_dtype)),
            *optimizer_of(AdamW, groups["adamw"], **adam),
            *optimizer_of(AdamW, groups["tables"], **adam),
        ]
        sharded = {id(table.weight) for table in sharded_tables(model).values()}  # their gradients are already summed
        super().__init__(optimizers, [weight for weight in model.parameters() if id(weight) not in sharded])

    def set_rates(self, update: int) -> None:
        rate, momentum, decay = schedule(update, self.config)
        self.scale(rate)
        for group, full in zip(self.all[0].param_groups, self.full[0], strict=True):
            group["momentum"], group["weight_decay"] = momentum, full["weight_decay"] * decay


def schedule(update: int, config: LMConfig) -> tuple[float, float, float]:
    """Return the factor of all learning rates at one update, Muon's momentum, and the factor of its weight decay."""
    warmup, down = config.optimizer.warmup, round(WARMDOWN * config.steps)  # in updates
    left = config.steps - update
    rate = 1.0
    if update < warmup:
        rate = (update + 1) / warmup
    elif left < down:
        rate = FINAL + (1 - FINAL) * left / down
    low, high, last = MOMENTUM
    if update < MOMENTUM_WARMUP:
        momentum = low + (high - low) * update / MOMENTUM_WARMUP
    else:
        momentum = last + (high - last) * min(left, down) / down
    return rate, momentum, 0.5 * (1 + math.cos(math.pi * update / config.steps))


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
    """Compute nearly U V^T of each matrix's singular value decomposition U S V^T, computed in `dtype`."""
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
            columns = group_tensors(self, group, momentum=torch.zeros_like, square=_lines)
            by_shape: dict[tuple[int, ...], list[tuple[Tensor, ...]]] = defaultdict(list)
            for tensors in zip(*columns, strict=True):
                by_shape[tensors[0].shape].append(tensors)
            # Matrices of one shape are updated together: a few large products instead of many small ones.
            for (outputs, inputs), same in by_shape.items():
                old = list(zip(*same, strict=True))
                weights, gradients, momentum, square = map(torch.stack, old)
                momentum.lerp_(gradients, 1 - group["momentum"])
                update = polar(gradients.lerp_(momentum, group["momentum"]), self.dtype)
                update = even_out(update, square, group["beta2"])
                rate = group["lr"] * math.sqrt(max(1, outputs / inputs))
                cautious = weights * (update * weights >= 0)
                weights -= rate * (update + group["weight_decay"] * cautious)
                for number, new in ((0, weights), (2, momentum), (3, square)):
                    torch._foreach_copy_(old[number], new.unbind())
        return None


def _lines(weight: Tensor) -> Tensor:
    """Make a zero for each line across the longer axis."""
    outputs, inputs = weight.shape
    return weight.new_zeros((outputs, 1) if outputs >= inputs else (1, inputs))
