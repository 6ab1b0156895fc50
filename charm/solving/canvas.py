"""Solving a task with a model that refines canvases, within a budget of seconds; there is an answer at any time.

Each task starts from the trained model alone. In mode "memory" new rows learn its demonstrations and all else stays
as it is; "composition" and "full" also move shared weights, which are put back afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from charm import progress
from charm.devices import Place
from charm.evaluation.ranking import Candidate
from charm.models.model import CharmModel
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.settings import solving_config
from charm.runs.votes import Votes
from charm.solving.options import Mode, SolveOptions
from charm.solving.solution import (
    Clock,
    Publish,
    Say,
    Solution,
    improved,
    next_views,
    vote,
    voting_seconds,
)
from charm.tasks.canvas import LARGE_SIDE
from charm.tasks.dataset import DataConfig, Dataset, TaskSet, assemble, task_data
from charm.tasks.keyed import key_of
from charm.tasks.task import Question, Task, questions_of
from charm.training import adaptation as loop
from charm.training.adaptation import Adaptation, Recipe, Scope
from charm.training.learner import compile_network, is_finite

FIRST_VIEWS = 8  # vote before anything is learned: a first answer, and what voting costs
FEW_UPDATES = 100  # are too few: smaller batches then
SMALLEST_BATCH = 16  # also that of the first updates, which measure the cost of one

LARGE_BATCH = 128
FILLED_BATCH = 64  # predictions that a compiled vit makes at once: the 51 views of a test input
LONG_BUDGET = 300.0  # seconds from which compiling a vit is worth its time
STEPS = 1000  # for each task at most, if not said otherwise
SCOPES: dict[Mode, Scope] = {
    "auto": "rows",
    "memory": "rows",
    "composition": "composition",
    "full": "full",
}


@dataclass
class Learned:
    """The outcome of learning a task's demonstrations."""

    updates: int = 0
    loss: float = math.nan
    exact: float = math.nan
    diverged: bool = False
    """Whether the loss or a weight is no longer finite, so that votes would be meaningless."""


def fitting_batch(batch: int, seconds_per_update: float, left: float, steps: int) -> int:
    """Examples per update: halved repeatedly while the time allows too few updates."""
    while batch // 2 >= SMALLEST_BATCH and left < min(steps, FEW_UPDATES) * seconds_per_update:
        batch, seconds_per_update = batch // 2, seconds_per_update / 2
    return batch


