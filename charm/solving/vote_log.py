"""How a solve went: the candidates of every test input and their votes, round by round.

OUT.votes.jsonl, next to the submission OUT.json, has a line that says what is solved, then one for every better answer
to a task and one for every task that ended. `charm solve --resume` reads from it what is finished, and `charm view
OUT.json` shows it, while it grows and afterwards.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from charm.config import checked
from charm.errors import CharmError, charm_errors
from charm.files import parse_json, write_atomically
from charm.solving.options import SolveOptions
from charm.solving.solution import Solution
from charm.tasks.task import Question, Task, digits, questions_of, task_to_json

SHOWN = 20  # candidates of a test input in each round, at most

VoteLine = dict[str, Any]


class About(TypedDict):
    """What is read of the first line."""

    model: str
    mode: str
    budget: float
    tasks: dict[str, list[str]]


class Ended(TypedDict):
    """A line that says that a task has ended, and why if it failed."""

    time: float
    ended: str


class VotedGrid(TypedDict):
    grid: str
    votes: int


class Round(TypedDict):
    """A line with the candidates of a task."""

    time: float
    seconds: float
    updates: int
    views: int
    loss: float | None
    exact: float | None
    doubt: str | None
    tests: list[list[VotedGrid]]


def votes_file(submission: Path) -> Path:
    return submission.with_suffix(".votes.jsonl")


def task_hash(task: Task) -> str:
    """A hash of what a solver sees of a task, in order."""
    return hashlib.sha256(json.dumps(task_to_json(task.blind())).encode()).hexdigest()


def name_of(model: Path) -> str:
    """The name of a model's folder, also where it is given as "."."""
    return model.absolute().name


@dataclass
class TaskState:
    """What the log says about one task."""

    content: str | None = None
    """Its `task_hash`; logs of earlier versions may not have it."""
    updates: int = -1
    """Updates before the newest answer."""
    views: int = 0
    """Views that voted for it."""
    finished: bool = False
    answered: set[int] = field(default_factory=set)
    """Test inputs that have an answer in the submission."""


def states_in(submission: Path) -> tuple[VoteLine, dict[str, TaskState]]:
    """Read what was solved and how, which is empty where it is not known, and the state of each task by id."""
    about, *lines = _lines(votes_file(submission)) or [{}]
    states = {name: TaskState(str(content)) for name, content in _dict(about.get("contents")).items()}
    for name in _dict(about.get("tasks")):
        states.setdefault(name, TaskState())
    for line in lines:
        state = states.get(str(line.get("task")))
        updates, views = line.get("updates"), line.get("views")
        if state is None:
            continue
        if "ended" in line:
            state.finished = line["ended"] == ""
        elif isinstance(updates, int) and isinstance(views, int):
            state.updates, state.views, state.finished = updates, views, False
            tests = line.get("tests")
            state.answered |= (
                {number for number, voted in enumerate(tests) if voted} if isinstance(tests, list) else set()
            )
    return about, states


def round_json(solution: Solution, questions: Sequence[Question], shown: int = SHOWN) -> VoteLine:
    """A round of votes, and what was learned before it."""

    def known(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "seconds": round(solution.seconds, 1),
        "updates": solution.updates,
        "views": solution.views,
        "cast": solution.cast,
        "sure": solution.sure,
        "loss": known(solution.loss),
        "exact": known(solution.exact_accuracy),
        "doubt": solution.doubt,
        "tests": [
            [
                {"grid": digits(one.grid), "votes": one.votes, "confidence": round(one.confidence, 4)}
                for one in solution.answers.get(question, [])[:shown]
            ]
            for question in questions
        ],
    }


