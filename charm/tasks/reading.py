"""Tasks in JSON files and folders of the user's: all of them or an error, or those that are usable.

Every error names the file, the task and the pair.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from charm.errors import CharmError, charm_errors
from charm.files import without_repeats
from charm.tasks.task import Pair, Task, as_grid, task_from_json

RESULT = re.compile(r"\.|(.*\.)?(submission|scores|progress)\.json$")  # a hidden file, or one of a solve
REPEATED = object()  # the value of a name that appears twice in a JSON object: it is not known which one is meant
Hook = Callable[[list[tuple[str, Any]]], dict[str, Any]]


def read_all(path: Path) -> tuple[Task, ...]:
    """Read the tasks of a file or a folder; refuse them all if one is not usable."""
    tasks, skipped = read_tasks([path], hook=without_repeats)
    if skipped:
        raise CharmError(next(iter(skipped.values())))
    if not tasks:
        raise CharmError(f"{path}: no tasks (.json files) in this folder")
    return tuple(tasks)


def mark_repeats(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the items of a JSON object, REPEATED for a name that appears twice."""
    counts = Counter(name for name, _ in items)
    return {name: value if counts[name] == 1 else REPEATED for name, value in items}


def read_tasks(
    paths: Sequence[Path], unsolved: bool = False, hook: Hook = mark_repeats
) -> tuple[list[Task], dict[str, str]]:
    """Read the usable tasks of files and folders; return them, and a reason for each task or file that is not.

    With `unsolved`, a task whose solutions are not usable is kept without them. `hook` reads JSON objects.
    """
    files, skipped = _task_files(paths)
    tasks: dict[str, Task] = {}
    for file in files:
        found, bad = _read_file(file, unsolved, hook)
        skipped |= bad
        for task in found:
            if task.id in tasks:
                reason = f"{file}: task id {task.id} appears twice"
                skipped[reason] = reason
            else:
                tasks[task.id] = task
    return list(tasks.values()), skipped


def unusable_tests(paths: Sequence[Path], skipped: Mapping[str, str]) -> dict[str, int]:
    """Return the tasks skipped in files of several tasks, and how many test inputs each has, at least one."""
    found = {}
    for file in _task_files(paths)[0]:
        with suppress(CharmError):  # a file that is not readable is skipped as a whole
            for task_id, content in _entries(file, mark_repeats).items():
                if task_id in skipped:
                    tests = content.get("test") if isinstance(content, dict) else None
                    found[task_id] = max(len(tests), 1) if isinstance(tests, list) else 1
    return found


def skipped_lines(skipped: dict[str, str]) -> list[str]:
    """Write what was skipped and why, a line for each."""
    return [f"left out: {why}" if what in why else f"left out: {what} ({why})" for what, why in skipped.items()]


def parse_tasks(content: bytes, where: str, hook: Hook = without_repeats) -> Any:
    """Parse JSON of tasks."""
    with charm_errors(f"{where}: invalid JSON", ValueError, RecursionError):
        return json.loads(content, object_pairs_hook=hook)


def _read_json(path: Path, hook: Hook) -> Any:
    with charm_errors(f"{path}: cannot be read", OSError):
        return parse_tasks(path.read_bytes(), str(path), hook)


def _task_files(paths: Sequence[Path]) -> tuple[list[Path], dict[str, str]]:
    """List the files of tasks among these files and below these folders, and a reason for each unreadable subfolder.

    Solutions are read with their challenges. Hidden files are left out, and so is what `charm solve` writes. A folder
    that cannot be read itself is an error.
    """
    files: list[Path] = []
    failed: list[OSError] = []
    for path in paths:
        inside = [] if path.is_dir() else [path]
        for place, folders, names in os.walk(path, onerror=failed.append, followlinks=False) if path.is_dir() else ():
            folders[:] = [name for name in folders if not name.startswith(".")]
            found = (Path(place, name) for name in names if name.endswith(".json") and not RESULT.match(name))
            inside += [file for file in found if file.is_file()]
        files += sorted(inside)
    reasons = {str(error.filename): f"{error.filename}: {error.strerror}" for error in failed}
    if closed := [path for path in paths if str(path) in reasons]:
        raise CharmError(reasons[str(closed[0])])
    solutions = {_solutions_of(file) for file in files}
    return [file for file in files if file not in solutions], reasons


