"""How a network that answers whole canvases learns: slots, one refinement step, its losses, and when an example halts.

A slot keeps its example until it halts; then it takes the next from its stream, which is already prepared. Taking
is decided and done on the device alone. The host learns of it later and lays out what comes next while the device
works, so neither waits for the other. Evaluation never halts early.

Dimension letters: B this process's slots, T cells, V tokens, S states, L positions, D width.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from charm.devices import Place, to_device
from charm.errors import CharmError
from charm.models.network import AskedBatch, BatchSize, Examples, Metrics, Network, Workload
from charm.tasks import keyed
from charm.tasks.batch import PairBank, view_tokens
from charm.tasks.canvas import PAD
from charm.tasks.dataset import Dataset
from charm.tasks.keyed import Numbers
from charm.tasks.keys import Keys
from charm.tasks.sampling import Stream

if TYPE_CHECKING:
    from charm.models.model import CharmModel


class CanvasNetwork(Network):
    """A network that answers all cells of a canvas at once, block by block.

    Called with the states [S, B, L, D] of the last step, tokens [B, T], task vectors [B, D] and the side of the
    canvases, it returns the next states, the logits [B, T, V] of all cells, and logits that the answers are right,
    [B] (or [B, 2]: halt, continue).
    """

    blocks: nn.ModuleList

    def initial_state(self, batch: int, cells: int) -> Tensor:
        """Return the states before the first step; a network without any has none: an empty tensor [0, B, 1, D]."""
        width = self.tokens.shape[1]
        return torch.empty(0, batch, 1, width, dtype=self.compute_dtype, device=self.tokens.device)

    def restart(self, state_SBLD: Tensor, halted_B: Tensor) -> Tensor:
        """Return the states with the initial ones in the slots that have halted."""
        return state_SBLD

    def loss(self, logits_BTV: Tensor, halt: Tensor, targets_BT: Tensor, size: BatchSize) -> tuple[Tensor, Metrics]:
        """Return the loss of a step to minimise, a mean over `size.examples`, and what to log."""
        return refinement_loss(logits_BTV, halt, targets_BT, size.examples, size.halt_weight)

    def examples(self, data: Dataset, size: BatchSize, seed: int, place: Place) -> Canvases:
        return Canvases(self, data, size, seed, place)

    def answers(self, asked: AskedBatch, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
        from charm.models.canvas.answers import refine_answers  # which needs this module

        return refine_answers(self, asked, steps)

    @property
    def body(self) -> nn.ModuleList:
        return self.blocks

    def compile_parts(self, **options: Any) -> None:
        """Compile one application of each block in place with torch.compile; parameter names stay.

        Shapes are static, and a graph break is an error, unless `options` (torch.compile's) say otherwise.
        """
        # Each canvas size and batch size needs up to three graphs to train and one to infer; torch's limit of
        # 8 would be met with the third size.
        torch._dynamo.config.recompile_limit = max(64, torch._dynamo.config.recompile_limit)
        for block in self.blocks:
            block.compile(**{"dynamic": False, "fullgraph": True, **options})

    def uncompile(self) -> None:
        for block in self.blocks:
            block._compiled_call_impl = None


def refine_slots(model: CharmModel, slots: Slots, size: BatchSize) -> Metrics:
    """Refill what halted, refine every slot once, leave gradients of the loss, and decide who halts now.

    `Slots.prepare` is the host's half of the work; nothing here synchronises with the host.
    """
    limit, kind = slots.limit, slots.kind
    slots.take()
    part = len(slots) // size.accumulate
    halts, sums = [], []
    for first in range(0, len(slots), part):
        at = slice(first, first + part)
        state, logits, halt = model(slots.state_SBLD[:, at], slots.inputs_BT[at], slots.row_B[at], slots.side)
        loss, metrics = slots.network.loss(logits, halt, slots.targets_BT[at], size)
        if kind == "hrm" and halt.dim() == 2:
            with torch.no_grad():
                _, _, next_halt = model(state, slots.inputs_BT[at], slots.row_B[at], slots.side)
            last = slots.steps_B[at] + 1 >= limit
            loss = loss + continue_loss(halt, next_halt, last, size.examples, size.halt_weight)
        loss.backward()
        slots.state_SBLD[:, at] = state
        halts.append(halt.detach())
        sums.append({"loss": loss.detach() * size.examples / part, **metrics})

    slots.steps_B += 1
    minimum = minimum_steps(slots.exploration_B2, slots.exploration, limit)
    slots.halted_B.copy_(halt_now(torch.cat(halts), slots.steps_B, limit, minimum, kind))
    metrics = {name: torch.stack([one[name] for one in sums]).float().mean() for name in sums[0]}
    metrics["halted"] = slots.halted_B.float().mean()
    metrics["halted_steps"] = (slots.halted_B * slots.steps_B).float().mean()
    metrics["early"] = (slots.halted_B & (slots.steps_B < limit)).float().mean()
    return metrics


def halt_logit(halt: Tensor) -> Tensor:
    """Return the logit of "my answer is right", [B], from a halt head of either kind ([B] or [B, 2])."""
    return halt if halt.dim() == 1 else halt[:, 0]


def wants_to_halt(halt: Tensor, kind: str = "urm") -> Tensor:
    """Return whether the halt head asks to stop, [B]: a positive logit, or for a two-way HRM halt above continue."""
    if kind == "hrm" and halt.dim() == 2:
        return halt[:, 0] > halt[:, 1]
    return halt_logit(halt) > 0


def minimum_steps(uniform_B2: Tensor, probability: float, max_steps: int) -> Tensor:
    """Return the steps each slot must make before it may halt: [B] int64, 0 where there is no minimum.

    Drawn anew at every step, from two uniform numbers in [0, 1) per slot: with `probability` a minimum from
    2..max_steps, all equally likely.
    """
    explore_B, where_B = uniform_B2.unbind(1)
    minimum_B = 2 + (where_B * (max_steps - 1)).long()
    return torch.where(explore_B < probability, minimum_B.clamp(max=max_steps), 0)


def halt_now(halt: Tensor, steps_B: Tensor, max_steps: int, minimum_B: Tensor, kind: str = "urm") -> Tensor:
    """Return which slots stop after this step, [B]: at max_steps, or where the head asks at or after the minimum."""
    return (steps_B >= max_steps) | (wants_to_halt(halt, kind) & (steps_B >= minimum_B))


def stablemax(x: Tensor) -> Tensor:
    """Return s(x) = x + 1 from zero up, 1 / (1 - x) below: positive, rising, and s(x) * s(-x) = 1."""
    # The clamp keeps the branch that is not taken away from its pole at 1, whose gradient would be NaN.
    return torch.where(x >= 0, x + 1, 1 / (1 - x.clamp(max=0)))


def stablemax_cross_entropy(logits_BTV: Tensor, targets_BT: Tensor) -> Tensor:
    """Return -ln(s(z_y) / sum_j s(z_j)) of every cell, [B, T], in the logits' own type.

    Written as log1p(sum over j != y of s(z_j) s(-z_y)): nothing is subtracted, so float32 keeps its relative
    precision down to the smallest losses and up to logits of 1e18. The plain quotient needs float64 for that.
    """
    targets_BT1 = targets_BT.long().unsqueeze(-1)
    others_BT = stablemax(logits_BTV).scatter(-1, targets_BT1, 0.0).sum(-1)
    return torch.log1p(others_BT * stablemax(-logits_BTV.gather(-1, targets_BT1)).squeeze(-1))


def refinement_loss(
    logits_BTV: Tensor, halt: Tensor, targets_BT: Tensor, global_batch: int, halt_weight: float = 0.5
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the loss to minimise, and what to log.

    Per example: the mean over its non-pad targets of the cross-entropy, plus halt_weight times the binary
    cross-entropy of the halt logit against "all of them are right". The sum over examples is divided by
    `global_batch`, so ranks and micro-batches add up. The metrics are means over the examples with a target.
    """
    wanted_BT = targets_BT != PAD
    cells_B = wanted_BT.sum(1)
    valid_B = cells_B > 0
    cells_B = cells_B.clamp(min=1)
    nll_BT = stablemax_cross_entropy(logits_BTV, targets_BT)
    token_B = torch.where(wanted_BT, nll_BT, 0.0).sum(1) / cells_B

    right_BT = (logits_BTV.argmax(-1) == targets_BT) & wanted_BT
    exact_B = (right_BT | ~wanted_BT).all(1)
    halt_B = halt_logit(halt)
    doubt_B = F.binary_cross_entropy_with_logits(halt_B, exact_B.to(halt_B.dtype), reduction="none")
    doubt_B = torch.where(valid_B, doubt_B, 0.0)

    loss = (token_B + halt_weight * doubt_B).sum() / global_batch
    examples = valid_B.sum()

    def mean(value_B: Tensor) -> Tensor:
        return (value_B.detach() * valid_B).sum() / examples.clamp(min=1)

    metrics = {
        "token_loss": mean(token_B),
        "halt_loss": mean(doubt_B),
        "token_accuracy": mean(right_BT.sum(1) / cells_B),
        "exact_accuracy": mean(exact_B),
        "halt_accuracy": mean((halt_B > 0) == exact_B),
        "examples": examples,
    }
    return loss, metrics


def continue_loss(
    halt_B2: Tensor, next_halt_B2: Tensor, last_B: Tensor, global_batch: int, weight: float = 0.5
) -> Tensor:
    """Return HRM's further loss on the continue logit, which should foresee what one more step, without gradient, says.

    The target is the probability of the next step's halt logit where that step must halt (`last_B`: this slot
    has made all its steps), elsewhere of the larger of its halt and continue logits.
    """
    foreseen_B = torch.where(last_B, next_halt_B2[:, 0], next_halt_B2.amax(1)).detach().sigmoid()
    doubt = F.binary_cross_entropy_with_logits(halt_B2[:, 1], foreseen_B, reduction="sum")
    return weight * doubt / global_batch


class Slots:
    """This process's share of the slots of one canvas size. Its tensors stay where they are in memory."""

    def __init__(
        self, network: CanvasNetwork, stream: Stream, bank: PairBank, keys: Keys, share: tuple[int, int]
    ) -> None:
        self.network, self.stream, self.bank, self.keys, self.side = network, stream, bank, keys, stream.side
        config, device = network.config, network.tokens.device
        self.kind, self.limit, self.exploration = config.kind, config.depth, getattr(config, "exploration", 0.0)
        self.numbers = np.arange(*share)  # global numbers of the slots
        count, cells = len(self.numbers), stream.side**2
        self.state_SBLD = network.initial_state(count, cells).clone()
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

    def prepare(self, step: int, seed: int) -> Slots:
        """Do the host's half of an update: lay out examples where some were taken, and draw its random numbers."""
        halted = HostCopy(self.halted_B)
        self._replace_taken()
        self._taken = halted
        counters = 2 * (step * self.stream.slots + self.numbers)
        key = keyed.key_of("exploration", seed, self.side)
        drawn = np.stack([keyed.uniform(key, counters), keyed.uniform(key, counters + 1)], axis=1)
        self.exploration_B2.copy_(to_device(drawn.astype(np.float32), self.exploration_B2.device))
        return self

    def take(self) -> None:
        """Give every halted slot its next example and the initial state."""
        halted_B, halted_B1 = self.halted_B, self.halted_B[:, None]
        self.inputs_BT.copy_(torch.where(halted_B1, self.next_inputs_BT, self.inputs_BT))
        self.targets_BT.copy_(torch.where(halted_B1, self.next_targets_BT, self.targets_BT))
        self.row_B.copy_(torch.where(halted_B, self.next_row_B, self.row_B))
        self.state_SBLD.copy_(self.network.restart(self.state_SBLD, halted_B))
        self.steps_B.masked_fill_(halted_B, 0)

    def _replace_taken(self) -> None:
        """Lay out examples for the slots that took theirs."""
        taken, self._taken = self._taken, None
        if taken is not None:
            slots = np.flatnonzero(taken.array())
            self.turn[slots] += 1
            self._lay_out(slots)

    def _lay_out(self, slots: Numbers) -> None:
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
        """Return everything a resumed run needs; the first dimension of every tensor is slots."""
        self._replace_taken()
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
        self.tensor = tensor.to("cpu", non_blocking=tensor.is_cuda, copy=True)  # pinned, if it comes from a GPU
        self.event = torch.cuda.current_stream(tensor.device).record_event() if tensor.is_cuda else None

    def array(self) -> np.ndarray[Any, Any]:
        if self.event is not None:
            self.event.synchronize()
        return self.tensor.numpy()


def pick_slots(slots: dict[int, Slots], seed: int, step: int) -> Slots:
    """Return the slots whose turn it is: canvas sizes occur in proportion to their share of the examples."""
    ends = np.cumsum([len(group.stream.mixture) for group in slots.values()])
    drawn = keyed.uniform(keyed.key_of("side", seed), np.array([step]))[0] * ends[-1]
    return list(slots.values())[int(np.searchsorted(ends, drawn, side="right"))]


class Canvases(Examples):
    """The slots of every canvas size."""

    def __init__(self, network: CanvasNetwork, data: Dataset, size: BatchSize, seed: int, place: Place) -> None:
        share = place.share(size.examples)
        if (share[1] - share[0]) % size.accumulate:
            raise CharmError(f"{share[1] - share[0]} slots cannot be split into {size.accumulate} equal parts")
        self._again = partial(Canvases, network, data, seed=seed, place=place)
        self.size, self.seed, self.work = size, seed, (size.examples, "samples")
        bank, keys = data.bank.to(place.device), data.keys().to(place.device)
        streams = [data.stream(side, size.examples, seed) for side in sorted(data.mixtures)]
        self.groups = {stream.side: Slots(network, stream, bank, keys, share) for stream in streams}

    def prepare(self, update: int, focused: bool = False) -> Slots:
        return pick_slots(self.groups, self.seed, update).prepare(update, self.seed)

    def gradients(self, model: CharmModel, batch: Slots) -> Metrics:
        return refine_slots(model, batch, self.size)

    def trial(self, model: CharmModel) -> None:
        side = min(self.groups)
        slots = self.groups[side]
        part = slice(0, len(slots) // self.size.accumulate)
        state = slots.state_SBLD[:, part].clone()
        _, logits, halt = model(state, slots.inputs_BT[part], slots.row_B[part], side)
        (logits.sum() + halt.sum()).backward()

    def halved(self) -> Canvases | None:
        half = self.size.examples // 2
        return self._again(size=replace(self.size, examples=half)) if half else None

    def workloads(self, model: CharmModel) -> list[Workload]:
        index = sum(len(group.stream.mixture) for group in self.groups.values())

        @torch.inference_mode()
        def forward(slots: Slots) -> None:
            model(slots.state_SBLD, slots.inputs_BT, slots.row_B, slots.side)

        def size(slots: Slots) -> tuple[int, int, int]:
            without, with_gradients = slots.network.config.flops(slots.side)
            return len(slots), len(slots) * without, len(slots) * with_gradients

        def workload(slots: Slots) -> Workload:
            made = partial(slots.prepare, seed=self.seed), partial(forward, slots), partial(size, slots)
            return Workload(slots.side, len(slots.stream.mixture) / index, *made)

        return [workload(slots) for slots in self.groups.values()]

    def state(self) -> dict[str, Tensor]:
        return {f"{side}/{name}": v for side, group in self.groups.items() for name, v in group.state().items()}

    def restore(self, parts: Sequence[Mapping[str, Tensor]]) -> None:
        for side, group in self.groups.items():
            mine = slice(int(group.numbers[0]), int(group.numbers[-1]) + 1)
            here = [name for name in parts[0] if name.startswith(f"{side}/")]
            group.restore({n.rpartition("/")[2]: torch.cat([part[n] for part in parts])[mine] for n in here})
