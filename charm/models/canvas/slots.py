"""Slots: the examples being refined, and what is carried from one step to the next.

A slot keeps its example until it halts; then it takes the next from its stream, which is already prepared. Taking
is decided and done on the device alone. The host learns of it later and lays out what comes next while the device
works, so neither waits for the other.

Dimension letters: B this process's slots, T cells, S states, L positions, D width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from charm.devices import Place, to_device
from charm.errors import CharmError
from charm.models.canvas.refinement import Refinement, refine_prepared
from charm.models.network import BatchSize, Examples, Network, Workload
from charm.tasks import keyed
from charm.tasks.batch import PairBank, view_tokens
from charm.tasks.dataset import Dataset
from charm.tasks.keys import Keys
from charm.tasks.sampling import Stream

if TYPE_CHECKING:
    from charm.models.model import CharmModel

IntArray = np.ndarray[Any, np.dtype[np.int64]]


class Slots:
    """This process's share of the slots of one canvas size. Its tensors stay where they are in memory."""

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
        self.state_SBLD = model.canvas.initial_state(count, cells).clone()
        self.inputs_BT = torch.zeros(count, cells, dtype=torch.uint8, device=device)
        self.targets_BT = torch.zeros_like(self.inputs_BT)
        self.row_B = torch.zeros(count, dtype=torch.long, device=device)
        self.steps_B = torch.zeros(count, dtype=torch.long, device=device)
        self.halted_B = torch.ones(count, dtype=torch.bool, device=device)
        self.exploration_B2 = torch.zeros(count, 2, device=device)
        # What each slot takes when it halts, and the turn of that: the data position.
        self.next_inputs_BT, self.next_targets_BT = self.inputs_BT.clone(), self.targets_BT.clone()
        self.next_row_B = self.row_B.clone()
        self.turn = np.zeros(count, np.int64)
        self._taken: HostCopy | None = None  # which slots took their example in the last update
        self._lay_out(np.arange(count))

    def __len__(self) -> int:
        return len(self.numbers)

    def prepare(self, step: int, seed: int) -> None:
        """What the host does before an update: lay out examples where some were taken, and draw its random numbers.

        Two uniform numbers for each slot are decided by (seed, step, slot) alone.
        """
        taken, self._taken = self._taken, HostCopy(self.halted_B)
        self._replace(taken)
        counters = 2 * (step * self.stream.slots + self.numbers)
        key = keyed.key_of("exploration", seed, self.side)
        drawn = np.stack([keyed.uniform(key, counters), keyed.uniform(key, counters + 1)], axis=1)
        self.exploration_B2.copy_(to_device(drawn.astype(np.float32), self.exploration_B2.device))

    def take(self, model: CharmModel) -> None:
        """Every halted slot takes its next example and the initial state."""
        halted_B, halted_B1 = self.halted_B, self.halted_B[:, None]
        self.inputs_BT.copy_(torch.where(halted_B1, self.next_inputs_BT, self.inputs_BT))
        self.targets_BT.copy_(torch.where(halted_B1, self.next_targets_BT, self.targets_BT))
        self.row_B.copy_(torch.where(halted_B, self.next_row_B, self.row_B))
        self.state_SBLD.copy_(model.canvas.restart(self.state_SBLD, halted_B))
        self.steps_B.masked_fill_(halted_B, 0)

    def _replace(self, taken: HostCopy | None) -> None:
        if taken is not None:
            slots = np.flatnonzero(taken.array())
            self.turn[slots] += 1
            self._lay_out(slots)

    def _lay_out(self, slots: IntArray) -> None:
        """Prepare the next example of each of these slots."""
        if not len(slots):
            return
        draw = self.stream.draw(self.numbers[slots], self.turn[slots])
        where = (draw.top_N, draw.left_N, draw.scale_N)
        columns = np.stack([slots, draw.pair_N, draw.row_N, *where]).astype(np.int64)
        at, pair, row, top, left, scale = to_device(columns, self.inputs_BT.device)
        scales = None if self.stream.scales == 1 else scale
        inputs, targets = view_tokens(self.bank, self.keys, pair, row, top, left, self.side, scale_N=scales)
        assert targets is not None
        self.next_inputs_BT[at], self.next_targets_BT[at], self.next_row_B[at] = inputs, targets, row

    _TENSORS = ("state_SBLD", "inputs_BT", "targets_BT", "row_B", "steps_B", "halted_B")

    def state(self) -> dict[str, Tensor]:
        """Everything a resumed run needs; the first dimension of every tensor is slots."""
        taken, self._taken = self._taken, None
        self._replace(taken)
        tensors: dict[str, Tensor] = {name: getattr(self, name) for name in self._TENSORS}
        tensors["state_SBLD"] = self.state_SBLD.transpose(0, 1)
        return {**tensors, "turn": torch.from_numpy(self.turn.copy())}

    def restore(self, saved: dict[str, Any]) -> None:
        for name in self._TENSORS:
            tensor = saved[name].transpose(0, 1) if name == "state_SBLD" else saved[name]
            getattr(self, name).copy_(tensor)
        self.turn = saved["turn"].cpu().numpy().copy()
        self._taken = None
        self._lay_out(np.arange(len(self)))


class HostCopy:
    """A tensor on its way to the host: `array` waits for what was queued before the copy, not for what came after."""

    def __init__(self, tensor: Tensor) -> None:
        self.event = None
        if tensor.is_cuda:
            self.tensor = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
            self.tensor.copy_(tensor, non_blocking=True)
            self.event = torch.cuda.Event()
            self.event.record()
        else:
            self.tensor = tensor.to("cpu", copy=True)

    def array(self) -> np.ndarray[Any, Any]:
        if self.event is not None:
            self.event.synchronize()
        return self.tensor.numpy()


