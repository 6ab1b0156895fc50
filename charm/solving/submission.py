"""A submission while it is being made: on disk whole at any time, and continued after a kill.

OUT.progress.json, next to OUT.json, lists the finished tasks. It is removed once all tasks are finished.
OUT.votes.jsonl has the rounds of votes (`charm.solving.vote_log`), and the settings of a solve also after its end.
.OUT.lock keeps a second solve away from all three.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any, TypedDict

from charm.config import checked, to_json
from charm.errors import CharmError, charm_errors
from charm.evaluation.submission import ATTEMPTS, NO_ANSWER, JsonGrid, Submission, attempts, write_submission
from charm.files import fingerprint, lock_file, read_json, seal, sweep, unseal, write_atomically
from charm.progress import say
from charm.runs.checkpoint import newest_checkpoint
from charm.solving.options import SolveOptions
from charm.solving.solution import Solution
from charm.solving.vote_log import Course, VoteLine, about_in, contents_in, name_of, task_hash
from charm.tasks.task import Question, Task, as_grid, questions_of


@contextmanager
def only_solve(path: Path) -> Iterator[None]:
    """Keep other solves away from the submission at `path` and the files next to it."""
    if path.exists() and not path.is_file():
        raise CharmError(f"{path} cannot be written (not a regular file)")
    with ExitStack() as held:
        with charm_errors(f"{path} cannot be written", OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = path.with_name(f".{path.stem}.lock")
            held.enter_context(lock_file(lock, f"{path} is in use by another charm solve"))
        yield


class TaskProgress(TypedDict, total=False):
    """How far a task is, in OUT.progress.json."""

    task: str
    updates: int
    views: int
    finished: bool


class SubmissionInProgress:
    """The submission of these tasks at `path`; `left` are those that are not finished.

    With `resume` it continues what a solve with the same model and settings left there; tasks that have other grids now
    are `changed` and start anew, and entries of `others`, which are not among these tasks, stay. An answer is only
    replaced by one after more updates, or after as many and more views. Tasks that are `unusable` have empty answers,
    for the number of test inputs given: a competition wants an entry for every task.
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
        self.changed: list[str] = []
        self.others = 0
        self.unknown_settings = False
        self.unwritten = ""  # why the newest answers are not on disk
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
            self._tasks[task.id] = {"task": task_hash(task), "updates": -1, "views": 0, "finished": False}
        resume = resume and path.exists()
        before = self._take_over(tasks, model) if resume else {}
        self.left = [task for task in tasks if not self._tasks[task.id]["finished"]]
        if self.left:
            # In this order: a kill in between must not leave empty answers with an older solve's finished tasks.
            self._write_record()
            try:
                write_submission(path, self.submission)
            except CharmError:
                self.record_path.unlink()
                raise
            self.course = Course(path, tasks, model, options, settings, resume)
        elif resume and self.submission != before:  # an unusable task is new
            write_submission(path, self.submission)

    def publish(self, answers: Mapping[str, Solution]) -> None:
        """Write answers by task id, except where the one on disk is better."""
        better: Submission = {}
        voted: dict[str, Solution] = {}
        for task_id, solution in answers.items():
            known = self._tasks[task_id]
            if (solution.updates, solution.views) > (known["updates"], known["views"]):
                known |= {"updates": solution.updates, "views": solution.views}
                found = attempts(solution.answers)[task_id]
                better[task_id] = [  # nothing is not better than an answer
                    found[number] if solution.answers.get(Question(task_id, number)) else old
                    for number, old in enumerate(self.submission[task_id])
                ]
                voted[task_id] = solution
        if better:
            self.submission.update(better)
            self._write()
            self.course.found(voted)

    def finish(self, tasks: Sequence[Task], problem: str | None = None) -> None:
        """Mark tasks as finished; those with a problem or without an answer stay to be tried again."""
        for task in tasks:
            known = self._tasks[task.id]
            known["finished"] = problem is None and known["views"] > 0
            if not known["finished"]:
                self.problems[task.id] = (
                    problem or "there was no time for an answer to every test input; try a longer budget"
                )
        self._write()
        self.course.ended({task.id: self.problems.get(task.id, "") for task in tasks})

    def close(self) -> None:
        """Raise if the newest answers cannot be written."""
        if self.unwritten:
            self._write_now()

    def _write(self) -> None:
        """Write the files, or try again with the next answers: a full disk must not cost hours of learning."""
        try:
            self._write_now()
            self.unwritten = ""
        except CharmError as error:
            if not self.unwritten:
                say(f"{error}; the solve continues and tries again")
            self.unwritten = str(error)

    def _write_now(self) -> None:
        """Write the answers first: a kill in between must not leave a task finished whose answer is not on disk."""
        write_submission(self.path, self.submission)
        if all(known["finished"] for known in self._tasks.values()):
            with charm_errors(f"{self.record_path} cannot be removed", OSError):
                self.record_path.unlink(missing_ok=True)
        else:
            self._write_record()

    def _write_record(self) -> None:
        write_atomically(self.record_path, json.dumps(seal(self.record)))

    def _take_over(self, tasks: Sequence[Task], model: Path) -> Submission:
        """Take over the answers of an earlier solve, and return them; one that was not interrupted has finished.

        An entry that does not fit its task's test inputs is not taken over, nor the entry of a task that has changed.
        """
        before, about = _read(self.path), about_in(self.path)
        if self.record_path.exists():
            record = unseal(_read(self.record_path), self.record_path)
            with charm_errors(f"{self.record_path} is damaged; solve again without --resume", CharmError):
                known_before = checked(dict[str, TaskProgress], record.get("tasks"), "tasks")
            settings = record.get("settings")
        else:
            settings = about.get("settings")
            known_before = {task_id: {"finished": True} for task_id in before}
            for task_id, content in contents_in(about).items():
                known_before.get(task_id, {})["task"] = content
        if isinstance(settings, dict):
            self._refuse_other_settings(settings, about, model)
        elif before:
            self.unknown_settings = True
        for task in tasks:
            old, known = known_before.get(task.id), self._tasks[task.id]
            if old is None or not _fits(before.get(task.id), task):
                continue
            if "task" not in old and _is_empty(before[task.id]):
                continue  # it was unusable
            if old.get("task", known["task"]) == known["task"]:
                known |= old
                self.submission[task.id] = before[task.id]
            else:
                self.changed.append(task.id)
        named = {task.id for task in tasks}
        for task_id in [task_id for task_id in before if task_id not in named]:
            empty = self.submission.get(task_id)  # of an unusable task
            if empty is None or (_is_entry(before[task_id]) and len(before[task_id]) == len(empty)):
                self.submission[task_id] = before[task_id]
            if task_id in known_before:
                self._tasks[task_id] = known_before[task_id]
            self.others += empty is None
        return before

    def _refuse_other_settings(self, before: Mapping[str, Any], about: VoteLine, model: Path) -> None:
        """Answers of different models or recipes must not be mixed."""
        old, new = (_flat(settings) for settings in (before, json.loads(json.dumps(self.record["settings"]))))
        differences = []
        for name in dict.fromkeys((*new, *old)):
            if old.get(name) == new.get(name):
                continue
            if name == "weights":
                now = name_of(model)
                known = about.get("model", now)
                same = f"other weights of the model {now}"
                differences.append(same if known == now else f"model {known}, now {now}")
            else:
                values = ("the default" if one.get(name) is None else one[name] for one in (old, new))
                differences.append(f"--{name.replace('_', '-')} {', now '.join(map(str, values))}")
        if differences:
            raise CharmError(
                f"{self.path} was solved with other settings ({'; '.join(differences)}); use the earlier ones to "
                "resume it, choose another --out, or leave out --resume to start anew"
            )


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their names on the command line."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        inner = {f"{name}.{key}": one for key, one in value.items()} if isinstance(value, dict) else {}
        flat |= inner or {name: value}
    return flat


