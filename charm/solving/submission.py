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
from charm.evaluation.ranking import ATTEMPTS, NO_ANSWER, JsonGrid, Submission, attempts, write_submission
from charm.files import fingerprint, lock_file, read_json, sweep
from charm.progress import say
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.folder import differences
from charm.solving.options import SolveOptions
from charm.solving.solution import Models, Solution, each
from charm.solving.vote_log import TaskCourse, VoteLine, VoteLog, begin_course, read_log, round_json, votes_file
from charm.tasks.task import Question, Task, as_grid, digits, questions_of
from charm.version import __version__


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
    is only replaced by a better one (`Solution.made_by`). Tasks that are `unusable` have empty answers, for the number
    of test inputs given: a competition wants an entry for every task.
    """

    def __init__(
        self,
        path: Path,
        tasks: Sequence[Task],
        models: Models,
        options: SolveOptions,
        resume: bool,
        unusable: Mapping[str, int] | None = None,
        anew: bool = False,
    ) -> None:
        if resume and anew:
            raise CharmError("--resume keeps earlier answers and --replace does not; give only one of them")
        before, (about_before, courses) = _read(path), read_log(path)
        self.replaces = not resume and any(_answered(entry, courses.get(name)) for name, entry in before.items())
        """Whether the file on disk has answers of an earlier solve that are not taken over."""
        if self.replaces and not anew:
            raise CharmError(
                f"{path} has the answers of an earlier solve; --resume continues it, --replace solves again and "
                "replaces them, or choose another --out"
            )
        weights: Any = [fingerprint(newest_checkpoint(one) / "model.safetensors")["sha256"] for one in each(models)]
        weights = weights[0] if len(weights) == 1 else weights
        self.about: VoteLine = {
            "model": " + ".join(one.absolute().name for one in each(models)),
            "mode": options.mode,
            "budget": options.budget,
            "charm": __version__,
            # Time and place may change when it is resumed.
            "settings": {"weights": weights, **to_json(replace(options, budget=1.0))},
        }
        if resume and about_before:
            _refuse_other_settings(path, about_before, self.about)
        for written in (path, votes_file(path)):
            sweep(written.parent, f"{escape(written.name)}.*")
        self.path = path
        self.unknown_settings = bool(resume and before and not about_before)
        self.found: dict[str, Solution] = {}
        self.problems: dict[str, str] = {}
        self.changed: list[str] = []
        self.others = 0
        self.unwritten = ""  # why the newest answers are not on disk
        # Complete from the start: what has no answer yet has an empty one.
        asked = [Question(name, test) for name, tests in (unusable or {}).items() for test in range(tests)]
        self.submission: Submission = attempts({one: [] for one in (*asked, *questions_of(tasks))})
        courses = self._take_over(before, tasks, courses) if resume else {}
        self.courses = courses | {task.id: begin_course(task) for task in tasks if task.id not in courses}
        """How each task went so far, by id."""
        self._log = VoteLog(path, self.about, self.courses)
        self.left = [task for task in tasks if self.courses[task.id].problem != ""]
        if self.left and not self.replaces:
            self._write_now()
        elif resume and self.submission != before:  # an unusable task is new
            write_submission(path, self.submission)

    def publish(self, answers: Mapping[str, Solution]) -> None:
        """Write answers by task id, except where the one on disk is better."""
        better = False
        for task_id, solution in answers.items():
            if solution.made_by <= self.courses[task_id].made_by:
                continue
            better, found, entries = True, attempts(solution.answers)[task_id], self.submission[task_id]
            questions = [Question(task_id, number) for number in range(len(entries))]
            self.submission[task_id] = [  # never replace an answer by an empty one
                found[one.test_index] if solution.answers.get(one) else entries[one.test_index] for one in questions
            ]
            self._log.add(task_id, round_json(solution, questions))
            if any(solution.answers.values()):
                self.found[task_id] = solution
        if better:
            self._write()

    @property
    def answers(self) -> dict[Question, list[JsonGrid]]:
        """The attempts at each test input that has an answer. An answer may be equal to the empty entry's grid."""
        return {
            Question(name, number): [self.submission[name][number][attempt] for attempt in ATTEMPTS]
            for name, course in self.courses.items()
            for number in sorted(_answered(self.submission.get(name), course))
        }

    def finish(self, tasks: Sequence[Task], problem: str | None = None) -> None:
        """Mark tasks as finished; those with a problem or without an answer stay to be tried again."""
        no_time = "there was no time for an answer to every test input; try a longer budget"
        for task in tasks:
            if problem is not None or not self.courses[task.id].made_by[1]:
                self.problems[task.id] = problem or no_time
            self._log.add(task.id, {"ended": self.problems.get(task.id, "")})
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
        self._log.begin()
        write_submission(self.path, self.submission)
        self.replaces = False
        self._log.flush()

    def _take_over(
        self, before: Mapping[str, Any], tasks: Sequence[Task], courses: Mapping[str, TaskCourse]
    ) -> dict[str, TaskCourse]:
        """Take over the answers of an earlier solve; return its courses.

        An entry that does not fit its task's test inputs is not taken over, nor the entry of a task that has changed.
        """
        kept = dict(courses) if before else {}
        for task in tasks:
            entry, course = before.get(task.id), kept.pop(task.id, None)
            if not _fits(entry, task):
                continue
            anew = begin_course(task, ended=course is None and len(_answered(entry, None)) == len(entry))
            if course is not None and course.content != anew.content:
                self.changed.append(task.id)
                continue
            kept[task.id] = course or anew
            self.submission[task.id] = entry
        named = {task.id for task in tasks}
        for task_id in [task_id for task_id in before if task_id not in named]:
            empty = self.submission.get(task_id)  # of an unusable task
            if empty is None or (_is_entry(before[task_id]) and len(before[task_id]) == len(empty)):
                self.submission[task_id] = before[task_id]
            self.others += empty is None
        return kept


