"""Scores of a solve where the answers are known: pass@k by task and by test input, seconds and dollars."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from charm.config import to_json
from charm.devices import Place, choose_device
from charm.errors import CharmError
from charm.evaluation.ranking import JsonGrid
from charm.evaluation.scoring import score_grids
from charm.files import read_sealed
from charm.models.model import TRAINING
from charm.paths import RELEASED, model_at
from charm.runs.checkpoint import saved_model
from charm.runs.settings import solving_config
from charm.solving.options import SolveOptions
from charm.solving.solution import Models, Solution, each, known
from charm.tables import Table
from charm.tasks.dataset import answers_of, evaluated_tasks
from charm.tasks.instances import Instances
from charm.tasks.sources import Source
from charm.tasks.task import Grid, Question, Task, questions_of
from charm.version import __version__

SHOWN = (1, 2, 1000)
Z = 1.96  # of a 95 % interval


def measured(
    tasks: Sequence[Task],
    found: Mapping[str, Solution],
    given: Mapping[Question, Sequence[JsonGrid]],
    models: Models,
    options: SolveOptions,
    devices: Sequence[str],
    seconds: tuple[float, float],
    dollars_per_hour: float | None,
    sets: Mapping[str, Sequence[tuple[Task, Task]]] | None = None,
    sources: Sequence[Source] = (),
) -> dict[str, Any]:
    """Score these tasks. Those that were not solved now have only the attempts `given` in the submission.

    `seconds` are of the wall clock: from the command's start to its end, and of these to the first update. Every device
    counts the former. Each of `sets` is also scored alone. `sources` are the public sets that the tasks are from.
    """
    ranked = {question: _grids(question, found, given) for question in questions_of(tasks)}
    scores = score_grids(ranked, answers_of(tasks))
    solved = {task.id: found[task.id] for task in tasks if task.id in found}
    learned = {
        name: {"updates": one.updates, "views": one.views, "loss": known(one.loss), "exact": known(one.exact_accuracy)}
        for name, one in solved.items()
    }
    spent, trained = seconds[0] * len(devices), {name for one in each(models) for name in learned_by(one)}
    names = [_name(one) for one in each(models)]
    hits = sum(task.outcome == "solved" for task in scores.tasks)
    return {
        "charm": __version__,
        "model": " + ".join(names),
        "models": names,
        "data": {
            "sha256": Source("solved", "local", tuple(tasks)).sha256,
            "sources": [{"name": one.name, "version": one.version, "sha256": one.sha256} for one in sources],
        },
        "options": to_json(options),
        "hardware": Place(choose_device(devices[0])).describe(),
        "devices": list(devices),
        "tasks": len(tasks),
        "solved_here": len(solved),
        "trained_on": sum(task.id in trained for task in tasks),
        "seconds": round(seconds[0], 1),
        "startup_seconds": round(seconds[1], 1),
        "device_seconds_per_task": round(spent / len(solved), 2) if solved else None,
        "dollars": None if dollars_per_hour is None else round(spent / 3600 * dollars_per_hour, 4),
        "dollars_per_hour": dollars_per_hour,
        "interval": interval(hits, scores.puzzles),
        **{"tasks_scored" if name == "tasks" else name: value for name, value in scores.to_json().items()},
        "sets": {
            name: {"tasks": len(some), "metrics": scores.of({task.id for _, task in some}).metrics}
            for name, some in (sets or {}).items()
        },
        "learned": learned,
    }


def learned_by(model: Path) -> Collection[str]:
    """Return the ids of the tasks in the memory of a model: it was trained on their demonstrations at least."""
    saved = saved_model(model)
    path = None if saved is None else saved / "instances.npz"
    return set(Instances.load(path).puzzles) if path is not None and path.is_file() else ()


def learned_text(models: Models, sets: Mapping[str, Sequence[Task]]) -> str:
    """Say how many tasks of a set a model has learned with their answers; "" if none has learned any."""
    for model in each(models):
        known = _learned_with_answers(model)
        for name, tasks in sets.items():
            if count := sum(task.id in known for task in tasks):
                return f"{_name(model)} has learned {count} of the {_tasks(len(tasks))} of {name}"
    return ""


def _learned_with_answers(model: Path, seen: frozenset[Path] = frozenset()) -> set[str]:
    """Return the ids of the tasks that a model's run, or the one that it started from, did not only evaluate."""
    folder, known = saved_model(model), {*learned_by(model)}
    if folder is None or model.resolve() in seen:
        return set()
    training = read_sealed(folder / TRAINING) if (folder / TRAINING).is_file() else None
    if folder == model and training is None:  # it does not say what it was trained on
        return known
    config = solving_config(model, folder, training)
    with suppress(CharmError):  # a source may be gone
        known -= {task.id for task in evaluated_tasks(config.data)}
    return known | (_learned_with_answers(model_at(config.start), seen | {model.resolve()}) if config.start else set())


def _name(model: Path) -> str:
    return model.name if model.parent == RELEASED else str(model)


def interval(hits: int, count: int) -> tuple[float, float] | None:
    """Return Wilson's 95 % interval of the share of tasks whose test inputs were all answered in two attempts."""
    if not count:
        return None
    share = hits / count
    middle = share + Z**2 / (2 * count)
    half = Z * math.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    scale = 1 + Z**2 / count
    return round(max((middle - half) / scale, 0.0), 4), round(min((middle + half) / scale, 1.0), 4)


def scores_table(found: Mapping[str, Any]) -> Table:
    metrics, between = found["metrics"], found["interval"]
    shown = [(f"pass@{k}", f"pass@{k}", metrics) for k in SHOWN]
    shown += [(f"pass@2, {name}", "pass@2", one["metrics"]) for name, one in found.get("sets", {}).items()]
    rows = [
        [label, *(f"{100 * some[key]:.1f}" for key in (name, f"{name}/outputs"))]
        for label, name, some in shown
        if name in some
    ]
    cost = "" if found["dollars"] is None else f", {found['dollars']:.2f} dollars"
    if between is None:
        solved = "; no score, because no test output is known"
    else:
        solved = (
            f"; all test inputs right in two attempts: {found['outcomes']['solved']} of {found['puzzles']} tasks "
            f"(95 % interval {100 * between[0]:.0f} to {100 * between[1]:.0f} %)"
        )
    here, seconds = found["solved_here"], found["device_seconds_per_task"]
    each = "" if seconds is None else f", {seconds:.1f} s of a device for each"
    caption = f"{_tasks(here)} in {found['seconds']:.0f} s ({found['startup_seconds']:.0f} s to start){each}{cost}"
    if others := found["tasks"] - here:
        caption += f"; {_tasks(others)} with the attempts that the submission had"
    if trained := found["trained_on"]:
        solved += f"; the model was trained on {_tasks(trained)} of these, at least on the demonstrations"
    return Table(("", "by task", "by test input"), rows, caption=caption + solved)


def _tasks(count: int) -> str:
    return f"{count} task{'s' * (count != 1)}"


def _grids(
    question: Question, found: Mapping[str, Solution], given: Mapping[Question, Sequence[JsonGrid]]
) -> list[Grid]:
    if question.task_id in found:
        return [candidate.grid for candidate in found[question.task_id].answers.get(question, ())]
    return [np.array(cells, np.uint8) for cells in given.get(question, ())]
