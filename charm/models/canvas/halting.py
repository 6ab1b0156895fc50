"""When an example stops being refined in training. Pure functions; evaluation never halts early.

A training loop, per step: `steps_B` counts the refinement steps of each slot including the one just made,
`minimum_steps` draws this step's minimum, `halt_now` says which slots get a fresh example next.
"""

from __future__ import annotations

import torch
from torch import Tensor


def halt_logit(halt: Tensor) -> Tensor:
    """The logit of "my answer is right", [B], from a halt head of either kind ([B] or [B, 2])."""
    return halt if halt.dim() == 1 else halt[:, 0]


def log_odds(log_probability: Tensor) -> Tensor:
    """log(p / (1 - p)) from log p."""
    return log_probability - torch.log(-torch.expm1(log_probability))


def wants_to_halt(halt: Tensor, kind: str = "urm") -> Tensor:
    """Whether the halt head asks to stop, [B]: a positive logit, or for a two-way HRM halt above continue."""
    if kind == "hrm" and halt.dim() == 2:
        return halt[:, 0] > halt[:, 1]
    return halt_logit(halt) > 0


def minimum_steps(uniform_B2: Tensor, probability: float, max_steps: int) -> Tensor:
    """The steps each slot must make before it may halt: [B] int64, 0 where there is no minimum.

    Drawn anew at every step, from two uniform numbers in [0, 1) per slot: with `probability` a minimum from
    2..max_steps, all equally likely. (With max_steps = 1 every slot stops anyway.)
    """
    explore_B, where_B = uniform_B2.unbind(1)
    minimum_B = 2 + (where_B * (max_steps - 1)).long()
    return torch.where(explore_B < probability, minimum_B.clamp(max=max_steps), 0)


def halt_now(halt: Tensor, steps_B: Tensor, max_steps: int, minimum_B: Tensor, kind: str = "urm") -> Tensor:
    """Which slots stop after this step, [B]: at max_steps, or where the head asks at or after the minimum."""
    return (steps_B >= max_steps) | (wants_to_halt(halt, kind) & (steps_B >= minimum_B))
