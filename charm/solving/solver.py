"""Solve unseen tasks within a budget of seconds; there is an answer at any time.

Tasks are solved in groups (`charm.solving.group`): some networks take one at a time, others learn a group together. A
group that fails costs only itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from charm import processes
from charm.devices import Place, choose_device, place
from charm.errors import CharmError
from charm.models.model import read_model_config
from charm.runs.checkpoint import newest_checkpoint
from charm.solving.ensemble import Ensemble
from charm.solving.group import FAR_TOO_LATE, Solver
from charm.solving.options import SolveOptions, WriterRecipe
from charm.solving.solution import Clock, Models, Publish, Say, Solution, each, improved
from charm.solving.workers import Crew, CrewTask, failure
from charm.tasks.dataset import longest_side
from charm.tasks.reading import read_tasks
from charm.tasks.sources import NEW_SPLITS, SOURCE_NAMES, Source, find_task, load_source
from charm.tasks.task import Task

Group = tuple[Task, ...]
News = str | dict[str, Solution]  # a line of progress, or better answers by task id
Order = tuple[Group, float]  # tasks, and the seconds for them
Make = Callable[[Path, SolveOptions, Place], Solver]


def load_tasks(paths: Sequence[Path]) -> tuple[list[Task], dict[str, str]]:
    """Load the tasks of files, folders, public sets and public ids; name what is unusable, with the reason.

    Equal tasks of two sets are one task; a different one under an id that is taken is named SET:ID. It is an error if
    nothing is usable.
    """
    named = [path for path in paths if not path.exists()]
    for path in paths:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise CharmError(f"{path}: neither a regular file nor a folder")
    tasks, skipped = read_tasks([path for path in paths if path not in named], unsolved=True)
    known = {task.id: task for task in tasks}
    for name in map(str, named):
        for task in _public(name):
            taken = known.setdefault(task.id, task)
            if task.blind().content() != taken.blind().content():
                known[f"{name}:{task.id}"] = replace(task, id=f"{name}:{task.id}")
    if not known:
        raise CharmError(next(iter(skipped.values()), f"no tasks in {' '.join(map(str, paths))}"))
    return list(known.values()), skipped


def sets_of(paths: Sequence[Path], tasks: Sequence[Task]) -> dict[str, list[tuple[Task, Task]]]:
    """Return the tasks of each public set among `paths`, each with its loaded twin; nothing where there is one set.

    The twin may have another id, and its pairs in another order.
    """
    sources = sources_of(paths)
    loaded = {task.blind().content(): task for task in tasks}
    found = {
        source.name: [(one, loaded[same]) for one in source.tasks if (same := one.blind().content()) in loaded]
        for source in (sources if len(sources) > 1 else ())
    }
    return {name: own for name, own in found.items() if own}


def sources_of(paths: Sequence[Path]) -> list[Source]:
    """Return the public sets among `paths`."""
    names = [str(path) for path in paths if not path.exists()]
    return [load_source(name) for name in names if name in (*SOURCE_NAMES, *NEW_SPLITS)]


def public_sets(paths: Sequence[Path]) -> dict[str, Sequence[Task]]:
    """Return all tasks of each public set among `paths`, and the public tasks that are named one by one."""
    sets: dict[str, Sequence[Task]] = {source.name: source.tasks for source in sources_of(paths)}
    single = [find_task(str(path)) for path in paths if not path.exists() and str(path) not in sets]
    return {**sets, **({"those named": single} if single else {})}


def _public(name: str) -> Sequence[Task]:
    """Return the tasks of a public set, or the public task of this id."""
    if name in (*SOURCE_NAMES, *NEW_SPLITS):
        return load_source(name).tasks
    if name.endswith(".json"):
        raise CharmError(f"{name}: no such file")
    try:
        return [find_task(name)]
    except CharmError as error:
        raise CharmError(f"{name}: no such file or folder, and {error}") from error


def choose(tasks: Sequence[Task], count: int = 0, largest: int = 0, skip: int = 0) -> list[Task]:
    """Choose the tasks without a visible grid side above `largest`, `count` of them by a hash of their ids; 0 for all.

    The first `skip` by this hash are left out, so that a set can be taken in parts.
    """
    chosen = [task for task in tasks if not largest or longest_side(task) <= largest]
    if not chosen:
        raise CharmError(f"no task has grids of at most {largest} x {largest} cells")
    if skip >= len(chosen):
        raise CharmError(f"skip must be below {len(chosen)}, the number of tasks; got {skip}")
    by_hash = sorted(chosen, key=lambda task: hashlib.sha256(task.id.encode()).digest())
    kept = {task.id for task in by_hash[skip : skip + (count or len(chosen))]}
    return [task for task in chosen if task.id in kept]


def learns_together(models: Models, options: SolveOptions) -> bool:
    """Return whether any of the models learns groups of tasks; options that none of them uses are refused.

    A model that cannot be read is refused where it is loaded.
    """
    runs = each(models)
    if twice := next((run for run in runs if sum(run.resolve() == other.resolve() for other in runs) > 1), None):
        raise CharmError(
            f"the model {twice.name} is named twice; with --seed 0 1 it learns twice, and both vote together"
        )
    try:
        reasoners = [read_model_config(newest_checkpoint(run) / "config.json")[0].reasoner for run in runs]
    except (OSError, ValueError, CharmError):
        return False
    kinds = " and a ".join(dict.fromkeys(one.kind for one in reasoners))
    together = any(one.solving.together for one in reasoners)
    unused = [f"writer.{name}" for name, value in vars(options.writer).items() if value != getattr(WriterRecipe, name)]
    unused += ["together"] * (options.together > 1)
    if unused and not together:
        flag = unused[0].replace("_", "-")
        raise CharmError(f"--{flag} is for writers; a {kinds} learns one task at a time and does not use it")
    if options.search and not any(one.judges for one in reasoners):
        raise CharmError(f"--search is for models that judge candidates, such as writers; a {kinds} does not")
    return together


def groups_of(tasks: Sequence[Task], size: int, devices: int) -> list[Group]:
    """Divide tasks into groups of about equal size, of at most `size` tasks; 0 makes one for each device."""
    count = min(len(tasks), -(-len(tasks) // size) if size else devices)
    return [tuple(tasks[number::count]) for number in range(count)]


def make_solver(models: Models, options: SolveOptions, place: Place, make: Make = Solver) -> Solver | Ensemble:
    """Return what solves groups on a device: a model alone, or several models, or seeds, that vote together."""
    runs, seeds = each(models), options.seeds
    own = replace(options, budget=options.budget / (len(runs) * len(seeds)))
    solvers = [make(run, replace(own, seed=seed), place) for run in runs for seed in seeds]
    return solvers[0] if len(solvers) == 1 and not options.search else Ensemble(solvers, options)


def solve(
    tasks: Sequence[Task],
    models: Models,
    options: SolveOptions,
    devices: Sequence[str],
    say: Say = lambda used, text: None,
    publish: Publish = lambda answers: None,
    ended: Callable[[Group, str | None], None] = lambda tasks, problem: None,
    make: Make = Solver,
    clock: Clock | None = None,
    retry: bool = True,
) -> dict[str, Solution]:
    """Answer tasks with trained models. Each device takes the next group when it is free, and its share of the time.

    A group has `options.together` tasks, or one if all networks learn one at a time. A single device is used
    by this process, several by a process each. A group that fails unexpectedly is tried once more in a fresh process,
    and the others are not harmed; without `retry` this process passes its exception on.

    Groups that have not begun at twice the time, or a minute after its end, are left out if others have answers.

    The clock starts when the first group begins to learn; what came before is in its `waited`.

    `say(share of the budget used, text)` is called with progress, `publish` with every better answer by task id, and
    `ended` with every group at its end, and the reason if it failed. It is an error if no task has an answer.
    """
    clock = clock or Clock(options.budget, waits=True)
    found: dict[str, Solution] = {}
    problems: list[str] = []

    def order(job: CrewTask, share: int) -> Order:
        """Return a group and its seconds; 0 if it is far too late to begin."""
        is_late = found and not job.tries and clock.left <= -max(clock.seconds, FAR_TOO_LATE)
        return job.content, 0.0 if is_late else clock.share(share).seconds

    def received(job: CrewTask, news: News) -> None:
        if clock.waits:
            clock.start()
        if isinstance(news, str):
            say(clock.used, news)
            return
        better = {name: improved(found.get(name), solution) for name, solution in news.items()}
        found.update(better)
        publish(better)

    def done(job: CrewTask, problem: str | None) -> None:
        if problem is not None:
            problems.append(problem)
        ended(job.content, problem)

    size = options.together if learns_together(models, options) else 1
    jobs = [CrewTask(group) for group in groups_of(tasks, size, len(devices))]
    crew = Crew(jobs, lambda device: processes.start(_work, models, options, device, make), order, received, done)
    if len(devices) == 1:
        with place(devices[0]) as here:
            crew.run_here(partial(_solve_group, make_solver(models, options, here, make)), retry)
    if crew.waiting:
        with suppress(RuntimeError):  # the device itself may be what failed
            torch.cuda.empty_cache()  # what this process holds, the next may need
        crew.run(devices)
    if problems and not found:
        raise CharmError(problems[0])
    return found


def _solve_group(solver: Solver | Ensemble, order: Order, tell: Callable[[News], None]) -> str | None:
    """Solve a group in its seconds, pass on its news, and return why it has no answers if it has none."""
    tasks, seconds = order
    try:
        if not seconds:
            raise CharmError("there was no time for it; try a longer budget")
        solver.work(tasks, Clock(seconds), lambda used, text: tell(text), tell)
    except CharmError as error:
        return str(error)
    return None


def _work(connection: Connection, models: Models, options: SolveOptions, device: str, make: Make) -> None:
    """Solve groups in a process on one device, as `Crew` wants it."""

    def send(kind: str, content: Any) -> None:
        try:
            connection.send((kind, content))
        except OSError:  # the reader is gone
            raise SystemExit(1) from None

    try:
        with place(device) as here:
            solver = make_solver(models, options, here, make)
            send("ready", None)
            while True:
                try:
                    order = connection.recv()
                except (EOFError, OSError):
                    return
                send("done", _solve_group(solver, order, partial(send, "news")))
    except Exception as error:
        send("broken", str(error) if isinstance(error, CharmError) else failure(error))


def solve_devices(wanted: str, tasks: int) -> list[str]:
    """Return the devices for this number of tasks: all accelerators of the wanted kind, or the named one."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise CharmError("charm solve already uses all accelerators; start it without torchrun")
    device = choose_device(wanted)
    if device.type not in ("cuda", "xpu") or ":" in wanted:
        return [str(device)]
    return [f"{device.type}:{number}" for number in range(min(torch.accelerator.device_count(), tasks))]
