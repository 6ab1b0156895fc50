"""Costs of a table of sparse rows per process: bytes stored, bytes sent per update, and time.

Bytes are exact for rings and pairwise exchange; a test compares them with what processes actually send. Time is an
estimate from a given bandwidth and latency.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

FLOAT, ID = 4, 8  # bytes


class Traffic(NamedTuple):
    """Traffic of one process in one update."""

    bytes: int
    messages: int


@dataclass(frozen=True)
class TableCost:
    """A table of `rows` x `columns` float32, of which an update reads `batch` rows over all processes."""

    rows: int
    columns: int
    batch: int
    world: int
    sharded: bool = True

    @property
    def held(self) -> int:
        """Bytes of the table on each device. RowSignSGD needs nothing more, RowAdamW two more such tables."""
        divided = self.sharded and self.world > 1
        rows = -(-self.rows // self.world) + 1 if divided else self.rows  # our part, and a spare row
        return FLOAT * self.columns * rows

    @property
    def sent(self) -> Traffic:
        """Sharded: ids to all, vectors back, gradients to all. Replicated: ids and gradients to all."""
        others = self.world - 1
        vector = FLOAT * self.columns
        each = ID + (2 if self.sharded else 1) * vector
        collectives = 3 if self.sharded else 2
        return Traffic(others * (self.batch // self.world) * each, others * collectives)

    def seconds(self, bandwidth: float, latency: float) -> float:
        """Time of the exchange in an update, from bytes per second and seconds per message of one process."""
        return self.sent.bytes / bandwidth + self.sent.messages * latency


def dense_traffic(parameters: int, world: int) -> Traffic:
    """Cost of summing dense float32 gradients over all processes as a ring."""
    return Traffic(2 * (world - 1) * -(-FLOAT * parameters // world), 2 * (world - 1))
