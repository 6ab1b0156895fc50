"""The result of a solve, its clock, and the final vote."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill, wrap

from charm.errors import CharmError
from charm.evaluation.calibration import Calibration
from charm.evaluation.protocols import SURE, Ballot
from charm.evaluation.ranking import Candidate, Found, Submission, attempts, rank, write_submission
from charm.models.model import CharmModel
from charm.progress import plain
from charm.runs.votes import Votes
from charm.tasks.dataset import Dataset
from charm.tasks.pictures import abreast, block, grid_lines, row
from charm.tasks.task import Grid, Question, Task, questions_of

CAPTION = 36  # characters of a line above an attempt: two attempts side by side fit into 80
SHOWN_TASKS = 6  # of several, with their answers
CANDIDATES = 1000  # of each question are kept at most
LEARNED = 0.5  # share of the last demonstrations exact, below which an answer is doubted
AGREED = 0.5  # share of the votes, below which views disagree


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Ranked answers to every test input of a task, and how they were produced."""

    answers: dict[Question, list[Candidate]]
    """All candidates for each test input, best first."""
    updates: int
    """Updates that were made on the demonstrations before these votes."""
    views: int
    """Views that voted; 0 if there was no time for a vote on every test input."""
    loss: float
    """Loss of the last updates."""
    exact_accuracy: float
    """Share of the demonstrations that were right in every cell in the last updates."""
    seconds: float
    """Seconds from the first update to these votes."""
    diverged: bool = False
    """Whether learning was given up because it diverged; the answers are those from before it."""
    per_view: float = 1
    """Votes of each view on a test input: one for each placement of a vit; a mean where several models vote."""
    sure: str = "likelihood"
    """What a candidate's `confidence` is: "likelihood" or "halting" (`charm.evaluation.protocols.SURE`)."""
    calibration: Calibration | None = None
    """How often answers with such votes were right, if that was counted for this model."""
    models: int = 1
    """Models that voted together; one with two seeds counts twice."""
    searched: bool = False
    """Whether further answers were searched for, where views disagreed."""

    @property
    def made_by(self) -> tuple[int, int, bool]:
        """What the answers are made of: the larger, the better."""
        return self.updates, self.views, self.searched

    @property
    def cast(self) -> int:
        """Votes on each test input."""
        return round(self.views * self.per_view)

    @property
    def doubt(self) -> str:
        """What speaks against the answers: demonstrations that were not learned, views that disagree; "" otherwise."""
        return "; ".join(filter(None, (self.unlearned, self.disagreement)))

    def votes_text(self, candidate: Candidate) -> str:
        """Return the votes of an answer in words."""
        return f"{candidate.votes} of {self.cast} votes"

    def often(self, question: Question, attempt: int) -> str:
        """Say how often answers with the votes of this attempt, 0 or 1, were right; "" where that is not known.

        It was counted where demonstrations had been learned.
        """
        if self.calibration is None or self.unlearned or attempt > 1:
            return ""
        votes = [one.votes for one in self.answers.get(question, ())]
        return self.calibration.text(votes, attempt, self.cast)

    def _attempts(self, question: Question) -> list[tuple[list[str], Grid]]:
        """Return both attempts at a test input, each with a caption: its votes, and how often such answers were right.

        There is one, or none, where there are no more candidates.
        """
        found = []
        for number, one in enumerate(self.answers[question][:2]):
            title = [f"attempt {number + 1}: {self.votes_text(one)}", f"{self.sure} {one.confidence:.2f}"]
            found.append(([*title, *wrap(self.often(question, number), CAPTION)], one.grid))
        return found

    @property
    def counted(self) -> str:
        """Where the counts of `often` are from; "" if no answer has one."""
        known = any(self.often(question, attempt) for question in self.answers for attempt in (0, 1))
        return f"counted on {self.calibration.tasks}" if known and self.calibration else ""

    @property
    def disagreement(self) -> str:
        """Name the test inputs whose first answer has as many votes as another, or less than half of all."""
        found = []
        for question, ranked in self.answers.items():
            if not ranked or not self.cast:
                continue
            first, others = ranked[0].votes, [one.votes for one in ranked[1:]]
            most, of = max(others, default=0), f"of {self.cast} votes"
            if most > first:
                found.append(f"{question}: attempt 1 has {first} {of} and another answer {most}")
            elif most == first:
                found.append(f"{question}: a tie, {1 + others.count(first)} answers have {first} {of} each")
            elif first < AGREED * self.cast:
                found.append(f"{question}: attempt 1 has only {first} {of}")
        return f"the views disagree ({'; '.join(found)})" if found else ""

    @property
    def unlearned(self) -> str:
        """A sentence for answers that are probably wrong because the demonstrations were not learned; "" otherwise."""
        if self.updates and not self.exact_accuracy < LEARNED:  # it is NaN if it was not counted
            return ""
        exact = f"only {self.exact_accuracy:.0%} exact" if self.updates else "no update was made"
        return f"the demonstrations were not learned ({exact}): probably wrong, try a longer budget"

    @property
    def best(self) -> list[Grid | None]:
        """The first answer to each test input, in order; None where there is none."""
        return [ranked[0].grid if ranked else None for ranked in self.answers.values()]

    def submission(self) -> Submission:
        """Return two attempts at each test input, in ARC Prize's format."""
        return attempts(self.answers)

    def save(self, path: str | Path) -> None:
        """Write the submission to a file."""
        write_submission(Path(path), self.submission())

    def __repr__(self) -> str:
        tasks = " and ".join(dict.fromkeys(question.task_id for question in self.answers))
        votes = (self.votes_text(ranked[0]) if ranked else "no answer" for ranked in self.answers.values())
        return f"<Solution of {tasks}: {', '.join(votes)}; {self.seconds:.0f} s>"

    def __str__(self) -> str:
        """Show both attempts at each test input with their votes, how they were made, and the doubt."""
        lines = []
        for question in self.answers:
            blocks = ([*caption, *grid_lines(grid)] for caption, grid in self._attempts(question))
            lines += [plain(str(question)), *(abreast(*blocks) or ["no answer"]), ""]
        return "\n".join([*lines, *map(_wrapped, self._notes)])

    @property
    def _notes(self) -> list[str]:
        """How the answers were made, what their numbers mean, and the doubt."""
        meaning = f"{self.sure}: {SURE[self.sure]}" if any(self.answers.values()) else ""
        counted = self.counted and f"such votes: {self.counted}"
        return [one for one in (self.summary, meaning, counted, self.doubt) if one]

    @property
    def summary(self) -> str:
        """How the answers were made, in one line."""
        learned = f", {self.exact_accuracy:.0%} of the last demonstrations exact" if self.updates else ""
        if self.diverged:
            learned = " (learning diverged; try another --mode)"
        updates, views = (f"{n} {noun}{'s' * (n != 1)}" for n, noun in ((self.updates, "update"), (self.views, "view")))
        of = f" of {self.models} models" if self.models > 1 else ""
        return f"{updates}{learned}, {views}{of}, {self.seconds:.0f} s"

    def _repr_html_(self) -> str:
        """Draw both attempts at each test input in a notebook, with what `print` says of them."""
        drawn = ""
        for question in self.answers:
            blocks = [block("\n".join(caption), grid) for caption, grid in self._attempts(question)]
            drawn += row(blocks or ["no answer"], str(question))
        notes = (f"<b>{escape(note)}</b>" if note == self.doubt else escape(note) for note in self._notes)
        return drawn + "".join(f"<div>{note}</div>" for note in notes)


