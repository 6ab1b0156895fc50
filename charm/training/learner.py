"""The one update of every network: training, solving and continual learning make it here.

A learner owns what an update needs: the model, its optimizers and their rates, the moving average, the examples, and
the recorded CUDA graphs. Which network learns is its model's business (`charm.models.network`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.optim import Optimizer

from charm.devices import Place
from charm.models.model import CharmModel
from charm.models.network import Examples, Metrics
from charm.progress import say
from charm.runs.checkpoint import optimizer_tensors, restore_optimizers
from charm.tasks.keyed import key_of
from charm.training.engine import compiles
from charm.training.forms import Form
from charm.training.graphs import UpdateGraphs
from charm.training.optimizers import MovingAverage, OptimizerSet

S = TypeVar("S")
T = TypeVar("T")
Rate = Callable[[int, float], float]  # (update, share of the time that has passed) -> share of the full rates


@dataclass(eq=False)
class Learner:
    """A model that learns, update by update.

    With `retreats`, updates whose memory runs out continue in batches of half the size. `rank` distinguishes
    processes that train together. A `form` changes gradients before the step, and weights after it.
    """

    model: CharmModel
    optimizers: OptimizerSet
    examples: Examples
    rate: Rate
    seed: int
    place: Place
    rank: int | None = None
    average: MovingAverage = field(default_factory=lambda: MovingAverage([], 0.0))
    form: Form | None = None
    records: bool = True
    retreats: bool = False
    say: Callable[[str], None] = say

    def __post_init__(self) -> None:
        on_gpu = self.place.device.type == "cuda"
        self.graphs = UpdateGraphs(self.model, self.say) if self.records and on_gpu else None
        self.updates = 0

    def update(self, passed: float = 0.0) -> Metrics:
        """Make one update, where this share of the learning time has passed; returns what was measured before it."""

        def attempt(examples: Examples) -> Metrics:
            if examples is not self.examples:  # smaller ones: nothing of what failed may be left
                self.examples = examples
                self.model.zero_grad(set_to_none=True)
                if self.graphs is not None:
                    self.graphs.close()
                    self.graphs = UpdateGraphs(self.model, self.say)
            return self.learn(examples.prepare(self.updates, self.focused(passed)), passed)

        return retreating(attempt, self.examples, lambda some: some.halved() if self.retreats else None)

    def learn(self, batch: Any, passed: float = 0.0) -> Metrics:
        """Make an update from a batch that is laid out."""
        self.optimizers.scale(self.rate(self.updates, passed))
        # The same activations drop when this update is made again after a resume.
        ranks = () if self.rank is None else (self.rank,)
        torch.manual_seed(key_of("dropout", self.seed, self.updates, *ranks) >> 1)
        metrics = self._apply(batch) if self.graphs is None else self.graphs(self._apply, batch)
        self.updates += 1
        return metrics

    def _apply(self, batch: Any) -> Metrics:
        """Do the device's half of `learn`; never synchronises with the host."""
        metrics = self.examples.gradients(self.model, batch)
        if self.form is not None:
            self.form.after_backward()
        self.optimizers.step(self.moving())
        if self.form is not None:
            self.form.after_step()
        self.average.update()
        return metrics

    def focused(self, passed: float) -> bool:
        """Return whether the next update reads only the tasks that are being learned, not those to rehearse."""
        return False

    def moving(self) -> Sequence[Optimizer] | None:
        """Return the optimizers that move weights in this update; None for all."""
        return None

    def compile(self, wanted: str) -> None:
        """Compile the network if wanted, with its gradient, and report a failure."""
        compile_network(self.model, lambda: self.examples.trial(self.model), wanted, self.place, self.say)

    def state(self) -> dict[str, Tensor]:
        """Return everything that resuming needs, except the weights."""
        tensors = {f"optimizer/{n}": value for n, value in optimizer_tensors(self.optimizers.all).items()}
        tensors |= {f"slots/{name}": value for name, value in self.examples.state().items()}
        return {**tensors, "updates": torch.tensor(self.updates)}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        restore_optimizers(self.optimizers.all, below("optimizer/", tensors))
        self.examples.restore([below("slots/", tensors)])
        self.updates = int(tensors["updates"])

    def close(self) -> None:
        """Free the recorded updates on the GPU; call this before another learner begins."""
        if self.graphs is not None:
            self.graphs.close()


def compile_network(
    model: CharmModel, attempt: Callable[[], object], wanted: str, place: Place, say: Callable[[str], None]
) -> None:
    """Compile the network of a model if that is wanted and `attempt`, which uses it, succeeds."""
    model.reasoner.compiled = compiles(model.reasoner, attempt, wanted, place, say)
    model.zero_grad(set_to_none=True)


def retreating(attempt: Callable[[S], T], size: S, smaller: Callable[[S], S | None]) -> T:
    """Return `attempt(size)`. Where memory runs out, try a smaller size, until `smaller` knows of none."""
    while True:
        try:
            return attempt(size)
        except torch.OutOfMemoryError:
            less = smaller(size)
            if less is None:
                raise
        size = less  # after the handler: the traceback holds the tensors of what failed


def is_finite(tensors: Sequence[Tensor]) -> bool:
    """Return whether all of these weights are finite; learning has diverged if not."""
    return all(bool(tensor.isfinite().all()) for tensor in tensors)


def below(start: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors whose names start so, by the rest of their names."""
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}
