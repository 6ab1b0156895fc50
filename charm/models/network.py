"""The interface of all networks: what training and evaluation ask of one, without knowing which it is.

A network says how examples are batched and leaves the gradients of a batch (`Examples`), which parts are compiled, and
which matrices Muon must not move. `charm.training.learner` makes the updates. It also says which questions are asked
together (`Asking`), answers them, and may judge candidates. `charm.evaluation.predict` makes votes of the answers.

Dimension letters: N questions under views, T cells, D width.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from charm.devices import Place
from charm.models.config import NetworkConfig
from charm.tasks.batch import PairBank
from charm.tasks.canvas import FULL_SIDE
from charm.tasks.dataset import Dataset
from charm.tasks.keyed import Numbers
from charm.tasks.keys import Keys
from charm.tasks.task import Grid

if TYPE_CHECKING:
    from charm.models.model import CharmModel


Metrics = dict[str, Tensor]


@dataclass(frozen=True)
class BatchSize:
    """How much an update reads over all processes; a network uses the unit that it counts in."""

    examples: int = 0
    tokens: int = 0
    accumulate: int = 1  # parts of a batch whose gradients are added up, to save memory
    halt_weight: float = 0.0  # weight of the halting loss, in networks that halt


@dataclass(frozen=True)
class Workload:
    """Batches of one shape, to measure speed with."""

    side: int  # of the canvases; 0 for sequences
    share: float  # of all examples
    prepare: Callable[[int], Any]  # lay out the batch of an update
    forward: Callable[[], object]  # compute the last batch without gradients
    size: Callable[[], tuple[int, int, int]]
    """Count the examples of the last batch, and its operations: without gradients, and in training."""


class Examples(ABC):
    """What updates read. The tensors of a batch stay where they are in memory, so that updates can be recorded."""

    work: tuple[int, str]  # how much an update handles over all processes, and the word for it: (768, "samples")

    @abstractmethod
    def prepare(self, update: int, focused: bool = False) -> Any:
        """Lay out the batch of an update: of all tasks, or of the evaluated ones alone. The host's half."""

    @abstractmethod
    def gradients(self, model: CharmModel, batch: Any) -> Metrics:
        """Leave the gradients of a batch and return what was measured. Never synchronises with the host."""

    @abstractmethod
    def trial(self, model: CharmModel) -> None:
        """Compute gradients of the shape of updates, for a compiler; no example is used up."""

    @abstractmethod
    def halved(self) -> Examples | None:
        """Return the same examples in batches of half the size; None if there are no smaller ones."""

    @abstractmethod
    def workloads(self, model: CharmModel) -> list[Workload]:
        """Return what updates of `model` are made of, one for each shape of batches."""

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Return the position of this process in its data, and what it carries from update to update."""

    @abstractmethod
    def restore(self, parts: Sequence[Mapping[str, Tensor]]) -> None:
        """Return to the positions that all processes saved; there may be another number of processes now."""


class AskedBatch(NamedTuple):
    """Questions under views, the vectors of their tasks, and the canvas to ask them on."""

    bank: PairBank
    keys: Keys
    question_N: Tensor
    row_N: Tensor
    task_ND: Tensor
    side: int = FULL_SIDE
    bounds: Sequence[int] = ()  # the longest side that the task of each question in the bank shows


class Together(NamedTuple):
    """Jobs that are asked in one batch. A job is a question under a view."""

    job_N: Numbers  # places in a list of jobs. Repeats that only fill the batch come last.
    size: int  # jobs without the repeats


class Asking:
    """How a network is asked the questions of a dataset. Here, no answer depends on another."""

    def __init__(self, network: Network, data: Dataset, steps: int, batch: int, fill: bool = False) -> None:
        self.network, self.data, self.steps = network, data, steps
        self.batch, self.fill, self.device = batch, fill, network.tokens.device

    def rounds(self, question_N: Numbers, side_N: Numbers) -> list[list[Together]]:
        """Divide jobs into batches, in rounds: the answers of a round may help in the next."""
        batches = []
        for side in np.unique(side_N).tolist():
            mine = np.flatnonzero(side_N == side)
            # Full batches keep compiled shapes.
            fill = self.fill or (self.device.type != "cpu" and len(mine) > self.batch)
            for first in range(0, len(mine), self.batch):
                chosen = mine[first : first + self.batch]
                batches.append(Together(np.resize(chosen, self.batch) if fill else chosen, len(chosen)))
        return [batches]

    def begin_round(self, leading: Callable[[], Mapping[int, Grid]]) -> None:
        """Get ready for a round; `leading` returns the answers with most votes so far, by question."""

    def answers(self, asked: AskedBatch) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield answers as token canvases uint8 [N, T] and the log-odds that they are right, after each step."""
        return self.network.answers(asked, self.steps)