class Solutions(dict[str, Solution]):
    """Solutions by task id, in the order of the tasks; `failed` has the others, each with the reason."""

    def __init__(self, tasks: Iterable[Task], found: Mapping[str, Solution], problems: Mapping[str, str]) -> None:
        self._questions = questions_of(tasks)
        names = dict.fromkeys(question.task_id for question in self._questions)
        super().__init__({name: found[name] for name in names if name in found})
        late = "there was no time for an answer"
        self.failed = {name: problems.get(name, late) for name in names if name not in found}

    def __missing__(self, name: str) -> Solution:
        if name in self.failed:
            raise CharmError(f"task {name} has no answer: {self.failed[name]}")
        raise CharmError(f"no task {name} among the {len(self) + len(self.failed)} that were given")

    def submission(self) -> Submission:
        """Return two attempts at each test input, in ARC Prize's format; empty ones where a task failed."""
        return attempts({one: self[one.task_id].answers[one] if one.task_id in self else [] for one in self._questions})

    def save(self, path: str | Path) -> None:
        """Write the submission to a file."""
        write_submission(Path(path), self.submission())

    def __repr__(self) -> str:
        return f"<Solutions: answers to {len(self)} of {len(self) + len(self.failed)} tasks>"

    def __str__(self) -> str:
        """Show the answers of the first tasks, and why others have none."""
        return "\n\n".join([*map(str, [*self.values()][:SHOWN_TASKS]), *map(_wrapped, self._notes)])

    def _repr_html_(self) -> str:
        """Draw the answers of the first tasks in a notebook."""
        drawn = (solution._repr_html_() for solution in [*self.values()][:SHOWN_TASKS])
        return "<hr>".join([*drawn, *(f"<div>{escape(note)}</div>" for note in self._notes)])

    @property
    def _notes(self) -> list[str]:
        """Name what is not shown, and the tasks that failed."""
        more = len(self) - SHOWN_TASKS
        shown = [f"... and answers to {more} more; print(found[ID]) shows those of one task"] if more > 0 else []
        return shown + [f"{name}: no answer ({reason})" for name, reason in self.failed.items()]


