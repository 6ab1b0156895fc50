"""Solving tasks with a writer: a group of tasks is learned together in one copy of the weights, then all vote.

Tasks that are learned together help each other, and one task does not fill a GPU. Each group starts from the trained
model alone, with new vectors for its tasks.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from charm.devices import Place, keep_freed_memory
from charm.errors import CharmError
from charm.evaluation.judging import Judgements
from charm.evaluation.ranking import Candidate
from charm.memory import CoSE, Lookup
from charm.models.model import CharmModel
from charm.models.network import BatchSize, Examples
from charm.models.writer.network import Writer
from charm.models.writer.packs import longest_sequence
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.settings import OptimizerConfig, solving_config
from charm.runs.votes import Votes
from charm.solving.options import Mode, SolveOptions, WriterRecipe
from charm.solving.solution import Clock, Publish, Say, Solution, next_views, vote, voting_seconds
from charm.tasks import keyed
from charm.tasks.dataset import DataConfig, Dataset, TaskSet, assemble, task_data
from charm.tasks.keyed import key_of
from charm.tasks.keys import ArcKey
from charm.tasks.sources import load_source
from charm.tasks.task import Question, Task
from charm.training.adaptation import private_tables
from charm.training.learner import Learner, Metrics, is_finite
from charm.training.optimizers import Optimizers

LOOK_EVERY = 10  # updates between looks at the loss, which wait for the device
# Answers of a few views while the group still learns, in case that the command is killed: at these shares of the
# learning time, those after the first only where they cost little of it. Short groups have none.
EARLY_AT = (0.5, 0.75, 0.9)
EARLY_VIEWS = 2
EARLY_VIEWS_CPU = 8  # answers cost less when more are written together; the time kept for votes goes by these
EARLY_COST = 0.01
EARLY_SECONDS = 60.0
FIRST_VIEWS = 8  # vote in the first round after learning; fewer where time is short
FAR_TOO_LATE = 60.0  # seconds after the end of the time; the first round is not cut short before
LONG_SECONDS = 90.0  # groups with less time are not worth compiling for, and rehearse only if asked
REHEARSED = ("arc1/training", "arc2/training-new")  # sources of tasks to rehearse
REHEARSED_SHARE = 0.5  # of the updates, unless another is asked for
REHEARSED_VIEWS = 256  # of every task, the new ones too: drawing the views of hundreds of tasks takes time
ASKED_AT_ONCE = 512  # answers that an accelerator writes at once


def rate_at(recipe: WriterRecipe, update: int, used: float) -> float:
    """Return the share of the full learning rates at this update, where `used` of the learning time has passed.

    Rates rise over the first updates and fall to zero towards the end.
    """
    scale = min(1.0, (update + 1) / recipe.warmup) if recipe.warmup else 1.0
    if recipe.cooldown:
        scale *= min(1.0, max(1 - used, 0.0) / recipe.cooldown)
    return scale


def first_views(cost: float, left: float, unmeasured: int = FIRST_VIEWS) -> int:
    """Views that vote first after learning: as many as fit into the seconds left, if a view takes `cost`.

    `unmeasured` is the number if the cost is not known.
    """
    if left <= 0:
        return 1
    return max(1, min(FIRST_VIEWS, int(left / cost))) if cost else unmeasured


class WriterAdaptation(Learner):
    """A writer that is learning the demonstrations of a group, update by update."""

    def __init__(
        self, model: CharmModel, examples: Examples, recipe: WriterRecipe, seed: int, place: Place
    ) -> None:
        self.recipe = recipe
        dense = recipe.optimizer
        if dense == "auto":
            dense = "adamw" if place.device.type == "cpu" else "muon"
        config = OptimizerConfig(
            dense=dense,
            lr=recipe.lr,
            factors="rows" if model.config.memory.sparse_base else "adamw",
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
        """Whether this update draws only from the tasks of the group, not from those that the model was trained on."""
        drawn = keyed.uniform(key_of("rehearsal", self.seed), np.array([self.updates]))[0]
        return not (bool(drawn < self.recipe.rehearse) and passed < 1 - self.recipe.cooldown)

    def progress(self) -> tuple[float, float]:
        """Mean loss and share of exact demonstrations of the last updates; NaN before the first."""
        if not self.measured:
            return math.nan, math.nan
        loss, exact = torch.stack([*self.measured]).mean(0).tolist()
        return loss, exact


class WriterSolver:
    """A trained writer that answers one group of tasks after the other, each from the trained weights."""

    def __init__(self, run: Path, options: SolveOptions, place: Place) -> None:
        self.options, self.place = options, place
        self.recipe = self._recipe(0.0)
        if place.device.type == "cpu":
            keep_freed_memory()
        self.mode: Mode = "full" if options.mode == "auto" else options.mode
        saved = newest_checkpoint(run)
        self.known = CharmModel.from_pretrained(saved, place.device)
        if saved == run and self.known.trained_by is None:
            # A saved model that does not say how its views were drawn: as in the presets of writers, then.
            config = DataConfig(balanced=True, fixed_colors="output-only")
        else:
            config = solving_config(run, saved, self.known.trained_by).data
        self.data_config = task_data(config, self.recipe.views)
        assert isinstance(self.known.reasoner, Writer)
        self.writer = self.known.reasoner
        self.trained = {name: tensor.clone() for name, tensor in self.known.state_dict().items()}

    def _recipe(self, seconds: float) -> WriterRecipe:
        """The recipe for a group with this much time."""
        asked = self.options.writer
        if asked.rehearse >= 0:
            return asked
        long = self.place.device.type != "cpu" and seconds >= LONG_SECONDS
        return replace(asked, rehearse=REHEARSED_SHARE if long else 0.0)

    def dataset(self, tasks: Sequence[Task]) -> Dataset:
        """Draw the views of these tasks and of those to rehearse."""
        rehearsed, data_config = self._rehearsed(tasks), self.data_config
        if rehearsed:
            data_config = replace(data_config, views=min(data_config.views, REHEARSED_VIEWS))
        return assemble(TaskSet(train=rehearsed, evaluate=tuple(tasks)), data_config)

    def started(self, data: Dataset) -> CharmModel:
        """The model with trained weights and new vectors for the tasks of the dataset alone."""
        config = self.known.config
        model = CharmModel(config.reasoner, config.memory, ArcKey(data.instances))
        model.reasoner = self.writer  # the same object for every group: compiled once
        model.to(self.place.device)
        private = private_tables(model)
        with torch.no_grad():
            for name, tensor in model.state_dict().items():
                if name not in private:
                    tensor.copy_(self.trained[name])
            memory = model.memory
            if isinstance(memory, CoSE) and isinstance(memory.base, Lookup):
                memory.base.rows.weight.copy_(self._start(data))
        moving = {"memory": private.keys(), "composition": _names(model.memory, "memory")}
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name in moving.get(self.mode, {name}))
        return model

    def _rehearsed(self, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Training tasks that the model knows, to be learned again with these; none if not requested."""
        if not self.recipe.rehearse:
            return ()
        own, known = {task.id for task in tasks}, self.known.instances
        found = [task for name in REHEARSED for task in load_source(name).tasks]
        return tuple(task for task in found if task.id in known and task.id not in own)

    def _start(self, data: Dataset) -> Tensor:
        """Return the first vectors of these tasks: the mean of the known ones, or a known task's own."""
        known, instances = self.trained["memory.base.rows.weight"], self.known.instances
        started = known.mean(0).repeat(len(data.instances.puzzles), 1)
        for number, puzzle in enumerate(data.instances.puzzles):
            if puzzle in instances:
                started[number] = known[instances.number(puzzle)]
        return started

    def tokens(self, tasks: int, data: Dataset) -> int:
        """Tokens in each update: as asked for, or by device and number of tasks."""
        longest = longest_sequence(data)
        if self.recipe.tokens:
            return max(self.recipe.tokens, longest)
        if self.place.device.type == "cpu":
            return max(1024, longest)
        return min(max(2048 * tasks, 8192), 32_768)

    def adaptation(self, model: CharmModel, data: Dataset, tokens: int, seconds: float) -> WriterAdaptation:
        """What learns the data, its loss compiled where there is time enough."""
        seed = key_of("adaptation", self.options.seed, *data.instances.puzzles) >> 1
        examples = model.reasoner.examples(model, data, BatchSize(tokens=tokens), seed, self.place)
        learning = WriterAdaptation(model, examples, self.recipe, seed, self.place)
        wanted = self.recipe.compile
        if wanted == "auto" and seconds < LONG_SECONDS:
            wanted = "off"
        if not self.writer.compiled:
            learning.compile(wanted)
        return learning

    def work(self, tasks: Sequence[Task], clock: Clock, say: Say, publish: Publish) -> None:
        """Learn a group of tasks, then vote in rounds until the clock runs out; every round publishes its answers."""
        self.recipe = self._recipe(clock.seconds)
        group = _Group(self, tasks, clock, say, publish)
        try:
            group.learn()
        finally:
            group.learning.close()
            if self.place.device.type == "cuda":
                torch.cuda.empty_cache()  # what updates needed, votes may
        group.vote()


