"""Models that solve a group of tasks in turn and vote together; and a search for answers where votes disagree.

Each model learns the group within its share of the time, and votes. Then it judges the candidates of those before it,
and they judge its own: all of them keep what they have learned until the group ends. Votes are summed, and a candidate
is as likely as all views of all models that judge find it (`charm.evaluation.ranking.pool_opinions`).

All models are on the device together. Several seeds of one model are several models.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from charm.errors import CharmError
from charm.evaluation.predict import JUDGES, contested, log_likelihoods, search_answers
from charm.evaluation.ranking import Candidate, Found, Opinion, pool_opinions
from charm.runs.votes import Candidates, Votes, merge, select_candidates
from charm.solving.group import Solver, TaskGroup
from charm.solving.options import SolveOptions
from charm.solving.solution import Clock, Publish, Say, Solution, best_answers
from charm.tasks.task import Question, Task, questions_of

SPARE = 0.5  # of a model's time for votes: to judge the candidates of others, and to search
SEARCHING = 0.5  # of the time that is left then: to find answers; they are judged in the rest
JUDGED_AT_ONCE, JUDGED_AT_ONCE_CPU = 1024, 16  # found answers that are judged between looks at the clock


@dataclass(eq=False)
class Voice:
    """A model that has learned some tasks and voted on them, and what its search found."""

    group: TaskGroup
    votes: Votes  # on questions numbered as in the whole group of tasks
    judges: bool
    found: Candidates

    def judge(self, candidates: Candidates) -> None:
        """Say how likely these candidates are, if this model judges; none is judged twice."""
        group, views = self.group, min(self.group.options.views, JUDGES)
        if self.judges and len(candidates):
            log_likelihoods(group.start.model, group.data, candidates, views, group.judgements)

    @property
    def opinion(self) -> Opinion:
        return Opinion(self.votes, self.group.judgements if self.judges else {}, self.found)


class Ensemble:
    """Solvers that answer one group of tasks after the other together, as a single `Solver` does alone."""

    def __init__(self, solvers: Sequence[Solver], options: SolveOptions) -> None:
        self.solvers, self.options = solvers, options
        for solver in solvers if len(solvers) > 1 else ():
            solver.calibration = None  # it was counted for votes of that model alone

    def work(self, tasks: Sequence[Task], clock: Clock, say: Say, publish: Publish) -> None:
        """Answer a group of tasks before the clock runs out; `publish` is called with every better answer."""
        JointGroup(self, tasks, clock, say, publish).solve()


class JointGroup:
    """A group of tasks while models solve it in turn.

    The answers of the first model that has some are published as they get better, and then those of all models so far
    whenever one more has voted. A model whose learning fails is left out, and so is one that has no time left.
    """

    def __init__(self, ensemble: Ensemble, tasks: Sequence[Task], clock: Clock, say: Say, publish: Publish) -> None:
        self.solvers, self.options, self.tasks = ensemble.solvers, ensemble.options, tasks
        self.clock, self.say, self.publish = clock, say, publish
        self.questions = questions_of(tasks)
        self.voices: list[Voice] = []
        self.updates: Counter[str] = Counter()  # of all models so far, by task
        self.problems: list[str] = []  # why models have no answers
        self.answered = False

    def solve(self) -> None:
        """Let each model take its turn; it is an error if none has an answer."""
        for number, solver in enumerate(self.solvers):
            say = partial(self.tell, f"model {number + 1} of {len(self.solvers)}: " if len(self.solvers) > 1 else "")
            if self.answered and self.clock.left <= 0:
                say("there is no time left for it")
                continue
            new = self.take_turn(solver, number, say)
            searched = self.search(new, say) if self.options.search else set()
            joint = {task.id for task in self.tasks} if number and new else searched
            if joint:
                self.publish_joint(joint)
        if not self.answered:
            raise CharmError(self.problems[0])

    def tell(self, name: str, text: str) -> None:
        self.say(self.clock.used, name + text)

    def take_turn(self, solver: Solver, number: int, say: Callable[[str], None]) -> list[Voice]:
        """Let a model learn the tasks and vote; all models then judge each other's candidates. Return its voices."""
        turns = len(self.solvers) - number
        turn, new = self.clock.share(turns), list[Voice]()
        groups = [self.tasks] if solver.how.together else [(task,) for task in self.tasks]
        publish: Publish = (lambda answers: None) if self.answered else self.publish
        spare = SPARE if number or self.options.search else 0.0
        for place, tasks in enumerate(groups):
            left = len(groups) - place
            try:
                group = TaskGroup(solver, tasks, turn.share(left), lambda used, text: say(text), publish, spare)
                if number == place == 0:  # what comes before the first update is no part of the time
                    self.clock.start()
                    turn = self.clock.share(turns)
                group.clock = turn.share(left)
                voted = group.solve()
            except CharmError as error:
                self.problems.append(str(error))
                say(str(error))
                continue
            del group.learning  # the device may need what its optimizers hold
            self.answered = True  # also where learning diverged: what it published then was from before
            self.updates.update(dict.fromkeys((task.id for task in tasks), group.updates))
            if voted:
                new.append(self.voice_of(group))
        every = [*self.voices, *new]
        # Votes of a model that had no time to learn would only be noise.
        self.voices = [one for one in every if one.group.updates] or every
        for one in self.voices:
            for other in self.voices:
                one.judge(other.votes.candidates)
                one.judge(other.found)
        return [one for one in new if one in self.voices]

    def voice_of(self, group: TaskGroup) -> Voice:
        """Return what a model says, with questions numbered as in the whole group of tasks."""
        number_Q = np.array([self.questions.index(one) for one in group.data.questions], np.int32)
        votes = merge([*group.counted.values()])
        table = replace(votes.candidates, question_K=number_Q[votes.candidates.question_K])
        judges = group.solver.reasoner.judges and [*group.data.questions] == [*self.questions]
        return Voice(group, replace(votes, candidates=table), judges, merge([]).candidates)

    def search(self, new: Sequence[Voice], say: Callable[[str], None]) -> set[str]:
        """Search for answers where votes disagree, until the model's time ends; return the tasks for which some count.

        All models judge them, as far as the time allows; those that were not judged do not count.
        """
        for voice in new:
            clock, group = voice.group.clock, voice.group
            if not voice.judges or clock.left <= 0:
                continue
            late = partial(lambda clock, until: clock.left <= until, clock, (1 - SEARCHING) * clock.left)
            open_Q = contested(self.pooled()[0], len(self.questions))
            try:
                found = search_answers(group.start.model, group.data, open_Q, self.options.search, late)
                voice.found = self.judged_in_time(found, voice)
            except torch.OutOfMemoryError:
                say("the device has too little memory for a search")
                continue
            say(f"{len(voice.found)} answers found to {len(open_Q)} test inputs on which views disagree")
        numbers = {number for voice in new for number in voice.found.question_K.tolist()}
        return {self.questions[number].task_id for number in numbers}

    def judged_in_time(self, found: Candidates, finder: Voice) -> Candidates:
        """Let all models judge what one has found, some at a time; return those that were judged in time."""
        clock, took, done = finder.group.clock, 0.0, 0
        size = JUDGED_AT_ONCE_CPU if finder.group.on_cpu else JUDGED_AT_ONCE
        place_K = np.arange(len(found))
        while done < len(found) and clock.left > took:
            began = clock.spent
            for one in self.voices:
                one.judge(select_candidates(found, (done <= place_K) & (place_K < done + size)))
            took, done = clock.spent - began, done + size
        return select_candidates(found, place_K < done)

    def pooled(self) -> tuple[Votes, Found]:
        """Return the votes of all models so far, and what searches found."""
        return pool_opinions([one.opinion for one in self.voices])

    def publish_joint(self, tasks: set[str]) -> None:
        """Publish the answers of all models so far to these tasks."""
        votes, found = self.pooled()
        ranked = best_answers([votes], self.questions, any(one.judges for one in self.voices), found)
        answers: dict[str, dict[Question, list[Candidate]]] = {}
        for question, some in ranked.items():
            answers.setdefault(question.task_id, {})[question] = some
        searched = {self.questions[number].task_id for number in found.candidates.question_K.tolist()}
        self.publish({name: self.joined(name, own, name in searched) for name, own in answers.items() if name in tasks})
        count = len({one.group.solver for one in self.voices})
        self.tell("", f"{count} models have voted together" if count > 1 else "votes and found answers are ranked")

    def joined(self, name: str, answers: Mapping[Question, list[Candidate]], searched: bool) -> Solution:
        """Return the solution of a task with the answers of all models so far."""
        parts = [one.group.found[name] for one in self.voices if name in one.group.found]
        sure = {"likelihood"} if any(one.judges for one in self.voices) else {one.sure for one in parts}
        views, cast = sum(one.views for one in parts), sum(one.cast for one in parts)
        return Solution(
            dict(answers),
            self.updates[name],
            views,
            _mean([one.loss for one in parts]),
            _mean([one.exact_accuracy for one in parts]),
            self.clock.spent,
            per_view=cast / max(views, 1),
            sure=sure.pop() if len(sure) == 1 else "mixed",
            calibration=parts[0].calibration if len(parts) == 1 else None,
            models=len(parts),
            searched=searched,
        )


def _mean(numbers: Sequence[float]) -> float:
    """Return the mean of the numbers that are finite; NaN without any."""
    finite = [one for one in numbers if math.isfinite(one)]
    return sum(finite) / len(finite) if finite else math.nan