def _entries(file: Path, hook: Hook) -> dict[str, Any]:
    """Read a file with one task, whose id is the file's stem, or with many ({id: task})."""
    data = _read_json(file, hook)
    if not isinstance(data, dict):
        raise CharmError(f"{file}: neither a task with 'train' and 'test' nor an object of tasks by id")
    if isinstance(data.get("train"), list) or isinstance(data.get("test"), list):
        return {file.stem: data}
    if not data:
        raise CharmError(f"{file}: no tasks in this file")
    return data


def _read_file(file: Path, unsolved: bool, hook: Hook) -> tuple[list[Task], dict[str, str]]:
    """Read the usable tasks of a file, with their solutions where there are any; return a reason for each other one."""
    try:
        entries = _entries(file, hook)
    except CharmError as error:
        return [], {str(file): str(error)}
    solutions, problem = _read_solutions(file, entries, hook)
    tasks: list[Task] = []
    skipped = {}
    for task_id, content in entries.items():
        task = None
        try:
            if content is REPEATED:
                raise CharmError(f"{file}: task id {task_id} appears twice")
            task = task_from_json(content, task_id, str(file))
            tasks.append(_with_solutions(task, solutions[task_id], file) if task_id in solutions else task)
        except CharmError as error:
            kept = [task] if unsolved and task else []
            tasks += kept
            skipped[str(error) if kept else task_id] = str(error)
    if problem:
        skipped[problem] = problem
    if not tasks:  # not a file of tasks: one line for all of it
        return [], {str(file): next(iter(skipped.values()))}
    return tasks, skipped


def _solutions_of(path: Path) -> Path | None:
    """Return where the test outputs of a file of challenges are, if they are known."""
    name = path.name.removesuffix("_challenges.json")
    return None if name == path.name else path.with_name(f"{name}_solutions.json")


def _read_solutions(file: Path, entries: Mapping[str, Any], hook: Hook) -> tuple[dict[str, Any], str]:
    """Read the solutions {id: [output, ...]} of a file of challenges; return them and what is wrong with their file."""
    path = _solutions_of(file)
    if path is None or not path.is_file():
        return {}, ""
    try:
        found = _read_json(path, hook)
    except CharmError as error:
        return {}, str(error)
    if not isinstance(found, dict):
        return {}, f"{path}: solutions must be an object of lists of grids by task id"
    if unknown := sorted(found.keys() - entries.keys()):
        return found, f"{path}: task {unknown[0]} is not among the challenges in {file}"
    missing = sorted(entries.keys() - found.keys())
    return found, f"{path}: task {missing[0]} of {file} has no solution" if missing else ""


def _with_solutions(task: Task, grids: Any, file: Path) -> Task:
    """Return the task with these test outputs, from the solutions of a file."""
    solutions = _solutions_of(file)
    if not isinstance(grids, list):
        raise CharmError(f"{solutions}: task {task.id} has no list of solutions")
    if len(grids) != len(task.test):
        counts = f"{len(grids)} solutions for {len(task.test)} test inputs"
        raise CharmError(f"{solutions}: task {task.id} has {counts} in {file}")
    test = []
    for number, (pair, cells) in enumerate(zip(task.test, grids, strict=True)):
        place = f"{solutions}: task {task.id}, test pair {number}, output"
        answer = Pair(pair.input, as_grid(cells, place))
        if pair.output is not None and pair != answer:
            raise CharmError(f"{place}: differs from the output that {file} gives")
        test.append(answer)
    return replace(task, test=tuple(test))