class Network(nn.Module):
    """A network that answers tasks, given the vector of a task."""

    config: NetworkConfig
    tokens: nn.Parameter
    compiled = False  # whether `compile_parts` has succeeded

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.compute_dtype: torch.dtype = getattr(torch, config.compute_dtype)
        self.on_old_gpu = False  # without bfloat16: it learns in float32, and a writer votes in float16

    def examples(self, data: Dataset, size: BatchSize, seed: int, place: Place) -> Examples:
        """Return what updates read of the data."""
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

    def kernels_in_use(self) -> str:
        """Name how the network is computed where it is now: "plain", "compiled" or "fused"."""
        return "compiled" if self.compiled else "plain"

    def asking(self, data: Dataset, steps: int, batch: int, fill: bool = False) -> Asking:
        """Return how this network is asked the questions of the data, up to `batch` at once, for answers after each of
        `steps` steps. With `fill` every batch is filled up, for a compiled network.
        """
        return Asking(self, data, steps, batch, fill)

    def answers(self, asked: AskedBatch, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield answers as token canvases uint8 [N, T] and the log-odds that they are right, after each of `steps`
        steps. A step is what the network votes at: a refinement, or a placement.
        """
        raise NotImplementedError

    def log_likelihoods(
        self, model: CharmModel, pairs: PairBank, keys: Keys, pair_N: Numbers, row_N: Numbers
    ) -> npt.NDArray[np.float32]:
        """Return the log-probabilities [N] of the outputs of pairs under the views of memory rows.

        Only networks that judge (`NetworkConfig.judges`) have this.
        """
        raise NotImplementedError

    def search(
        self,
        model: CharmModel,
        data: Dataset,
        question_N: Numbers,
        row_N: Numbers,
        least: float,
        stop: Callable[[], bool],
    ) -> Iterator[tuple[Numbers, Tensor, Tensor]]:
        """Yield answers with at least this probability to questions under the views of memory rows, some at a time:
        the place of the question of each in `question_N`, token canvases uint8 [M, T] and log-odds, until `stop()`.

        Only networks that judge have this.
        """
        raise NotImplementedError

    def try_shapes(self, learning: Collection[int], voting: int) -> None:
        """Compute batches of these numbers of examples, with gradients and without, for a compiler.

        Only networks that are compiled ahead need it (`charm.models.config.SolvingTraits.filled`).
        """
        raise NotImplementedError

    def update_size(self, data: Dataset, tasks: int, asked: int, place: Place) -> int:
        """Return how much an update reads if `tasks` tasks are learned together: `asked`, or a choice if that is 0."""
        raise NotImplementedError

    def elementwise_parameters(self) -> list[nn.Parameter]:
        """Return matrices whose rows are single vectors: AdamW moves them, never Muon."""
        return []


def log_odds(log_probability: Tensor) -> Tensor:
    """Return log(p / (1 - p)) from log p."""
    return log_probability - torch.log(-torch.expm1(log_probability))
