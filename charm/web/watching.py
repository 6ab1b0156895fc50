"""Solves from the command line, watched while they run or looked at afterwards."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from charm.errors import CharmError
from charm.report.answers import TaskGrids
from charm.report.folder import JsonObject
from charm.report.solved import match_task
from charm.solving.vote_log import TaskCourse, VoteLine, read_course
from charm.tasks.sources import Source

# Of a round; older files lack "sure", and "counted" is there where that is known.
NAMES = ("updates", "views", "cast", "sure", "loss", "exact", "doubt", "counted")
SHOWN = 10  # maximum number of candidates per test input
LEADING = 3  # a candidate that was once among the top 3 is followed from vote to vote


def courses(rounds: Sequence[VoteLine], test: int) -> list[JsonObject]:
    """Return the votes in every round for each candidate that was ever among the leading ones, currently best first."""
    votes = [{one["grid"]: one["votes"] for one in found["tests"][test]} for found in rounds]
    leading = dict.fromkeys(grid for ranked in reversed(votes) for grid in list(ranked)[:LEADING])
    return [{"grid": grid, "votes": [ranked.get(grid, 0) for ranked in votes]} for grid in leading]


def votes_json(inputs: Sequence[str], rounds: Sequence[VoteLine]) -> JsonObject:
    """Return the newest candidates of every test input, and how their votes changed."""
    newest: VoteLine = dict(rounds[-1]) if rounds else {"tests": [[] for _ in inputs]}
    return {
        **{name: newest[name] for name in NAMES if rounds and name in newest},
        "inputs": list(inputs),
        "tests": [ranked[:SHOWN] for ranked in newest["tests"]],
        "rounds": [{name: one[name] for name in ("seconds", "updates", "views", "cast")} for one in rounds],
        "courses": [courses(rounds, test) for test in range(len(inputs))],
    }


def watched_json(path: Path, name: str) -> JsonObject:
    """Return the settings of a solve and how far each task is."""
    about, tasks = read_course(path)
    written = [task.changed for task in tasks.values() if task.changed is not None]
    since = max(time.time() - max(written), 0.0) if written else None
    shown = {key: about[key] for key in ("model", "mode", "budget")}
    summaries = []
    for task_id, task in tasks.items():
        newest = task.rounds[-1] if task.rounds else {"tests": []}
        votes = [ranked[0]["votes"] if ranked else 0 for ranked in newest["tests"]]
        counts = {key: newest.get(key) for key in ("updates", "views", "cast")}
        summaries.append({"id": task_id, "state": state_of(task), **counts, "votes": votes})
    return {"name": name, **shown, "seconds_since": since, "tasks": summaries}


def watched_task_json(path: Path, task_id: str, sources: Iterable[Source]) -> JsonObject:
    """Return the votes on one task of a solve, with the truth if a set has this task with its answers."""
    about, tasks = read_course(path)
    if task_id not in tasks:
        raise CharmError(f"no task {task_id!r} in this solve")
    task = tasks[task_id]
    known = None
    if found := match_task(sources, task_id, task.inputs):
        known = {"id": task_id, "source": found[0], "truth": [truth for _, truth in TaskGrids.of(found[1]).tests]}
    return {
        "state": state_of(task),
        "task": task_id,
        "model": about["model"],
        "text": task.problem or "",
        "known": known,
        **votes_json(task.inputs, task.rounds),
    }


def state_of(task: TaskCourse) -> str:
    if task.problem is None:
        return "working" if task.rounds else "waiting"
    return "failed" if task.problem else "done"
