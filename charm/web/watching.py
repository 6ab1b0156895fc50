"""Solves from the command line, watched while they run or looked at afterwards."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from charm.errors import CharmError
from charm.report.folder import JsonObject
from charm.solving.vote_log import TaskCourse, VoteLine, read_course
from charm.tasks.sources import Source
from charm.tasks.task import digits

NAMES = ("updates", "views", "cast", "sure", "loss", "exact", "doubt")  # of a round; older files lack "sure"
LEADING = 3  # a candidate that was once among the top 3 is followed from vote to vote


def courses(rounds: Sequence[VoteLine], test: int) -> list[JsonObject]:
    """Votes in every round for each candidate that was ever among the leading ones, currently best first."""
    votes = [{one["grid"]: one["votes"] for one in found["tests"][test]} for found in rounds]
    leading = dict.fromkeys(grid for ranked in reversed(votes) for grid in list(ranked)[:LEADING])
    return [{"grid": grid, "votes": [ranked.get(grid, 0) for ranked in votes]} for grid in leading]


def votes_json(inputs: Sequence[str], rounds: Sequence[VoteLine], shown: int) -> JsonObject:
    """The newest candidates of every test input, and how their votes changed."""
    newest: VoteLine = dict(rounds[-1]) if rounds else {"tests": [[] for _ in inputs]}
    return {
        **{name: newest[name] for name in NAMES if rounds and name in newest},
        "inputs": list(inputs),
        "tests": [ranked[:shown] for ranked in newest["tests"]],
        "rounds": [{name: one[name] for name in ("seconds", "updates", "views", "cast")} for one in rounds],
        "courses": [courses(rounds, test) for test in range(len(inputs))],
    }


def watched_json(path: Path, name: str, now: float | None = None) -> JsonObject:
    """A solve: its settings and how far each task is."""
    about, tasks = read_course(path)
    written = [task.changed for task in tasks.values() if task.changed is not None]
    return {
        "name": name,
        "model": about["model"],
        "mode": about["mode"],
        "budget": about["budget"],
        "seconds_since": max((time.time() if now is None else now) - max(written), 0.0) if written else None,
        "tasks": [
            {
                "id": task_id,
                "state": state_of(task),
                "updates": task.rounds[-1]["updates"] if task.rounds else None,
                "views": task.rounds[-1]["views"] if task.rounds else None,
                "cast": task.rounds[-1]["cast"] if task.rounds else None,
                "votes": [ranked[0]["votes"] if ranked else 0 for ranked in task.rounds[-1]["tests"]]
                if task.rounds
                else [],
            }
            for task_id, task in tasks.items()
        ],
    }


def watched_task_json(path: Path, task_id: str, sources: Mapping[str, Source], shown: int) -> JsonObject:
    """The votes on one task of a solve; beside them the truth, if a set has this task with its answers."""
    about, tasks = read_course(path)
    if task_id not in tasks:
        raise CharmError(f"no task {task_id!r} in this solve")
    task = tasks[task_id]
    return {
        "state": state_of(task),
        "task": task_id,
        "model": about["model"],
        "text": task.problem or "",
        "known": _known(task_id, task.inputs, sources),
        **votes_json(task.inputs, task.rounds, shown),
    }


def state_of(task: TaskCourse) -> str:
    if task.problem is None:
        return "working" if task.rounds else "waiting"
    return "failed" if task.problem else "done"


def _known(task_id: str, inputs: Sequence[str], sources: Mapping[str, Source]) -> JsonObject | None:
    for name, source in sources.items():
        for task in source.tasks:
            if task.id == task_id and [digits(pair.input) for pair in task.test] == list(inputs):
                answers = [None if pair.output is None else digits(pair.output) for pair in task.test]
                return {"id": task_id, "source": name, "truth": answers}
    return None
