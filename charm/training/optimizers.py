"""Which optimizer moves which weights, the learning-rate schedule, and the average that evaluation uses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW
from torch.optim.swa_utils import get_ema_multi_avg_fn

from charm.memory import DenseAdamW, RowAdamW, RowSignSGD, dense_parameters, grouped_parameters
from charm.memory.sharding import sharded_tables
from charm.models.model import CharmModel
from charm.runs.settings import OptimizerConfig, RowChoice
from charm.training.assembly import OptimizerSet, Part
from charm.training.atan2 import AdamAtan2
from charm.training.muon import Muon


class Optimizers(OptimizerSet):
    """Muon for dense matrices, AdamW for the other dense tensors (or one for both), row-wise optimizers for tables."""

    def __init__(self, model: CharmModel, config: OptimizerConfig, rates_on_device: bool = False) -> None:
        """With `rates_on_device` learning rates are tensors, so that a recorded update can be given new ones."""
        self.dense = dense_parameters(model)
        others, factors, puzzles, instance_rows = grouped_parameters(model)

        tokens = {id(parameter) for parameter in model.reasoner.elementwise_parameters()}
        muon: list[dict[str, object]] = []
        adamw: list[dict[str, object]] = []
        atan2: list[dict[str, object]] = []
        for parameters, lr, decay, choice in (
            (others, config.lr, config.weight_decay, config.dense),
            (factors, config.factor_lr, config.factor_weight_decay, config.factors),
        ):
            by_muon = choice in ("muon", "urm-muon")
            matrices = [p for p in parameters if p.dim() == 2 and by_muon and id(p) not in tokens]
            chosen = {id(p) for p in matrices}
            rest = [p for p in parameters if id(p) not in chosen]
            muon.append({"params": matrices, "lr": lr, "weight_decay": decay, "urm": choice == "urm-muon"})
            elementwise = atan2 if choice == "adam-atan2" else adamw
            elementwise.append({"params": rest, "lr": lr, "weight_decay": decay})
        rows = {"params": instance_rows, "lr": config.row_lr, "weight_decay": config.row_weight_decay}
        vectors = {"params": puzzles, "lr": config.factor_lr, "weight_decay": config.factor_weight_decay}
        fused = all(parameter.device.type in ("cpu", "cuda", "xpu") for parameter in self.dense)
        adam = {"betas": config.betas, "eps": 1e-8, "fused": fused, "capturable": rates_on_device}
        # Sharded tables have the entries of all processes already.
        gather = not sharded_tables(model)
        parts = [
            Part(Muon, muon),
            Part(AdamW, adamw, adam),
            Part(AdamAtan2, atan2, {"betas": config.betas}),
            rows_part(config.rows, rows, config.betas, gather, rates_on_device),
            Part(RowAdamW, [vectors], {"betas": config.betas}),
        ]
        rates_on = self.dense[0].device if rates_on_device else None
        super().__init__(parts, self.dense, rates_on, config.clip, gather)


def rows_part(
    choice: RowChoice,
    group: dict[str, Any],
    betas: tuple[float, float],
    gather: bool = True,
    recorded: bool = False,
) -> Part:
    """The optimizer of instance rows with this name; `recorded` updates become CUDA graphs."""
    if choice == "signsgd":
        return Part(RowSignSGD, [group], {"gather": gather})
    if choice == "adamw":
        return Part(RowAdamW, [group], {"gather": gather, "betas": betas})
    return Part(DenseAdamW, [group], {"gather": gather, "betas": betas, "capturable": recorded})


def lr_scale(update: int, steps: int, config: OptimizerConfig) -> float:
    """Linear warm-up (the first update already moves), then constant, then down to zero if asked for."""
    scale = min(1.0, (update + 1) / config.warmup) if config.warmup else 1.0
    if config.cooldown:
        left = min(1.0, (steps - update) / (config.cooldown * steps))
        scale *= left if config.decay == "linear" else cosine(left)
    return scale


def cosine(left: float) -> float:
    """From 1 to 0 along half a cosine, as `left` falls from 1 to 0."""
    return (1 - math.cos(math.pi * left)) / 2


class MovingAverage:
    """The exponential moving average of dense weights; rows are not averaged, and not copied."""

    def __init__(self, parameters: list[nn.Parameter], decay: float) -> None:
        self.decay = decay
        self.parameters = parameters if decay else []
        self.average = [parameter.detach().clone() for parameter in self.parameters]
        self._update = get_ema_multi_avg_fn(decay)

    @torch.no_grad()
    def update(self) -> None:
        if self.decay:
            self._update(self.average, [parameter.detach() for parameter in self.parameters], 1)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within the block the model's dense weights are their averages."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for number, parameter in enumerate(self.parameters):
            average: Tensor = self.average[number]
            self.average[number], parameter.data = parameter.data, average
