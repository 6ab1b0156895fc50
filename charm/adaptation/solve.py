"""Solving tasks nobody trained on, within a budget of seconds; there is an answer at any time.

Each task starts from the trained model alone. In mode "memory" new rows learn its demonstrations and all else stays
as it is; "composition" and "full" also move shared weights, which are put back afterwards.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

import torch

from charm import processes
from charm.adaptation.crew import Crew, CrewTask
from charm.adaptation.loop import (
    Adaptation,
    Recipe,
    Scope,
    private_rows,
    private_tables,
    shared_parameters,
)
from charm.adaptation.run import task_data
from charm.adaptation.streams import read_tasks
from charm.devices import Place, choose_device, place
from charm.errors import CharmError
from charm.evaluation.ballots import ballots_of
from charm.evaluation.predict import Request, predict
from charm.evaluation.protocols import protocol_named
from charm.evaluation.ranking import Candidate, rank
from charm.model import CharmModel, read_model_config
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.votes import Votes
from charm.tasks.dataset import Dataset, TaskSet, assemble
from charm.tasks.keyed import key_of
from charm.tasks.questions import Question
from charm.tasks.task import Task
from charm.training.config import TrainConfig, read_config

FIRST_VIEWS = 8  # vote before anything is learned: a first answer, and what voting costs
VOTE_SHARE = 0.3  # of a task's time is kept for voting at most
VOTE_MARGIN = 1.5  # times what the first votes let expect
FEW_UPDATES = 100  # are too few: smaller batches then
SMALLEST_BATCH = 16  # also that of the first updates, which tell what one costs

Mode = Literal["memory", "composition", "full"]
SCOPES: dict[Mode, Scope] = {"memory": "rows", "composition": "composition", "full": "full"}


@dataclass(frozen=True)
class SolveOptions:
    """How to adapt and vote. Learning rates are the paper's for unseen tasks."""

    budget: float = 60.0
    """Seconds for everything."""
    steps: int = 1000
    """Updates for each task at most."""
    views: int = 128
    """Views of each task that are learned and that vote, at most."""
    batch: int = 128
    """Examples in an update."""
    mode: Mode = "memory"
    """What may move: the task's own rows, also the memory's shared weights, or everything."""
    halt_weight: float = 0.0
    """Weight of the halting loss during adaptation."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.views < 1:
            raise CharmError(f"views must be at least 1, not {self.views}")
        _ = self.recipe  # which checks the rest

    @property
    def recipe(self) -> Recipe:
        return Recipe(self.steps, self.batch, halt_weight=self.halt_weight, seed=self.seed)


@dataclass(frozen=True, eq=False)
class Solution:
    """Ranked answers to every test input of a task, and how they were come by."""

    answers: dict[Question, list[Candidate]]
    updates: int
    views: int
    loss: float
    exact_accuracy: float
    seconds: float
    diverged: bool = False
    """Whether learning was given up because it diverged; the answers are those from before it."""

    def __str__(self) -> str:
        learned = f", {self.exact_accuracy:.0%} of the last demonstrations exact" if self.updates else ""
        if self.diverged:
            learned = " (learning diverged; try another --mode)"
        return f"{self.updates} updates{learned}, {self.views} views, {self.seconds:.0f} s"


@dataclass
class Learned:
    """What learning a task's demonstrations came to."""

    updates: int = 0
    loss: float = math.nan
    exact: float = math.nan
    diverged: bool = False
    """Whether the loss or a weight is no longer finite, so that votes would mean nothing."""


Say = Callable[[float, str], None]


def improved(old: Solution | None, new: Solution) -> Solution:
    """The better of two solutions of a task: after more updates, or as many and more views.

    A question that it leaves unanswered keeps the other's answers.
    """
    if old is None:
        return new
    better, other = (new, old) if (new.updates, new.views) > (old.updates, old.views) else (old, new)
    answers = {
        question: ranked or other.answers.get(question, []) for question, ranked in better.answers.items()
    }
    return replace(better, answers=answers, diverged=new.diverged)


