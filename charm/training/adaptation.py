"""Learning unseen tasks with any network, as every method of continual learning does.

Which weights may move is a scope: "rows" are the new tasks' own vectors and instance rows, "composition" adds the
memory's shared weights, "full" adds the reasoner; "matrices" and "feed-forward" add those of the reasoner's blocks.
Rows of other tasks never move. How shared weights move is a form (`charm.training.forms`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from charm.config import at_least, check_seed
from charm.devices import Place
from charm.errors import CharmError
from charm.memory import CoSE, Lookup, RowAdamW, Rows, RowTable, dense_parameters
from charm.models.config import NetworkConfig
from charm.models.model import CharmModel
from charm.models.network import BatchSize
from charm.runs.settings import RowChoice
from charm.tasks import keyed
from charm.tasks.dataset import Dataset
from charm.training.forms import Form
from charm.training.learner import Learner, Metrics, below
from charm.training.optimizers import OptimizerSet, rate_share, rows_optimizer

Scope = Literal["rows", "composition", "full", "matrices", "feed-forward"]
VECTORS, ROWS = "memory.base.rows.weight", "memory.residual.rows.weight"  # tasks' own parameters of a model


@dataclass(frozen=True)
class Recipe:
    """How a task is learned. The defaults are the paper's."""

    steps: int = 1000  # Updates per task.
    batch: int = 128  # Examples per update, of networks that count in examples.
    tokens: int = 4096  # Tokens per update, of networks that count in tokens.
    warmup: int = 20  # Updates over which all learning rates rise linearly.
    warmup_share: float = 0.0
    """Share of the adaptation over which they rise instead, as `Adaptation.passed` does; 0 counts updates."""
    clip: float = 0.0  # Maximum norm of the gradient of all weights together, instance rows included; 0 for no limit.
    halt_weight: float = 0.0
    """Weight of the halting loss, 0 or 0.5 in the paper; adaptive halting stays in either case."""
    task_lr: float = 1e-2  # Learning rate of tasks' vectors (row-local AdamW without decay).
    row_lr: float = 1e-2  # Learning rate of instance rows.
    rows: RowChoice = "signsgd"
    """Optimizer of instance rows, as in `OptimizerConfig`; rows of other tasks stay in each case."""
    row_decay: float = 0.1  # Weight decay of instance rows.
    shared_lr: float = 1e-4  # Learning rate of shared weights (AdamW).
    shared_decay: float = 0.1  # Weight decay of shared weights.
    betas: tuple[float, float] = (0.9, 0.95)  # AdamW's betas, for vectors and shared weights.
    decay: Literal["constant", "cosine"] = "constant"
    """Learning rates after the warm-up: constant, or falling to zero with the learning time."""
    seed: int = 0  # Seed for the order of examples and the exploration of halting.

    def __post_init__(self) -> None:
        at_least(0, self, "steps", "warmup", "warmup_share", "clip", "halt_weight")
        at_least(0, self, "task_lr", "row_lr", "row_decay", "shared_lr", "shared_decay")
        at_least(1, self, "batch", "tokens")
        check_seed(self.seed)
        if self.rows == "dense-adamw" and self.row_decay:
            raise CharmError(f"rows that are not read must not decay: row_decay must be 0, got {self.row_decay}")


def recipe_for(reasoner: NetworkConfig, recipe: Recipe, scope: Scope) -> Recipe:
    """Return the recipe with what the network was published with. Rows that learn alone keep their own rate."""
    published = dict(reasoner.solving.recipe)
    if scope != "full":
        published.pop("row_lr", None)
    return replace(recipe, **published)


def private_tables(model: CharmModel) -> dict[str, Rows]:
    """Return the tables in which a task has its own rows, by the name of their parameter in the model."""
    memory = model.memory
    tables = {}
    if isinstance(memory, CoSE) and isinstance(memory.base, Lookup):
        tables[VECTORS] = memory.base.rows
    if isinstance(memory.residual, RowTable):
        tables[ROWS] = memory.residual.rows
    return tables


def private_rows(model: CharmModel, puzzles: tuple[str, ...]) -> dict[str, Tensor]:
    """Return which rows of each private table belong to these puzzles."""
    numbers = np.array([model.instances.number(puzzle) for puzzle in puzzles], np.int64)
    rows = np.concatenate([np.zeros(0, np.int32), *(model.instances.rows(puzzle) for puzzle in puzzles)])
    own = {VECTORS: numbers, ROWS: rows.astype(np.int64)}
    device = model.reasoner.tokens.device
    return {name: torch.from_numpy(own[name]).to(device) for name in private_tables(model)}


def shared_parameters(model: CharmModel, scope: Scope) -> dict[str, nn.Parameter]:
    """Return the shared weights that a scope updates, by name: dense ones that do not belong to a single task."""
    if scope == "rows":
        return {}
    if scope in ("matrices", "feed-forward"):
        own = {id(parameter) for parameter in model.reasoner.body.parameters()}
        blocks = {n: p for n, p in model.named_parameters() if id(p) in own}
        by_layer = scope == "feed-forward"
        found = {n: p for n, p in blocks.items() if (".feed_forward." in n if by_layer else p.dim() == 2)}
        if not found:
            kind = model.config.reasoner.kind
            raise CharmError(f"a {kind} has no layers that the scope {scope} could name; choose another method")
        return found
    if scope == "composition" and not isinstance(model.memory, CoSE):
        raise CharmError("a memory that is only a table has no composition; the scope may be 'full'")
    part: nn.Module = model if scope == "full" else model.memory
    private = {id(table.weight) for table in private_tables(model).values()}
    chosen = {id(parameter) for parameter in dense_parameters(part)} - private
    return {name: parameter for name, parameter in model.named_parameters() if id(parameter) in chosen}


