"""Factors map one field of a key (or a sum of fields) to a vector that all keys with that value share."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from charm.errors import CharmError
from charm.memory.parts import Key, MemoryModule, Rows, linear, read_field


class Factor(MemoryModule):
    """A module from keys to vectors [B, width]."""

    width: int


class Lookup(Factor):
    """One vector per value of a field, initially zero.

    `reduced` stores that many columns instead of `width` and maps them to `width` by a bias-free projection,
    so that a new value costs `reduced` parameters. `sparse` leaves the table to a row optimizer (see `Rows`).
    """

    def __init__(
        self,
        field: str,
        size: int,
        width: int,
        reduced: int | None = None,
        sparse: bool = False,
        reserved_row: bool = False,
    ) -> None:
        super().__init__()
        if reduced is not None and not 1 <= reduced <= width:
            raise CharmError(f"lookup of '{field}': reduced width must be in 1..{width}, got {reduced}")
        self.field = field
        self.width = width
        self.rows = Rows(size, reduced or width, sparse, reserved_row)
        self.up = None if reduced is None else linear(reduced, width, bias=False)

    def forward(self, key: Key) -> Tensor:
        values_BC = self.rows(read_field(key, self.field, self.rows.size, device=self.rows.weight.device))
        return values_BC if self.up is None else self.up(values_BC)

    def grow(self, count: int) -> int:
        """Add `count` new values, initially zero; returns the first of them."""
        return self.rows.grow(count)


class SlotPermutation(Factor):
    """A permutation p of 0..n-1 as one vector: [base | slot p(0) | ... | slot p(n-1)], initially zero.

    n slot vectors and one base serve all n! permutations. Base and slots share the width equally, and the base
    gets the remainder: 53 + 9 x 51 for nine colours at width 512.
    """

    def __init__(self, field: str, symbols: int, width: int) -> None:
        super().__init__()
        slot = width // (symbols + 1) if symbols > 0 else 0
        if slot == 0:
            raise CharmError(
                f"permutation '{field}': width {width} is too small for {symbols} slots and a base"
            )
        self.field = field
        self.width = width
        self.base = nn.Parameter(torch.zeros(width - symbols * slot))
        self.slots = nn.Parameter(torch.zeros(symbols, slot))

    def forward(self, key: Key) -> Tensor:
        symbols = self.slots.shape[0]
        order_BN = read_field(key, self.field, symbols, symbols, self.slots.device)
        slots = F.embedding(order_BN, self.slots).flatten(1)  # [B, symbols * slot]
        return torch.cat([self.base.expand(len(slots), -1), slots], dim=1)


class Sum(Factor):
    """The sum of several factors, such as a rule and a horizon that together make a base."""

    def __init__(self, *factors: Factor) -> None:
        super().__init__()
        widths = {factor.width for factor in factors}
        if len(widths) != 1:
            raise CharmError(f"a sum needs factors of equal width, got {sorted(widths)}")
        self.width = factors[0].width
        self.factors = nn.ModuleList(factors)

    def forward(self, key: Key) -> Tensor:
        return torch.stack([factor(key) for factor in self.factors]).sum(dim=0)


def factor_parameters(module: nn.Module) -> list[nn.Parameter]:
    """Factor tables anywhere inside `module` with dense gradients; they may get their own optimizer."""
    tables = []
    for part in module.modules():
        if isinstance(part, Lookup) and not part.rows.sparse:
            tables.append(part.rows.weight)
        elif isinstance(part, SlotPermutation):
            tables += [part.base, part.slots]
    return tables
