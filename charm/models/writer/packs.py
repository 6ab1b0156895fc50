"""Packs: what a writer learns from in each update, drawn and laid out while the device works.

Sequences are taken from a stream in order until the next one does not fit. There is a stream of all tasks and one of
the evaluated tasks alone. The only state is the place in each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from charm.devices import Place, to_device
from charm.errors import CharmError
from charm.models.network import Examples, Metrics, Workload
from charm.tasks.batch import PairBank
from charm.tasks.dataset import Dataset
from charm.tasks.keyed import Numbers
from charm.tasks.keys import Keys
from charm.tasks.sampling import SWAPS, Draw, Mixture, Stream
from charm.tasks.sequences import Pack, pack_pairs, sequence_lengths
from charm.tasks.view import decode

if TYPE_CHECKING:
    from charm.models.model import CharmModel
    from charm.models.writer.network import Writer

LOOK_AHEAD = 4096  # sequences of the stream whose mean length predicts how many fit in a pack
SPARE = 1.5  # room for this multiple of an average pack's sequences; attention is slower with more

# Many short sequences in a row must not leave a small pack with more padding than the longest sequence: attention on a
# GPU would not reach its end.
LEAST_ROOM = 96


class Packs(Examples):
    """This process's packs of `tokens` tokens. The tensors of `pack` and `row_N` stay where they are in memory."""

    def __init__(self, writer: Writer, data: Dataset, tokens: int, seed: int, place: Place) -> None:
        if tokens < (longest := longest_sequence(data)):
            raise CharmError(f"a pack must have room for the longest pair, {longest} tokens; got {tokens}")
        self.writer, self.data, self.tokens, self.seed, self.place = writer, data, tokens, seed, place
        self.longest, self.work, device = longest, (tokens * place.world, "tokens"), place.device
        puzzle, codes = data.instances.table()
        self.dihedrals, _ = decode(codes)
        self.shapes = data.bank.shape.numpy()
        blocks = data.blocks
        evaluated = {data.instances.number(question.task_id) for question in data.questions}
        focused = [block for block in blocks if int(puzzle[block.rows[0]]) in evaluated]
        drawn = [blocks, focused or blocks]
        self.streams = [Stream(Mixture(some), self.shapes, self.dihedrals, 30, 1, seed) for some in drawn]
        self.bank: PairBank = data.bank.to(device)
        self.keys: Keys = data.keys().to(device)
        ahead = np.arange(LOOK_AHEAD)
        shortest = min(self._lengths(stream, ahead)[1].mean() for stream in self.streams)
        # A power of two: groups of tasks then share few shapes, each of which is compiled once.
        self.room = 1 << (max(math.ceil(SPARE * tokens / shortest), LEAST_ROOM) - 1).bit_length()
        self.taken = [0] * len(drawn)  # sequences that this process has taken from its share of each stream
        self.row_N = torch.zeros(self.room, dtype=torch.long, device=device)
        self.pack = pack_pairs(self.bank, self.keys, self.row_N, self.row_N, self.row_N, tokens)  # an empty one

    def _lengths(self, stream: Stream, position_N: Numbers) -> tuple[Draw, Numbers]:
        """Return what a stream has at these positions, and the tokens of each sequence."""
        draw = stream.draw(np.zeros_like(position_N), position_N)
        return draw, sequence_lengths(self.shapes[draw.pair_N], SWAPS[self.dihedrals[draw.row_N]])

    def prepare(self, update: int, focused: bool = False) -> Packs:
        """Lay out the next sequences of all tasks, or of the evaluated ones alone."""
        stream = int(focused)
        position_N = (self.taken[stream] + np.arange(self.room)) * self.place.world + self.place.rank
        draw, length_N = self._lengths(self.streams[stream], position_N)
        ends = np.cumsum(length_N)
        count = int(np.searchsorted(ends, self.tokens, side="right"))
        ends[count:] = ends[count - 1]
        self.taken[stream] += count
        columns = np.stack([draw.pair_N, draw.row_N, ends]).astype(np.int64)
        pair_N, row_N, ends_N = to_device(columns, self.row_N.device)
        made = pack_pairs(self.bank, self.keys, pair_N, row_N, ends_N, self.tokens)
        self.row_N.copy_(row_N)
        for name in Pack.__dataclass_fields__:
            getattr(self.pack, name).copy_(getattr(made, name))
        return self

    def gradients(self, model: CharmModel, batch: Packs) -> Metrics:
        loss, metrics = self.writer.learned_loss(batch.pack, model.task(batch.row_N))
        (loss / self.place.world).backward()
        return metrics

    def trial(self, model: CharmModel) -> None:
        taken = self.taken.copy()
        self.prepare(0)  # real sequences to compile with, which are not learned from yet
        self.taken = taken
        self.gradients(model, self)

    def halved(self) -> Packs | None:
        half = self.tokens // 2
        return None if half < self.longest else Packs(self.writer, self.data, half, self.seed, self.place)

    def workloads(self, model: CharmModel) -> list[Workload]:
        def forward() -> None:
            with torch.no_grad():
                self.writer.learned_loss(self.pack, model.task(self.row_N))

        def size() -> tuple[int, int, int]:
            edges_N1, answers_N = self.pack.edges_N2[:-1].long().cpu(), self.pack.answers_N.long().cpu()
            lengths_N, asked_N = edges_N1.diff(), answers_N - edges_N1[:-1]
            return int((lengths_N > 0).sum()), *self.writer.config.flops(lengths_N, asked_N)

        return [Workload(0, 1.0, self.prepare, forward, size)]

    def state(self) -> dict[str, Tensor]:
        return {"taken": torch.tensor(self.taken)}

    def restore(self, parts: Sequence[Mapping[str, Tensor]]) -> None:
        before, now = len(parts), self.place.world
        if before != now:
            raise CharmError(f"this writer was trained with {before} processes; resume it with {before}, got {now}")
        self.taken = parts[self.place.rank]["taken"].tolist()


def longest_sequence(data: Dataset) -> int:
    """Return the tokens of the longest pair that is trained on, under the view that makes it longest."""
    shapes = data.bank.shape.numpy()[np.concatenate([block.pairs for block in data.blocks])]
    swaps = np.ones(len(shapes), bool)
    return int(max(sequence_lengths(shapes, swaps).max(), sequence_lengths(shapes, ~swaps).max()))
