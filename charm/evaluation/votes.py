"""Votes: which view of which question proposed which grid, and how sure the model was.

Every prediction is one vote. Equal grids for the same question are one candidate, stored once.

    V  votes      K  candidates      N  predictions of one batch      T  cells of the token canvas
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from charm.errors import CharmError
from charm.evaluation.decode import FIRST_COLOR, OUTSIDE, crop_batch, hash_grids, invert_views
from charm.tasks.task import Grid
from charm.tasks.view import decode


@dataclass(frozen=True, eq=False)
class Candidates:
    """Distinct (question, grid) pairs. A 0 x 0 grid stands for a prediction that holds no grid at all."""

    question_K: npt.NDArray[np.int32]
    hash_K: npt.NDArray[np.uint64]
    shape_K2: npt.NDArray[np.uint8]  # height, width
    cells: npt.NDArray[np.uint8]  # all grids row by row, one after the other

    def __len__(self) -> int:
        return len(self.question_K)

    @cached_property
    def area_K(self) -> npt.NDArray[np.int64]:
        return self.shape_K2.astype(np.int64).prod(axis=1)

    @cached_property
    def stop_K(self) -> npt.NDArray[np.int64]:
        """Where each grid's cells end."""
        return np.cumsum(self.area_K)

    def grid(self, candidate: int) -> Grid:
        stop = self.stop_K[candidate]
        return self.cells[stop - self.area_K[candidate] : stop].reshape(self.shape_K2[candidate])


@dataclass(frozen=True, eq=False)
class Votes:
    """One entry per prediction, in no particular order."""

    candidates: Candidates
    candidate_V: npt.NDArray[np.int32]  # place in `candidates`
    row_V: npt.NDArray[np.int32]  # memory row of the view; a task's rows ascend, the original view first
    confidence_V: npt.NDArray[np.float32]
    loops_V: npt.NDArray[np.uint8]  # refinement steps before the prediction was read

    def __len__(self) -> int:
        return len(self.candidate_V)

    @property
    def question_V(self) -> npt.NDArray[np.int32]:
        return self.candidates.question_K[self.candidate_V]

    def select(self, keep_V: npt.NDArray[np.bool_]) -> Votes:
        """Only the votes marked in `keep_V`; candidates that lose all their votes leave too."""
        candidate_V = self.candidate_V[keep_V]
        voted_K = np.zeros(len(self.candidates), bool)
        voted_K[candidate_V] = True
        return Votes(
            _select_candidates(self.candidates, voted_K),
            (np.cumsum(voted_K) - 1)[candidate_V].astype(np.int32),
            self.row_V[keep_V],
            self.confidence_V[keep_V],
            self.loops_V[keep_V],
        )


def collect(
    tokens_NT: Tensor, confidence_N: Tensor, question_N: Tensor, view_N: Tensor, row_N: Tensor, loops: int
) -> Votes:
    """The votes of one batch of predictions; the heavy work stays on the device of `tokens_NT`.

    Arguments:
        tokens_NT: predicted tokens of square canvases with the grid at the origin, uint8 or int64.
        confidence_N: the model's probability that its prediction is right.
        question_N: places in the ordered questions.
        view_N: codes (`charm.tasks.view.encode`) of the views under which the model saw its input.
        row_N: memory rows of these views.
        loops: refinement steps before the prediction was read.
    """
    count, area = tokens_NT.shape
    side = isqrt(area)
    if side * side != area:
        raise CharmError(f"predictions of {area} tokens do not fill a square canvas")
    device = tokens_NT.device
    dihedral_N, colors_NC = (torch.from_numpy(part).to(device) for part in decode(view_N.cpu().numpy()))
    tokens_NSS = tokens_NT.to(torch.uint8).view(count, side, side)
    height_N, width_N = crop_batch(tokens_NSS)
    grids_Nss, height_N, width_N = invert_views(
        tokens_NSS - FIRST_COLOR, height_N, width_N, dihedral_N, colors_NC
    )

    question = question_N.cpu().numpy().astype(np.int32)
    hashes = hash_grids(grids_Nss).cpu().numpy().view(np.uint64)
    distinct_N, candidate_N = distinct(question, hashes)
    # Only distinct grids leave the device.
    kept_K = torch.from_numpy(np.flatnonzero(distinct_N)).to(device)
    grids_Kss = grids_Nss[kept_K].cpu().numpy()
    shape_K2 = torch.stack([height_N[kept_K], width_N[kept_K]], dim=1).to(torch.uint8).cpu().numpy()
    cells = grids_Kss[grids_Kss != OUTSIDE]
    return Votes(
        Candidates(question[distinct_N], hashes[distinct_N], shape_K2, cells),
        candidate_N,
        row_N.cpu().numpy().astype(np.int32),
        confidence_N.detach().float().cpu().numpy(),
        np.full(count, loops, np.uint8),
    )


def merge(parts: Sequence[Votes]) -> Votes:
    """All votes of several batches or ranks over the same questions; equal candidates become one."""
    if not parts:
        return _NO_VOTES
    tables = [part.candidates for part in parts]
    both = Candidates(
        np.concatenate([table.question_K for table in tables]),
        np.concatenate([table.hash_K for table in tables]),
        np.concatenate([table.shape_K2 for table in tables]),
        np.concatenate([table.cells for table in tables]),
    )
    distinct_K, candidate_K = distinct(both.question_K, both.hash_K)
    starts = np.cumsum([0, *map(len, tables)])
    return Votes(
        _select_candidates(both, distinct_K),
        np.concatenate(
            [candidate_K[start + part.candidate_V] for start, part in zip(starts, parts, strict=False)]
        ),
        np.concatenate([part.row_V for part in parts]),
        np.concatenate([part.confidence_V for part in parts]),
        np.concatenate([part.loops_V for part in parts]),
    )


def distinct(
    question: npt.NDArray[np.int32], hashes: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int32]]:
    """Which entries are the first of their (question, hash), and each entry's place among those firsts."""
    order = np.lexsort((hashes, question))  # stable: of equal entries the first comes first
    starts_group = np.ones(len(order), bool)
    starts_group[1:] = (np.diff(question[order]) != 0) | (np.diff(hashes[order]) != 0)
    first_of_group = order[starts_group]
    is_first = np.zeros(len(order), bool)
    is_first[first_of_group] = True
    place = np.empty(len(order), np.int32)
    place[order] = (np.cumsum(is_first) - 1)[first_of_group][np.cumsum(starts_group) - 1]
    return is_first, place


def _select_candidates(table: Candidates, keep_K: npt.NDArray[np.bool_]) -> Candidates:
    if keep_K.all():
        return table
    cells = table.cells[np.repeat(keep_K, table.area_K)]
    return Candidates(table.question_K[keep_K], table.hash_K[keep_K], table.shape_K2[keep_K], cells)


_NO_VOTES = Votes(
    Candidates(
        np.empty(0, np.int32), np.empty(0, np.uint64), np.empty((0, 2), np.uint8), np.empty(0, np.uint8)
    ),
    np.empty(0, np.int32),
    np.empty(0, np.int32),
    np.empty(0, np.float32),
    np.empty(0, np.uint8),
)
