"""Continual-learning methods: what a stage may update, what restrains it, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from charm.devices import Place
from charm.errors import CharmError
from charm.models.model import CharmModel
from charm.models.network import BatchSize, Examples
from charm.runs.settings import TrainConfig
from charm.tasks import keyed
from charm.tasks.dataset import Dataset
from charm.training.adaptation import Recipe, Scope, shared_parameters
from charm.training.forms import Anchored

FISHER_BATCHES = 64


@dataclass(frozen=True)
class Base:
    """The model before the stream, its training data and settings."""

    model: CharmModel
    config: TrainConfig
    pretraining: Callable[[], Dataset]  # costly to assemble, so only on demand
    place: Place


@dataclass(frozen=True)
class Method:
    """One way to learn a stream."""

    scopes: tuple[Scope, ...] = ("composition", "full")
    """What it may update in addition to the tasks' own rows; the first is the default."""
    strength: float = 0.0
    """Of the pull that holds shared weights back at the base, if nothing else is asked for; 0 for none."""
    by_importance: bool = False
    """Whether a weight is pulled by its importance to pretraining; otherwise all are pulled alike."""
    setting: str = ""  # the field of the options that is for such methods alone
    form: Literal["free", "low rank", "units"] = "free"  # how shared weights are updated
    rehearses: bool = False  # every second update is a pretraining batch
    replays: bool = False  # every second update is a batch of earlier tasks, from a buffer of them
    restores: bool = False  # each task starts from the base; there is no single final model
    joint: bool = False  # all tasks are learned together, for as many updates as one after the other


def make_anchor(method: Method, base: Base, scope: Scope, recipe: Recipe, strength: float | None = None) -> Anchored:
    """Make what pulls shared weights back to the base, before the first stage."""
    shared = shared_parameters(base.model, scope)
    strength = method.strength if strength is None else strength
    if not method.by_importance:
        return Anchored(shared, strength)
    size = BatchSize(recipe.batch, recipe.tokens, halt_weight=base.config.halt_weight)
    examples: Examples = base.model.reasoner.examples(base.pretraining(), size, base.config.seed, base.place)
    base.model.requires_grad_(False)
    for parameter in shared.values():
        parameter.requires_grad_(True)

    def backward(number: int) -> None:
        torch.manual_seed(keyed.key_of("fisher", base.config.seed, number) >> 1)  # of activations that drop
        # Slots are refined and refilled as in training, so batches hold examples at every depth of refinement.
        examples.gradients(base.model, examples.prepare(number))

    return Anchored(shared, strength, diagonal_fisher(list(shared.values()), backward, FISHER_BATCHES))


def diagonal_fisher(parameters: list[nn.Parameter], backward: Callable[[int], None], batches: int) -> list[Tensor]:
    """Average the squared gradient of a batch's mean loss over batches; `backward` leaves that of one batch."""
    sums = [torch.zeros_like(parameter) for parameter in parameters]
    for number in range(batches):
        backward(number)
        for total, parameter in zip(sums, parameters, strict=True):
            if parameter.grad is not None:
                total += parameter.grad.square()
            parameter.grad = None
    return [total / batches for total in sums]


METHODS = {
    "memory-only": Method(scopes=("rows",)),
    "oracle": Method(scopes=("full",), restores=True),
    "joint": Method(scopes=("full",), joint=True),
    "naive": Method(),
    "l2sp": Method(strength=0.1, setting="strength"),
    "ewc": Method(strength=0.01, setting="strength", by_importance=True),
    "rehearsal": Method(rehearses=True),
    "replay": Method(replays=True, setting="buffer"),
    "lora": Method(scopes=("matrices",), form="low rank", setting="rank"),
    "sparse": Method(scopes=("feed-forward",), form="units", setting="units"),
}


def reservoir(stages: int, size: int, seed: int) -> list[int]:
    """Choose which of the first `stages` tasks are in a buffer of this size, all equally likely (Vitter 1985)."""
    kept = list(range(min(stages, size)))
    drawn = keyed.uniform(keyed.key_of("reservoir", seed), np.arange(stages))
    for number in range(size, stages):
        place = int(drawn[number] * (number + 1))
        if place < size:
            kept[place] = number
    return kept


def method_named(name: str, scope: Scope | None = None) -> tuple[Method, Scope]:
    """Return a method and its scope; by default the method's first one."""
    if name not in METHODS:
        raise CharmError(f"there is no method {name!r}; the names are {', '.join(METHODS)}")
    method = METHODS[name]
    if scope is not None and scope not in method.scopes:
        raise CharmError(f"the method {name} has no scope {scope!r}, only {' or '.join(method.scopes)}")
    return method, scope or method.scopes[0]