def _wrapped(note: str) -> str:
    """Break a sentence between words at the width of the terminal, which must not obey what is in it."""
    return fill(plain(note), get_terminal_size().columns)


Models = Path | Sequence[Path]  # what solves: a run folder or a saved model, or several that vote together


def each(models: Models) -> tuple[Path, ...]:
    """Return the paths of models as a tuple."""
    return (models,) if isinstance(models, Path) else tuple(models)


Say = Callable[[float, str], None]
Publish = Callable[[dict[str, Solution]], None]  # better answers, by task id


def known(value: float) -> float | None:
    """Return a number as JSON has it: None if it is not finite."""
    return round(value, 5) if math.isfinite(value) else None


def improved(old: Solution | None, new: Solution) -> Solution:
    """Return the better of two solutions of a task: after more updates, or as many and more views, or a search.

    A question that it leaves unanswered keeps the other's answers.
    """
    if old is None:
        return new
    better, other = (new, old) if new.made_by > old.made_by else (old, new)
    others = other.answers
    answers = {question: ranked or others.get(question, []) for question, ranked in better.answers.items()}
    return replace(better, answers=answers, diverged=new.diverged)


class Clock:
    """Seconds of a budget: how many are left, and what share is used. One that `waits` stands still until `start`."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic, waits: bool = False) -> None:
        self.seconds, self._now, self.waits = seconds, now, waits
        self._made = self._began = now()

    def start(self) -> None:
        """Count from now on."""
        self._began, self.waits = self._now(), False

    @property
    def waited(self) -> float:
        """Seconds from when the clock was made to its start."""
        return (self._now() if self.waits else self._began) - self._made

    @property
    def spent(self) -> float:
        return 0.0 if self.waits else self._now() - self._began

    @property
    def left(self) -> float:
        return self.seconds - self.spent

    @property
    def used(self) -> float:
        return self.spent / self.seconds

    def share(self, tasks: int) -> Clock:
        """Make a clock for the next of the remaining tasks; time that a task leaves is shared by the others."""
        return Clock(max(self.left, 1e-3) / tasks, self._now)


def ranked_answers(model: CharmModel, data: Dataset, votes: Mapping[int, Votes]) -> dict[Question, list[Candidate]]:
    """Rank the votes, which are by depth, as the network has it: by likelihood if it judges."""
    return best_answers(votes.values(), data.questions, model.config.reasoner.judges)


def best_answers(
    votes: Iterable[Votes], questions: Sequence[Question], judged: bool, found: Found | None = None
) -> dict[Question, list[Candidate]]:
    """Rank the votes and what searches found, by likelihood if they were judged, without empty grids.

    Scores rank empty grids too; here attempts are not spent on them.
    """
    order = "likelihood" if judged else "votes"
    best = rank([Ballot(one) for one in votes], questions, order, found).best(CANDIDATES + 1)
    return {question: [one for one in some if one.grid.size][:CANDIDATES] for question, some in best.items()}
