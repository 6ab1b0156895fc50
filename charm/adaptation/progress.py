"""A submission while it is being made: on disk whole at any time, and continued after a kill.

OUT.progress.json, next to OUT.json, lists the finished tasks. It is removed once all tasks are finished.
OUT.votes.jsonl has the rounds of votes (`charm.adaptation.course`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from charm.adaptation.course import Course
from charm.adaptation.options import SolveOptions
from charm.adaptation.solution import Solution
from charm.config import to_json
from charm.errors import CharmError
from charm.evaluation.submission import ATTEMPTS, Submission, attempts, write_submission
from charm.files import fingerprint, sweep, write_atomically
from charm.runs.checkpoint import newest_checkpoint
from charm.tasks.task import Question, Task, questions_of, task_to_json


class SubmissionInProgress:
    """The submission of these tasks at `path`; `left` are those that are not finished.

    With `resume` it continues what an interrupted solve with the same model and settings left there. An answer is
    only replaced by one after more updates, or after as many and more views. Tasks that are `unusable` have empty
    answers, for the number of test inputs given: a competition wants an entry for every task.
    """

    def __init__(
        self,
        path: Path,
        tasks: Sequence[Task],
        model: Path,
        options: SolveOptions,
        resume: bool,
        unusable: Mapping[str, int] | None = None,
    ) -> None:
        if _is_something_else(path):
            raise CharmError(f"{path} exists and is not a submission; choose another --out")
        self.path, self.record_path = path, path.with_suffix(".progress.json")
        for written in (self.path, self.record_path):
            sweep(written.parent, f"{escape(written.name)}.*")
        self.submission: Submission = {}
        self.problems: dict[str, str] = {}
        for task_id, tests in (unusable or {}).items():
            self.submission |= attempts({Question(task_id, test): [] for test in range(tests)})
        for task in tasks:  # complete from the start: what has no answer yet has an empty one
            self.submission |= attempts({question: [] for question in questions_of([task])})
        weights = fingerprint(newest_checkpoint(model) / "model.safetensors")["sha256"]
        # Time and place may change when it is resumed.
        settings = {"weights": weights, **to_json(replace(options, budget=1.0))}
        self.record: dict[str, Any] = {"settings": settings, "tasks": {}}
        self._tasks: dict[str, dict[str, Any]] = self.record["tasks"]
        for task in tasks:
            content = hashlib.sha256(json.dumps(task_to_json(task.blind())).encode()).hexdigest()
            self._tasks[task.id] = {"task": content, "updates": -1, "views": 0, "finished": False}
        resume = resume and path.exists()
        if resume:
            self._take_over(tasks)
        self.left = [task for task in tasks if not self._tasks[task.id]["finished"]]
        if self.left:
            # In this order: a kill in between must not leave empty answers with an older solve's finished tasks.
            write_atomically(self.record_path, json.dumps(self.record))
            try:
                write_submission(path, self.submission)
            except CharmError:
                self.record_path.unlink()
                raise
            self.course = Course(path, tasks, model, options, resume)

    def publish(self, answers: Mapping[str, Solution]) -> None:
        """Write answers by task id, except where the one on disk is better."""
        better: Submission = {}
        voted: dict[str, Solution] = {}
        for task_id, solution in answers.items():
            known = self._tasks[task_id]
            if (solution.updates, solution.views) > (known["updates"], known["views"]):
                known |= {"updates": solution.updates, "views": solution.views}
                better |= attempts(solution.answers)
                voted[task_id] = solution
        if better:
            self.submission.update(better)
            self._write()
            self.course.found(voted)

    def finish(self, tasks: Sequence[Task], problem: str | None = None) -> None:
        """Mark tasks as finished; those with a problem stay to be tried again."""
        for task in tasks:
            if problem is None:
                self._tasks[task.id]["finished"] = True
            else:
                self.problems[task.id] = problem
        if problem is None:
            self._write()
        self.course.ended(tasks, problem)

    def _write(self) -> None:
        """Write the answers first: a kill in between must not leave a task finished whose answer is not on disk."""
        write_submission(self.path, self.submission)
        if all(known["finished"] for known in self._tasks.values()):
            self.record_path.unlink(missing_ok=True)
        else:
            write_atomically(self.record_path, json.dumps(self.record))

    def _take_over(self, tasks: Sequence[Task]) -> None:
        """Take over the answers of an interrupted solve; one that was not interrupted has finished all its tasks.

        An entry that does not fit its task's test inputs is not taken over.
        """
        found = _read(self.path)
        before: Submission = {task.id: found[task.id] for task in tasks if _fits(found.get(task.id), task)}
        if not self.record_path.exists():
            for task_id in self._tasks.keys() & before.keys():
                self._tasks[task_id]["finished"] = True
                self.submission[task_id] = before[task_id]
            return
        record = _read(self.record_path)
        if record.get("settings") != json.loads(json.dumps(self.record["settings"])):
            raise CharmError(
                f"{self.path} was started with another model or other settings; "
                f"use the same ones, or solve without --resume"
            )
        for task_id, known in self._tasks.items():
            old = record["tasks"].get(task_id)
            if old is not None and old["task"] == known["task"] and task_id in before:
                known |= old
                self.submission[task_id] = before[task_id]


def _is_entry(entry: object) -> bool:
    """Whether this is a submission's entry for a task: both attempts at each test input."""
    return isinstance(entry, list) and all(
        isinstance(given, dict) and given.keys() >= set(ATTEMPTS) for given in entry
    )


def _is_something_else(path: Path) -> bool:
    """Whether there is JSON at this path, such as tasks or their solutions, that is no submission."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return not (isinstance(content, dict) and (not content or any(map(_is_entry, content.values()))))


def _fits(entry: Any, task: Task) -> bool:
    """Whether this entry of a submission answers every test input of the task."""
    return _is_entry(entry) and len(entry) == len(task.test)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
        if not isinstance(content, dict):
            raise ValueError("not an object")
    except ValueError as error:
        raise CharmError(f"{path} is damaged ({error}); solve again without --resume") from error
    return content
