"""The index of instances: which memory row belongs to which (puzzle, view).

Row 0 is blank and belongs to no instance. Rows are only appended, so the rows of a trained table keep their tasks
when new ones are added.
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from charm.arrays import read_arrays
from charm.config import checked
from charm.errors import CharmError, charm_errors
from charm.files import write_atomically
from charm.tasks.view import VIEWS

MOST_BYTES = 2**28  # of an index on disk: 64 million rows

RowNumbers = npt.NDArray[np.int32]


class Instances:
    """(puzzle, view) <-> row, in 8 bytes per row in memory and fewer on disk."""

    def __init__(self) -> None:
        self.puzzles: list[str] = []  # puzzle number -> task id
        self._number: dict[str, int] = {}
        self._known: list[tuple[RowNumbers, npt.NDArray[np.uint32]]] = []  # puzzle number -> its rows, their views
        self._count = 1
        self.keys: Any = None  # of all rows, once `Keys.of` has decoded them; new rows empty it

    def __len__(self) -> int:
        """Number of rows, including the blank one."""
        return self._count

    def starts_with(self, other: Instances) -> bool:
        """Return whether all puzzles and rows of the other are our first ones."""
        tables = zip(self.table(), other.table(), strict=True)
        same_rows = all(np.array_equal(own[: len(first)], first) for own, first in tables)
        return self.puzzles[: len(other.puzzles)] == other.puzzles and same_rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instances) and self.starts_with(other) and other.starts_with(self)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def add(self, puzzle: str, codes: npt.NDArray[np.uint32]) -> RowNumbers:
        """Return the rows of these views of the puzzle, in order; new views get new rows at the end."""
        codes = np.asarray(codes, np.uint32)
        if len(codes) and int(codes.max()) >= VIEWS:
            raise CharmError(f"puzzle {puzzle}: {int(codes.max())} is not a valid view code")
        if len(np.unique(codes)) != len(codes):
            raise CharmError(f"puzzle {puzzle}: the same view is listed twice")
        if puzzle not in self._number:
            self._number[puzzle] = len(self.puzzles)
            self.puzzles.append(puzzle)
            self._known.append((np.zeros(0, np.int32), np.zeros(0, np.uint32)))
        number = self._number[puzzle]
        rows, known = self._known[number]
        new = codes[~np.isin(codes, known)]
        if len(new):
            rows = np.concatenate([rows, np.arange(self._count, self._count + len(new), dtype=np.int32)])
            known = np.concatenate([known, new])
            self._known[number] = rows, known
            self._count += len(new)
            self.keys = None
        order = np.argsort(known)
        return rows[order[np.searchsorted(known, codes, sorter=order)]]

    def rows(self, puzzle: str) -> RowNumbers:
        """Return all rows of a puzzle, the first views drawn first."""
        return self._known[self.number(puzzle)][0]

    def codes(self, puzzle: str) -> npt.NDArray[np.uint32]:
        """Return the views of a puzzle, in the order of `rows`."""
        return self._known[self.number(puzzle)][1]

    def __contains__(self, puzzle: object) -> bool:
        return puzzle in self._number

    def number(self, puzzle: str) -> int:
        """Return the puzzle's place in `puzzles`, which is its row in a puzzle factor."""
        if puzzle not in self._number:
            raise CharmError(f"puzzle {puzzle} is not in the index of instances")
        return self._number[puzzle]

    def table(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint32]]:
        """Return puzzle number and view code of every row; the blank row has puzzle -1 and code 0."""
        puzzle, code = np.full(len(self), -1, np.int32), np.zeros(len(self), np.uint32)
        for number, (rows, codes) in enumerate(self._known):
            puzzle[rows], code[rows] = number, codes
        return puzzle, code

    def copy(self) -> Instances:
        """Return a copy that can grow independently."""
        return deepcopy(self)

    def save(self, path: Path) -> None:
        """Write one compressed .npz without pickled objects, whole or not at all."""
        puzzle, code = self.table()
        starts = np.flatnonzero(np.diff(puzzle)) + 1  # of rows of one puzzle that follow each other
        lengths = np.diff(starts, append=len(puzzle)).astype(np.int32)
        names = np.frombuffer(json.dumps(self.puzzles).encode(), np.uint8)
        write = partial(np.savez_compressed, puzzles=names, number=puzzle[starts], length=lengths, code=code[1:])
        write_atomically(path, write)

    @staticmethod
    def load(path: Path) -> Instances:
        kinds = {"puzzles": ("u1", 1), "number": ("<i4", 1), "length": ("<i4", 1), "code": ("<u4", 1)}
        with charm_errors(f"{path}: not a readable index of instances", OSError, ValueError, RecursionError):
            arrays = read_arrays(path, kinds, MOST_BYTES)
            puzzles = json.loads(arrays["puzzles"].tobytes())
        numbers, lengths, codes = arrays["number"], arrays["length"], arrays["code"]
        with charm_errors(f"{path}: the index of instances is damaged", CharmError):
            puzzles = checked(list[str], puzzles, "puzzles")
            if len(lengths) != len(numbers) or (lengths < 0).any() or int(lengths.sum()) != len(codes):
                raise CharmError("lengths do not add up")
            if ((numbers < 0) | (numbers >= len(puzzles))).any():
                raise CharmError("rows without a puzzle")
            instances = Instances()
            for puzzle in puzzles:
                instances.add(puzzle, codes[:0])
            ends = np.cumsum(lengths)
            for number, begin, end in zip(numbers, ends - lengths, ends, strict=True):
                instances.add(puzzles[number], codes[begin:end])
            if len(instances) != len(codes) + 1 or len(instances.puzzles) != len(puzzles):
                raise CharmError("a puzzle or view is listed twice")
            return instances
