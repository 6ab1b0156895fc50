"""Which optimizer updates which weights of a language model, and how its settings change over a run."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.optim import AdamW

from charm.language.config import LMConfig
from charm.language.gpt import GPT
from charm.language.muon import NorMuon
from charm.memory.optimizers import RowAdamW
from charm.training.assembly import OptimizerSet, Part

REFERENCE_BATCH = 2**19  # tokens; learning rates grow with the square root of the batch
REFERENCE_WIDTH = 768  # learning rates of embeddings and head fall with the square root of the width
EPS = 1e-10
MOMENTUM = (0.85, 0.97, 0.90)  # Muon's at the start, after MOMENTUM_WARMUP updates, and at the end
MOMENTUM_WARMUP = 400


def parameter_groups(model: GPT, config: LMConfig) -> dict[str, list[dict[str, Any]]]:
    """Parameter groups for Muon, AdamW and the n-gram tables, with settings at full rate; every parameter is in one."""
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

    groups = {
        "muon": [
            muon(list(model.blocks.parameters()), rates.matrix_lr),
            muon(maps, rates.matrix_lr * dense_multiplier),
        ],
        "adamw": [
            adamw(model.embedding.parameters(), rates.embedding_lr * by_width, (0.8, 0.995), 0.001),
            adamw(model.values.parameters(), rates.value_lr * by_width, (0.8, 0.995), 0.01),
            adamw(model.head.parameters(), rates.head_lr * by_width, (0.8, 0.96), 0.01),
            adamw([model.residual_scale], rates.residual_lr * by_batch, (0.8, 0.95), 0.05),
            adamw([model.input_scale], rates.input_lr * by_batch, (0.96, 0.95), 0.0),
            adamw([model.smear_gate.weight, model.smear, model.backout], rates.smear_lr, (0.8, 0.95), 0.0),
            adamw(small, rates.memory_lr * dense_multiplier * by_batch, (0.8, 0.95), 0.0),
        ],
        "tables": [adamw(tables, rates.memory_lr * multiplier * by_batch, (0.8, 0.995), 0.0)],
    }
    return {kind: [group for group in some if group["params"]] for kind, some in groups.items()}


class LMOptimizers(OptimizerSet):
    """Muon for matrices, AdamW for the rest, and for tables AdamW on all rows or only on those that were read."""

    def __init__(self, model: GPT, config: LMConfig) -> None:
        self.config = config
        groups = parameter_groups(model, config)
        by_rows = config.optimizer.table_update == "rows"
        adam = {"eps": EPS, "fused": model.head.weight.device.type in ("cpu", "cuda", "xpu")}
        parts = [
            Part(NorMuon, groups["muon"], {"dtype": getattr(torch, model.config.compute_dtype)}),
            Part(AdamW, groups["adamw"], adam),
            Part(RowAdamW if by_rows else AdamW, groups["tables"], {"eps": EPS} if by_rows else adam),
        ]
        # Row optimizers gather sparse gradients themselves, and gradients of sharded tables are already summed.
        table_ids = {id(p) for group in groups["tables"] for p in group["params"]}
        comes_summed = config.shard_tables or by_rows
        super().__init__(parts, [p for p in model.parameters() if not (comes_summed and id(p) in table_ids)])
        self.tables = self.all[-1] if table_ids else None

    def set_rates(self, update: int) -> None:
        rate, momentum, decay = schedule(update, self.config)
        self.scale(rate)
        for group, full in zip(self.all[0].param_groups, self.full[0], strict=True):
            group["momentum"], group["weight_decay"] = momentum, full["weight_decay"] * decay


def schedule(update: int, config: LMConfig) -> tuple[float, float, float]:
    """The factor of all learning rates at one update, Muon's momentum, and the factor of its weight decay."""
    rates, steps = config.optimizer, config.steps
    down = round(rates.warmdown * steps)  # updates of the warm-down
    left = steps - update
    rate = 1.0
    if update < rates.warmup:
        rate = (update + 1) / rates.warmup
    elif left < down:
        rate = rates.final_lr + (1 - rates.final_lr) * left / down
    low, high, last = MOMENTUM
    if update < MOMENTUM_WARMUP:
        momentum = low + (high - low) * update / MOMENTUM_WARMUP
    elif left <= down:
        momentum = last + (high - last) * left / down
    else:
        momentum = high
    return rate, momentum, 0.5 * (1 + math.cos(math.pi * update / steps))