class Clock:
    """Seconds of a budget: how many are left, and what share is used."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self._now = seconds, now
        self._began = now()

    @property
    def spent(self) -> float:
        return self._now() - self._began

    @property
    def left(self) -> float:
        return self.seconds - self.spent

    @property
    def used(self) -> float:
        return self.spent / self.seconds

    def share(self, tasks: int) -> Clock:
        """A clock of its own for the next of so many remaining tasks; what a task leaves over the others share."""
        return Clock(max(self.left, 1e-3) / tasks, self._now)


def voting_seconds(seconds: float, seconds_per_view: float, views: int) -> float:
    """What to keep for voting of a task's time: what all views will cost, but no more than its share."""
    return min(VOTE_SHARE * seconds, VOTE_MARGIN * seconds_per_view * views)


def next_views(views: int, limit: int, seconds_per_view: float, left: float) -> int:
    """How many views shall have voted next: twice as many, or as many more as the time left allows, or no more."""
    affordable = int(left / max(seconds_per_view, 1e-9))
    return min(2 * views, limit, views + max(affordable, 0))


def fitting_batch(batch: int, seconds_per_update: float, left: float, steps: int) -> int:
    """How many examples an update shall have: half as many, again and again, while the time allows too few updates."""
    while batch // 2 >= SMALLEST_BATCH and left < min(steps, FEW_UPDATES) * seconds_per_update:
        batch, seconds_per_update = batch // 2, seconds_per_update / 2
    return batch


class Solver:
    """A trained model that answers one task after the other, each as if it were the only one."""

    def __init__(self, run: Path, options: SolveOptions, place: Place) -> None:
        self.options, self.place = options, place
        saved = newest_checkpoint(run)
        self.config = TrainConfig() if saved == run else read_config(run)  # a saved model tells no canvas
        self.model = CharmModel.from_pretrained(saved, place.device)
        self.scope = SCOPES[options.mode]
        self.shared = shared_parameters(self.model, self.scope)
        self.base = {name: parameter.detach().clone() for name, parameter in self.shared.items()}

    def prepare(self, task: Task) -> Dataset:
        """The task as a dataset of its own, room for it in the model's memory, and shared weights as trained."""
        instances = self.model.instances.copy()
        config = task_data(self.config.data, self.options.views)
        data = assemble(TaskSet(evaluate=(task,)), config, instances)
        self.model.grow(instances)
        with torch.no_grad():
            for name, parameter in self.shared.items():
                parameter.copy_(self.base[name])
        return data

    def adaptation(self, task: Task, data: Dataset, batch: int) -> Adaptation:
        recipe = replace(self.options.recipe, batch=batch)
        return Adaptation(self.model, data, recipe, self.scope, self.place, seed=key_of(task.id))

    def solve(
        self,
        task: Task,
        clock: Clock,
        say: Say = lambda used, text: None,
        publish: Callable[[Solution], None] = lambda solution: None,
    ) -> Solution:
        """Answer the test inputs of a task before the clock runs out; `publish` is told of every better answer.

        The first views vote before anything is learned. Then the demonstrations are learned for as long as leaves
        time to vote, and views vote in rounds, so that there are answers whenever the time ends.
        """
        options = self.options
        learned = Learned()
        solution: Solution | None = None

        def answered(votes: dict[int, Votes], views: int) -> Solution:
            answers = self._vote(data, votes, views)
            new = Solution(answers, learned.updates, views, learned.loss, learned.exact, clock.spent)
            better = improved(solution, new)
            publish(better)
            say(clock.used, f"{task.id}: {views} views have voted")
            return better

        data = self.prepare(task)
        views = min(FIRST_VIEWS, options.views)
        began = clock.spent
        solution = answered({}, views)
        cost = (clock.spent - began) / views  # an upper bound: a first call also warms up
        learned = self._learn(task, data, clock, voting_seconds(clock.seconds, cost, options.views), say)
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

    def _learn(self, task: Task, data: Dataset, clock: Clock, keep: float, say: Say) -> Learned:
        """Learn the demonstrations until only `keep` seconds are left, in batches that fit the time and the memory."""
        options = self.options
        learned = Learned()
        trial = batch = min(options.batch, SMALLEST_BATCH)
        adaptation = self.adaptation(task, data, batch)
        took, told = 0.0, 0  # the last update's seconds; updates whose loss was asked for
        while learned.updates < options.steps and clock.left - took >= keep:
            began = clock.spent
            if not _updated(adaptation):
                if batch == 1:
                    break  # the first answers stay
                batch //= 2
                adaptation.close()
                del adaptation  # its memory goes to the next
                adaptation = self.adaptation(task, data, batch)
                continue
            learned.updates += 1
            took = clock.spent - began
            if learned.updates == 2 or learned.updates % 10 == 0:
                told, (learned.loss, learned.exact) = learned.updates, adaptation.progress()
                if not math.isfinite(learned.loss):
                    break
                text = f"loss {learned.loss:.3f}, {learned.exact:.0%} of the demonstrations exact"
                say(clock.used, f"{task.id}: update {learned.updates}: {text}")
            if learned.updates == 2 < options.steps:  # the first also warms up
                whole = took * options.batch / batch
                left = clock.left - keep
                fitting = fitting_batch(options.batch, whole, left, options.steps - learned.updates)
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
        """Whether everything that learning this task may move is a finite number."""
        own, tables = private_rows(self.model, (task.id,)), private_tables(self.model)
        moved = [tables[name].weight[rows] for name, rows in own.items()]
        return all(bool(weight.isfinite().all()) for weight in (*moved, *self.shared.values()))

    def _vote(self, data: Dataset, votes: dict[int, Votes], views: int) -> dict[Question, list[Candidate]]:
        """Rank the votes of this many views; those already in `votes` are not made again, and new ones join them."""
        loops = (self.model.config.reasoner.refinement_steps,)
        votes |= predict(Request(self.model, data, loops, views, self.options.batch), self.place, votes)
        ballots = ballots_of(votes, replace(protocol_named("continual"), loops=loops))
        ranking = rank(ballots, data.questions)
        # Scores rank empty grids too; here attempts are not spent on them.
        return {
            question: [one for one in ranking.top(number, 11) if one.grid.size][:10]
            for number, question in enumerate(ranking.questions)
        }


