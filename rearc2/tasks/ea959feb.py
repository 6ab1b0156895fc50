"""Every column counts upwards from the top, 1 to the highest colour over and over, and the columns repeat as well. Blue
patches hide parts of the pattern; the output restores it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, fill

SHAPE = (22, 25)
PATCH = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(5, 9)
    rows, columns = np.indices(SHAPE)
    after = (columns * (columns + rng.randrange(count)) + rows + rng.randrange(count)) % count + 1
    patches = np.zeros(SHAPE, np.int64)
    for _ in range(rng.randint(3, 7)):
        height, width = rng.randint(2, 6), rng.randint(2, 6)
        fill(patches, rng.randint(0, SHAPE[0] - height), rng.randint(0, SHAPE[1] - width), height, width, 1)
    # Each part of the pattern shows somewhere, so that its repetition alone suffices.
    for row in range(count):
        for column in range(count):
            if patches[row::count, column::count].all():
                raise Retry
    return np.where(patches > 0, PATCH, after), after


def verify(grid: Grid) -> Grid:
    count = int(grid.max())
    rows = np.arange(grid.shape[0])
    output = np.empty_like(grid)
    for column in range(grid.shape[1]):
        cells = grid[:, column]
        starts = (cells - rows) % count
        (start,) = np.unique(starts[cells != PATCH])
        output[:, column] = (rows + start - 1) % count + 1
    return output


def rival_period(grid: Grid) -> Grid:
    """Knows of no counting: finds the least repetition in which no cell contradicts another."""
    height, width = grid.shape
    for down in range(2, 11):
        for right in range(2, 11):
            cells = [[grid[r::down, c::right] for c in range(right)] for r in range(down)]
            if all(len(set(part.flat) - {PATCH}) <= 1 for row in cells for part in row):
                tile = np.array([[part.max() for part in row] for row in cells])
                return np.tile(tile, (height // down + 1, width // right + 1))[:height, :width]
    raise ValueError("nothing repeats")
