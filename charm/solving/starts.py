"""Where learning unseen tasks begins: new rows in the trained model, or a group's vectors in a copy of its weights.

Both start from the trained model alone. `charm.solving.group` learns and votes with either.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from charm.devices import Place, keep_freed_memory
from charm.memory import CoSE, Lookup
from charm.models.model import CharmModel
from charm.models.network import BatchSize, Examples
from charm.runs.settings import OptimizerConfig
from charm.solving.options import SolveOptions, WriterRecipe
from charm.tasks import keyed
from charm.tasks.dataset import DataConfig, Dataset, TaskSet, assemble, task_data
from charm.tasks.keyed import key_of
from charm.tasks.keys import ArcKey
from charm.tasks.sources import load_source
from charm.tasks.task import Task
from charm.training.adaptation import (
    Adaptation,
    Recipe,
    Scope,
    private_rows,
    private_tables,
    recipe_for,
    shared_parameters,
)
from charm.training.learner import Learner, Metrics, is_finite
from charm.training.optimizers import Optimizers, rate_share

VOTE_SHARE = 0.3  # of a task's time is kept for voting at most
LOOK_EVERY = 10  # updates between looks at the loss, which wait for the device
FEW_UPDATES = 100  # are too few: smaller batches then
SMALLEST_BATCH = 16  # also that of the first updates, which measure the cost of one
REHEARSED = ("arc1/training", "arc2/training-new")  # sources of tasks to rehearse
REHEARSED_SHARE = 0.5  # of the updates, unless another is asked for
REHEARSED_VIEWS = 256  # of every task, the new ones too: drawing the views of hundreds of tasks takes time


def rate_at(recipe: WriterRecipe, update: int, used: float) -> float:
    """Return the share of the full learning rates at this update, where `used` of the learning time has passed.

    Rates rise over the first updates and fall to zero towards the end.
    """
    return rate_share(update, recipe.warmup, (1 - used) / recipe.cooldown if recipe.cooldown else 1.0)


def fitting_batch(batch: int, seconds_per_update: float, left: float, steps: float) -> int:
    """Return the examples per update: halved repeatedly while the time allows too few updates."""
    while batch // 2 >= SMALLEST_BATCH and left < min(steps, FEW_UPDATES) * seconds_per_update:
        batch, seconds_per_update = batch // 2, seconds_per_update / 2
    return batch


class WriterAdaptation(Learner):
    """A model that is learning the demonstrations of a group, update by update."""

    def __init__(self, model: CharmModel, examples: Examples, recipe: WriterRecipe, seed: int, place: Place) -> None:
        self.recipe = recipe
        dense = recipe.optimizer
        if dense == "auto":
            dense = "adamw" if place.device.type == "cpu" else "muon"
        config = OptimizerConfig(
            dense=dense,
            lr=recipe.lr,
            factors="adamw",
            factor_lr=recipe.task_lr,
            factor_weight_decay=recipe.task_weight_decay,
        )
        optimizers = Optimizers(model, config, place.device.type == "cuda")
        rate = partial(rate_at, recipe)
        super().__init__(model, optimizers, examples, rate, seed, place, retreats=True)
        self.measured: deque[Tensor] = deque(maxlen=LOOK_EVERY)  # loss and exact share of the last updates

    def learn(self, batch: Any, passed: float = 0.0) -> Metrics:
        metrics = super().learn(batch, passed)
        self.measured.append(torch.stack([metrics["loss"], metrics["exact_accuracy"]]))
        return metrics

    def focused(self, passed: float) -> bool:
        """Return whether this update draws only from the tasks of the group, not from those to rehearse."""
        drawn = keyed.uniform(key_of("rehearsal", self.seed), np.array([self.updates]))[0]
        return not (bool(drawn < self.recipe.rehearse) and passed < 1 - self.recipe.cooldown)

    def progress(self) -> tuple[float, float]:
        """Mean loss and share of exact demonstrations of the last updates; NaN before the first."""
        if not self.measured:
            return math.nan, math.nan
        loss, exact = torch.stack([*self.measured]).mean(0).tolist()
        return loss, exact


AnyAdaptation = Adaptation | WriterAdaptation


class StartingPoint:
    """The trained model, ready to learn one group after the other; `prepare` begins one."""

    tasks: Sequence[Task]
    data: Dataset
    """The group that was prepared last, as tasks and as the dataset that learns."""

    def __init__(
        self, model: CharmModel, data: DataConfig, options: SolveOptions, place: Place, views: int, vote_share: float
    ) -> None:
        self.model, self.options, self.place = model, options, place
        self.vote_share = vote_share  # of the time is kept for voting at most
        self.data_config = task_data(data, views)
        mode = model.config.reasoner.solving.mode if options.mode == "auto" else options.mode
        self.scope: Scope = "rows" if mode == "memory" else mode

    @property
    def steps(self) -> float:
        """Updates of a group at most."""
        steps = self.model.config.reasoner.solving.steps if self.options.steps is None else self.options.steps
        return math.inf if steps is None else steps

    def prepare(self, tasks: Sequence[Task], seconds: float = 0.0) -> Dataset:
        """Begin a group: give `model` room for these tasks, and the shared weights that it was trained to."""
        raise NotImplementedError

    def adaptation(self, size: int = 0) -> AnyAdaptation:
        """Return what learns the group, in updates of this size; 0 chooses one."""
        raise NotImplementedError

    def fitted(self, learning: AnyAdaptation, took: float, left: float) -> AnyAdaptation:
        """Return what continues to learn, given the seconds of an update and those that are left for learning."""
        return learning

    def is_finite(self) -> bool:
        """Return whether everything that learning the group may move is finite."""
        tables = private_tables(self.model)
        own = private_rows(self.model, tuple(task.id for task in self.tasks))
        shared = [p for name, p in self.model.named_parameters() if p.requires_grad and name not in tables]
        return is_finite([*(tables[name].weight[rows] for name, rows in own.items()), *shared])


class NewRows(StartingPoint):
    """New rows in the memory of the trained model; shared weights that moved are put back for the next tasks."""

    def __init__(self, model: CharmModel, data: DataConfig, options: SolveOptions, place: Place) -> None:
        super().__init__(model, data, options, place, options.views, VOTE_SHARE)
        self.shared = shared_parameters(model, self.scope)
        self.base = {name: parameter.detach().clone() for name, parameter in self.shared.items()}

    def prepare(self, tasks: Sequence[Task], seconds: float = 0.0) -> Dataset:
        instances = self.model.instances.copy()
        self.tasks, self.data = tasks, assemble(TaskSet(evaluate=tuple(tasks)), self.data_config, instances)
        self.model.grow(instances)
        with torch.no_grad():
            for name, parameter in self.shared.items():
                parameter.copy_(self.base[name])
        return self.data

    def adaptation(self, size: int = 0) -> Adaptation:
        options, scope = self.options, self.scope
        recipe = Recipe(int(self.steps), size or min(options.batch, SMALLEST_BATCH), seed=options.seeds[0])
        recipe = recipe_for(self.model.config.reasoner, recipe, scope)
        seed = key_of(*(task.id for task in self.tasks))
        return Adaptation(self.model, self.data, recipe, scope, self.place, seed=seed)

    def fitted(self, learning: AnyAdaptation, took: float, left: float) -> AnyAdaptation:
        """Begin again with the batch that the time allows, unless memory was short of the first, smaller one."""
        batch, wanted = learning.examples.work[0], self.options.batch
        fitting = fitting_batch(wanted, took * wanted / batch, left, self.steps - learning.updates)
        if not batch == min(wanted, SMALLEST_BATCH) != fitting:
            return learning
        learning.close()
        return self.adaptation(fitting)


class NewVectors(StartingPoint):
    """A copy of the weights with new vectors for the tasks of the group alone, and for those to rehearse.

    Tasks that are learned together help each other, and one task does not fill a GPU.
    """

    def __init__(self, model: CharmModel, data: DataConfig, options: SolveOptions, place: Place) -> None:
        super().__init__(model, data, options, place, options.writer.views, options.writer.vote_share)
        self.recipe, self.known = self.recipe_for(0.0), model
        self.trained = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        if place.device.type == "cpu":
            keep_freed_memory()

    def recipe_for(self, seconds: float) -> WriterRecipe:
        """Return the recipe of a group with this much time; what is left to choose depends on whether that is long."""
        asked, how = self.options.writer, self.model.config.reasoner.solving
        long = seconds >= how.long_seconds
        share = REHEARSED_SHARE if long and self.place.device.type != "cpu" else 0.0
        return replace(
            asked,
            rehearse=share if asked.rehearse < 0 else asked.rehearse,
            compile="off" if asked.compile == "auto" and not long else asked.compile,
        )

    def prepare(self, tasks: Sequence[Task], seconds: float = 0.0) -> Dataset:
        self.recipe = self.recipe_for(seconds)
        rehearsed, data_config = self._rehearsed(tasks), self.data_config
        if rehearsed:
            data_config = replace(data_config, views=min(data_config.views, REHEARSED_VIEWS))
        self.tasks, self.data = tasks, assemble(TaskSet(train=rehearsed, evaluate=tuple(tasks)), data_config)
        self.model = self._new_model(self.data)
        return self.data

    def _rehearsed(self, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Return the training tasks that the model knows, to be learned again with these; none if not requested."""
        if not self.recipe.rehearse:
            return ()
        own, known = {task.id for task in tasks}, self.known.instances
        found = [task for name in REHEARSED for task in load_source(name).tasks]
        return tuple(task for task in found if task.id in known and task.id not in own)

    def _new_model(self, data: Dataset) -> CharmModel:
        """Make a model with trained weights and vectors for the tasks of the dataset alone."""
        config = self.known.config
        model = CharmModel(config.reasoner, config.memory, ArcKey(data.instances))
        model.reasoner = self.known.reasoner  # the same object for every group: compiled once
        model.to(self.place.device)
        private = private_tables(model)
        with torch.no_grad():
            for name, tensor in model.state_dict().items():
                if name not in private:
                    tensor.copy_(self.trained[name])
            memory = model.memory
            if isinstance(memory, CoSE) and isinstance(memory.base, Lookup):
                memory.base.rows.weight.copy_(self._first_vectors(data))
        in_memory = {f"memory.{name}" for name, _ in model.memory.named_parameters()}
        moving = {"rows": private.keys(), "composition": in_memory}
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name in moving.get(self.scope, {name}))
        return model

    def _first_vectors(self, data: Dataset) -> Tensor:
        """Return the first vectors of these tasks: the mean of the known ones, or a known task's own."""
        known, instances = self.trained["memory.base.rows.weight"], self.known.instances
        started = known.mean(0).repeat(len(data.instances.puzzles), 1)
        for number, puzzle in enumerate(data.instances.puzzles):
            if puzzle in instances:
                started[number] = known[instances.number(puzzle)]
        return started

    def adaptation(self, size: int = 0) -> WriterAdaptation:
        network, data, place = self.model.reasoner, self.data, self.place
        size = size or network.update_size(data, len(self.tasks), self.recipe.tokens, place)
        seed = key_of("adaptation", self.options.seeds[0], *data.instances.puzzles) >> 1
        examples = network.examples(data, BatchSize(size, size), seed, place)
        learning = WriterAdaptation(self.model, examples, self.recipe, seed, place)
        if not network.compiled:
            learning.compile(self.recipe.compile)
        return learning
