"""A submission while it is being made: on disk whole at any time, and continued after a kill.

OUT.votes.jsonl, next to OUT.json, has the settings of the solve, the rounds of votes and the tasks that are finished
(`charm.solving.vote_log`). .OUT.lock keeps a second solve away from both while the first one runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any, TypeGuard

from charm.config import to_json
from charm.errors import CharmError, charm_errors
from charm.evaluation.submission import ATTEMPTS, NO_ANSWER, JsonGrid, Submission, attempts, write_submission
from charm.files import fingerprint, lock_file, read_json, sweep
from charm.progress import say
from charm.runs.checkpoint import newest_checkpoint
from charm.solving.options import SolveOptions
from charm.solving.solution import Solution
from charm.solving.vote_log import Course, TaskState, VoteLine, name_of, states_in, task_hash, votes_file
from charm.tasks.task import Question, Task, as_grid, questions_of


@contextmanager
def only_solve(path: Path) -> Iterator[None]:
    """Keep other solves away from the submission at `path` and the log next to it."""
    if path.exists() and not path.is_file():
        raise CharmError(f"{path} cannot be written (not a regular file)")
    if path.suffix != ".json":  # the log is named after it
        raise CharmError(f"the name of a submission must end in .json, got {path}")
    with ExitStack() as held:
        with charm_errors(f"{path} cannot be written", OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = path.with_name(f".{path.stem}.lock")
            held.enter_context(lock_file(lock, f"{path} is in use by another charm solve", stays=False))
        yield


class SubmissionInProgress:
    """The submission of these tasks at `path`; `left` are those that are not finished.

    With `resume` it continues what a solve with the same model and settings left there; tasks that have other grids now
    are `changed` and start anew, and entries of `others`, which are not among these tasks, stay. With `anew` it
    replaces the answers of an earlier solve, once there is a first new one; without either, they are refused. An answer
    is only replaced by one after more updates, or after as many and more views. Tasks that are `unusable` have empty
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
        anew: bool = False,
    ) -> None:
        if resume and anew:
            raise CharmError("--resume keeps earlier answers and --replace does not; give only one of them")
        before, (about, states) = _read(path), states_in(path)
        answered = any(_answered(entry, states.get(task_id)) for task_id, entry in before.items())
        self.replaces = not resume and answered
        """Whether the file on disk has answers of an earlier solve that are not taken over."""
        if self.replaces and not anew:
            raise CharmError(
                f"{path} has the answers of an earlier solve; --resume continues it, --replace solves again and "
                "replaces them, or choose another --out"
            )
        self.path = path
        for written in (path, votes_file(path)):
            sweep(written.parent, f"{escape(written.name)}.*")
        self.submission: Submission = {}
        self.found: dict[str, Solution] = {}
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
        self.settings = {"weights": weights, **to_json(replace(options, budget=1.0))}
        self._tasks = {task.id: TaskState(task_hash(task)) for task in tasks}
        unrecorded = self._take_over(before, tasks, model, about, states) if resume else []
        self.left = [task for task in tasks if not self._tasks[task.id].finished]
        self._course = Course(path, tasks, model, options, self.settings, resume and bool(before))
        if self.left and not self.replaces:
            self._course.begin()
            self._course.ended(dict.fromkeys(unrecorded, ""))
            self._write_now()
        elif resume and self.submission != before:  # an unusable task is new
            write_submission(path, self.submission)

    def publish(self, answers: Mapping[str, Solution]) -> None:
        """Write answers by task id, except where the one on disk is better."""
        better: Submission = {}
        voted: dict[str, Solution] = {}
        for task_id, solution in answers.items():
            known = self._tasks[task_id]
            if (solution.updates, solution.views) > (known.updates, known.views):
                known.updates, known.views = solution.updates, solution.views
                found = attempts(solution.answers)[task_id]
                better[task_id] = [  # never replace an answer by an empty one
                    found[number] if solution.answers.get(Question(task_id, number)) else old
                    for number, old in enumerate(self.submission[task_id])
                ]
                known.answered |= {
                    question.test_index for question, ranked in solution.answers.items() if ranked
                }
                voted[task_id] = solution
        if better:
            self.submission.update(better)
            self.found |= {name: one for name, one in voted.items() if any(one.answers.values())}
            self._course.found(voted)
            self._write()

    @property
    def answers(self) -> dict[Question, list[JsonGrid]]:
        """The attempts at each test input that has an answer. An answer may be equal to the empty entry's grid."""
        return {
            Question(task_id, number): [self.submission[task_id][number][attempt] for attempt in ATTEMPTS]
            for task_id, known in self._tasks.items()
            for number in sorted(known.answered)
        }

    def finish(self, tasks: Sequence[Task], problem: str | None = None) -> None:
        """Mark tasks as finished; those with a problem or without an answer stay to be tried again."""
        for task in tasks:
            known = self._tasks[task.id]
            known.finished = problem is None and known.views > 0
            if not known.finished:
                self.problems[task.id] = (
                    problem or "there was no time for an answer to every test input; try a longer budget"
                )
        self._course.ended({task.id: self.problems.get(task.id, "") for task in tasks})
        self._write()

    def close(self) -> None:
        """Raise if the newest answers cannot be written."""
        if self.unwritten:
            self._write_now()

    def _write(self) -> None:
        """Write the files, or try again with the next answers: a full disk must not cost hours of learning."""
        if self.replaces and not self.found:
            return  # the earlier answers stay until there is a new one
        try:
            self._write_now()
            self.unwritten = ""
        except CharmError as error:
            if not self.unwritten:
                say(f"{error}; the solve continues and tries again")
            self.unwritten = str(error)

    def _write_now(self) -> None:
        """Write the answers before the log says that they are finished: a kill may come in between.

        The settings come first: what is on disk must not seem to be made with those of an earlier solve.
        """
        self._course.begin()
        write_submission(self.path, self.submission)
        self.replaces = False
        self._course.flush()

    def _take_over(
        self,
        before: Mapping[str, Any],
        tasks: Sequence[Task],
        model: Path,
        about: VoteLine,
        states: Mapping[str, TaskState],
    ) -> list[str]:
        """Take over the answers of an earlier solve; return the finished tasks of which the log knows nothing.

        An entry that does not fit its task's test inputs is not taken over, nor the entry of a task that has changed.
        """
        unrecorded = []
        if isinstance(about.get("settings"), dict):
            self._refuse_other_settings(about, model)
        elif before:
            self.unknown_settings = True
        for task in tasks:
            entry, state, known = before.get(task.id), states.get(task.id), self._tasks[task.id]
            if not _fits(entry, task):
                continue
            if state is None:  # only its entry is known
                known.finished = len(_answered(entry, None)) == len(entry)
                unrecorded += [task.id] * known.finished
            elif state.content not in (None, known.content):
                self.changed.append(task.id)
                continue
            else:
                known.updates, known.views, known.finished = state.updates, state.views, state.finished
            known.answered = _answered(entry, state)
            self.submission[task.id] = entry
        named = {task.id for task in tasks}
        for task_id in [task_id for task_id in before if task_id not in named]:
            empty = self.submission.get(task_id)  # of an unusable task
            if empty is None or (_is_entry(before[task_id]) and len(before[task_id]) == len(empty)):
                self.submission[task_id] = before[task_id]
            self.others += empty is None
        return unrecorded

    def _refuse_other_settings(self, about: VoteLine, model: Path) -> None:
        """Answers of different models or recipes must not be mixed."""
        old, new = (
            _flat(settings) for settings in (about["settings"], json.loads(json.dumps(self.settings)))
        )
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
                "resume it, choose another --out, or use --replace to start anew"
            )


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their names on the command line."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        inner = {f"{name}.{key}": one for key, one in value.items()} if isinstance(value, dict) else {}
        flat |= inner or {name: value}
    return flat


def _is_entry(entry: object) -> TypeGuard[list[dict[str, JsonGrid]]]:
    """Whether this is a submission's entry for a task: both attempts at each test input."""
    return isinstance(entry, list) and all(
        isinstance(given, dict) and given.keys() >= set(ATTEMPTS) for given in entry
    )


def _answered(entry: object, state: TaskState | None) -> set[int]:
    """The test inputs that an entry answers: those with other grids than an empty one, and those in the log."""
    if not _is_entry(entry):
        return set()
    filled = {n for n, given in enumerate(entry) if any(given[attempt] != NO_ANSWER for attempt in ATTEMPTS)}
    return filled | ({n for n in state.answered if n < len(entry)} if state else set())


def _fits(entry: object, task: Task) -> TypeGuard[list[dict[str, JsonGrid]]]:
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
    """Read the submission at this path; nothing is one, too, and anything else is refused."""
    if not path.exists() or not path.stat().st_size:
        return {}
    with suppress(CharmError):
        found = read_json(path)
        if isinstance(found, dict) and (not found or any(map(_is_entry, found.values()))):
            return found
    raise CharmError(f"{path} exists and is not a submission; choose another --out")
