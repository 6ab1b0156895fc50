"""Votes: which view of which question proposed which grid, and the model's confidence.

Every prediction is one vote. Equal grids for the same question are one candidate, stored once.

    V  votes      K  candidates
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from charm.tasks.task import Grid

# The arrays of votes: type and number of dimensions. The first four are those of the candidates.
COLUMNS = {
    "question": ("int32", 1),
    "hash": ("uint64", 1),
    "shape": ("uint8", 2),
    "cells": ("uint8", 1),
    "candidate": ("int32", 1),
    "row": ("int32", 1),
    "logit": ("float32", 1),
    "loops": ("uint8", 1),
}


@dataclass(frozen=True, eq=False)
class Candidates:
    """Distinct (question, grid) pairs. A 0 x 0 grid stands for a prediction without a grid."""

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
    logit_V: npt.NDArray[np.float32]  # the model's log-odds that the prediction is right
    loops_V: npt.NDArray[np.uint8]  # refinement steps before the prediction was read

    @staticmethod
    def of(columns: Sequence[npt.NDArray[Any]]) -> Votes:
        return Votes(Candidates(*columns[:4]), *columns[4:])

    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        table = self.candidates
        own = self.candidate_V, self.row_V, self.logit_V, self.loops_V
        return table.question_K, table.hash_K, table.shape_K2, table.cells, *own

    def __len__(self) -> int:
        return len(self.candidate_V)

    @property
    def question_V(self) -> npt.NDArray[np.int32]:
        return self.candidates.question_K[self.candidate_V]

    @property
    def job_V(self) -> npt.NDArray[np.int64]:
        """Question and memory row as one number."""
        return self.question_V.astype(np.int64) << 32 | self.row_V

    def leading(self) -> dict[int, Grid]:
        """Return the grid with most votes for each question that has one; of equals the last."""
        found = {}
        votes_K = np.bincount(self.candidate_V, minlength=len(self.candidates))
        for k in np.argsort(votes_K, kind="stable").tolist():  # the one with most votes comes last
            if self.candidates.area_K[k]:
                found[int(self.candidates.question_K[k])] = self.candidates.grid(k)
        return found

    def select(self, keep_V: npt.NDArray[np.bool_]) -> Votes:
        """Keep only the votes marked in `keep_V`; candidates without votes are dropped."""
        candidate_V = self.candidate_V[keep_V]
        voted_K = np.zeros(len(self.candidates), bool)
        voted_K[candidate_V] = True
        return Votes(
            select_candidates(self.candidates, voted_K),
            (np.cumsum(voted_K) - 1)[candidate_V].astype(np.int32),
            self.row_V[keep_V],
            self.logit_V[keep_V],
            self.loops_V[keep_V],
        )


def probability(logit: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Compute the sigmoid in float64, accurate to rounding for small results and without overflow."""
    return np.exp(-np.logaddexp(0.0, -np.asarray(logit, np.float64)))


def log_odds(log_probability: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return log(p / (1 - p)) from log p in float64, finite for a certain p."""
    log_p = np.minimum(np.asarray(log_probability, np.float64), -1e-12)
    with np.errstate(divide="ignore"):
        return log_p - np.log(-np.expm1(log_p))


def merge(parts: Sequence[Votes]) -> Votes:
    """Merge the votes of several batches or ranks over the same questions; equal candidates become one."""
    if not parts:
        return Votes.of([np.empty((0, 2)[:dimensions], kind) for kind, dimensions in COLUMNS.values()])
    candidates, place_of = pool([part.candidates for part in parts])
    candidate_V = np.concatenate([place_K[part.candidate_V] for place_K, part in zip(place_of, parts, strict=True)])
    others = (np.concatenate([getattr(part, name) for part in parts]) for name in ("row_V", "logit_V", "loops_V"))
    return Votes(candidates, candidate_V, *others)


def pool(tables: Sequence[Candidates]) -> tuple[Candidates, list[npt.NDArray[np.int32]]]:
    """Return the distinct candidates of all tables, and for each table the places of its candidates among them."""
    question_K, hash_K = (np.concatenate([getattr(one, name) for one in tables]) for name in ("question_K", "hash_K"))
    is_first, place = distinct(question_K, hash_K)
    ends = np.cumsum([len(table) for table in tables])[:-1]
    own = [select_candidates(table, kept) for table, kept in zip(tables, np.split(is_first, ends), strict=True)]
    names = ("question_K", "hash_K", "shape_K2", "cells")
    return Candidates(*(np.concatenate([getattr(one, name) for one in own]) for name in names)), np.split(place, ends)


def distinct(
    question: npt.NDArray[np.int32], hashes: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int32]]:
    """Mark the entries that are the first of their (question, hash), and return for each the index of its first."""
    order = np.lexsort((hashes, question))  # stable: of equal entries the first comes first
    starts_group = np.ones(len(order), bool)
    starts_group[1:] = (np.diff(question[order]) != 0) | (np.diff(hashes[order]) != 0)
    first_of_group = order[starts_group]
    is_first = np.zeros(len(order), bool)
    is_first[first_of_group] = True
    place = np.empty(len(order), np.int32)
    place[order] = (np.cumsum(is_first) - 1)[first_of_group][np.cumsum(starts_group) - 1]
    return is_first, place


def select_candidates(table: Candidates, keep_K: npt.NDArray[np.bool_]) -> Candidates:
    """Keep only the marked candidates."""
    if keep_K.all():
        return table
    cells = table.cells[np.repeat(keep_K, table.area_K)]
    return Candidates(table.question_K[keep_K], table.hash_K[keep_K], table.shape_K2[keep_K], cells)
