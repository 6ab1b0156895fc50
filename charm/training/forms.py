"""How shared weights may move in a stage: freely, held back by an anchor, by a change of low rank, or only the units
that a task uses most.

Dimension letters: B examples, L positions, F inner width of a feed-forward layer.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from charm.devices import Place
from charm.errors import CharmError
from charm.models.model import CharmModel
from charm.models.network import BatchSize
from charm.tasks import keyed
from charm.tasks.dataset import Dataset

LORA_SCALE = 2.0  # alpha / r, as in most uses of LoRA
ACCESSES = 32  # units of a layer that an example is said to use: those with the largest mean activation


class Form:
    """Shared weights move freely."""

    decays = True  # whether weight decay applies

    def __init__(self, shared: Mapping[str, nn.Parameter]) -> None:
        self.shared = shared

    def moved(self) -> list[nn.Parameter]:
        """Return what the optimizer moves."""
        return list(self.shared.values())

    def count(self) -> int:
        """Count the parameters that learn."""
        return sum(parameter.numel() for parameter in self.moved())

    def after_backward(self) -> None:
        """Change the gradients of the model's weights before the step."""

    def after_step(self) -> None:
        """Change the weights after the optimizers' step."""

    def state(self) -> dict[str, Tensor]:
        """Return the tensors that a resumed stage needs, to be copied into."""
        return {}


class Anchored(Form):
    """Shared weights are pulled to where they are now: strength / 2 * sum of importance * (weight - base)^2."""

    def __init__(
        self, shared: Mapping[str, nn.Parameter], strength: float, importance: list[Tensor] | None = None
    ) -> None:
        super().__init__(shared)
        self.strength, self.importance = strength, importance
        self.base = [parameter.detach().clone() for parameter in self.moved()]

    @torch.no_grad()
    def after_backward(self) -> None:
        for number, (parameter, base) in enumerate(zip(self.moved(), self.base, strict=True)):
            pull = self.strength * (parameter - base)
            if self.importance is not None:
                pull *= self.importance[number]
            parameter.grad = pull if parameter.grad is None else parameter.grad + pull


class LowRank(Form):
    """LoRA (Hu et al. 2022): each matrix is where it started, plus the product of two thin ones, which learn.

    The thin ones get their gradients from the matrix's by the chain rule, so the module itself is unchanged. After the
    stage the change remains in the matrix, and the next stage starts another one.
    """

    def __init__(self, shared: Mapping[str, nn.Parameter], rank: int, seed: int) -> None:
        super().__init__(shared)
        if rank > (longest := max(max(matrix.shape) for matrix in shared.values())):
            raise CharmError(f"rank must be <= {longest}, the longest side of a matrix of this model; got {rank}")
        self.start = {name: matrix.detach().clone() for name, matrix in shared.items()}
        self.down: dict[str, nn.Parameter] = {}
        self.up: dict[str, nn.Parameter] = {}
        for name, matrix in shared.items():
            rows, columns = matrix.shape
            generator = torch.Generator().manual_seed(keyed.key_of("lora", seed, name) % 2**63)
            down = torch.randn(rank, columns, generator=generator) / columns**0.5
            self.down[name] = nn.Parameter(down.to(matrix.device))
            self.up[name] = nn.Parameter(matrix.new_zeros(rows, rank))  # so the change starts at zero

    def moved(self) -> list[nn.Parameter]:
        return [*self.down.values(), *self.up.values()]

    @torch.no_grad()
    def after_backward(self) -> None:
        for name, matrix in self.shared.items():
            if matrix.grad is not None:
                down, up = self.down[name], self.up[name]
                down.grad = LORA_SCALE * (up.T @ matrix.grad)
                up.grad = LORA_SCALE * (matrix.grad @ down.T)
                matrix.grad = None

    @torch.no_grad()
    def after_step(self) -> None:
        for name, matrix in self.shared.items():
            matrix.copy_(self.start[name] + LORA_SCALE * (self.up[name] @ self.down[name]))

    def state(self) -> dict[str, Tensor]:
        parts: dict[str, Mapping[str, Tensor]] = {"start": self.start, "down": self.down, "up": self.up}
        return {f"{part}/{name}": value for part, some in parts.items() for name, value in some.items()}


