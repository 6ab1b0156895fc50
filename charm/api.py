"""CHARM as a library: a trained model, and answers to a task, in one call each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from charm.adaptation.options import SolveOptions
from charm.adaptation.solution import Clock, Solution, improved
from charm.adaptation.solve import open_solver
from charm.devices import choose_device, place
from charm.errors import CharmError
from charm.model import CharmModel
from charm.paths import released_model
from charm.runs.checkpoint import newest_checkpoint
from charm.tasks.sources import find_task
from charm.tasks.task import Task, task_from_json


def load(model: str | Path | None = None, device: str = "auto") -> CharmModel:
    """A trained model: a run folder's newest checkpoint, a saved model, or the one that comes with CHARM."""
    folder = newest_checkpoint(released_model() if model is None else Path(model))
    return CharmModel.from_pretrained(folder, choose_device(device))


def solve(
    task: Task | Mapping[str, Any] | str | Path,
    model: str | Path | None = None,
    budget: float = 60.0,
    device: str = "auto",
    **options: Any,
) -> Solution:
    """Answer the test inputs of a task within `budget` seconds; test outputs are ignored.

    Arguments:
        task: a Task, the content of an ARC task file, the path of one, or the id of a public task.
        model: a run folder or a saved model; None is the one that comes with CHARM.
        options: further fields of `charm.adaptation.options.SolveOptions`, such as `views` or `seed`.
    """
    if isinstance(task, Mapping):
        task = task_from_json(dict(task), "task", "the task")
    elif not isinstance(task, Task):
        task = find_task(str(task))
    try:
        chosen = SolveOptions(budget, **options)
    except TypeError as error:
        raise CharmError(f"unknown option: {error}") from error
    with place(device) as here:
        found: list[Solution] = []

        def publish(_: str, solution: Solution) -> None:
            found.append(improved(found[-1] if found else None, solution))

        solver = open_solver(released_model() if model is None else Path(model), chosen, here)
        solver.work([task], Clock(budget), lambda used, text: None, publish)
        return found[-1]
