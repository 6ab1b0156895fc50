"""Predictions of a model: every question under every view, after one or more refinement depths.

A network that judges then says how likely it finds each candidate under many views of its question. A view that would
not have written an answer can still judge how likely it is, by reading it once. Views err in different ways, so the
candidate that all of them find likely is right more often than the one most of them wrote.

Dimension letters: N jobs (a question under a view), T cells, V tokens, K candidates, J views of a question that judge.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from charm.config import at_least
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.decode import collect
from charm.evaluation.ranking import Judgements
from charm.models.model import CharmModel
from charm.models.network import AskedBatch, Together
from charm.runs.archive import Header, answers_alike, is_finished, pass_folder, read_votes, same_run, write_votes
from charm.runs.votes import Candidates, Votes, log_odds, merge
from charm.tasks.batch import PairBank
from charm.tasks.dataset import Dataset
from charm.tasks.keyed import Numbers
from charm.tasks.task import Pair

SAVE_SECONDS = 120.0  # of work that a kill may cost
JUDGES = 16  # views that judge, at most
SEARCHED = 4  # views of a question that search


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
    advance: Callable[[int, int], None] = lambda done, total: None
    """Called with the number of predictions made, and of all."""
    stop: Callable[[], bool] = lambda: False
    """Once it returns true, the votes made so far are kept and returned."""

    def __post_init__(self) -> None:
        at_least(1, self, "batch")


def predict(
    request: Request,
    place: Place,
    earlier: Mapping[int, Votes] | None = None,
    keep: Callable[[dict[int, Votes], bool], None] = lambda votes, complete: None,
) -> dict[int, Votes]:
    """Return this process's share of the votes, by refinement depth.

    Votes in `earlier` are taken over and not made again. `keep(votes so far, whether they are complete)` is called
    every two minutes and at the end.
    """
    model, made = request.model, _Predictions(request, place, earlier or {})
    total, saved = len(made.jobs.row_N), time.monotonic()
    request.advance(total - made.left, total)
    # Processes have unequally many batches.
    with model.reading_alone(lambda: torch.from_numpy(made.jobs.row_N)):
        for batch in made.batches():
            made.answer(batch)
            request.advance(total - made.left, total)
            if request.stop():
                keep(votes := made.votes(), False)
                return votes
            if time.monotonic() - saved > SAVE_SECONDS:
                keep(made.votes(), False)
                saved = time.monotonic()
        votes = made.votes()
        if model.config.reasoner.judges:
            about = request.views, request.judgements
            votes = {depth: judge_votes(model, request.data, found, *about) for depth, found in votes.items()}
        keep(votes, True)
        return votes


class _Predictions:
    """Votes in the making: this process's jobs, those that are left, and the votes so far."""

    def __init__(self, request: Request, place: Place, earlier: Mapping[int, Votes]) -> None:
        self.request, self.device, data = request, place.device, request.data
        self.depths = sorted(request.loops)
        self.asking = request.model.reasoner.asking(data, self.depths[-1], request.batch, request.fill)
        found = jobs(data, request.views)
        # Judged candidates are compared, so one process has all of a question.
        of_N = found.question_N if request.model.config.reasoner.judges else np.arange(len(found.question_N))
        self.jobs = found.at(np.flatnonzero(of_N % place.world == place.rank))
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


def predict_votes(request: Request, place: Place, votes_folder: Path, step: int, run: str = "") -> None:
    """Write the votes of `predict` to the archive of a checkpoint; votes of earlier attempts are not made again.

    The votes name the `run` that trained the model.
    """
    depths, views, asked = sorted(request.loops), request.views or 0, request.data.asked
    header = Header(
        *(step, depths[0], place.rank, place.world, tuple(asked), False, views, run),
        inputs=tuple(asked.values()),
        blank=request.blank_memory,
    )
    if is_finished(votes_folder, step, depths, views, run, header):
        return

    def keep(votes: dict[int, Votes], complete: bool) -> None:
        for depth in depths:
            if np.isnan(votes[depth].logit_V).any():
                raise CharmError(f"step {step}: the model's answers are not numbers (NaN); its votes are not kept")
            write_votes(votes_folder, replace(header, loops=depth, complete=complete), votes[depth])
            if complete and place.is_main:  # votes of an earlier attempt by more processes are in our files now
                for path in pass_folder(votes_folder, step, depth).glob("rank_*.npz"):
                    if int(path.stem.removeprefix("rank_")) >= place.world:
                        path.unlink()

    earlier = {depth: _earlier(votes_folder, replace(header, loops=depth)) for depth in depths}
    predict(request, place, earlier, keep)