class Solver:
    """A trained model that answers tasks one by one, each independent of the others."""

    def __init__(self, run: Path, options: SolveOptions, place: Place) -> None:
        self.options, self.place = options, place
        saved = newest_checkpoint(run)
        self.model = CharmModel.from_pretrained(saved, place.device)
        self.config = solving_config(run, saved, self.model.trained_by)
        self.reasoner = self.model.config.reasoner
        is_vit = self.reasoner.kind == "vit"
        if is_vit and self.config.data.canvas != "large":  # a model saved without its configuration
            data = DataConfig(canvas="large", scales=0, augment="pseudo-tasks")
            self.config = replace(self.config, data=data)
        self.scope = "full" if options.mode == "auto" and is_vit else SCOPES[options.mode]
        self.shared = loop.shared_parameters(self.model, self.scope)
        self.base = {name: parameter.detach().clone() for name, parameter in self.shared.items()}
        self.compiled = False
        if is_vit and options.mode in ("auto", "full") and options.budget >= LONG_BUDGET:
            self.compile()

    def compile(self, wanted: str = "auto") -> None:
        """Compile a vit's layers, for updates and for votes, before the time of a task begins."""

        def attempt() -> None:
            canvas, device, batch = self.model.canvas, self.place.device, self.options.batch
            updates = {batch, min(batch, SMALLEST_BATCH)}
            for count, learns in (*((count, True) for count in updates), (FILLED_BATCH, False)):
                tokens_BT = torch.zeros(count, LARGE_SIDE**2, dtype=torch.uint8, device=device)
                task_BD = torch.zeros(count, self.reasoner.width, device=device, requires_grad=learns)
                with torch.inference_mode(not learns):
                    state = canvas.initial_state(count, LARGE_SIDE**2)
                    logits = canvas(state, tokens_BT, task_BD, LARGE_SIDE)[1]
                if learns:
                    logits.sum().backward()

        self.compiled = compile_network(self.model, attempt, wanted, self.place, progress.say)

    @property
    def steps(self) -> int:
        """Updates of a task at most."""
        return STEPS if self.options.steps is None else self.options.steps

    def prepare(self, *tasks: Task) -> Dataset:
        """The tasks as a separate dataset, with room in the model's memory, and shared weights as trained."""
        instances = self.model.instances.copy()
        config = task_data(self.config.data, self.options.views)
        data = assemble(TaskSet(evaluate=tasks), config, instances)
        self.model.grow(instances)
        with torch.no_grad():
            for name, parameter in self.shared.items():
                parameter.copy_(self.base[name])
        return data

    def adaptation(self, task: Task, data: Dataset, batch: int) -> Adaptation:
        options, scope = self.options, self.scope
        recipe = Recipe(self.steps, batch, seed=options.seed)
        recipe = loop.recipe_for(self.reasoner, recipe, scope)
        return Adaptation(self.model, data, recipe, scope, self.place, seed=key_of(task.id))

    def voting(self, data: Dataset, batch: int) -> Callable[..., dict[Question, list[Candidate]]]:
        """`vote` on this data: in batches of this size, or in the one shape for which the model is compiled."""
        shape = FILLED_BATCH if self.compiled else batch
        return partial(vote, self.model, data, batch=shape, place=self.place, fill=self.compiled)

    def work(self, tasks: Sequence[Task], clock: Clock, say: Say, publish: Publish) -> None:
        """Answer tasks one by one; each publishes its better answers under its id."""
        for done, task in enumerate(tasks):
            share = clock.share(len(tasks) - done)
            self.solve(task, share, say, lambda solution: publish({task.id: solution}))  # noqa: B023

    def solve(
        self,
        task: Task,
        clock: Clock,
        say: Say = lambda used, text: None,
        publish: Callable[[Solution], None] = lambda solution: None,
    ) -> Solution:
        """Answer the test inputs of a task before the clock runs out; `publish` is called with every better answer.

        The first views vote before anything is learned. Then the demonstrations are learned for as long as leaves
        time to vote, and views vote in rounds, so that there are answers whenever the time ends.
        """
        options = self.options
        learned = Learned()
        solution: Solution | None = None
        unasked = {*questions_of([task])}

        def answered(votes: dict[int, Votes], views: int) -> Solution:
            found = self._vote(data, votes, views, clock)
            unasked.difference_update(found)
            answers = {question: found.get(question, []) for question in data.questions}
            voted = 0 if unasked else views
            how = (learned.updates, voted, learned.loss, learned.exact, clock.spent)
            new = Solution(answers, *how, per_view=len(self.reasoner.voting_steps), sure=self.reasoner.sure)
            better = improved(solution, new)
            publish(better)
            say(clock.used, f"{task.id}: {views} views have voted")
            return better

        data = self.prepare(task)
        views = min(FIRST_VIEWS, options.views)
        began = clock.spent
        solution = answered({}, views)
        cost = (clock.spent - began) / views  # an upper bound: a first call also warms up

        def glance(so_far: Learned) -> None:
            nonlocal learned, solution
            learned = so_far
            solution = answered({}, views)

        keep = voting_seconds(clock.seconds, cost, options.views)
        learned = self._learn(task, data, clock, keep, say, glance)
        if learned.diverged:
            say(clock.used, f"{task.id}: learning diverged; the answers from before it stay")
            solution = replace(solution, diverged=True)
            publish(solution)
        if learned.diverged or not learned.updates:
            return solution
        votes: dict[int, Votes] = {}  # of all rounds
        more = views
        voted = 0
        while more > voted:
            began = clock.spent
            solution = answered(votes, more)
            cost = (clock.spent - began) / (more - voted)
            voted, more = more, next_views(more, options.views, cost, clock.left)
        return solution

    def _learn(
        self,
        task: Task,
        data: Dataset,
        clock: Clock,
        keep: float,
        say: Say,
        glance: Callable[[Learned], None],
    ) -> Learned:
        """Learn the demonstrations until only `keep` seconds are left, in batches that fit the time and the memory."""
        options, steps = self.options, self.steps
        learned = Learned()
        trial = batch = min(options.batch, SMALLEST_BATCH)
        adaptation = self.adaptation(task, data, batch)
        took, told = 0.0, 0  # the last update's seconds; updates whose loss was asked for
        while learned.updates < steps and clock.left - took >= keep:
            began = clock.spent
            in_time = began / max(clock.seconds - keep, 1e-9)
            try:
                adaptation.update(min(1.0, max(learned.updates / steps, in_time)))
            except torch.OutOfMemoryError:
                break  # not even one example fits: the first answers stay
            batch = adaptation.examples.work[0]  # fewer where memory was short
            learned.updates += 1
            took = clock.spent - began
            if learned.updates == 2 or learned.updates % 10 == 0:
                told, (learned.loss, learned.exact) = learned.updates, adaptation.progress()
                if not math.isfinite(learned.loss):
                    break
                text = f"loss {learned.loss:.3f}, {learned.exact:.0%} of the demonstrations exact"
                say(clock.used, f"{task.id}: update {learned.updates}: {text}")
            if options.glance and learned.updates % options.glance == 0 and self._is_finite(task):
                glance(learned)
            if learned.updates == 2 < steps:  # the first also warms up
                whole = took * options.batch / batch
                left = clock.left - keep
                fitting = fitting_batch(options.batch, whole, left, steps - learned.updates)
                if batch == trial != fitting:
                    batch = fitting
                    adaptation.close()
                    adaptation = self.adaptation(task, data, batch)
        if told < learned.updates:
            learned.loss, learned.exact = adaptation.progress()
        # The last update's own result shows in the weights alone.
        learned.diverged = learned.updates > 0 and not (math.isfinite(learned.loss) and self._is_finite(task))
        adaptation.close()
        return learned

    def _is_finite(self, task: Task) -> bool:
        """Whether everything that learning this task may update is finite."""
        own, tables = loop.private_rows(self.model, (task.id,)), loop.private_tables(self.model)
        moved = [tables[name].weight[rows] for name, rows in own.items()]
        return is_finite([*moved, *self.shared.values()])

    def _vote(
        self, data: Dataset, votes: dict[int, Votes], views: int, clock: Clock
    ) -> dict[Question, list[Candidate]]:
        """The ranked answers of this many views; those already in `votes` are not asked again, and new ones join them.

        If the time ends in a first round, as with very many test inputs, one view votes on each of those without a
        vote, and none on those that are left at twice the time.
        """
        batch = self.options.batch
        if self.reasoner.kind == "vit":  # which learns in small batches, and is asked ten times for each view
            batch = max(batch, LARGE_BATCH)
        is_first, late = not votes, dict[int, Votes]()
        found = self.voting(data, batch)(votes, views, stop=lambda: is_first and clock.left <= 0)
        if unasked := {*range(len(data.questions))} - _asked(votes):
            if self.place.device.type == "cpu":  # where a whole batch may take a minute
                batch = min(batch, SMALLEST_BATCH)
            ask = self.voting(data, batch)
            found = ask(late, 1, stop=lambda: clock.used >= 2, only=unasked, earlier=(votes,))
        asked = _asked(votes) | _asked(late)
        return {question: found[question] for n, question in enumerate(data.questions) if n in asked}


def _asked(votes: Mapping[int, Votes]) -> set[int]:
    """Numbers of the questions with a vote."""
    return {number for some in votes.values() for number in some.question_V.tolist()}
