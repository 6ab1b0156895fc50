"""Two copies of one figure, one of them damaged: the output shows the missing cells in sky blue, cut out."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Retry,
    box,
    canvas,
    colors,
    crop,
    label,
    objects,
    paint,
    place,
    random_cells,
    scatter,
)

MISSING = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    figure = _figure(rng)
    height, width = figure.shape
    thick = rng.randint(2, 4)
    first = rng.randint(1, height - thick - 1)
    gone = np.zeros(figure.shape, bool)
    gone[first : first + thick] = scatter(rng, (thick, width), rng.uniform(0.25, 0.6))
    gone &= figure != 0
    damaged = np.where(gone, 0, figure)
    # The damage spans the figure's width and leaves its box as it is.
    whole_width = gone[:, 0].any() and gone[:, -1].any()
    if not whole_width or gone.any(axis=1).sum() < thick or box(damaged != 0) != (0, 0, height, width):
        raise Retry
    shape = rng.randint(20, 30), rng.randint(20, 30)
    grid = canvas(*shape)
    places = place(rng, shape, [figure.shape] * 2)
    for image, (top, left) in zip((figure, damaged), places, strict=True):
        paint(grid, image, top, left)
    return grid, np.where(gone[first : first + thick], MISSING, 0)


def _figure(rng: Random) -> Grid:
    """Connected and left-right symmetric: bands of equal rows, each a run of cells with or without a gap inside."""
    palette = colors(rng, rng.randint(3, 6), without=(0, MISSING))
    width, height = rng.randint(6, 10), rng.randint(7, 14)
    half = (width + 1) // 2
    rows: list[Grid] = []
    while len(rows) < height:
        row = random_cells(rng, (1, half), palette)[0]
        reach = rng.choice([half, half, half, half - 1, half - 2])
        row[: half - reach] = 0
        if rng.random() < 0.15:
            row[rng.randrange(half)] = 0
        rows += [np.concatenate([row, row[: width // 2][::-1]])] * rng.choice([1, 1, 1, 2, 3, 5])
    figure = np.array(rows[:height])
    if label(figure != 0)[1] > 1 or box(figure != 0) != (0, 0, height, width):
        raise Retry
    return figure


def verify(grid: Grid) -> Grid:
    return crop(_missing(grid))


def rival(grid: Grid) -> Grid:
    """The rows of the figure that are damaged, in their full width."""
    missing = _missing(grid)
    return missing[missing.any(axis=1)]


def _missing(grid: Grid) -> Grid:
    # No part of the damaged figure is as large as the whole one.
    whole = max(objects(grid, same_color=False), key=lambda thing: thing.size)
    rest = grid.copy()
    rest[whole.slices][whole.mask] = 0
    return np.where(whole.mask & (crop(rest) == 0), MISSING, 0)
