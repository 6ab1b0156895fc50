"""The interface of all networks: what training asks of one, without knowing which it is.

A network says how examples are batched and leaves the gradients of a batch (`Examples`), which parts are compiled, and
which matrices Muon must not move. `charm.training.learner` makes the updates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from charm.devices import Place
from charm.tasks.dataset import Dataset

if TYPE_CHECKING:
    from charm.models.model import CharmModel


@dataclass(frozen=True)
class BatchSize:
    """How much an update reads over all processes; a network uses the unit that it counts in."""

    examples: int = 0
    tokens: int = 0
    accumulate: int = 1
    """Parts of a batch whose gradients are added up, to save memory."""
    halt_weight: float = 0.0
    """Weight of the halting loss, in networks that halt."""


class Examples(ABC):
    """What updates read. The tensors of a batch stay where they are in memory, so that updates can be recorded."""

    work: tuple[int, str]
    """How much an update handles over all processes, and the word for it: (768, "samples")."""

    @abstractmethod
    def prepare(self, update: int, focused: bool = False) -> Any:
        """Lay out the batch of an update: of all tasks, or of those alone that are being learned. The host's half."""

    def is_rehearsed(self, batch: Any) -> bool:
        """Return whether a batch is of older tasks, whose own rows must stay."""
        return False

    @abstractmethod
    def gradients(self, model: CharmModel, batch: Any) -> dict[str, Tensor]:
        """Leave the gradients of a batch and return what was measured. Never synchronises with the host."""

    @abstractmethod
    def trial(self, model: CharmModel) -> None:
        """Compute gradients of the shape of updates, for a compiler; no example is used up."""

    @abstractmethod
    def halved(self) -> Examples | None:
        """Return the same examples in batches of half the size; None if there are no smaller ones."""

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Return the position of this process in its data, and what it carries from update to update."""

    @abstractmethod
    def restore(self, parts: Sequence[Mapping[str, Tensor]]) -> None:
        """Go back to the positions that all processes saved; there may be another number of processes now."""


class Network(nn.Module):
    """A network that answers tasks, given the vector of a task."""

    compute_dtype: torch.dtype
    tokens: nn.Parameter
    compiled = False
    """Whether `compile_parts` has succeeded."""

    def examples(
        self,
        model: CharmModel,
        data: Dataset,
        size: BatchSize,
        seed: int,
        place: Place,
        rehearsal: Dataset | None = None,
    ) -> Examples:
        """Return what updates of `model`, whose network this is, read of the data; `rehearsal` has older tasks."""
        raise NotImplementedError

    @property
    def body(self) -> nn.ModuleList:
        """The blocks between embedding and head."""
        raise NotImplementedError

    def compile_parts(self) -> None:
        """Compile what updates spend their time in, with torch.compile; parameter names stay."""
        raise NotImplementedError

    def uncompile(self) -> None:
        """Undo `compile_parts`."""
        raise NotImplementedError

    def elementwise_parameters(self) -> list[nn.Parameter]:
        """Return matrices whose rows are single vectors: AdamW moves them, never Muon."""
        return []
