"""Predictions of a model: every question under every view, after one or more refinement depths.

Dimension letters: N jobs (a question under a view), T cells, V tokens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from charm.config import at_least
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.decode import collect
from charm.evaluation.judging import Judgements, judge_votes
from charm.models.model import CharmModel
from charm.models.network import AskedBatch, Together
from charm.runs.archive import (
    Header,
    answers_alike,
    is_finished,
    pass_folder,
    read_votes,
    same_run,
    write_votes,
)
from charm.runs.votes import Votes, merge
from charm.tasks.dataset import Dataset
from charm.tasks.keyed import Numbers

SAVE_SECONDS = 120.0  # of work that a kill may cost


class Jobs(NamedTuple):
    """Question, memory row and canvas side of predictions."""

    question_N: Numbers
    row_N: Numbers
    side_N: Numbers

    def at(self, places: Numbers) -> Jobs:
        """Return the jobs at these places."""
        return Jobs(*(column[places] for column in self))


def jobs(data: Dataset, views: int | None) -> Jobs:
    """Return a job for every prediction, canvases of one size together."""
    rows = [data.question_rows(question, views) for question in data.questions]
    question_N = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    row_N = np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int64)
    side_N = np.array(data.question_sides, np.int64)[question_N]
    return Jobs(question_N, row_N, side_N).at(np.argsort(side_N, kind="stable"))


@dataclass(frozen=True, eq=False)
class Request:
    """The model, the data and the settings of a prediction."""

    model: CharmModel
    data: Dataset
    loops: Sequence[int]
    """Refinement depths at which votes are taken; one pass of refinement serves all of them."""
    views: int | None = None
    """Views per question that vote; None for all."""
    batch: int = 512
    _: KW_ONLY
    fill: bool = False
    """Fill every batch of canvases with repeats, which are dropped: a compiled model is then asked in one shape."""
    blank_memory: bool = False
    """Replace every task embedding by zeros: what the reasoner knows without its memory."""
    only: Collection[int] | None = None
    """Questions that are asked; of the others, only earlier votes count. None asks all."""
    judgements: Judgements | None = None
    """What the same network, with the same weights, thought of candidates in earlier predictions: they are not judged
    again, and new ones join."""

    def __post_init__(self) -> None:
        at_least(1, self, "batch")


VoteProgress = Callable[[int, int], None]  # (predictions made, predictions in all)


def predict(
    request: Request,
    place: Place,
    earlier: Mapping[int, Votes] | None = None,
    keep: Callable[[dict[int, Votes], bool], None] = lambda votes, complete: None,
    advance: VoteProgress = lambda done, total: None,
    stop: Callable[[], bool] = lambda: False,
) -> dict[int, Votes]:
    """Return this process's share of the votes, by refinement depth.

    Votes in `earlier` are taken over and not made again. `keep(votes so far, whether they are complete)` is called
    every two minutes and at the end. Once `stop()` is true, the votes made so far are kept and returned.
    """
    made = _Predictions(request, place, earlier or {})
    total, saved = len(made.jobs.row_N), time.monotonic()
    advance(total - made.left, total)
    # Processes have unequally many batches.
    with request.model.reading_alone(lambda: torch.from_numpy(made.jobs.row_N)):
        for batch in made.batches():
            made.answer(batch)
            advance(total - made.left, total)
            if stop():
                keep(votes := made.votes(), False)
                return votes
            if time.monotonic() - saved > SAVE_SECONDS:
                keep(made.votes(), False)
                saved = time.monotonic()
        keep(votes := made.judged_votes(), True)
        return votes


class _Predictions:
    """Votes in the making: this process's jobs, those that are left, and the votes so far."""

    def __init__(self, request: Request, place: Place, earlier: Mapping[int, Votes]) -> None:
        self.request, self.device, data = request, place.device, request.data
        self.depths = sorted(request.loops)
        self.asking = request.model.reasoner.asking(data, self.depths[-1], request.batch, request.fill)
        self.jobs = _share(request, place)
        votes = {depth: earlier.get(depth, merge([])) for depth in self.depths}
        job_N = done = self.jobs.question_N << 32 | self.jobs.row_N
        for depth in self.depths:
            done = np.intersect1d(done, votes[depth].job_V)
        asked_Q = range(len(data.questions)) if request.only is None else request.only
        left_N = ~np.isin(job_N, done) & np.isin(self.jobs.question_N, list(asked_Q))
        self.todo = self.jobs.at(np.flatnonzero(left_N))
        self.left = len(self.todo.row_N)
        self.parts = {depth: [_only(votes[depth], done)] for depth in self.depths}
        self.bank, self.keys = data.question_bank.to(self.device), data.keys().to(self.device)
        self.codes = data.instances.table()[1].astype(np.int64)

    def batches(self) -> Iterator[Together]:
        """Yield the batches of each round in order."""
        for batches in self.asking.rounds(self.todo.question_N, self.todo.side_N):
            self.asking.begin_round(lambda: merge(self.parts[self.depths[-1]]).leading())
            yield from batches

    def answer(self, batch: Together) -> None:
        """Ask the questions of a batch; the answers join the votes."""
        model, data, count = self.request.model, self.request.data, batch.size
        chosen = self.todo.at(batch.job_N)
        question, row = (torch.from_numpy(one).to(self.device) for one in (chosen.question_N, chosen.row_N))
        with torch.inference_mode():
            task_ND = model.task(row)
            task_ND = torch.zeros_like(task_ND) if self.request.blank_memory else task_ND
        side = int(chosen.side_N[0])
        asked = AskedBatch(self.bank, self.keys, question, row, task_ND, side, data.question_bounds)
        about = question[:count], torch.from_numpy(self.codes[chosen.row_N[:count]]), row[:count]
        for depth, (answer_NT, sure_N) in enumerate(self.asking.answers(asked), start=1):
            if depth in self.parts:
                self.parts[depth].append(collect(answer_NT[:count], sure_N[:count], *about, depth))
        self.left -= count

    def votes(self) -> dict[int, Votes]:
        """Return the votes so far, by depth."""
        self.parts = {depth: [merge(parts)] for depth, parts in self.parts.items()}
        return {depth: parts[0] for depth, parts in self.parts.items()}

    def judged_votes(self) -> dict[int, Votes]:
        """Return all votes. A network that judges says what it thinks of all candidates first."""
        model, request = self.request.model, self.request
        if not model.config.reasoner.judges:
            return self.votes()
        about = request.views, request.judgements
        return {
            depth: judge_votes(model, request.data, found, *about) for depth, found in self.votes().items()
        }