def _earlier(votes_folder: Path, header: Header) -> Votes:
    """Read existing intact votes on the same questions, made by any number of processes."""
    found = []
    for path in sorted(pass_folder(votes_folder, header.step, header.loops).glob("rank_*.npz")):
        with suppress(CharmError):  # damaged, or of an earlier version
            before, votes = read_votes(path)
            if answers_alike(before, header) and same_run(before.run, header.run):
                found.append(votes)
    return merge(found)


def _only(votes: Votes, done: Numbers) -> Votes:
    """Keep one vote for each of these jobs; files of attempts by unequally many processes may hold one twice."""
    jobs, first = np.unique(votes.job_V, return_index=True)
    kept = np.zeros(len(votes), bool)
    kept[first[np.isin(jobs, done)]] = True
    return votes.select(kept)


def contested(votes: Votes, questions: int) -> Numbers:
    """Return the questions whose leading answer has less than half of the votes, and those without votes."""
    cast_Q = np.bincount(votes.question_V, minlength=questions)
    most_Q = np.zeros(questions, np.int64)
    votes_K = np.bincount(votes.candidate_V, minlength=len(votes.candidates)) * (votes.candidates.area_K > 0)
    np.maximum.at(most_Q, votes.candidates.question_K, votes_K)
    return np.flatnonzero(2 * most_Q < np.maximum(cast_Q, 1))


def search_answers(
    model: CharmModel, data: Dataset, question_Q: Numbers, least: float, stop: Callable[[], bool] = lambda: False
) -> Candidates:
    """Return all answers that one of the first `SEARCHED` views of these questions gives at least this probability.

    Once `stop()` is true, those found so far.
    """
    rows = [data.question_rows(data.questions[number], SEARCHED) for number in question_Q.tolist()]
    question_N = np.repeat(question_Q, [len(some) for some in rows])
    row_N = np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int64)
    codes, device = data.instances.table()[1].astype(np.int64), model.reasoner.tokens.device
    parts = []
    for at_M, answer_MT, sure_M in model.reasoner.search(model, data, question_N, row_N, least, stop):
        if len(at_M):
            question, row = (torch.from_numpy(column[at_M]).to(device) for column in (question_N, row_N))
            parts.append(collect(answer_MT, sure_M, question, torch.from_numpy(codes[row_N[at_M]]), row, 1))
    found = merge(parts)
    return found.select(found.candidates.area_K[found.candidate_V] > 0).candidates


def judge_votes(
    model: CharmModel, data: Dataset, votes: Votes, views: int | None, known: Judgements | None = None
) -> Votes:
    """Return the votes with their candidates' likelihood in place of what each view thought of its own answer.

    It is the geometric mean over the judges, as log-odds. What is in `known` is not judged again.
    """
    views = min(views or JUDGES, JUDGES)
    likely_KJ = log_likelihoods(model, data, votes.candidates, views, known)
    logit_K = log_odds(np.nanmean(likely_KJ.astype(np.float64), axis=1))
    return replace(votes, logit_V=logit_K.astype(np.float32)[votes.candidate_V])


def log_likelihoods(
    model: CharmModel, data: Dataset, candidates: Candidates, views: int, known: Judgements | None = None
) -> npt.NDArray[np.float32]:
    """Return log-probabilities [K, J] of candidates under the first `views` views of their questions.

    Minus infinity for a 0 x 0 candidate, and not a number where a question has fewer views. Those in `known` are not
    computed again, and new ones join them.
    """
    known = {} if known is None else known
    rows = [data.question_rows(question, views).tolist() for question in data.questions]
    contents = zip(candidates.question_K.tolist(), candidates.hash_K.tolist(), candidates.area_K, strict=True)
    names = {
        (k, j): (question, content, row)
        for k, (question, content, area) in enumerate(contents)
        for j, row in enumerate(rows[question] if area else ())
    }
    asked = [place for place, name in names.items() if name not in known]
    if asked:
        inputs = [data.question_bank.pair(q).input for q in range(len(data.questions))]
        pairs = [Pair(inputs[q], candidates.grid(k)) for k, q in enumerate(candidates.question_K.tolist())]
        candidate_N, row_N = np.array([(place[0], names[place][2]) for place in asked], np.int64).T
        likely_N = model.reasoner.log_likelihoods(model, PairBank.of(pairs), data.keys(), candidate_N, row_N)
        known.update(zip((names[place] for place in asked), likely_N.tolist(), strict=True))
    found = np.full((len(candidates), views), np.nan, np.float32)
    found[candidates.area_K == 0] = -np.inf
    for place, name in names.items():
        found[place] = known[name]
    return found