class _Group:
    """A group of tasks while it is solved: the model that learns them, the clock, and what was measured last."""

    def __init__(
        self, solver: WriterSolver, tasks: Sequence[Task], clock: Clock, say: Say, publish: Publish
    ) -> None:
        self.solver, self.tasks, self.clock, self.publish = solver, tasks, clock, publish
        self.name = tasks[0].id if len(tasks) == 1 else f"{len(tasks)} tasks"
        self.say = lambda text: say(clock.used, f"{self.name}: {text}")
        self.data = solver.dataset(tasks)
        self.model = solver.started(self.data)
        tokens = solver.tokens(len(tasks), self.data)
        self.learning = solver.adaptation(self.model, self.data, tokens, clock.seconds)
        self.loss = self.exact = math.nan
        self.cost = 0.0  # seconds that a view of the last vote took

    def learn(self) -> None:
        """Learn until only the time to vote is left, with early answers on the way."""
        clock, options, share = self.clock, self.solver.options, self.solver.recipe.vote_share
        keep = share * clock.seconds
        early = list(EARLY_AT) if clock.seconds >= EARLY_SECONDS else []
        on_cpu = self.solver.place.device.type == "cpu"
        while True:
            used = clock.spent / (clock.seconds - keep)
            if options.steps is not None:
                used = max(used, self.learning.updates / options.steps if options.steps else 1.0)
            if used >= 1:
                break
            if early and used >= early[0]:
                if not is_finite([*self.model.parameters()]):
                    break  # such answers must not replace better ones
                views = min(EARLY_VIEWS_CPU if on_cpu else EARLY_VIEWS, options.views)
                self.loss, self.exact = self.learning.progress()
                self.answer({}, {}, views)
                keep = voting_seconds(clock.seconds, self.cost, options.views, share)
                early = early[1:] if self.cost * views < EARLY_COST * clock.seconds else []
                continue
            self.learning.update(used)
            if self.learning.updates % LOOK_EVERY == 0:
                self.loss, self.exact = self.learning.progress()
                if not math.isfinite(self.loss):
                    break
                text = f"loss {self.loss:.3f}, {self.exact:.0%} of the demonstrations exact"
                self.say(f"update {self.learning.updates}: {text}")
        if self.learning.updates % LOOK_EVERY:
            self.loss, self.exact = self.learning.progress()
        if self.learning.updates and not (math.isfinite(self.loss) and is_finite([*self.model.parameters()])):
            raise CharmError(f"{self.name}: learning diverged; a lower --writer.lr may help")

    def vote(self) -> None:
        """Vote in rounds of more and more views, as long as the next fits the time."""
        judgements: Judgements = {}
        votes: dict[int, Votes] = {}
        limit = self.solver.options.views
        # The first round is cut short only when it is far too late, and eight views of a large task take a CPU minutes.
        unmeasured = 1 if self.solver.place.device.type == "cpu" else FIRST_VIEWS
        voted, more = 0, min(first_views(self.cost, self.clock.left, unmeasured), limit)
        while more > voted:
            self.answer(votes, judgements, more)
            voted, more = more, next_views(more, limit, self.cost, self.clock.left)

    def answer(self, votes: dict[int, Votes], judgements: Judgements, views: int) -> None:
        """Publish the answers of this many views; those in `votes` are not asked again, nor are `judgements`.

        A later round that the clock ends is dropped: the answers of the round before stay. The first round is cut short
        only when it is far too late (`FAR_TOO_LATE`, or twice the group's time), and publishes the answers it has.
        """
        clock = self.clock
        began, before, stopped = clock.spent, _views(votes), False

        def stop() -> bool:
            nonlocal stopped
            stopped = clock.left <= (0.0 if before else -max(clock.seconds, FAR_TOO_LATE))
            return stopped

        found = self._ranked(votes, judgements, views, stop)
        if stopped and before:
            self.cost = math.inf
            return
        answers: dict[str, dict[Question, list[Candidate]]] = {task.id: {} for task in self.tasks}
        for question, ranked in found.items():
            answers[question.task_id][question] = ranked
        if stopped:
            voted = {number for some in votes.values() for number in some.question_V.tolist()}
            asked = {self.data.questions[number].task_id for number in voted}
            answers = {task_id: own for task_id, own in answers.items() if task_id in asked}
        how = (self.learning.updates, views, self.loss, self.exact, clock.spent)
        self.publish({task_id: Solution(own, *how) for task_id, own in answers.items()})
        self.say(f"{views} views have voted")
        self.cost = (clock.spent - began) / max(views - before, 1)

    def _ranked(
        self,
        votes: dict[int, Votes],
        judgements: Judgements,
        views: int,
        stop: Callable[[], bool],
    ) -> dict[Question, list[Candidate]]:
        place = self.solver.place
        batch = self.solver.options.batch if place.device.type == "cpu" else ASKED_AT_ONCE
        while True:
            try:
                return vote(self.model, self.data, votes, views, batch, place, stop, judgements)
            except torch.OutOfMemoryError:
                if batch == 1:
                    raise
                batch //= 2


def _views(votes: dict[int, Votes]) -> int:
    """How many views have voted on the question with most of them."""
    return max((int(np.bincount(some.question_V).max()) for some in votes.values() if len(some)), default=0)


def _names(module: nn.Module, prefix: str) -> set[str]:
    return {f"{prefix}.{name}" for name, _ in module.named_parameters()}
