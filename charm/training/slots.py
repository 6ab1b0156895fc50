"""Slots: the examples being refined, and what is carried from one step to the next.

A slot keeps its example until it halts; then it takes the next of its own stream. Nothing is drawn that is not used.
Dimension letters: B this process's slots, T cells, S states, L positions, D width.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from charm.model import CharmModel
from charm.tasks import keyed
from charm.tasks.batch import Keys, PairBank, view_tokens
from charm.tasks.sampling import Stream


class Slots:
    """This process's share of the slots of one canvas size."""

    def __init__(
        self,
        model: CharmModel,
        stream: Stream,
        bank: PairBank,
        keys: Keys,
        share: tuple[int, int],
        device: torch.device,
    ) -> None:
        self.stream, self.bank, self.keys, self.side = stream, bank, keys, stream.side
        self.numbers = np.arange(*share)  # global numbers of the slots
        count, cells = len(self.numbers), stream.side**2
        self.turn = np.zeros(count, np.int64)  # the next turn of each slot: the data position
        self.state_SBLD = model.reasoner.initial_state(count, cells).clone()
        self.inputs_BT = torch.zeros(count, cells, dtype=torch.uint8, device=device)
        self.targets_BT = torch.zeros_like(self.inputs_BT)
        self.row_B = torch.zeros(count, dtype=torch.long, device=device)
        self.steps_B = torch.zeros(count, dtype=torch.long, device=device)
        self.halted_B = torch.ones(count, dtype=torch.bool, device=device)

    def __len__(self) -> int:
        return len(self.numbers)

    def refill(self, model: CharmModel) -> None:
        """Give every halted slot its next example and the initial state."""
        halted = np.flatnonzero(self.halted_B.cpu().numpy())
        if not len(halted):
            return
        draw = self.stream.draw(self.numbers[halted], self.turn[halted])
        self.turn[halted] += 1
        device = self.inputs_BT.device
        pair, row, top, left = (
            torch.from_numpy(column).to(device, torch.long)
            for column in (draw.pair_N, draw.row_N, draw.top_N, draw.left_N)
        )
        inputs, targets = view_tokens(self.bank, self.keys, pair, row, top, left, self.side)
        assert targets is not None
        at = torch.from_numpy(halted).to(device)
        self.inputs_BT[at], self.targets_BT[at], self.row_B[at] = inputs, targets, row
        self.state_SBLD = model.reasoner.restart(self.state_SBLD, self.halted_B)
        self.steps_B[at] = 0
        self.halted_B[at] = False

    def exploration(self, step: int, seed: int) -> Tensor:
        """Two uniform numbers for each slot, decided by (seed, step, slot) alone."""
        counters = 2 * (step * self.stream.slots + self.numbers)
        key = keyed.key_of("exploration", seed, self.side)
        drawn = np.stack([keyed.uniform(key, counters), keyed.uniform(key, counters + 1)], axis=1)
        return torch.from_numpy(drawn.astype(np.float32)).to(self.inputs_BT.device)

    _TENSORS = ("state_SBLD", "inputs_BT", "targets_BT", "row_B", "steps_B", "halted_B")

    def state(self) -> dict[str, Tensor]:
        """All that a resumed run needs; slots lie along the first dimension of every tensor."""
        tensors: dict[str, Tensor] = {name: getattr(self, name) for name in self._TENSORS}
        tensors["state_SBLD"] = self.state_SBLD.transpose(0, 1)
        return {**tensors, "turn": torch.from_numpy(self.turn)}

    def restore(self, saved: dict[str, Any]) -> None:
        for name in self._TENSORS:
            tensor = saved[name].transpose(0, 1) if name == "state_SBLD" else saved[name]
            setattr(self, name, tensor.contiguous().to(self.inputs_BT.device))
        self.turn = saved["turn"].cpu().numpy().copy()


def pick_slots(slots: dict[int, Slots], seed: int, step: int) -> Slots:
    """The slots whose turn it is: canvas sizes come up as often as their share of the examples."""
    ends = np.cumsum([len(group.stream.mixture) for group in slots.values()])
    drawn = keyed.uniform(keyed.key_of("side", seed), np.array([step]))[0] * ends[-1]
    return list(slots.values())[int(np.searchsorted(ends, drawn, side="right"))]
