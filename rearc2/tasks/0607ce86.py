"""Several copies of one block stand in rows and columns under noise. All noise goes: outside the blocks everything is
black, and each cell of a block takes the colour that most copies have there."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, most_common, random_cells, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(4, 6), rng.randint(4, 6)
    down, across = rng.choice([(3, 3), (3, 3), (3, 2), (2, 3), (4, 3), (3, 4)])
    if min(height * down, width * across) < 12:
        raise Retry
    palette = colors(rng, rng.choice([3, 3, 4]))
    block = _block(rng, height, width, palette)
    row_gap, column_gap = rng.randint(1, 2), rng.randint(1, 2)
    tops = [1 + number * (height + row_gap) for number in range(down)]
    left_margin = rng.randint(1, 2)
    lefts = [left_margin + number * (width + column_gap) for number in range(across)]
    shape = tops[-1] + height + rng.randint(3, 5), lefts[-1] + width + rng.randint(4, 6)
    if max(shape) > 30:
        raise Retry
    after, inside = canvas(*shape), np.zeros(shape, bool)
    for top in tops:
        for left in lefts:
            after[top : top + height, left : left + width] = block
            inside[top : top + height, left : left + width] = True
    noisy = scatter(rng, shape, rng.uniform(0.06, 0.14))
    noise_colors = rng.sample(palette, rng.choice([1, 2]))
    before = np.where(noisy, random_cells(rng, shape, noise_colors), after)
    # Few enough noise that the blocks stand out in every line and most copies are right in every cell.
    stray = noisy & ~inside
    if (stray.sum(axis=1) > width * across // 2).any() or (stray.sum(axis=0) > height * down // 2).any():
        raise Retry
    wrong = sum((before != after)[r : r + height, c : c + width].astype(int) for r in tops for c in lefts)
    if (2 * np.asarray(wrong) >= down * across).any():
        raise Retry
    return before, after


def _block(rng: Random, height: int, width: int, palette: list[int]) -> Grid:
    """A solid block of a few kinds of rows, most of them made of bands or with mirror symmetry."""
    rows = []
    while len(rows) < height:
        row = rng.choices(rng.sample(palette, rng.randint(1, min(3, len(palette)))), k=width)
        if rng.random() < 0.4:
            row.sort()
        elif rng.random() < 0.8:
            row[-(width // 2) :] = row[: width // 2][::-1]
        rows += [row] * rng.randint(1, 3)
    block = np.array(rows[:height])
    if set(block.ravel().tolist()) != set(palette):
        raise Retry
    return block


def verify(grid: Grid) -> Grid:
    rows = _runs((grid != 0).sum(axis=1))
    columns = _runs((grid != 0).sum(axis=0))
    copies = np.array([grid[r, c] for r in rows for c in columns])
    block = np.apply_along_axis(most_common, 0, copies)
    output = canvas(*grid.shape)
    for r in rows:
        for c in columns:
            output[r, c] = block
    return output


def _runs(counts: Grid) -> list[slice]:
    """The stretches of lines that blocks cross: those are much fuller than the lines that hold noise alone."""
    full = np.pad((counts > 0.6 * counts.max()).astype(int), 1)
    edges = np.flatnonzero(np.diff(full))
    return [slice(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True)]
