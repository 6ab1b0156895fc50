"""Views: the 8 symmetries of the square times the permutations of colours 1..9.

A view is a value. It is applied to grids here, one at a time; `charm.tasks.batch` does the same to whole
batches on any device. Colour 0 never moves: most ARC rules treat it as background.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import index

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError, charm_errors
from charm.tasks.task import COLORS, Grid, Pair, Task

DIHEDRALS = 8
PERMUTATIONS = math.factorial(COLORS - 1)  # 362,880
VIEWS = DIHEDRALS * PERMUTATIONS

DIHEDRAL_NAMES = (
    *("identity", "rotate 90 ccw", "rotate 180", "rotate 270 ccw"),
    *("flip left-right", "flip up-down", "transpose", "anti-transpose"),
)
# How each symmetry reads a grid: turn(grid, d)[i, j] is grid[i, j], or grid[j, i] where axes are swapped, with rows or
# columns counted from the far end where reversed. [swapped, rows reversed, columns reversed]; all other tables derive.
DIHEDRAL_READS = np.array(
    [[0, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]], np.int64
)
# Undoing a symmetry that swaps axes exchanges what is reversed; only the two quarter turns differ from their inverse.
DIHEDRAL_INVERSE = tuple(
    DIHEDRAL_READS.tolist().index([swap, columns, rows] if swap else [swap, rows, columns])
    for swap, rows, columns in DIHEDRAL_READS.tolist()
)


def turn(grid: Grid, dihedral: int) -> Grid:
    """Turn a grid by one of the eight symmetries, numbered as in DIHEDRAL_NAMES."""
    swap, rows, columns = DIHEDRAL_READS[dihedral]
    turned = grid[:: -1 if rows else 1, :: -1 if columns else 1]
    return turned.T if swap else turned


@dataclass(frozen=True)
class View:
    """Recolour by `colors` (cell c becomes colors[c]), then turn by `dihedral`; the two commute."""

    dihedral: int = 0
    colors: tuple[int, ...] = tuple(range(COLORS))

    def __post_init__(self) -> None:
        problem = f"a view needs an integer and ten colours, got {self.dihedral!r} and {self.colors!r}"
        with charm_errors(problem, TypeError):  # a list or an array of colours becomes a tuple, which can be hashed
            object.__setattr__(self, "dihedral", index(self.dihedral))
            object.__setattr__(self, "colors", tuple(map(index, self.colors)))
        if not 0 <= self.dihedral < DIHEDRALS:
            raise CharmError(f"dihedral must be in 0..{DIHEDRALS - 1}, got {self.dihedral}")
        if sorted(self.colors) != list(range(COLORS)) or self.colors[0] != 0:
            raise CharmError(f"colours must be a permutation of 0..9 that keeps 0 fixed, got {self.colors}")

    def apply(self, grid: Grid) -> Grid:
        return np.ascontiguousarray(turn(np.asarray(self.colors, np.uint8)[grid], self.dihedral))

    def invert(self, grid: Grid) -> Grid:
        return self.inverse.apply(grid)

    @property
    def inverse(self) -> View:
        return View(DIHEDRAL_INVERSE[self.dihedral], tuple(int(c) for c in np.argsort(self.colors)))

    def apply_to_pair(self, pair: Pair) -> Pair:
        return Pair(self.apply(pair.input), None if pair.output is None else self.apply(pair.output))

    def apply_to_task(self, task: Task) -> Task:
        return Task(task.id, *(tuple(map(self.apply_to_pair, part)) for part in (task.train, task.test)))

    @property
    def code(self) -> int:
        """The view as one number below 8 x 9! (22 bits), 0 for the identity."""
        return int(encode(np.array([self.dihedral]), np.array([self.colors]))[0])

    @staticmethod
    def from_code(code: int) -> View:
        dihedral, colors = decode(np.array([code]))
        return View(int(dihedral[0]), tuple(int(c) for c in colors[0]))

    def _repr_html_(self) -> str:
        """Draw what the view does, for a notebook."""
        from charm.tasks.pictures import view_html

        return view_html(self)

    def __str__(self) -> str:
        return f"{DIHEDRAL_NAMES[self.dihedral]}, colours {''.join(map(str, self.colors))}"


IDENTITY = View()


def encode(dihedral_N: npt.NDArray[np.integer], colors_NC: npt.NDArray[np.integer]) -> npt.NDArray[np.uint32]:
    """Return the codes of many views: the symmetry, then the permutation's rank in lexicographic order."""
    symbols = np.asarray(colors_NC)[:, 1:]
    rank = np.zeros(len(symbols), np.int64)
    for place in range(COLORS - 1):
        # Lehmer digit: how many later symbols are smaller than this one.
        smaller = (symbols[:, place + 1 :] < symbols[:, place, None]).sum(axis=1)
        rank = rank * (COLORS - 1 - place) + smaller
    return (np.asarray(dihedral_N, np.int64) * PERMUTATIONS + rank).astype(np.uint32)


def decode(codes_N: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Invert `encode`: return dihedral [N] and colours [N, 10]."""
    dihedral, rank = np.divmod(np.asarray(codes_N, np.int64), PERMUTATIONS)
    symbols = np.empty((len(rank), COLORS - 1), np.uint8)
    for place in range(COLORS - 2, -1, -1):
        rank, digit = np.divmod(rank, COLORS - 1 - place)
        symbols[:, place] = digit
    # Undo the Lehmer code from the back: a symbol at or above the one before it moves up by one.
    for place in range(COLORS - 3, -1, -1):
        later = symbols[:, place + 1 :]
        later += later >= symbols[:, place, None]
    colors = np.zeros((len(symbols), COLORS), np.uint8)
    colors[:, 1:] = symbols + 1
    return dihedral.astype(np.uint8), colors
