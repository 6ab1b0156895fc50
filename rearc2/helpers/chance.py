"""Chance: colours, noise and random shapes, all drawn from the `random.Random` that is passed in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import TypeVar

import numpy as np

from rearc2.helpers.grid import Grid, Mask

T = TypeVar("T")


class Retry(Exception):
    """Raised inside `generate` when a draw leads nowhere; whoever called draws again, a bounded number of times."""


def retrying(make: Callable[[], T], tries: int = 100) -> T:
    """make()'s first result that is not a Retry; the last Retry goes on to the caller."""
    for left in reversed(range(tries)):
        try:
            return make()
        except Retry:
            if not left:
                raise
    raise ValueError("tries must be positive")


def mostly(rng: Random, low: int, near: int, high: int) -> int:
    """A whole number from `low` on, in three of four draws up to `near`, else up to `high`."""
    return rng.randint(low, max(low, near) if rng.random() < 0.75 else max(low, high))


def colors(rng: Random, count: int, without: Collection[int] = (0,)) -> list[int]:
    """`count` distinct colours in random order, none of them in `without`."""
    return rng.sample([color for color in range(10) if color not in without], count)


def scatter(rng: Random, shape: tuple[int, int], density: float) -> Mask:
    """A mask whose cells are set independently with probability `density`."""
    # From the generator's own bytes: the stream of random.Random is the same in every version, NumPy's is not.
    draws = np.frombuffer(rng.randbytes(4 * shape[0] * shape[1]), "<u4").reshape(shape)
    return np.asarray(draws < density * 2**32)


def random_cells(rng: Random, shape: tuple[int, int], palette: Sequence[int]) -> Grid:
    """A grid whose cells are drawn independently from `palette`; repeat a colour there to make it likelier."""
    draws = np.frombuffer(rng.randbytes(4 * shape[0] * shape[1]), "<u4").astype(np.int64).reshape(shape)
    return np.asarray(np.array(palette)[draws * len(palette) >> 32])


def random_shape(rng: Random, height: int, width: int, density: float = 0.5, diagonal: bool = False) -> Mask:
    """A connected shape that touches all four sides of its box and fills about `density` of it.

    With `diagonal` it is connected over corners too, else over edges alone.
    """
    shape = np.zeros((height, width), bool)
    hub = rng.randrange(height), rng.randrange(width)
    for end in (
        (0, rng.randrange(width)),
        (height - 1, rng.randrange(width)),
        (rng.randrange(height), 0),
        (rng.randrange(height), width - 1),
    ):
        _walk(rng, shape, hub, end, diagonal)
    steps = [(-1, 0), (1, 0), (0, -1), (0, 1)]
    steps += [(-1, -1), (-1, 1), (1, -1), (1, 1)] if diagonal else []
    cells = [(int(r), int(c)) for r, c in np.argwhere(shape)]
    while len(cells) < density * height * width:
        row, column = rng.choice(cells)
        down, right = rng.choice(steps)
        row, column = row + down, column + right
        if 0 <= row < height and 0 <= column < width and not shape[row, column]:
            shape[row, column] = True
            cells.append((row, column))
    return shape


def symmetric_shape(rng: Random, height: int, width: int, density: float = 0.5, flips: str = "lr") -> Mask:
    """A shape like `random_shape`'s (over edges) with mirror symmetry: left-right "lr", up-down "ud" or "both"."""
    # Half the density: the mirror image adds nearly as much again. A shape that spans its box crosses the
    # axis over an edge, where it meets its image, so that the union is connected too.
    shape = random_shape(rng, height, width, density / (4 if flips == "both" else 2))
    if flips in ("lr", "both"):
        shape = shape | shape[:, ::-1]
    if flips in ("ud", "both"):
        shape = shape | shape[::-1]
    return shape


def _walk(rng: Random, shape: Mask, start: tuple[int, int], end: tuple[int, int], diagonal: bool) -> None:
    """Sets the cells of a shortest way from start to end, chosen at random."""
    row, column = start
    shape[row, column] = True
    while (row, column) != end:
        down = (end[0] > row) - (end[0] < row)
        right = (end[1] > column) - (end[1] < column)
        if down and right and not (diagonal and rng.random() < 0.5):
            down, right = (down, 0) if rng.random() < 0.5 else (0, right)
        row, column = row + down, column + right
        shape[row, column] = True
