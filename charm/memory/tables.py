"""Tables indexed by a whole key: one row per instance, or rows shared by hashing parts of the key.

Both are called with the key and the composed vector [B, D], which the row table ignores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import count, islice

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from charm.errors import CharmError
from charm.memory.factors import Lookup
from charm.memory.parts import Key, MemoryModule, Rows, linear, read_field


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

    `fields` gives each field's number of columns (1 for an id, n for a permutation). Every sub-key in `keys`
    is hashed once and read through `heads` tables, whose sizes are distinct primes from `rows` up, so that
    two keys rarely collide in all of them. What is read is concatenated to `rank` columns, the first tables
    taking one more where the rank does not divide evenly. `seed` draws the hash, saved with the weights.
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
            raise CharmError(
                f"keyed table: rank {rank} cannot be split over {tables} tables within width {width}"
            )
        self.width = width
        self.fields = dict(fields)
        self.keys = [tuple(fields_of_key) for fields_of_key in keys]
        self.heads = heads
        # Multiplying by an odd number modulo 2^64, as int64 does, is a bijection.
        numbers = np.random.default_rng(seed).integers(0, 2**62, size=sum(fields.values())) * 2 + 1
        self.register_buffer("multipliers", torch.tensor(numbers.tolist()))
        self.sizes = list(islice(primes_from(rows), tables))
        self.tables = nn.ModuleList(
            Rows(size, rank // tables + (number < rank % tables), sparse=True)
            for number, size in enumerate(self.sizes)
        )
        self.match = linear(rank, width, bias=False)
        self.up = linear(rank, width, bias=False)

    def addresses(self, key: Key) -> list[Tensor]:
        """The row that each table reads, [B] per table."""
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


def primes_from(start: int) -> Iterator[int]:
    """All primes from `start` up, in order."""
    for number in count(max(start, 2)):
        if all(number % divisor for divisor in range(2, math.isqrt(number) + 1)):
            yield number
