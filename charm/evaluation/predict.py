"""Asking the model: every question under every view, read after one or more refinement depths.

Dimension letters: N jobs (a question under a view), T cells, V tokens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.archive import Header, is_finished, pass_folder, read_votes, same_run, write_votes
from charm.evaluation.votes import Votes, collect, merge
from charm.model import CharmModel
from charm.reasoner.halting import halt_logit
from charm.reasoner.refine import refine
from charm.tasks.batch import view_tokens
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


def predict_votes(
    model: CharmModel,
    data: Dataset,
    votes_folder: Path,
    step: int,
    loops: Sequence[int],
    views: int | None,
    place: Place,
    batch: int = 512,
    blank_memory: bool = False,
    advance: Callable[[int, int], None] = lambda done, total: None,
    stop: Callable[[], bool] = lambda: False,
    run: str = "",
) -> None:
    """Write this process's votes of one checkpoint, those of earlier attempts included: they are not made again.

    One pass of refinement serves all depths in `loops`. `blank_memory` replaces every task embedding by zeros: what
    the reasoner knows without its memory. `advance(done, total)` is told of progress. Once `stop()` is true, what was
    made so far is written as unfinished. The votes name the `run` that trained the model.
    """
    depths = sorted(loops)
    if is_finished(votes_folder, step, depths, views or 0, data.questions, run):
        return
    question_N, row_N, side_N = (column[place.rank :: place.world] for column in jobs(data, views))
    header = Header(step, depths[0], place.rank, place.world, data.questions, False, views or 0, run)
    votes = {depth: _earlier(votes_folder, replace(header, loops=depth)) for depth in depths}
    done = set(zip(question_N.tolist(), row_N.tolist(), strict=True))
    for depth in depths:
        done &= _jobs_of(votes[depth])
    todo = np.array(
        [n for n in range(len(row_N)) if (int(question_N[n]), int(row_N[n])) not in done], np.int64
    )
    parts: dict[int, list[Votes]] = {
        depth: [_only(votes[depth], done)] if len(votes[depth]) else [] for depth in depths
    }

    def write(complete: bool) -> None:
        for depth in depths:
            parts[depth] = [merge(parts[depth])]
            write_votes(votes_folder, replace(header, loops=depth, complete=complete), parts[depth][0])

    device = place.device
    bank, keys = data.question_bank.to(device), data.keys().to(device)
    codes = data.instances.table()[1].astype(np.int64)
    saved = time.monotonic()
    finished = len(row_N) - len(todo)
    advance(finished, len(row_N))
    for side in np.unique(side_N[todo]).tolist():
        mine = todo[side_N[todo] == side]
        for first in range(0, len(mine), batch):
            chosen = mine[first : first + batch]
            count = len(chosen)
            if device.type != "cpu" and len(mine) > batch:
                chosen = np.resize(
                    chosen, batch
                )  # full batches keep compiled shapes; the spare ones are dropped
            question, row = (torch.from_numpy(c[chosen]).to(device) for c in (question_N, row_N))
            origin = torch.zeros_like(question)
            with torch.inference_mode():
                tokens_NT, _ = view_tokens(bank, keys, question, row, origin, origin, side, outputs=False)
                task_ND = model.task(row)
                task_ND = torch.zeros_like(task_ND) if blank_memory else task_ND
            for depth, (logits_NTV, halt) in enumerate(
                refine(model.reasoner, tokens_NT, task_ND, depths[-1]), start=1
            ):
                if depth in parts:
                    answer_NT = logits_NTV.argmax(-1).to(torch.uint8)
                    sure_N = halt_logit(halt).sigmoid()
                    view_N = torch.from_numpy(codes[row_N[chosen]])
                    columns = (answer_NT, sure_N, question, view_N, row)
                    answer_NT, sure_N, *about = (column[:count] for column in columns)
                    parts[depth].append(collect(answer_NT, sure_N, about[0], about[1], about[2], depth))
            finished += count
            advance(finished, len(row_N))
            if stop():
                write(complete=False)
                return
            if time.monotonic() - saved > SAVE_SECONDS:
                write(complete=False)
                saved = time.monotonic()
    write(complete=True)
    if place.is_main:
        _forget_other_ranks(votes_folder, header, depths)


def _earlier(votes_folder: Path, header: Header) -> Votes:
    """Votes on the same questions that are there already, made by however many processes; damaged ones are not."""
    found = []
    for path in sorted(pass_folder(votes_folder, header.step, header.loops).glob("rank_*.npz")):
        with suppress(CharmError):  # damaged, or of an earlier version
            before, votes = read_votes(path)
            if before.questions == header.questions and same_run(before.run, header.run):
                found.append(votes)
    return merge(found)


def _forget_other_ranks(votes_folder: Path, header: Header, depths: Sequence[int]) -> None:
    """Remove the files of an earlier attempt by more processes: their votes are in this one's files now."""
    for depth in depths:
        for path in pass_folder(votes_folder, header.step, depth).glob("rank_*.npz"):
            if int(path.stem.removeprefix("rank_")) >= header.ranks:
                path.unlink()


def _jobs_of(votes: Votes) -> set[tuple[int, int]]:
    return set(zip(votes.question_V.tolist(), votes.row_V.tolist(), strict=True))


def _only(votes: Votes, done: set[tuple[int, int]]) -> Votes:
    """One vote for each of these jobs; files of attempts by unequally many processes may hold one twice."""
    job_V = votes.question_V.astype(np.int64) << 32 | votes.row_V
    wanted = np.array([question << 32 | row for question, row in done], np.int64)
    jobs, first = np.unique(job_V, return_index=True)
    kept = np.zeros(len(votes), bool)
    kept[first[np.isin(jobs, wanted)]] = True
    return votes.select(kept)
