"""Learning unseen tasks: the one loop behind solving and every continual-learning method.

Which weights may move is a scope: "rows" are the new tasks' own vectors and instance rows, "composition" adds the
memory's shared weights, "full" adds the reasoner; "matrices" and "feed-forward" add those of the reasoner's blocks.
Rows of other tasks never move. How shared weights move is a form (`charm.training.forms`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import AdamW

from charm.config import at_least
from charm.devices import Place
from charm.errors import CharmError
from charm.memory import CoSE, Lookup, RowAdamW, Rows, RowTable, dense_parameters
from charm.models.config import NetworkConfig
from charm.models.model import CharmModel
from charm.progress import say
from charm.runs.checkpoint import optimizer_tensors, restore_optimizers
from charm.runs.settings import Refinement, RowChoice
from charm.tasks import keyed
from charm.tasks.dataset import Dataset
from charm.training.assembly import OptimizerSet, Part
from charm.training.forms import Form
from charm.training.graphs import UpdateGraphs
from charm.training.optimizers import cosine, rows_part
from charm.training.refinement import refine_prepared
from charm.training.slots import Slots, fill_slots, pick_slots

Scope = Literal["rows", "composition", "full", "matrices", "feed-forward"]


@dataclass(frozen=True)
class Recipe:
    """How a task is learned. The defaults are the paper's."""

    steps: int = 1000
    """Updates per task."""
    batch: int = 128
    """Examples per update."""
    warmup: int = 20
    """Updates over which all learning rates rise linearly."""
    warmup_share: float = 0.0
    """Share of the adaptation over which they rise instead, as `Adaptation.passed` does; 0 counts updates."""
    clip: float = 0.0
    """Maximum norm of the gradient of all weights together, instance rows included; 0 for no limit."""
    halt_weight: float = 0.0
    """Weight of the halting loss, 0 or 0.5 in the paper; adaptive halting stays in either case."""
    task_lr: float = 1e-2
    """Learning rate of tasks' vectors (row-local AdamW without decay)."""
    row_lr: float = 1e-2
    """Learning rate of instance rows."""
    rows: RowChoice = "signsgd"
    """Optimizer of instance rows, as in `OptimizerConfig`; rows of other tasks stay in each case."""
    row_decay: float = 0.1
    """Weight decay of instance rows."""
    shared_lr: float = 1e-4
    """Learning rate of shared weights (AdamW)."""
    shared_decay: float = 0.1
    """Weight decay of shared weights."""
    betas: tuple[float, float] = (0.9, 0.95)
    """AdamW's betas, for vectors and shared weights."""
    decay: Literal["constant", "cosine"] = "constant"
    """Learning rates after the warm-up: constant, or falling to zero as `Adaptation.passed` rises to 1."""
    seed: int = 0
    """Seed for the order of examples and the exploration of halting."""

    def __post_init__(self) -> None:
        at_least(0, self, "steps", "warmup", "warmup_share", "clip", "halt_weight")
        at_least(1, self, "batch")
        if self.rows == "dense-adamw" and self.row_decay:
            raise CharmError(
                f"rows that are not read must not decay: row_decay must be 0, got {self.row_decay}"
            )


def recipe_for(reasoner: NetworkConfig, recipe: Recipe, scope: Scope) -> Recipe:
    """Return the recipe with the settings that the kind of reasoner was published with: a vit's are VARC's, which
    moves all weights. Rows that learn alone keep their own rate."""
    if reasoner.kind != "vit":
        return recipe
    return replace(
        recipe,
        row_lr=3e-4 if scope == "full" else recipe.row_lr,
        shared_lr=3e-4,
        row_decay=0.0,
        shared_decay=0.0,
        betas=(0.9, 0.999),
        rows="dense-adamw",
        warmup_share=0.1,
        clip=1.0,
        decay="cosine",
    )


def private_tables(model: CharmModel) -> dict[str, Rows]:
    """Tables in which a task has its own rows, by the name of their parameter in the model."""
    memory = model.memory
    tables = {}
    if isinstance(memory, CoSE) and isinstance(memory.base, Lookup):
        tables["memory.base.rows.weight"] = memory.base.rows
    if isinstance(memory.residual, RowTable):
        tables["memory.residual.rows.weight"] = memory.residual.rows
    return tables


def private_rows(model: CharmModel, puzzles: tuple[str, ...]) -> dict[str, Tensor]:
    """Which rows of each private table belong to these puzzles."""
    numbers = np.array([model.instances.number(puzzle) for puzzle in puzzles], np.int64)
    rows = np.concatenate([np.zeros(0, np.int32), *(model.instances.rows(puzzle) for puzzle in puzzles)])
    own = {"memory.base.rows.weight": numbers, "memory.residual.rows.weight": rows.astype(np.int64)}
    device = model.canvas.initial.device
    return {name: torch.from_numpy(own[name]).to(device) for name in private_tables(model)}