class Usage(NamedTuple):
    """How many of some examples use each unit of each feed-forward layer."""

    counts: dict[str, Tensor]  # name of the layer -> [F]
    examples: int


class Units(Form):
    """Sparse memory fine-tuning (Lin et al. 2025): only the units that a task uses far more than pretraining did learn.

    The reasoner has no memory layer, so its feed-forward units are the slots: a unit is its rows of the map inwards and
    its column of the map outwards. Units are ranked by TF-IDF, with examples in the place of documents.
    """

    decays = False  # which would move all units

    def __init__(self, shared: Mapping[str, nn.Parameter], task: Usage, background: Usage, units: int) -> None:
        super().__init__(shared)
        self.units = units
        self.masks: dict[str, Tensor] = {}
        for layer, used in task.counts.items():
            scores = tf_idf(used, background.counts[layer], background.examples)
            chosen = torch.zeros_like(scores)
            chosen[scores.topk(min(units, len(scores))).indices] = 1
            shapes = {"gate_up.weight": chosen.repeat(2)[:, None], "down.weight": chosen[None]}
            shapes |= {"kernel": chosen[:, None, None], "bias": chosen}
            for name, mask in shapes.items():
                if f"{layer}.{name}" in shared:
                    self.masks[f"{layer}.{name}"] = mask.clone()

    def count(self) -> int:
        return sum(int((mask.expand_as(self.shared[name]) != 0).sum()) for name, mask in self.masks.items())

    @torch.no_grad()
    def after_backward(self) -> None:
        for name, mask in self.masks.items():
            gradient = self.shared[name].grad
            if gradient is not None:
                gradient.mul_(mask)

    def state(self) -> dict[str, Tensor]:
        return {f"mask/{name}": mask for name, mask in self.masks.items()}


def tf_idf(used_F: Tensor, background_F: Tensor, examples: int) -> Tensor:
    """Return the task's share of uses that each unit has, times log((examples + 1) / (examples that use it + 1))."""
    share_F = used_F.double() / used_F.sum().clamp(min=1)
    return share_F * torch.log((examples + 1) / (background_F.double() + 1))


@torch.no_grad()
def unit_usage(model: CharmModel, data: Dataset, place: Place, batch: int, batches: int, seed: int) -> Usage:
    """Count which units fresh examples of this data use in their first refinement step."""
    examples = model.reasoner.examples(data, BatchSize(batch), seed, place)
    counts: dict[str, Tensor] = {}
    for number in range(batches):
        group = examples.prepare(number)
        group.take()
        with _activations(model) as sums:
            model(group.state_SBLD, group.inputs_BT, group.row_B, group.side)
        group.halted_B.fill_(True)  # the next batch is a fresh one
        for layer, sum_BF in sums.items():
            top = sum_BF.topk(min(ACCESSES, sum_BF.shape[1]), dim=1).indices.flatten()
            found = counts.setdefault(layer, sum_BF.new_zeros(sum_BF.shape[1]))
            found += torch.bincount(top, minlength=len(found))
    return Usage(counts, batch * batches)


@contextmanager
def _activations(model: CharmModel) -> Iterator[dict[str, Tensor]]:
    """Sum each unit's activation [B, F] over positions and recurrences within the block, by layer."""
    sums: dict[str, Tensor] = {}
    layers = {name: part.down for name, part in model.named_modules() if name.endswith(".feed_forward")}

    def add(layer: str, inner_BLF: Tensor) -> None:
        size_BF = inner_BLF.float().abs().sum(1)
        sums[layer] = sums[layer] + size_BF if layer in sums else size_BF

    handles = [
        down.register_forward_pre_hook(lambda _, inputs, layer=name: add(layer, inputs[0]))
        for name, down in layers.items()
    ]
    network, config = model.reasoner, model.reasoner.config
    plain: Any = config
    network.config = replace(plain, kernels="plain")  # fused ones have no place to look
    try:
        yield sums
    finally:
        network.config = config
        for handle in handles:
            handle.remove()
