"""Optimizers of all domains from a list of parts: built, scheduled and stepped in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from charm.devices import sum_gradients
from charm.memory.optimizers import row_squares


@dataclass(frozen=True)
class Part:
    kind: type[Optimizer]
    groups: Sequence[dict[str, Any]]
    """Parameter groups as torch has them: "params", and settings of the group such as "lr"."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What all groups share."""


class OptimizerSet:
    """The optimizers of a model, in the order of their parts; groups without parameters and empty parts are left out.

    The gradients of `summed` are added up over all processes before a step. With a `clip` the norm of all gradients
    together is cut to it; `gather` says whether tables have only the rows that this process read. With `rates_on`
    learning rates are tensors on that device, so that a recorded update can be given new ones.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        summed: Sequence[Tensor] = (),
        rates_on: torch.device | None = None,
        clip: float = 0.0,
        gather: bool = True,
    ) -> None:
        self.summed, self.clip, self.gather = summed, clip, gather
        self.all: list[Optimizer] = []
        for part in parts:
            if groups := [group for group in part.groups if group["params"]]:
                self.all.append(part.kind(groups, **part.settings))
        # Settings at full rate, which `scale` multiplies.
        self.full = [[dict(group) for group in one.param_groups] for one in self.all]
        if rates_on is not None:
            for group in (group for one in self.all for group in one.param_groups):
                group["lr"] = torch.tensor(group["lr"], device=rates_on)

    def scale(self, share: float) -> None:
        """Set each group's learning rate to this share of its full one."""
        for optimizer, full in zip(self.all, self.full, strict=True):
            for group, start in zip(optimizer.param_groups, full, strict=True):
                if isinstance(group["lr"], Tensor):
                    group["lr"].fill_(start["lr"] * share)
                else:
                    group["lr"] = start["lr"] * share

    def step(self, only: Sequence[Optimizer] | None = None) -> None:
        """Apply the gradients with all optimizers or some of them, and clear them all."""
        sum_gradients(self.summed)  # row optimizers gather their own sparse gradients
        moving = self.all if only is None else only
        if self.clip:
            clip_together(moving, self.clip, self.gather)
        for optimizer in moving:
            optimizer.step()
        for optimizer in self.all:
            optimizer.zero_grad(set_to_none=True)


@torch.no_grad()
def clip_together(optimizers: Sequence[Optimizer], most: float, gather: bool = True) -> None:
    """Scale all gradients so that their norm is at most `most`, as torch does; tables may have sparse ones."""
    weights = (weight for one in optimizers for group in one.param_groups for weight in group["params"])
    grads = [weight.grad for weight in weights if weight.grad is not None]
    dense = [grad for grad in grads if not grad.is_sparse]
    tables = [grad for grad in grads if grad.is_sparse]
    squares = [row_squares(grad, gather) for grad in tables]
    if dense:
        squares.append(torch.nn.utils.get_total_norm(dense).square())
    norm = torch.stack(squares).sum() ** 0.5
    share = (most / (norm + 1e-6)).clamp(max=1)
    torch._foreach_mul_([*dense, *(grad._values() for grad in tables)], share)


def to_move(
    optimizer: Optimizer, group: dict[str, Any], **start: Callable[[Tensor], Tensor]
) -> list[list[Tensor]]:
    """The weights of a group that have a gradient, their gradients, and each state by name, begun by `start`."""
    weights = [weight for weight in group["params"] if weight.grad is not None]
    for weight in weights:
        if not optimizer.state[weight]:
            optimizer.state[weight] |= {name: begin(weight) for name, begin in start.items()}
    states = [[optimizer.state[weight][name] for weight in weights] for name in start]
    return [weights, [weight.grad for weight in weights], *states]