def updated_parameters(model: CharmModel, scope: Scope, puzzle: str) -> tuple[int, int]:
    """Count the private and shared parameters that learning this puzzle may update; never the initial state."""
    own = private_rows(model, (puzzle,))
    private = sum(len(own[name]) * table.weight.shape[1] for name, table in private_tables(model).items())
    return private, sum(parameter.numel() for parameter in shared_parameters(model, scope).values())


class Adaptation(Learner):
    """A model that is learning the demonstrations of some tasks, update by update.

    `form` is how shared weights move, freely if not given; with `rehearsal` every second update is of these older tasks
    instead, and moves shared weights only. `seed` sets this adaptation apart from others with the same recipe.
    """

    form: Form

    def __init__(
        self,
        model: CharmModel,
        data: Dataset,
        recipe: Recipe,
        scope: Scope,
        place: Place,
        form: Form | None = None,
        rehearsal: Dataset | None = None,
        seed: int = 0,
    ) -> None:
        form = form or Form(shared_parameters(model, scope))
        size = BatchSize(recipe.batch, recipe.tokens, halt_weight=recipe.halt_weight)
        seed = keyed.key_of("adaptation", recipe.seed, seed)
        optimizers = adaptation_optimizers(model, recipe, form, place)
        examples, rate = partial(model.reasoner.examples, size=size, seed=seed, place=place), partial(rate_at, recipe)
        super().__init__(model, optimizers, examples(data), rate, seed, place, form=form, retreats=True)
        self.older = None if rehearsal is None else examples(rehearsal)
        self._measured: list[Tensor] = []  # token loss and exact accuracy of the task's own updates

    @property
    def rehearses(self) -> bool:
        """Whether the next update is of older tasks."""
        return self.older is not None and self.updates % 2 == 1

    def update(self, passed: float = 0.0) -> Metrics:
        if self.older is None or not self.rehearses:
            return super().update(passed)
        own, self.examples = self.examples, self.older
        try:
            return super().update(passed)
        finally:  # there may be smaller batches now
            self.examples, self.older = own, self.examples

    def learn(self, batch: Any, passed: float = 0.0) -> Metrics:
        rehearsed = self.rehearses
        metrics = super().learn(batch, passed)
        if not rehearsed:
            loss = metrics.get("token_loss", metrics["loss"])
            self._measured.append(torch.stack([loss, metrics["exact_accuracy"]]))
        return metrics

    def focused(self, passed: float) -> bool:
        return not self.rehearses

    def moving(self) -> Sequence[Optimizer] | None:
        # A rehearsed example reads rows of the base, which must not change.
        return self.optimizers.all[len(private_tables(self.model)) :] if self.rehearses else None

    def progress(self) -> tuple[float, float]:
        """Return the mean token loss since the last call, and the newest share of exact answers; rehearsal aside."""
        if not self._measured:
            return float("nan"), float("nan")
        measured = torch.stack(self._measured)
        self._measured.clear()
        return float(measured[:, 0].mean()), float(measured[-1, 1])

    def state(self) -> dict[str, Tensor]:
        tensors = super().state() | {f"form/{name}": value for name, value in self.form.state().items()}
        if self.older is not None:
            tensors |= {f"slots/rehearsal/{name}": value for name, value in self.older.state().items()}
        return tensors | ({"measured": torch.stack(self._measured)} if self._measured else {})

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        super().restore(tensors)
        if self.older is not None:
            self.older.restore([below("slots/rehearsal/", tensors)])
        with torch.no_grad():
            for name, value in self.form.state().items():
                value.copy_(tensors[f"form/{name}"])
        if "measured" in tensors:
            self._measured = list(tensors["measured"].to(self.place.device))


def rate_at(recipe: Recipe, update: int, passed: float) -> float:
    """Return the share of the full learning rates of an update, where this share of the learning has passed."""
    left = (1 - passed) / (1 - recipe.warmup_share) if recipe.decay == "cosine" else 1.0
    if not recipe.warmup_share:
        return rate_share(update, recipe.warmup, left, "cosine")
    begun = max(passed, (update + 1) / recipe.steps)  # the first update already moves
    return min(1.0, begun / recipe.warmup_share) * rate_share(update, 0, left, "cosine")


def adaptation_optimizers(model: CharmModel, recipe: Recipe, form: Form, place: Place) -> OptimizerSet:
    """Return an optimizer for each private table, then one for shared weights; everything else is frozen."""
    tables = private_tables(model)
    if not tables:
        raise CharmError("this model's memory cannot hold rows for a new task")
    model.requires_grad_(False)
    for parameter in (*form.shared.values(), *(table.weight for table in tables.values())):
        parameter.requires_grad_(True)
    rows: dict[str, Any] = {"lr": recipe.row_lr, "weight_decay": recipe.row_decay}
    on_gpu = place.device.type == "cuda"  # where updates are recorded
    optimizers: list[Optimizer] = []
    for name, table in tables.items():
        table.sparse = True  # only rows that were read have a gradient, so only they can move
        if name == VECTORS:
            optimizers.append(RowAdamW([table.weight], recipe.task_lr, recipe.betas))
        else:
            optimizers += rows_optimizer(recipe.rows, {"params": [table.weight], **rows}, recipe.betas, recorded=on_gpu)
    if moved := form.moved():
        decay = recipe.shared_decay if form.decays else 0.0
        optimizers.append(AdamW(moved, recipe.shared_lr, recipe.betas, weight_decay=decay, capturable=on_gpu))
    return OptimizerSet(optimizers, rates_on=place.device if on_gpu else None, clip=recipe.clip)