def fill_slots(
    model: CharmModel,
    data: Dataset,
    batch: int,
    seed: int,
    device: torch.device,
    share: tuple[int, int] | None = None,
) -> dict[int, Slots]:
    """Slots for each canvas size of the data: all of a batch, or this process's share of it."""
    bank, keys = data.bank.to(device), data.keys().to(device)
    return {
        side: Slots(model, data.stream(side, batch, seed), bank, keys, share or (0, batch), device)
        for side in sorted(data.mixtures)
    }


def pick_slots(slots: dict[int, Slots], seed: int, step: int) -> Slots:
    """The slots whose turn it is: canvas sizes occur in proportion to their share of the examples."""
    ends = np.cumsum([len(group.stream.mixture) for group in slots.values()])
    drawn = keyed.uniform(keyed.key_of("side", seed), np.array([step]))[0] * ends[-1]
    return list(slots.values())[int(np.searchsorted(ends, drawn, side="right"))]


class Canvases(Examples):
    """The slots of every canvas size, and those of older tasks that are rehearsed."""

    def __init__(
        self,
        model: CharmModel,
        data: Dataset,
        settings: Refinement,
        seed: int,
        place: Place,
        rehearsal: Dataset | None = None,
    ) -> None:
        share = place.share(settings.batch)
        if (share[1] - share[0]) % settings.accumulate:
            raise CharmError(
                f"{share[1] - share[0]} slots cannot be split into {settings.accumulate} equal parts"
            )
        self._again = partial(Canvases, model, data, seed=seed, place=place, rehearsal=rehearsal)
        self.settings, self.seed, self.work = settings, seed, (settings.batch, "samples")
        filling = (settings.batch, seed, place.device, share)
        self.groups = fill_slots(model, data, *filling)
        self.rehearsed = {} if rehearsal is None else fill_slots(model, rehearsal, *filling)

    def prepare(self, update: int, focused: bool = False) -> Slots:
        slots = pick_slots(self.groups if focused else self.rehearsed or self.groups, self.seed, update)
        slots.prepare(update, self.seed)
        return slots

    def is_rehearsed(self, batch: Slots) -> bool:
        return any(batch is group for group in self.rehearsed.values())

    def gradients(self, model: CharmModel, batch: Slots) -> dict[str, Tensor]:
        return refine_prepared(model, batch, self.settings)

    def trial(self, model: CharmModel) -> None:
        side = min(self.groups)
        slots = self.groups[side]
        part = slice(0, len(slots) // self.settings.accumulate)
        state = slots.state_SBLD[:, part].clone()
        _, logits, halt = model(state, slots.inputs_BT[part], slots.row_B[part], side)
        (logits.sum() + halt.sum()).backward()

    def halved(self) -> Canvases | None:
        half = self.settings.batch // 2
        return self._again(settings=replace(self.settings, batch=half)) if half else None

    def workloads(self, model: CharmModel) -> list[Workload]:
        index = sum(len(group.stream.mixture) for group in self.groups.values())
        return [self._workload(model, slots, index) for slots in self.groups.values()]

    def _workload(self, model: CharmModel, slots: Slots, index: int) -> Workload:
        def prepare(update: int) -> Slots:
            slots.prepare(update, self.seed)
            return slots

        def forward() -> None:
            with torch.inference_mode():
                model(slots.state_SBLD, slots.inputs_BT, slots.row_B, slots.side)

        def size() -> tuple[int, int, int]:
            without, with_gradients = model.config.reasoner.flops(slots.side)
            return len(slots), len(slots) * without, len(slots) * with_gradients

        return Workload(slots.side, len(slots.stream.mixture) / index, prepare, forward, size)

    def state(self) -> dict[str, Tensor]:
        return {f"{name}/{k}": v for name, group in self._named().items() for k, v in group.state().items()}

    def restore(self, parts: Sequence[Mapping[str, Tensor]]) -> None:
        for start, group in self._named().items():
            mine = slice(int(group.numbers[0]), int(group.numbers[-1]) + 1)
            here = [name for name in parts[0] if name.startswith(f"{start}/")]
            group.restore({n.rpartition("/")[2]: torch.cat([part[n] for part in parts])[mine] for n in here})

    def _named(self) -> dict[str, Slots]:
        named = {str(side): group for side, group in self.groups.items()}
        return named | {f"rehearsal/{side}": group for side, group in self.rehearsed.items()}


class CanvasNetwork(Network):
    """A network that answers all cells of a canvas at once, block by block."""

    blocks: nn.ModuleList

    def examples(
        self,
        model: CharmModel,
        data: Dataset,
        size: BatchSize,
        seed: int,
        place: Place,
        rehearsal: Dataset | None = None,
    ) -> Canvases:
        settings = Refinement.of(model.config.reasoner, size.examples, size.halt_weight, size.accumulate)
        return Canvases(model, data, settings, seed, place, rehearsal)

    @property
    def body(self) -> nn.ModuleList:
        return self.blocks

    def compile_parts(self) -> None:
        self.compile_blocks()

    def compile_blocks(self, **options: Any) -> None:
        """Compile one application of each block with torch.compile, whose options these are."""
        raise NotImplementedError

    def uncompile(self) -> None:
        for block in self.blocks:
            block._compiled_call_impl = None
