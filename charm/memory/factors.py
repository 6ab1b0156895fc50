"""From a key to vectors: factors, which all keys with a value share, and tables indexed by a whole key.

A factor maps one field, or a sum of fields. A table has one row per instance, or rows shared by hashing parts of the
key; it is called with the key and the composed vector [B, D], which the row table ignores.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import count, islice

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from charm.errors import CharmError
from charm.memory.parts import Key, MemoryModule, Rows, linear, read_field


class Factor(MemoryModule):
    """A module from keys to vectors [B, width] that all keys with a value share."""

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
        self.field, self.width = field, width
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
            raise CharmError(f"permutation '{field}': width {width} is too small for {symbols} slots and a base")
        self.field, self.width = field, width
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


class RowTable(Lookup):
    """One row of `rank` columns per instance, initially zero, mapped to `width` by a bias-free projection.

    At full rank (None, or the width itself) there is no projection. `reserved_row` makes row 0 the blank one,
    for instances without a row: it reads as zero and never learns.
    """

    def __init__(
        self, rows: int, width: int, rank: int | None = None, field: str = "row", reserved_row: bool = False
    ) -> None:
        if rank is not None and not 1 <= rank <= width:
            raise CharmError(f"row table: rank must be in 1..{width}, got {rank}")
        super().__init__(field, rows, width, None if rank == width else rank, True, reserved_row)

    def forward(self, key: Key, composed_BD: Tensor | None = None) -> Tensor:
        return super().forward(key)


class KeyedTable(MemoryModule):
    """Rows found by hashing parts of the key, gated by how well they fit the composed vector (after Engram).

    `fields` gives each field's number of columns (1 for an id, n for a permutation). Every sub-key in `keys` is hashed
    once and read through `heads` tables, whose sizes are distinct primes from `rows` up, so that two keys rarely
    collide in all of them. What is read is concatenated to `rank` columns, the first tables taking one more where the
    rank does not divide evenly. `seed` draws the hash, saved with the weights.
    """

    multipliers: Tensor

    def __init__(
        self,
        rows: int,
        width: int,
        rank: int,
        fields: Mapping[str, int],
        keys: Sequence[tuple[str, ...]],
        heads: int = 2,
        seed: int = 0,
    ) -> None:
        super().__init__()
        unknown = sorted({field for fields_of_key in keys for field in fields_of_key} - set(fields))
        if unknown:
            raise CharmError(f"keyed table: no field '{unknown[0]}', only {', '.join(fields)}")
        tables = len(keys) * heads
        if not 1 <= tables <= rank <= width:
            raise CharmError(f"keyed table: rank {rank} cannot be split over {tables} tables within width {width}")
        self.width, self.fields, self.keys, self.heads = width, dict(fields), list(keys), heads
        # Multiplying by an odd number modulo 2^64, as int64 does, is a bijection.
        numbers = np.random.default_rng(seed).integers(0, 2**62, size=sum(fields.values())) * 2 + 1
        self.register_buffer("multipliers", torch.tensor(numbers.tolist()))
        self.sizes = list(islice(primes_from(rows), tables))
        self.tables = nn.ModuleList(
            Rows(size, rank // tables + (number < rank % tables), sparse=True) for number, size in enumerate(self.sizes)
        )
        self.match = linear(rank, width, bias=False)
        self.up = linear(rank, width, bias=False)

    def addresses(self, key: Key) -> list[Tensor]:
        """Find the row that each table reads, [B] per table."""
        products: dict[str, Tensor] = {}
        parts = self.multipliers.split(list(self.fields.values()))
        for (field, columns), multipliers in zip(self.fields.items(), parts, strict=True):
            # Any 63-bit number may be hashed, so there is no size to check against.
            ids = read_field(key, field, 2**63, None if columns == 1 else columns, self.multipliers.device)
            products[field] = (ids.view(-1, columns) + 1) * multipliers
        rows = []
        for number, size in enumerate(self.sizes):
            hashed = [products[field] for field in self.keys[number // self.heads]]
            hashed_B = reduce(torch.bitwise_xor, torch.cat(hashed, dim=1).unbind(dim=1))
            rows.append(hashed_B.remainder(size))
        return rows

    def forward(self, key: Key, composed_BD: Tensor) -> Tensor:
        read = [table(row) for table, row in zip(self.tables, self.addresses(key), strict=True)]
        values_BC = torch.cat(read, dim=-1)
        match_BD = F.rms_norm(self.match(values_BC), (self.width,), eps=1e-5)
        query_BD = F.rms_norm(composed_BD, (self.width,), eps=1e-5)
        fit_B1 = (match_BD * query_BD).sum(dim=-1, keepdim=True) / math.sqrt(self.width)
        return fit_B1.sigmoid() * self.up(values_BC)


def factor_parameters(module: nn.Module) -> list[nn.Parameter]:
    """List the factor tables anywhere inside `module` with dense gradients; they may get their own optimizer."""
    tables = []
    for part in module.modules():
        if isinstance(part, Lookup) and not part.rows.sparse:
            tables.append(part.rows.weight)
        elif isinstance(part, SlotPermutation):
            tables += [part.base, part.slots]
    return tables


def primes_from(start: int) -> Iterator[int]:
    """Yield all primes from `start` up, in order."""
    for number in count(max(start, 2)):
        if all(number % divisor for divisor in range(2, math.isqrt(number) + 1)):
            yield number