def _share(request: Request, place: Place) -> Jobs:
    """Return this process's jobs. Judged candidates are compared, so one process has all of a question."""
    found = jobs(request.data, request.views)
    judges = request.model.config.reasoner.judges
    of_N = found.question_N if judges else np.arange(len(found.question_N))
    return found.at(np.flatnonzero(of_N % place.world == place.rank))


def predict_votes(
    request: Request,
    place: Place,
    votes_folder: Path,
    step: int,
    advance: VoteProgress = lambda done, total: None,
    stop: Callable[[], bool] = lambda: False,
    run: str = "",
) -> None:
    """`predict` into the archive of a checkpoint's votes; votes of earlier attempts are not made again.

    The votes name the `run` that trained the model.
    """
    depths, views, asked = sorted(request.loops), request.views or 0, request.data.asked
    header = Header(
        *(step, depths[0], place.rank, place.world, tuple(asked), False, views, run),
        inputs=tuple(asked.values()),
        blank=request.blank_memory,
    )
    if is_finished(votes_folder, step, depths, views, header, run):
        return

    def keep(votes: dict[int, Votes], complete: bool) -> None:
        for depth in depths:
            if np.isnan(votes[depth].logit_V).any():
                raise CharmError(
                    f"step {step}: the model's answers are not numbers (NaN); its votes are not kept"
                )
            write_votes(votes_folder, replace(header, loops=depth, complete=complete), votes[depth])
            if (
                complete and place.is_main
            ):  # votes of an earlier attempt by more processes are in our files now
                for path in pass_folder(votes_folder, step, depth).glob("rank_*.npz"):
                    if int(path.stem.removeprefix("rank_")) >= place.world:
                        path.unlink()

    earlier = {depth: _earlier(votes_folder, replace(header, loops=depth)) for depth in depths}
    predict(request, place, earlier, keep, advance, stop)


def _earlier(votes_folder: Path, header: Header) -> Votes:
    """Existing intact votes on the same questions, made by any number of processes."""
    found = []
    for path in sorted(pass_folder(votes_folder, header.step, header.loops).glob("rank_*.npz")):
        with suppress(CharmError):  # damaged, or of an earlier version
            before, votes = read_votes(path)
            if answers_alike(before, header) and same_run(before.run, header.run):
                found.append(votes)
    return merge(found)


def _only(votes: Votes, done: Numbers) -> Votes:
    """One vote for each of these jobs; files of attempts by unequally many processes may hold one twice."""
    jobs, first = np.unique(votes.job_V, return_index=True)
    kept = np.zeros(len(votes), bool)
    kept[first[np.isin(jobs, done)]] = True
    return votes.select(kept)
