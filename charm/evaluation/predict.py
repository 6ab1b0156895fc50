"""Predictions of a model: every question under every view, after one or more refinement depths.

Dimension letters: N jobs (a question under a view), T cells, V tokens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from charm.config import at_least
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.decode import collect
from charm.evaluation.judging import Judgements, judged
from charm.evaluation.placing import AskedBatch, canvas_answers
from charm.evaluation.writing import answer_limit, at_once, drafts, likely_lengths, rounds, write_answers
from charm.models.model import CharmModel
from charm.models.writer.network import Writer
from charm.models.writer.writing import to_ask
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


def jobs(data: Dataset, views: int | None) -> tuple[Numbers, Numbers, Numbers]:
    """Question, memory row and canvas side of every prediction, canvases of one size together."""
    rows = [data.question_rows(question, views) for question in data.questions]
    question_N = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    row_N = np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int64)
    side_N = np.array(data.question_sides, np.int64)[question_N]
    order = np.argsort(side_N, kind="stable")
    return question_N[order], row_N[order], side_N[order]


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
    """What the same writer, with the same weights, thought of candidates in earlier predictions: it is not asked again,
    and new ones join."""

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
    """This process's share of the votes, by refinement depth.

    Votes in `earlier` are taken over and not made again. `keep(votes so far, whether they are complete)` is called
    every two minutes and at the end. Once `stop()` is true, the votes made so far are kept and returned.
    """
    model, data, batch, device = request.model, request.data, request.batch, place.device
    writer = to_ask(model.reasoner) if isinstance(model.reasoner, Writer) else None
    lengths = likely_lengths(data) if writer is not None else None
    depths = sorted(request.loops)
    if writer is not None and depths[-1] != 1:
        raise CharmError(f"a writer answers in one step: loops must be 1, got {depths[-1]}")
    question_N, row_N, side_N = _share(request, place)
    votes = {depth: merge([]) for depth in depths} | dict(earlier or {})
    job_N = done = question_N << 32 | row_N
    for depth in depths:
        done = np.intersect1d(done, votes[depth].job_V)
    asked_Q = range(len(data.questions)) if request.only is None else request.only
    todo = np.flatnonzero(~np.isin(job_N, done) & np.isin(question_N, list(asked_Q)))
    parts = {depth: [_only(votes[depth], done)] for depth in depths}

    def kept(complete: bool) -> dict[int, Votes]:
        for depth in depths:
            found = merge(parts[depth])
            if complete and writer is not None:
                found = judged(model, data, found, request.views, device, request.judgements)
            parts[depth] = [found]
        newest = {depth: parts[depth][0] for depth in depths}
        keep(newest, complete)
        return newest

    bank, keys = data.question_bank.to(device), data.keys().to(device)
    codes = data.instances.table()[1].astype(np.int64)
    saved = time.monotonic()
    finished = len(row_N) - len(todo)
    advance(finished, len(row_N))
    with model.reading_alone(lambda: torch.from_numpy(row_N)):  # processes have unequally many batches
        for side, mine in _groups(todo, question_N, side_N, lengths):
            guessed = None if writer is None else drafts(data, merge(parts[1])).to(device)
            first = 0
            while first < len(mine):
                size = batch
                if writer is not None and lengths is not None:
                    size = at_once(writer, lengths[question_N[mine[first : first + batch]]], device, batch)
                chosen = mine[first : first + size]
                first += size
                count = len(chosen)
                has_several = device.type != "cpu" and len(mine) > batch
                if lengths is None and (request.fill or has_several):
                    # Full batches keep compiled shapes; the spare ones are dropped.
                    chosen = np.resize(chosen, batch)
                question, row = (torch.from_numpy(c[chosen]).to(device) for c in (question_N, row_N))
                with torch.inference_mode():
                    task_ND = model.task(row)
                    task_ND = torch.zeros_like(task_ND) if request.blank_memory else task_ND
                asked = AskedBatch(bank, keys, question, row, task_ND)
                if writer is not None and lengths is not None:
                    limit = answer_limit(int(lengths[question_N[chosen]].max()))
                    answers = iter([write_answers(writer, asked, limit, guessed)])
                else:
                    answers = canvas_answers(model, asked, side, data.question_bounds, depths[-1])
                for depth, (answer_NT, sure_N) in enumerate(answers, start=1):
                    if depth in parts:
                        about = question[:count], torch.from_numpy(codes[row_N[chosen[:count]]]), row[:count]
                        parts[depth].append(collect(answer_NT[:count], sure_N[:count], *about, depth))
                finished += count
                advance(finished, len(row_N))
                if stop():
                    return kept(complete=False)
                if time.monotonic() - saved > SAVE_SECONDS:
                    kept(complete=False)
                    saved = time.monotonic()
        return kept(complete=True)


def _groups(
    todo: Numbers, question_N: Numbers, side_N: Numbers, lengths: Numbers | None
) -> list[tuple[int, Numbers]]:
    """Jobs that may be asked together, and the side of their canvases; a writer's by length, in `rounds`."""
    groups = [(side, todo[side_N[todo] == side]) for side in np.unique(side_N[todo]).tolist()]
    if lengths is None:
        return groups
    sorted_ = [(side, mine[np.argsort(lengths[question_N[mine]], kind="stable")]) for side, mine in groups]
    split = [(side, mine[at]) for side, mine in sorted_ for at in rounds(question_N[mine])]
    return [(side, mine) for side, mine in split if len(mine)]


def _share(request: Request, place: Place) -> tuple[Numbers, Numbers, Numbers]:
    """This process's jobs. A writer's candidates are compared with each other, so one process has a whole question."""
    question_N, row_N, side_N = jobs(request.data, request.views)
    of_N = question_N if isinstance(request.model.reasoner, Writer) else np.arange(len(question_N))
    mine = of_N % place.world == place.rank
    return question_N[mine], row_N[mine], side_N[mine]


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