def _updated(adaptation: Adaptation) -> bool:
    """Whether an update could be made: False where the device's memory is too small for it."""
    try:
        adaptation.update()
    except torch.OutOfMemoryError:
        adaptation.model.zero_grad(set_to_none=True)  # what a part of the update may have left
        return False
    return True


def load_tasks(paths: Sequence[Path]) -> tuple[list[Task], dict[str, str]]:
    """The tasks of files and folders, and what is not usable with its reason; it is an error if nothing is."""
    for path in paths:
        if not path.exists():
            raise CharmError(f"{path}: no such file or folder")
    tasks, skipped = read_tasks(paths)
    if not tasks:
        raise CharmError(next(iter(skipped.values()), "there is no task to solve"))
    return tasks, skipped


class _Unpublished(BaseException):
    """The caller could not take an answer, which is no fault of the task's."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _is_writer(run: Path) -> bool:
    """Whether the model writes its answers; one that cannot be read is refused where it is loaded."""
    with suppress(OSError, ValueError, CharmError):
        return read_model_config(newest_checkpoint(run) / "config.json")[0].reasoner.kind == "writer"
    return False


def solve(
    tasks: Sequence[Task],
    run: Path,
    options: SolveOptions,
    devices: Sequence[str],
    say: Say = lambda used, text: None,
    publish: Callable[[Task, Solution], None] = lambda task, solution: None,
    ended: Callable[[Task, str | None], None] = lambda task, problem: None,
    make: type[Solver] = Solver,
) -> dict[str, Solution]:
    """Answer tasks with a trained model. Each device takes the next task when it is free, and its share of the time.

    A single device is used by this process, several by a process each. A task that fails is tried once more in a fresh
    process; the others are not harmed.

    `say(share of the budget used, text)` is told of progress, `publish` of every better answer, and `ended` of the end
    of every task, with the reason if it failed. It is an error if no task has an answer.
    """
    if _is_writer(run):
        raise CharmError(
            f"{run}: a writer cannot be adapted to new tasks yet; name a model that refines canvases"
        )
    clock = Clock(options.budget)
    found: dict[str, Solution] = {}
    problems: list[str] = []

    def received(job: CrewTask, news: Solution | str) -> None:
        task = job.content
        if isinstance(news, str):
            say(clock.used, news)
            return
        found[task.id] = improved(found.get(task.id), news)
        publish(task, found[task.id])

    def done(job: CrewTask, problem: str | None) -> None:
        if problem is not None:
            problems.append(problem)
        ended(job.content, problem)

    jobs = [CrewTask(task) for task in tasks]
    if len(devices) == 1:
        with place(devices[0]) as here:
            jobs = _solve_here(jobs, make(run, options, here), clock, received, done)
    if jobs:
        with suppress(RuntimeError):  # the device itself may be what failed
            torch.cuda.empty_cache()  # what this process holds, the next may need
        crew = Crew(
            jobs,
            lambda device: processes.start(_work, run, options, device, make),
            lambda job, share: (job.content, clock.share(share).seconds),
            received,
            done,
        )
        crew.run(devices)
    if problems and not found:
        raise CharmError(problems[0])
    return found


def _solve_here(
    jobs: Sequence[CrewTask],
    solver: Solver,
    clock: Clock,
    received: Callable[[CrewTask, Solution | str], None],
    done: Callable[[CrewTask, str | None], None],
) -> list[CrewTask]:
    """Solve tasks in this process until one fails, and return those that are left to fresh processes.

    A failure may have harmed this process for good, as an error of CUDA does.
    """
    left = deque(jobs)

    def tell(job: CrewTask, news: Solution | str) -> None:
        try:
            received(job, news)
        except Exception as error:
            raise _Unpublished(error) from None

    while left:
        job, problem = left[0], None
        try:
            solver.solve(
                job.content,
                clock.share(len(left)),
                lambda used, text: tell(job, text),  # noqa: B023
                lambda solution: tell(job, solution),  # noqa: B023
            )
        except _Unpublished as error:
            raise error.error from None
        except CharmError as error:
            problem = str(error)
        except Exception as error:
            problem = failure(error)
            if not multiprocessing.current_process().daemon:  # which may start no process
                job.tries, job.problem = 1, problem
                return list(left)
        left.popleft()
        done(job, problem)
    return []


def _work(connection: Connection, run: Path, options: SolveOptions, device: str, make: type[Solver]) -> None:
    """One process on one device, as `Crew` wants it."""

    def send(kind: str, content: Any) -> None:
        try:
            connection.send((kind, content))
        except OSError:  # nobody reads this any more
            raise SystemExit(1) from None

    try:
        with place(device) as here:
            solver = make(run, options, here)
            send("ready", None)
            while True:
                try:
                    task, seconds = connection.recv()
                except (EOFError, OSError):
                    return
                problem = None
                try:
                    solver.solve(
                        task,
                        Clock(seconds),
                        lambda used, text: send("news", text),
                        lambda solution: send("news", solution),
                    )
                except CharmError as error:
                    problem = str(error)
                send("done", problem)
    except CharmError as error:
        send("broken", str(error))
    except Exception as error:
        send("broken", failure(error))


def failure(error: Exception) -> str:
    """An unexpected exception on one line: its type, its message and where it was raised."""
    message = str(error).strip().splitlines()
    at = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in at)
    return f"{type(error).__name__}{f': {message[0]}' if message else ''}{where}"


def solve_devices(wanted: str, tasks: int) -> list[str]:
    """The devices that work on so many tasks: all accelerators of the wanted kind, or the one that is named."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise CharmError("charm solve uses all accelerators by itself: start it without torchrun")
    device = choose_device(wanted)
    if device.type not in ("cuda", "xpu") or ":" in wanted:
        return [str(device)]
    return [f"{device.type}:{number}" for number in range(min(torch.accelerator.device_count(), tasks))]