def shared_parameters(model: CharmModel, scope: Scope) -> dict[str, nn.Parameter]:
    """The shared weights that a scope updates, by name: dense ones that do not belong to a single task."""
    if scope == "rows":
        return {}
    if scope in ("matrices", "feed-forward"):
        blocks = {n: p for n, p in model.named_parameters() if n.startswith("reasoner.blocks.")}
        by_layer = scope == "feed-forward"
        return {n: p for n, p in blocks.items() if (".feed_forward." in n if by_layer else p.dim() == 2)}
    if scope == "composition" and not isinstance(model.memory, CoSE):
        raise CharmError("a memory that is only a table has no composition; the scope may be 'full'")
    part: nn.Module = model if scope == "full" else model.memory
    private = {id(table.weight) for table in private_tables(model).values()}
    chosen = {id(parameter) for parameter in dense_parameters(part)} - private
    return {name: parameter for name, parameter in model.named_parameters() if id(parameter) in chosen}


def updated_parameters(model: CharmModel, scope: Scope, puzzle: str) -> tuple[int, int]:
    """Numbers of private and shared parameters that learning this puzzle may update; never the initial state."""
    own = private_rows(model, (puzzle,))
    private = sum(len(own[name]) * table.weight.shape[1] for name, table in private_tables(model).items())
    return private, sum(parameter.numel() for parameter in shared_parameters(model, scope).values())


class Anchor:
    """A pull towards where parameters are now: strength / 2 * sum of importance * (parameter - base)^2."""

    def __init__(
        self, parameters: list[nn.Parameter], strength: float, importance: list[Tensor] | None = None
    ) -> None:
        self.parameters, self.strength, self.importance = parameters, strength, importance
        self.base = [parameter.detach().clone() for parameter in parameters]

    @torch.no_grad()
    def add_gradients(self) -> None:
        for number, (parameter, base) in enumerate(zip(self.parameters, self.base, strict=True)):
            pull = self.strength * (parameter - base)
            if self.importance is not None:
                pull *= self.importance[number]
            parameter.grad = pull if parameter.grad is None else parameter.grad + pull