def _is_entry(entry: object) -> bool:
    """Whether this is a submission's entry for a task: both attempts at each test input."""
    return isinstance(entry, list) and all(
        isinstance(given, dict) and given.keys() >= set(ATTEMPTS) for given in entry
    )


def _is_empty(entry: list[dict[str, JsonGrid]]) -> bool:
    """Whether an entry holds no answer."""
    return all(given[attempt] == NO_ANSWER for given in entry for attempt in ATTEMPTS)


def _is_something_else(path: Path) -> bool:
    """Whether there is JSON at this path, such as tasks or their solutions, that is no submission."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return not (isinstance(content, dict) and (not content or any(map(_is_entry, content.values()))))


def _fits(entry: Any, task: Task) -> bool:
    """Whether this entry of a submission answers every test input of the task, with grids."""
    if not _is_entry(entry) or len(entry) != len(task.test):
        return False
    try:
        for given in entry:
            for attempt in ATTEMPTS:
                as_grid(given[attempt], attempt)
    except CharmError:
        return False
    return True


def _read(path: Path) -> dict[str, Any]:
    content = None
    with suppress(CharmError):
        content = read_json(path)
    if not isinstance(content, dict):
        raise CharmError(f"{path} cannot be read or is damaged; solve again without --resume")
    return content
