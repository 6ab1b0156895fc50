"""Read the tasks of many files and folders; a malformed task is named with its reason and skipped, the rest is kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from charm.errors import CharmError
from charm.tasks.sources import json_files, load_source, solutions_of, with_solutions
from charm.tasks.task import Task, task_from_json

REPEATED = (
    object()
)  # the value of a name that appears twice in a JSON object: it is not known which one is meant


def read_tasks(paths: Sequence[Path], unsolved: bool = False) -> tuple[list[Task], dict[str, str]]:
    """The tasks of files and folders, and a reason for each task or file that is not usable.

    With `unsolved`, a task whose solutions are not usable is kept without them.
    """
    files, skipped = _task_files(paths)
    tasks: dict[str, Task] = {}
    for file in files:
        found, bad = _read_file(file, unsolved)
        skipped |= bad
        for task in found:
            if task.id in tasks:
                reason = f"{file}: task id {task.id} appears twice"
                skipped[reason] = reason
            else:
                tasks[task.id] = task
    return list(tasks.values()), skipped


def _task_files(paths: Sequence[Path]) -> tuple[list[Path], dict[str, str]]:
    """The files of tasks among these files and in these folders, and a reason for each that is not readable."""
    files: list[Path] = []
    skipped: dict[str, str] = {}
    for path in paths:
        inside, unreadable = json_files(path) if path.is_dir() else ([path], {})
        files += inside
        skipped |= unreadable
    solutions = {solutions_of(file) for file in files}
    return [file for file in files if file not in solutions], skipped


def unusable(paths: Sequence[Path], skipped: Mapping[str, str]) -> dict[str, int]:
    """The tasks skipped in files of several tasks, and how many test inputs each has, at least one."""
    found = {}
    for file in _task_files(paths)[0]:
        for task_id, content in _several(file).items():
            if task_id in skipped:
                tests = content.get("test") if isinstance(content, dict) else None
                found[task_id] = max(len(tests), 1) if isinstance(tests, list) else 1
    return found


def left_out(skipped: dict[str, str]) -> list[str]:
    """What was skipped and why, a line for each."""
    return [
        f"left out: {reason}" if what in reason else f"left out: {what} ({reason})"
        for what, reason in skipped.items()
    ]


def _read_file(file: Path, unsolved: bool) -> tuple[list[Task], dict[str, str]]:
    """A source is loaded whole or not at all; where it does not load, each of its tasks is tried alone."""
    try:
        return list(load_source(file).tasks), {}
    except CharmError as error:
        several, problem = _several(file), str(error)
        if not several:
            return [], {str(file): problem}
    beside = solutions_of(file)
    solutions = _several(beside) if beside is not None and beside.is_file() else {}
    tasks: list[Task] = []
    skipped = {}
    for task_id, content in several.items():
        try:
            if content is REPEATED:
                raise CharmError(f"{file}: task id {task_id} appears twice")
            task = task_from_json(content, task_id, str(file))
        except CharmError as error:
            skipped[task_id] = str(error)
            continue
        try:
            if beside is not None and task_id in solutions:
                task = with_solutions(task, solutions[task_id], file, beside)
        except CharmError as error:
            skipped[str(error) if unsolved else task_id] = str(error)
            if not unsolved:
                continue
        tasks.append(task)
    if not tasks:  # not a file of tasks: one line for all of it
        return [], {str(file): next(iter(skipped.values()))}
    return tasks, skipped or {problem: problem}  # of the file, or of its solutions: each task alone has none


def _several(file: Path) -> dict[str, Any]:
    """The entries of a file {id: ...}, REPEATED for an id that appears twice; nothing where it is no such file."""

    def once(items: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(name for name, _ in items)
        return {name: value if counts[name] == 1 else REPEATED for name, value in items}

    try:
        content = json.loads(file.read_bytes(), object_pairs_hook=once)
    except (OSError, ValueError, RecursionError):
        return {}  # whoever asks has the reason already, from loading the file as a source
    return content if isinstance(content, dict) and not {"train", "test"} & content.keys() else {}
