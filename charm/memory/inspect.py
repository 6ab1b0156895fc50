"""Inspect a memory: the content of its tables and what a set of keys reads from it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from charm.errors import CharmError
from charm.memory.cose import CoSE, TableMemory
from charm.memory.factors import SlotPermutation
from charm.memory.parts import Key, MemoryModule, Rows


@dataclass(frozen=True)
class TableSummary:
    """Summary of one table. A row of zeros has never been trained; the reserved row is never counted."""

    name: str
    rows: int
    columns: int
    untrained: int
    mean_norm: float  # over trained rows, 0 where there is none
    max_norm: float


@dataclass(frozen=True)
class Reads:
    """What the examples read: means over examples of the norms of each part's vector, and the gate's mean."""

    examples: int
    gate_share: float  # of the residual, over examples and columns: 1 without a gate, 0 without a residual
    norms: dict[str, float]  # "base", "modifier 0", ..., "composed", "residual" (after the gate), "memory"


@torch.no_grad()
def tables(memory: MemoryModule) -> list[TableSummary]:
    """Summarise every table and every set of slots in the memory, in the order of its modules."""
    found: dict[str, Tensor] = {}
    for name, part in memory.named_modules():
        if isinstance(part, Rows):
            found[name or "rows"] = part.weight[1:] if part.reserved_row else part.weight
        elif isinstance(part, SlotPermutation):
            found |= {f"{name}.base".lstrip("."): part.base[None], f"{name}.slots".lstrip("."): part.slots}
    summaries = []
    for name, rows in found.items():
        norms = rows.norm(dim=1)
        trained = norms[norms > 0].double()
        mean, largest = (trained.mean().item(), trained.max().item()) if len(trained) else (0.0, 0.0)
        summaries.append(TableSummary(name, len(rows), rows.shape[1], len(rows) - len(trained), mean, largest))
    return summaries


@torch.no_grad()
def reads(memory: CoSE | TableMemory, keys: Iterable[Key]) -> Reads:
    """Read the memory at batches of keys and average over all their examples."""
    examples, sums = 0, defaultdict[str, float](float)
    for key in keys:
        parts, share = {"memory": memory(key)}, 1.0
        if isinstance(memory, CoSE):
            parts["base"], parts["composed"], share = memory.base(key), memory.compose(key), 0.0
            parts |= {f"modifier {n}": modifier(key) for n, modifier in enumerate(memory.modifiers)}
            if memory.residual is not None:
                gate_BD = memory.open(parts["composed"])
                parts["residual"] = gate_BD * memory.residual(key, parts["composed"])
                share = gate_BD.double().mean().item()
        examples += len(parts["memory"])
        sums["gate"] += share * len(parts["memory"])
        for name, vectors_BD in parts.items():
            sums[name] += vectors_BD.double().norm(dim=1).sum().item()
    if examples == 0:
        raise CharmError("no keys were given to read the memory at")
    means = {name: total / examples for name, total in sums.items()}
    return Reads(examples, means.pop("gate"), means)
