"""How a solve went: the candidates of every test input and their votes, round by round.

OUT.votes.jsonl, next to the submission OUT.json, has a line that says what is solved, then one for every better answer
to a task and one for every task that ended. `charm solve --resume` reads from it what is finished, and `charm view
OUT.json` shows it, while it grows and afterwards.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from charm.config import checked
from charm.errors import CharmError, charm_errors
from charm.files import parse_json, write_atomically
from charm.solving.solution import Solution, known
from charm.tasks.task import Question, Task, digits, task_to_json

SHOWN = 20  # candidates of a test input in each round, at most

VoteLine = dict[str, Any]


class About(TypedDict):
    """The first line: what is solved, and how."""

    model: str
    mode: str
    budget: float
    settings: dict[str, Any]
    tasks: dict[str, list[str]]
    demos: dict[str, list[list[str]]]
    contents: dict[str, str]


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
    cast: int
    loss: float | None
    exact: float | None
    doubt: str | None
    tests: list[list[VotedGrid]]


@dataclass
class TaskCourse:
    """How one task went so far: its lines of the log."""

    inputs: list[str]
    content: str
    """Its `task_hash`."""
    lines: list[VoteLine] = field(default_factory=list)
    demos: list[list[str]] = field(default_factory=list)
    """Its demonstrations, each an input and an output."""

    @property
    def rounds(self) -> list[VoteLine]:
        return [line for line in self.lines if "tests" in line]

    @property
    def problem(self) -> str | None:
        """None until the task ends, "" if it was solved, else why not."""
        return self.lines[-1].get("ended") if self.lines else None

    @property
    def changed(self) -> float | None:
        """When its newest line was written, in seconds since 1970."""
        return self.lines[-1]["time"] if self.lines else None

    @property
    def made_by(self) -> tuple[int, int, bool]:
        """The `Solution.made_by` of the newest answer."""
        newest = self.rounds[-1] if self.rounds else {"updates": -1, "views": 0}
        return newest["updates"], newest["views"], bool(newest.get("searched"))

    @property
    def answered(self) -> set[int]:
        """Numbers of the test inputs that had a candidate in any round."""
        return {number for one in self.rounds for number, ranked in enumerate(one["tests"]) if ranked}


def votes_file(submission: Path) -> Path:
    return submission.with_suffix(".votes.jsonl")


def begin_course(task: Task, ended: bool = False) -> TaskCourse:
    """Return the course of a task without rounds, with a hash of what a solver sees of it, in order."""
    content = hashlib.sha256(json.dumps(task_to_json(task.blind())).encode()).hexdigest()
    lines = [_line(task.id, {"ended": ""})] if ended else []
    demos = [[digits(grid) for grid in pair.grids()] for pair in task.train]
    return TaskCourse([digits(pair.input) for pair in task.test], content, lines, demos)


def round_json(solution: Solution, questions: Sequence[Question], shown: int = SHOWN) -> VoteLine:
    """Return a round of votes, and what was learned before it."""
    return {
        "seconds": round(solution.seconds, 1),
        "updates": solution.updates,
        "views": solution.views,
        "cast": solution.cast,
        **({"models": solution.models} if solution.models > 1 else {}),
        **({"searched": True} if solution.searched else {}),
        "sure": solution.sure,
        "loss": known(solution.loss),
        "exact": known(solution.exact_accuracy),
        "doubt": solution.doubt,
        **({"counted": counted} if (counted := solution.counted) else {}),
        "tests": [
            [
                {
                    "grid": digits(one.grid),
                    "votes": one.votes,
                    "confidence": round(one.confidence, 4),
                    **({"often": often} if (often := solution.often(question, number)) else {}),
                }
                for number, one in enumerate(solution.answers.get(question, [])[:shown])
            ]
            for question in questions
        ],
    }


class VoteLog:
    """The log of a solve that is under way; nothing is written before `begin`.

    It starts with the lines that `courses` already have; `about` says how they are solved.
    """

    def __init__(self, submission: Path, about: VoteLine, courses: dict[str, TaskCourse]) -> None:
        self.path, self.courses = votes_file(submission), courses
        inputs = {name: course.inputs for name, course in courses.items()}
        contents = {name: course.content for name, course in courses.items()}
        demos = {name: course.demos for name, course in courses.items()}
        kept = (line for course in courses.values() for line in course.lines)
        self._waiting = [{**about, "tasks": inputs, "demos": demos, "contents": contents}, *kept]
        self._begun, self._failed = False, False

    def begin(self) -> None:
        """Write the first lines in place of what is there."""
        if not self._begun:
            write_atomically(self.path, _text(self._waiting))
            self._waiting, self._begun = [], True

    def add(self, name: str, line: VoteLine) -> None:
        """Add a round of votes on a task or, as {"ended": problem}, its end; `flush` writes it."""
        self._waiting.append(_line(name, line))
        self.courses[name].lines.append(self._waiting[-1])

    def flush(self) -> None:
        """Write the lines that wait, or raise and keep them."""
        if not self._waiting:
            return
        # What a failure may have cut short must not spoil the next line.
        text, self._failed = "\n" * self._failed + _text(self._waiting), True
        with charm_errors(f"{self.path} cannot be written", OSError), self.path.open("a") as file:
            file.write(text)
        self._waiting, self._failed = [], False


def _line(name: str, content: VoteLine) -> VoteLine:
    return {"task": name, **content, "time": round(time.time(), 1)}


def _text(lines: Iterable[VoteLine]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def read_log(submission: Path) -> tuple[VoteLine, dict[str, TaskCourse]]:
    """Read what is solved, and how each task went; both are empty if there is no log or its first line is damaged.

    Any other damaged line is left out: a kill may have cut it short, or it is still being written.
    """
    path = votes_file(submission)
    if not path.exists():
        return {}, {}
    with charm_errors(f"{path} cannot be read", OSError):
        about, *lines = path.read_text(errors="replace").splitlines() or [""]
    found: VoteLine = {}
    courses: dict[str, TaskCourse] = {}
    with suppress(CharmError, TypeError):
        found = checked(About, {"demos": {}, **parse_json(about, path)}, "about")  # older logs have no demonstrations
        contents, demos = found["contents"], found["demos"]
        courses = {
            name: TaskCourse(inputs, contents.get(name, ""), demos=demos.get(name, []))
            for name, inputs in found["tasks"].items()
        }
    for text in lines:
        with suppress(CharmError, KeyError, TypeError):
            line = parse_json(text, path)
            course = courses[line["task"]]
            line = checked(Ended if "ended" in line else Round, line, "line")
            if "ended" in line or len(line["tests"]) == len(course.inputs):
                course.lines.append(line)
    return found, courses


def read_course(submission: Path) -> tuple[Mapping[str, Any], dict[str, TaskCourse]]:
    """Return what `read_log` does, if there is a log."""
    about, courses = read_log(submission)
    if not about:
        raise CharmError(f"{votes_file(submission)} is not the votes of a solve: its first line does not say of what")
    return about, courses