class Course:
    """The log of a solve that is under way; nothing is written before `flush`.

    With `resume` it continues the log of an interrupted solve.
    """

    def __init__(
        self,
        submission: Path,
        tasks: Sequence[Task],
        model: Path,
        options: SolveOptions,
        settings: Mapping[str, Any],
        resume: bool,
    ) -> None:
        self.path = votes_file(submission)
        self._questions = {task.id: questions_of([task]) for task in tasks}
        lines = _lines(self.path) if resume else []
        about_before = lines[0] if lines else {}
        contents, before = {task.id: task_hash(task) for task in tasks}, _dict(about_before.get("contents"))
        changed = {name for name, content in contents.items() if before.get(name, content) != content}
        inputs = {task.id: [digits(pair.input) for pair in task.test] for task in tasks}
        about: VoteLine = {
            "model": name_of(model),
            "mode": options.mode,
            "budget": options.budget,
            "settings": settings,
            # Those of an earlier solve stay.
            "tasks": _dict(about_before.get("tasks")) | inputs,
            "contents": before | contents,
        }
        kept = [
            line for line in lines[1:] if isinstance(line.get("task"), str) and line["task"] not in changed
        ]
        self._waiting = [about, *kept]
        self._begun, self._failed = False, False

    def begin(self) -> None:
        """Write the first lines in place of what is there."""
        if not self._begun:
            write_atomically(self.path, _text(self._waiting))
            self._waiting, self._begun = [], True

    def found(self, answers: Mapping[str, Solution]) -> None:
        """Add the better answers to these tasks."""
        for name, one in answers.items():
            self._add({"task": name} | round_json(one, self._questions[name]))

    def ended(self, problems: Mapping[str, str]) -> None:
        """Note by id that tasks have ended, and why those that failed did."""
        for name, problem in problems.items():
            self._add({"task": name, "ended": problem})

    def _add(self, line: VoteLine) -> None:
        self._waiting.append({**line, "time": round(time.time(), 1)})

    def flush(self) -> None:
        """Write the lines that wait, or raise and keep them."""
        if not self._waiting:
            return
        # What a failure may have cut short must not spoil the next line.
        text, self._failed = "\n" * self._failed + _text(self._waiting), True
        with charm_errors(f"{self.path} cannot be written", OSError), self.path.open("a") as file:
            file.write(text)
        self._waiting, self._failed = [], False


def _text(lines: Iterable[VoteLine]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


@dataclass
class TaskCourse:
    """How one task went so far."""

    inputs: list[str]
    rounds: list[VoteLine] = field(default_factory=list)
    problem: str | None = None
    """None until the task ends, "" if it was solved, else why not."""
    changed: float | None = None
    """When its newest line was written, in seconds since 1970."""


def read_course(submission: Path) -> tuple[VoteLine, dict[str, TaskCourse]]:
    """What is solved, and how each task went."""
    path = votes_file(submission)
    try:
        about, *lines = _lines(path)
        tasks = {name: TaskCourse(inputs) for name, inputs in checked(About, about, "tasks")["tasks"].items()}
        for line in lines:
            if (task := tasks.get(line["task"])) is None:
                continue  # files of earlier versions list only the tasks of the last solve
            line = checked(Ended if "ended" in line else Round, line, line["task"])
            task.changed = line["time"]
            if "ended" in line:
                task.problem = line["ended"]
                continue
            if len(line["tests"]) != len(task.inputs):
                raise CharmError(f"a round has {len(line['tests'])} of {len(task.inputs)} tests")
            task.problem = None
            line.setdefault("cast", line["views"])  # files of earlier versions do not have it
            task.rounds.append(line)
    except (CharmError, ValueError, KeyError, TypeError) as error:
        raise CharmError(f"{path} is not the votes of a solve ({error})") from error
    return about, tasks


def _dict(value: object) -> dict[str, Any]:
    """The value, if it is an object."""
    return value if isinstance(value, dict) else {}


def _lines(path: Path) -> list[VoteLine]:
    """The lines of a file, if there is one, without any that a kill has cut short or that is still being written."""
    found = []
    try:
        text = path.read_text(errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CharmError(f"{path} cannot be read ({error.strerror or error})") from error
    for line in text.splitlines():
        with suppress(CharmError):
            found.append(parse_json(line, path))
    return [line for line in found if isinstance(line, dict)]
