"""The one solver, for every network: a group of tasks is learned until only the time to vote is left, then views vote.

A group is one task or several (`charm.models.config.SolvingTraits.together`). Each starts from the trained model
alone, and there are answers at any time: views vote on the way, and in rounds afterwards. An answer of a model that has
diverged never replaces another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from charm import progress
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.calibration import calibration_of
from charm.evaluation.predict import Judgements, Request, predict
from charm.evaluation.ranking import Candidate
from charm.models.model import CharmModel
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.settings import solving_config
from charm.runs.votes import Votes, merge
from charm.solving.options import SolveOptions
from charm.solving.solution import Clock, Publish, Say, Solution, improved, ranked_answers
from charm.solving.starts import LOOK_EVERY, SMALLEST_BATCH, NewRows, NewVectors, StartingPoint
from charm.tasks.dataset import DataConfig
from charm.tasks.task import Question, Task, digits
from charm.training.learner import compile_network, retreating

VOTE_MARGIN = 1.5  # safety factor on the measured cost of a view
FIRST_VIEWS = 8  # vote in a first round; fewer where time is short
EARLY_COST = 0.01  # of the time: early answers that cost more are the last ones
EARLY_SECONDS = 60.0  # groups with less time have no answers between the first updates and the last
WATCHED = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85)  # of the learning, for early answers of a group in the viewer
WATCHED_COST = 0.03  # the `EARLY_COST` of these
FAR_TOO_LATE = 60.0  # seconds after the end of the time, when nothing is waited for any longer


def first_round(cost: float, left: float, unmeasured: int = FIRST_VIEWS) -> int:
    """Return the views that vote first after learning: as many as fit into the seconds left, if a view takes `cost`.

    `unmeasured` is the number if the cost is not known.
    """
    if left <= 0:
        return 1
    return max(1, min(FIRST_VIEWS, int(left / cost))) if cost else unmeasured


def voting_seconds(seconds: float, seconds_per_view: float, views: int, share: float) -> float:
    """Return the seconds to reserve for voting: the expected cost of all views, at most `share` of the budget."""
    return min(share * seconds, VOTE_MARGIN * seconds_per_view * views)


def next_views(views: int, limit: int, seconds_per_view: float, left: float) -> int:
    """Return the number of views after the next round: twice as many, or what the time allows, or no more."""
    affordable = int(left / max(seconds_per_view, 1e-9))
    return min(2 * views, limit, views + max(affordable, 0))


class Solver:
    """A trained model that answers one group of tasks after the other, each from the trained weights."""

    def __init__(self, run: Path, options: SolveOptions, place: Place) -> None:
        self.options, self.place = options, place
        saved = newest_checkpoint(run)
        model = CharmModel.from_pretrained(saved, place.device)
        self.reasoner = model.config.reasoner
        self.how = self.reasoner.solving
        self.calibration = calibration_of(model, options.mode)
        data = solving_config(run, saved, model.trained_by).data
        if saved == run and model.trained_by is None:  # it does not say how its views were drawn
            data = DataConfig(**self.how.data)
        start = NewVectors if self.how.together else NewRows
        self.start: StartingPoint = start(model, data, options, place)
        long = options.budget >= self.how.long_seconds
        if self.how.filled and self.start.scope == "full" and long:
            self.compile()

    @property
    def model(self) -> CharmModel:
        """The model as the last group left it."""
        return self.start.model

    def compile(self, wanted: str = "auto") -> None:
        """Compile a network for the shapes of its updates and votes, before the time of a task begins."""
        network, batch = self.model.reasoner, self.options.batch
        attempt = partial(network.try_shapes, {batch, min(batch, SMALLEST_BATCH)}, self.how.filled)
        compile_network(self.model, attempt, wanted, self.place, progress.say)

    def work(self, tasks: Sequence[Task], clock: Clock, say: Say, publish: Publish) -> None:
        """Answer a group of tasks before the clock runs out; `publish` is called with every better answer.

        The clock starts again once everything is prepared for the first update, or for votes before it.
        """
        TaskGroup(self, tasks, clock, say, publish).solve()


class TaskGroup:
    """A group of tasks while it is solved: what learns it, its clock, and its answers so far.

    It ends before its time if more time will not change the answers, unless `SolveOptions.until_end` is set:

    - Learning ends when two early votes in a row, after different numbers of updates, agreed: every view gave the same
      answer to each test input, both times the same, and all of the last demonstrations were exact. Then views vote as
      they always do.
    - Voting ends when all views so far agree and are more than half of those that may vote: no other answer can get as
      many votes.

    Neither changes the ranking at that moment. A share `spare` of the time for votes is left for others to use.
    """

    def __init__(
        self, solver: Solver, tasks: Sequence[Task], clock: Clock, say: Say, publish: Publish, spare: float = 0.0
    ) -> None:
        self.solver, self.start, self.clock, self.spare = solver, solver.start, clock, spare
        self.options, self.how, self.on_cpu = solver.options, solver.how, solver.place.device.type == "cpu"
        name = tasks[0].id if len(tasks) == 1 else f"{len(tasks)} tasks"
        self.say = lambda text: say(self.clock.used, f"{name}: {text}")
        self.publish = publish
        self.data = self.start.prepare(tasks, clock.seconds)
        self.unasked = {*self.data.questions}  # without a vote so far
        # A task of few colours has fewer different views than may vote.
        self.views = {one.task_id: len(self.data.question_rows(one)) for one in self.data.questions}
        self.depths = len(solver.reasoner.voting_steps)  # votes of a view on a question
        self.votes: dict[int, Votes] = {}  # of the weights as they are
        self.counted: dict[int, Votes] = {}  # of the last answers
        self.judgements: Judgements = {}
        self.found: dict[str, Solution] = {}
        self.updates = self.told = 0  # made, and made when the loss was last asked for
        self.loss = self.exact = math.nan
        self.cost = 0.0  # seconds that a view of the last vote took
        self.agreed: dict[Question, str] | None = None  # the answers of the last vote, if all views gave the same
        self.keep = 0.0  # seconds for votes
        self.steps = self.start.steps
        views = FIRST_VIEWS if self.on_cpu and not self.options.glance else self.how.early_views
        self.early_views = min(views, self.options.views)

    def solve(self) -> bool:
        """Learn, then vote; return whether `counted` are votes of what was learned.

        Where learning diverged, the answers from before it stay, and it is an error if there is none.
        """
        self.learning = self.start.adaptation()
        self.clock.start()
        self.keep = self.start.vote_share * self.clock.seconds
        self.say("learning")
        if 0.0 in self.how.early:
            self.answer_early()
        if self.learn():
            if self.updates or not self.found:
                self.vote()
            return True
        if not self.found:
            raise CharmError("learning diverged before there was an answer; a lower learning rate may help")
        self.say("learning diverged; the answers from before it stay")
        self.publish({name: replace(solution, diverged=True) for name, solution in self.found.items()})
        return False

    @property
    def passed(self) -> float:
        """Share of the learning that has passed, by the clock or by updates."""
        in_time = self.clock.spent / max(self.clock.seconds - self.keep, 1e-9)
        return max(in_time, self.updates / self.steps if self.steps else 1.0)

    def learn(self) -> bool:
        """Learn until only the time to vote is left, with early answers on the way; False if learning diverged."""
        clock, start = self.clock, self.start
        watched = self.how.together and self.options.glance > 0
        shares = self.how.early if clock.seconds >= EARLY_SECONDS else ()
        early = [share for share in (WATCHED if watched else shares) if share]
        most = (WATCHED_COST if watched else EARLY_COST) * clock.seconds
        glance = 0 if self.how.together else self.options.glance
        took = 0.0  # seconds of the last update
        try:
            while (passed := self.passed) < 1 and clock.left - took >= self.keep:
                if early and passed >= early[0]:
                    if not start.is_finite() or self.answer_early():
                        break
                    early = early[1:] if self.cost * self.early_views < most else []
                    continue
                began = clock.spent
                try:
                    self.learning.update(passed)
                except torch.OutOfMemoryError:
                    break  # not even the smallest update fits: votes are of what was learned
                self.updates += 1
                took = clock.spent - began
                if self.updates == 2 or self.updates % LOOK_EVERY == 0:
                    self.look()
                    if not math.isfinite(self.loss):
                        break
                    text = f"loss {self.loss:.3f}, {self.exact:.0%} of the demonstrations exact"
                    self.say(f"update {self.updates}: {text}")
                if glance and self.updates % glance == 0 and start.is_finite() and self.answer_early():
                    break
                if self.updates == 2 < self.steps:  # the first also warms up
                    left = clock.left - self.keep
                    self.learning = start.fitted(self.learning, took, left)
            self.look()
            # The last update's own result shows in the weights alone.
            return not self.updates or (math.isfinite(self.loss) and start.is_finite())
        finally:
            self.learning.close()
            if self.solver.place.device.type == "cuda":
                torch.cuda.empty_cache()  # what updates needed, votes may

    def look(self) -> None:
        """Ask for the loss of the last updates, which waits for the device."""
        if self.told < self.updates:
            self.told, (self.loss, self.exact) = self.updates, self.learning.progress()

    def answer_early(self) -> bool:
        """Let a few views vote before learning ends, which also shows what votes cost; return if learning may end."""
        self.look()
        before = self.agreed
        self.answer(self.early_views)
        self.keep = voting_seconds(self.clock.seconds, self.cost, self.options.views, self.start.vote_share)
        if self.exact != 1 or self.early_views < FIRST_VIEWS:  # before the first update it is NaN
            self.agreed = None
        return self.agreed is not None and self.agreed == before and not self.options.until_end

    def vote(self) -> None:
        """Vote in rounds of more and more views, as long as the next fits the time."""
        limit = min(self.options.views, max(self.views.values()))
        spare = self.spare * max(self.clock.left, 0.0)
        # Eight views of a large task take a CPU minutes.
        first = first_round(self.cost, self.clock.left - spare, 1 if self.on_cpu else FIRST_VIEWS)
        voted, more, enough = 0, min(first, limit), limit // 2 + 1
        while more > voted:
            self.answer(more, voted)
            voted, more = more, next_views(more, limit, self.cost, self.clock.left - spare)
            if self.agreed is not None and not self.options.until_end:
                more = min(more, max(voted, enough))

    def answer(self, views: int, before: int = 0) -> None:
        """Publish the answers of this many views, of which the first ones have voted `before`, with the same weights.

        A later round that the clock ends is dropped: the answers of the round before stay. If the time ends in a first
        round, one view votes on each of the questions without a vote, until it is far too late (`FAR_TOO_LATE`, or
        twice the group's time). Votes that must be judged count at the end of a round alone: it may last as long.
        """
        clock, questions = self.clock, self.data.questions
        far_too_late = -max(clock.seconds, FAR_TOO_LATE)
        began, stopped = clock.spent, False
        if not before:
            self.votes, self.judgements = {}, {}

        def stop() -> bool:
            nonlocal stopped
            stopped = clock.left <= (far_too_late if self.solver.reasoner.judges and not before else 0.0)
            return stopped

        self.ask(views, stop)
        if stopped and before:
            self.cost = math.inf
            return
        without = {*range(len(questions))} - self.asked()
        if without and clock.left > far_too_late:
            self.ask(1, lambda: clock.left <= far_too_late, without)
        self.counted = self.votes
        found = ranked_answers(self.start.model, self.data, self.votes)
        cast = {one: self.depths * min(views, self.views[one.task_id]) for one in questions}
        first = {one: ranked[0] for one, ranked in found.items() if ranked and ranked[0].votes == cast[one]}
        agrees = len(first) == len(questions)
        self.agreed = {one: digits(best.grid) for one, best in first.items()} if agrees else None
        asked = {questions[number] for number in self.asked()}
        self.unasked -= asked
        self._publish({question: ranked for question, ranked in found.items() if question in asked}, views)
        self.say("1 view has voted" if views == 1 else f"{views} views have voted")
        self.cost = (clock.spent - began) / max(views - before, 1)

    def ask(self, views: int, stop: Callable[[], bool], only: Collection[int] | None = None) -> None:
        """Let views vote on all questions, or on some that have no vote yet, in batches that fit the memory.

        Votes are not made again. Once `stop()` is true, those made so far count. A network compiled ahead is asked in
        one shape.
        """
        model, size = self.start.model, self.options.batch
        filled = self.how.filled if model.reasoner.compiled else 0
        if filled:
            size = filled
        elif not self.on_cpu:
            size = max(size, self.how.asked_at_once)
        elif only is not None:
            size = min(size, SMALLEST_BATCH)  # a whole batch may take a CPU a minute
        depths = model.config.reasoner.voting_steps
        request = Request(
            model, self.data, depths, views, fill=filled > 0, only=only, judgements=self.judgements, stop=stop
        )

        def attempt(batch: int) -> dict[int, Votes]:
            return predict(replace(request, batch=batch), self.solver.place, None if only else self.votes)

        found = retreating(attempt, size, lambda batch: batch // 2 or None)
        self.votes = {depth: merge([self.votes[depth], some]) for depth, some in found.items()} if only else found

    def asked(self) -> set[int]:
        """Return the numbers of the questions with a vote."""
        return {number for some in self.votes.values() for number in some.question_V.tolist()}

    def _publish(self, found: Mapping[Question, list[Candidate]], views: int) -> None:
        """Publish the answers of tasks that have one, where they are better than the earlier ones."""
        reasoner, better = self.solver.reasoner, {}
        for name in dict.fromkeys(question.task_id for question in found):
            own = {question: found.get(question, []) for question in self.data.questions if question.task_id == name}
            voted = 0 if self.unasked & own.keys() else min(views, self.views[name])
            how = (self.updates, voted, self.loss, self.exact, self.clock.spent)
            new = Solution(own, *how, per_view=self.depths, sure=reasoner.sure, calibration=self.solver.calibration)
            better[name] = improved(self.found.get(name), new)
        self.found |= better
        self.publish(better)
