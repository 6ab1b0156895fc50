"""What a training run sees, and in which order.

The index is every (pair, view) combination of every block, with repeats. It has tens of millions of entries and is
never stored: an epoch is a keyed permutation of 0..N-1, and each position is computed on demand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from charm.config import at_least
from charm.errors import CharmError
from charm.tasks import keyed
from charm.tasks.canvas import MARGIN, is_large, most_scale
from charm.tasks.instances import RowNumbers
from charm.tasks.keyed import Numbers
from charm.tasks.view import DIHEDRAL_READS

ORIGIN_PROBABILITY = 0.2  # a canvas at the origin, as evaluation sees it
SWAPS = DIHEDRAL_READS[:, 0].astype(bool)  # symmetries that exchange height and width


@dataclass(frozen=True)
class IndexBlock:
    """Pairs of one puzzle, each under each of some views, `repeats` times in the index."""

    pairs: RowNumbers  # numbers of pairs in the bank
    rows: RowNumbers  # memory rows: the views
    repeats: int = 1

    def __len__(self) -> int:
        return len(self.pairs) * len(self.rows) * self.repeats


class Mixture:
    """The combined index of many blocks: position -> (pair, memory row)."""

    def __init__(self, blocks: Iterable[IndexBlock]) -> None:
        self.blocks = [block for block in blocks if len(block)]
        if not self.blocks:
            raise CharmError("nothing to train on: the mixture has no pairs")
        self._pairs = np.concatenate([block.pairs for block in self.blocks])
        self._rows = np.concatenate([block.rows for block in self.blocks])
        counts = np.array([(len(block.pairs), len(block.rows), len(block)) for block in self.blocks]).T
        self._pair_count, self._row_count, _ = counts
        self._pair_start, self._row_start, self._start = np.cumsum(counts, axis=1) - counts
        self._length = int(counts[2].sum())

    def __len__(self) -> int:
        return self._length

    def locate(self, index_N: Numbers) -> tuple[RowNumbers, RowNumbers]:
        """Return the pair and the memory row of each entry of the index."""
        block = np.searchsorted(self._start, index_N, side="right") - 1
        view, pair = np.divmod(index_N - self._start[block], self._pair_count[block])
        view %= self._row_count[block]  # repeats wrap around
        return self._pairs[self._pair_start[block] + pair], self._rows[self._row_start[block] + view]


@dataclass(frozen=True)
class Draw:
    """Examples to put on canvases: which pair, under which view, where, and how much enlarged."""

    pair_N: RowNumbers
    row_N: RowNumbers
    top_N: Numbers
    left_N: Numbers
    scale_N: Numbers


@dataclass(eq=False)
class Stream:
    """An endless, seeded, shuffled sequence of examples for `slots` training slots.

    On its turn t, slot s takes the entry at position t * slots + s. A slot that halts early simply takes its next
    turn sooner, so no example is discarded, and a rank with some of the slots needs no information about the others.
    The only state is the turn of each slot.
    """

    mixture: Mixture
    shapes: npt.NDArray[np.integer]  # [pairs, 4] of the bank
    dihedrals: npt.NDArray[np.integer]  # [rows] of the instances
    side: int
    slots: int
    seed: int
    scales: int = 1  # the largest factor by which grids are enlarged; 0 is any that fits

    def __post_init__(self) -> None:
        self._extent = self.shapes.reshape(-1, 2, 2).max(axis=1)
        self._most_scale = np.array([1, *(most_scale(longest, self.side) for longest in range(1, self.side + 1))])
        at_least(1, self, "slots")
        longest = int(self._extent[np.concatenate([block.pairs for block in self.mixture.blocks])].max())
        if longest > self.side:
            raise CharmError(f"a grid of side {longest} does not fit on a canvas of side {self.side}")

    def draw(self, slot_N: npt.NDArray[np.integer], turn_N: npt.NDArray[np.integer]) -> Draw:
        """Draw the example that each slot takes on its turn."""
        position = np.asarray(turn_N, np.int64) * self.slots + np.asarray(slot_N, np.int64)
        epoch, place = np.divmod(position, len(self.mixture))
        index = np.empty_like(position)
        for one in np.unique(epoch):
            chosen = epoch == one
            key = keyed.key_of("epoch", self.seed, int(one))
            index[chosen] = keyed.permute(key, place[chosen], len(self.mixture))
        pair, row = self.mixture.locate(index)
        return Draw(pair, row, *self._placement(position, pair, row))

    def _placement(self, position: Numbers, pair: RowNumbers, row: RowNumbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return top, left and scale of each example. Input and output are enlarged and moved together.

        Uniform over the scales that fit, then over the places where both grids fit with their boundary. An example at
        the origin is not enlarged; large canvases have none there.
        """
        extent = self._extent[pair]
        height, width = np.where(SWAPS[self.dihedrals[row]], extent.T[::-1], extent.T)
        scale, margin = np.ones_like(position), MARGIN if is_large(self.side) else 0
        moved = keyed.uniform(keyed.key_of("moved", self.seed), position) >= ORIGIN_PROBABILITY
        moved |= is_large(self.side)
        if self.scales != 1:
            most = self._most_scale[np.maximum(height, width)]
            if self.scales:
                most = np.minimum(most, self.scales)
            scale = np.where(moved, 1 + keyed.below(keyed.key_of("scale", self.seed), position, most), 1)
        room_down, room_right = self.side - margin - height * scale, self.side - margin - width * scale
        top = margin + keyed.below(keyed.key_of("top", self.seed), position, np.maximum(room_down, 1))
        left = margin + keyed.below(keyed.key_of("left", self.seed), position, np.maximum(room_right, 1))
        return top * moved, left * moved, scale