class Adaptation:
    """A model that is learning the demonstrations of some tasks, update by update.

    `anchor` holds shared weights back; with `rehearsal` every second update is a batch of that data instead, which
    moves shared weights only. `seed` sets this adaptation apart from others with the same recipe. `form` is how shared
    weights move, freely if not given.
    """

    def __init__(
        self,
        model: CharmModel,
        data: Dataset,
        recipe: Recipe,
        scope: Scope,
        place: Place,
        anchor: Anchor | None = None,
        rehearsal: Dataset | None = None,
        seed: int = 0,
        form: Form | None = None,
    ) -> None:
        self.model, self.recipe, self.anchor = model, recipe, anchor
        self.form = form or Form(shared_parameters(model, scope))
        self.settings = Refinement.of(model.config.reasoner, recipe.batch, recipe.halt_weight)
        self.seed = keyed.key_of("adaptation", recipe.seed, seed)
        self.optimizers = adaptation_optimizers(model, recipe, self.form, place)
        self.graphs = UpdateGraphs(model, say) if place.device.type == "cuda" else None
        filling = (recipe.batch, self.seed, place.device)
        self.slots = fill_slots(model, data, *filling)
        self.rehearsal = {} if rehearsal is None else fill_slots(model, rehearsal, *filling)
        self.updates = 0
        self.passed = 0.0  # share of the time or the updates of this adaptation, for rates that fall
        self._measured: list[Tensor] = []  # token loss and exact accuracy of the task's own updates

    def update(self) -> dict[str, Tensor]:
        """One update; returns what `refine_prepared` measured before it."""
        rehearse = bool(self.rehearsal) and self.updates % 2 == 1
        slots = pick_slots(self.rehearsal if rehearse else self.slots, self.seed, self.updates)
        slots.prepare(self.updates, self.seed)
        scale = self._rate()
        if self.model.config.reasoner.dropped:
            torch.manual_seed(keyed.key_of("dropout", self.seed, self.updates) >> 1)
        self.optimizers.scale(scale)
        update = self._update_prepared
        metrics = update(slots) if self.graphs is None else self.graphs(update, slots)
        self.updates += 1
        if not rehearse:
            self._measured.append(torch.stack([metrics["token_loss"], metrics["exact_accuracy"]]))
        return metrics

    def _rate(self) -> float:
        """Return the share of the full learning rates that the next update has."""
        recipe = self.recipe
        if recipe.warmup_share:
            begun = max(self.passed, (self.updates + 1) / recipe.steps)  # the first update already moves
            scale = min(1.0, begun / recipe.warmup_share)
        else:
            scale = min(1.0, (self.updates + 1) / recipe.warmup) if recipe.warmup else 1.0
        if recipe.decay == "cosine":
            scale *= cosine(min(1.0, (1 - self.passed) / (1 - recipe.warmup_share)))
        return scale

    def _update_prepared(self, slots: Slots) -> dict[str, Tensor]:
        """Device half of `update`."""
        metrics = refine_prepared(self.model, slots, self.settings)
        if self.anchor is not None:
            self.anchor.add_gradients()
        self.form.after_backward()
        # A rehearsed example reads rows of the base, which must not change.
        rehearsed = any(slots is group for group in self.rehearsal.values())
        self.optimizers.step(self.optimizers.all[len(private_tables(self.model)) :] if rehearsed else None)
        self.form.after_step()
        return metrics

    def close(self) -> None:
        """Free the recorded updates on the GPU; call this before another adaptation begins."""
        if self.graphs is not None:
            self.graphs.close()

    def progress(self) -> tuple[float, float]:
        """Mean token loss since the last call, and the newest share of exact demonstrations; rehearsal aside."""
        if not self._measured:
            return float("nan"), float("nan")
        measured = torch.stack(self._measured)
        self._measured.clear()
        return float(measured[:, 0].mean()), float(measured[-1, 1])

    def state(self) -> dict[str, Tensor]:
        """Everything that resuming needs, except the weights."""
        moments = optimizer_tensors(self.optimizers.all)
        tensors = {f"optimizer/{name}": value for name, value in moments.items()}
        for start, group in self._all_slots().items():
            tensors |= {f"{start}/{name}": value for name, value in group.state().items()}
        tensors |= {f"form/{name}": value for name, value in self.form.state().items()}
        if self._measured:
            tensors["measured"] = torch.stack(self._measured)
        return {**tensors, "updates": torch.tensor(self.updates)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        found = {name[10:]: value for name, value in tensors.items() if name.startswith("optimizer/")}
        restore_optimizers(self.optimizers.all, found)
        for start, group in self._all_slots().items():
            found = {name: v for name, v in tensors.items() if name.startswith(f"{start}/")}
            group.restore({name.rpartition("/")[2]: value for name, value in found.items()})
        with torch.no_grad():
            for name, value in self.form.state().items():
                value.copy_(tensors[f"form/{name}"])
        if "measured" in tensors:
            self._measured = list(tensors["measured"].to(self.model.canvas.initial.device))
        self.updates = int(tensors["updates"])

    def _all_slots(self) -> dict[str, Slots]:
        slots = {f"slots/{side}": group for side, group in self.slots.items()}
        return slots | {f"rehearsal/{side}": group for side, group in self.rehearsal.items()}


def adaptation_optimizers(model: CharmModel, recipe: Recipe, form: Form, place: Place) -> OptimizerSet:
    """One optimizer for each private table, then one for shared weights; everything else is frozen."""
    tables = private_tables(model)
    if not tables:
        raise CharmError("this model's memory cannot hold rows for a new task")
    model.requires_grad_(False)
    for table in tables.values():
        table.sparse = True  # only rows that were read have a gradient, so only they can move
        table.weight.requires_grad_(True)
    for parameter in form.shared.values():
        parameter.requires_grad_(True)
    vectors = {"lr": recipe.task_lr, "betas": recipe.betas}
    rows: dict[str, Any] = {"lr": recipe.row_lr, "weight_decay": recipe.row_decay}
    on_gpu = place.device.type == "cuda"  # where updates are recorded
    parts = [
        Part(RowAdamW, [{"params": [table.weight], **vectors}])
        if name == "memory.base.rows.weight"
        else rows_part(recipe.rows, {"params": [table.weight], **rows}, recipe.betas, recorded=on_gpu)
        for name, table in tables.items()
    ]
    dense = {
        "lr": recipe.shared_lr,
        "betas": recipe.betas,
        "weight_decay": recipe.shared_decay if form.decays else 0.0,
    }
    parts.append(Part(AdamW, [{"params": form.moved(), **dense}], {"capturable": on_gpu}))
    return OptimizerSet(parts, rates_on=place.device if on_gpu else None, clip=recipe.clip)