def write_sets(path: Path, submission: Submission, sets: Mapping[str, Sequence[tuple[Task, Task]]]) -> list[Path]:
    """Write the submission of each set next to the one of all, with the set's own ids and order.

    It is OUT.arc1-evaluation.submission.json, and without OUT if that is "submission".
    """
    written = []
    for name, pairs in sets.items():
        own: Submission = {}
        for task, twin in pairs:
            inputs = [digits(pair.input) for pair in twin.test]
            own[task.id] = [submission[twin.id][inputs.index(digits(pair.input))] for pair in task.test]
        start = "" if path.stem == "submission" else f"{path.stem}."
        written.append(path.with_name(f"{start}{name.replace('/', '-')}.submission.json"))
        write_submission(written[-1], own)
    return written


def _refuse_other_settings(path: Path, before: VoteLine, now: VoteLine) -> None:
    """Refuse to mix answers of different models or recipes."""
    changes, settings = [], json.loads(json.dumps(now["settings"]))
    was_set = {name: value for name, value in before["settings"].items() if name in settings}
    for name, *values in differences({"search": 0.0, **was_set}, settings):  # earlier versions did not search
        if name == "weights":
            was, model = before["model"], now["model"]
            changes.append(f"model {was}, now {model}" if was != model else f"other weights of the model {model}")
        else:
            was, value = ("the default" if one is None else one for one in values)
            changes.append(f"--{name.replace('_', '-')} {was}, now {value}")
    if changes:
        raise CharmError(
            f"{path} was solved with other settings ({'; '.join(changes)}); use the earlier ones to "
            "resume it, choose another --out, or use --replace to start over"
        )


def _is_entry(entry: object) -> TypeGuard[list[dict[str, JsonGrid]]]:
    """Return whether this is a submission's entry for a task: both attempts at each test input."""
    return isinstance(entry, list) and all(isinstance(given, dict) and given.keys() >= set(ATTEMPTS) for given in entry)


def _answered(entry: object, course: TaskCourse | None) -> set[int]:
    """Return the test inputs that an entry answers: those with other grids than an empty one, and those in the log."""
    if not _is_entry(entry):
        return set()
    filled = {n for n, given in enumerate(entry) if any(given[attempt] != NO_ANSWER for attempt in ATTEMPTS)}
    return filled | ({n for n in course.answered if n < len(entry)} if course else set())


def _fits(entry: object, task: Task) -> TypeGuard[list[dict[str, JsonGrid]]]:
    """Return whether this entry of a submission answers every test input of the task, with grids."""
    if not _is_entry(entry) or len(entry) != len(task.test):
        return False
    with suppress(CharmError):
        return all(as_grid(given[attempt], attempt).size for given in entry for attempt in ATTEMPTS)
    return False


def _read(path: Path) -> dict[str, Any]:
    """Read the submission at this path; nothing is one, too, and anything else is refused."""
    if not path.exists() or not path.stat().st_size:
        return {}
    with suppress(CharmError):
        found = read_json(path)
        if isinstance(found, dict) and (not found or any(map(_is_entry, found.values()))):
            return found
    raise CharmError(f"{path} exists and is not a submission; choose another --out")
