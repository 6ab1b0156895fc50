"""Packs: what a writer learns from in each update, drawn and laid out while the device works.

Sequences are taken from the stream in order until the next one does not fit. The only state is the place in the stream.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from charm.errors import CharmError
from charm.tasks.batch import PairBank
from charm.tasks.dataset import Dataset
from charm.tasks.keys import Keys
from charm.tasks.sampling import Mixture, Stream
from charm.tasks.sequences import LONGEST, Pack, pack_pairs, sequence_lengths
from charm.tasks.view import DIHEDRAL_READS, decode
from charm.training.slots import to_device

TOKENS_PER_SEQUENCE = 64  # room is made for one sequence for so many tokens; a pair of 5 x 5 grids has 63


class Packs:
    """This process's packs of `tokens` tokens. The tensors of `pack` and `row_N` stay where they are in memory."""

    def __init__(
        self, data: Dataset, tokens: int, seed: int, device: torch.device, rank: int = 0, world: int = 1
    ) -> None:
        if tokens < LONGEST:
            raise CharmError(f"a pack must have room for the longest pair, {LONGEST} tokens; got {tokens}")
        self.tokens, self.rank, self.world = tokens, rank, world
        blocks = [block for mixture in data.mixtures.values() for block in mixture.blocks]
        self.dihedrals, _ = decode(data.instances.table()[1])
        self.shapes = data.bank.shape.numpy()
        self.stream = Stream(Mixture(blocks), self.shapes, self.dihedrals, 30, 1, seed)
        self.bank: PairBank = data.bank.to(device)
        self.keys: Keys = data.keys().to(device)
        self.room = tokens // TOKENS_PER_SEQUENCE
        self.taken = 0  # sequences that this process has taken from its share of the stream
        self.row_N = torch.zeros(self.room, dtype=torch.long, device=device)
        self.pack = Pack(
            torch.zeros(tokens, dtype=torch.long, device=device),
            torch.zeros(tokens, 3, dtype=torch.long, device=device),
            torch.zeros(tokens, dtype=torch.long, device=device),
            torch.zeros(tokens, dtype=torch.bool, device=device),
            torch.zeros(self.room + 2, dtype=torch.int32, device=device),
        )

    def prepare(self) -> None:
        """Lay out the next sequences of the stream."""
        position = (self.taken + np.arange(self.room)) * self.world + self.rank
        draw = self.stream.draw(np.zeros_like(position), position)
        swaps = DIHEDRAL_READS[self.dihedrals[draw.row_N], 0].astype(bool)
        ends = np.cumsum(sequence_lengths(self.shapes[draw.pair_N], swaps))
        count = int(np.searchsorted(ends, self.tokens, side="right"))
        ends[count:] = ends[count - 1]
        self.taken += count
        columns = np.stack([draw.pair_N, draw.row_N, ends]).astype(np.int64)
        pair_N, row_N, ends_N = to_device(columns, self.row_N.device)
        made = pack_pairs(self.bank, self.keys, pair_N, row_N, ends_N, self.tokens)
        self.row_N.copy_(row_N)
        for name in Pack.__dataclass_fields__:
            getattr(self.pack, name).copy_(getattr(made, name))

    def state(self) -> dict[str, Tensor]:
        return {"taken": torch.tensor([self.taken])}

    def restore(self, saved: dict[str, Any]) -> None:
        self.taken = int(saved["taken"])
