"""The square pattern repeats over the whole grid; the black patches are filled in."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, fill, label, random_cells, retrying

LINE = 1
SIDE = 25


def generate(rng: Random) -> tuple[Grid, Grid]:
    # At least so many pieces of one colour between the lines: the official patterns are finer than most.
    pieces = rng.choice([0, 100, 150, 210])
    return retrying(lambda: _draw(rng, pieces), tries=300)


def _draw(rng: Random, pieces: int) -> tuple[Grid, Grid]:
    period = rng.randint(4, 9)
    palette = [2, 5, *rng.sample([3, 4, 6, 7, 8, 9], rng.choice([0, 1, 1]))]
    half = period // 2
    corner = random_cells(
        rng, (half, half), 3 * palette + [LINE] * rng.choice([0, 1, len(palette), 2 * len(palette)])
    )
    if rng.random() < 0.5:
        corner[rng.randrange(half)] = corner[:, rng.randrange(half)] = LINE
    if len(np.unique(corner[corner != LINE])) < 2:
        raise Retry  # hardly a pattern; a corner all of lines would make the grid plain
    # The tile is a first row and column of lines and a part with mirror symmetry, up-down and left-right.
    mirrored = [*range(half), *reversed(range(period - 1 - half))]
    tile = np.pad(corner[np.ix_(mirrored, mirrored)], ((1, 0), (1, 0)), constant_values=LINE)
    repeats = -(-SIDE // period)
    after = np.tile(tile, (repeats, repeats))[:SIDE, :SIDE]
    if pieces:
        # No piece crosses the lines between the tiles, so whole and cut tiles are counted once each.
        whole, rest = divmod(SIDE, period)
        below, beside, corner = tile[:rest], tile[:, :rest], tile[:rest, :rest]
        if whole * (whole * _count(tile) + _count(below) + _count(beside)) + _count(corner) < pieces:
            raise Retry
    before = after.copy()
    for _ in range(rng.randint(4, 7)):
        height, width = rng.randint(2, 6), rng.randint(2, 6)
        fill(before, rng.randint(1, SIDE - height - 1), rng.randint(1, SIDE - width - 1), height, width, 0)
    for r in range(period):
        for c in range(period):
            if np.count_nonzero(before[r::period, c::period]) < 2:
                raise Retry
    return before, after


def _count(tile: Grid) -> int:
    """How many pieces of one colour there are between the lines."""
    return sum(label(tile == color)[1] for color in set(tile.ravel().tolist()) - {LINE})


def verify(grid: Grid) -> Grid:
    framed = np.pad(grid, (0, SIDE))
    # The smallest tile that agrees with everything that can be seen and leaves nothing open.
    sizes = [(height, width) for height in range(1, SIDE) for width in range(1, SIDE)]
    for height, width in sorted(sizes, key=lambda size: size[0] * size[1]):
        rows, columns = -(-SIDE // height), -(-SIDE // width)
        copies = framed[: rows * height, : columns * width].reshape(rows, height, columns, width)
        tile = copies.max(axis=(0, 2))
        if np.all((copies == 0) | (copies == tile[None, :, None])) and tile.all():
            return np.tile(tile, (rows, columns))[:SIDE, :SIDE]
    raise ValueError("the grid does not repeat a tile")
