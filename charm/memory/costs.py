"""What a table of sparse rows costs each process: bytes held, bytes sent in an update, and time.

Bytes are exact for rings and pairwise exchange; a test compares them with what processes really send. Time is an
estimate from a bandwidth and a latency that the caller gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

FLOAT, ID = 4, 8  # bytes


class Traffic(NamedTuple):
    """What one process sends in one update."""

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
        """Bytes of the table on each device. RowSignSGD keeps nothing beside it, RowAdamW two more such tables."""
        divided = self.sharded and self.world > 1
        rows = -(-self.rows // self.world) + 1 if divided else self.rows  # our part, and a spare row
        return FLOAT * self.columns * rows

    @property
    def sent(self) -> Traffic:
        """Divided: ids to all, vectors back, gradients to all. Whole: ids and gradients to all."""
        others = self.world - 1
        vector = FLOAT * self.columns
        each = ID + (2 if self.sharded else 1) * vector
        collectives = 3 if self.sharded else 2
        return Traffic(others * (self.batch // self.world) * each, others * collectives)

    def seconds(self, bandwidth: float, latency: float) -> float:
        """Time of the exchange in an update: bytes per second and seconds per message of one process."""
        return self.sent.bytes / bandwidth + self.sent.messages * latency


def dense_traffic(parameters: int, world: int) -> Traffic:
    """The sum of dense float32 gradients over all processes as a ring."""
    return Traffic(2 * (world - 1) * -(-FLOAT * parameters // world), 2 * (world - 1))
