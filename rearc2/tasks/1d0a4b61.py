"""The square pattern repeats over the whole grid; the black patches are filled in."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, fill, random_cells, retrying

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
    if len(set(corner.ravel().tolist()) - {LINE}) < 2:
        raise Retry  # hardly a pattern; a corner all of lines would make the grid plain
    # The tile is a first row and column of lines and a part with mirror symmetry, up-down and left-right.
    mirrored = [*range(half), *reversed(range(period - 1 - half))]
    tile = np.full((period, period), LINE)
    tile[1:, 1:] = corner[mirrored][:, mirrored]
    if pieces:
        # No piece crosses the lines between the tiles, so whole and cut tiles are counted once each.
        whole, rest = divmod(SIDE, period)
        below, beside, corner = tile[:rest], tile[:, :rest], tile[:rest, :rest]
        if whole * (whole * _count(tile) + _count(below) + _count(beside)) + _count(corner) < pieces:
            raise Retry
    repeats = -(-SIDE // period)
    after = np.tile(tile, (repeats, repeats))[:SIDE, :SIDE]
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
    stride = tile.shape[1] + 1  # a line beside each row and below the last one
    cells = [LINE] * stride
    for row in tile.tolist():
        cells += [*row, LINE]
    cells += [LINE] * stride
    count = 0
    for first, color in enumerate(cells):
        if color != LINE:
            count += 1
            cells[first] = LINE
            piece = [first]
            for place in piece:
                for step in (-stride - 1, -stride, -stride + 1, -1, 1, stride - 1, stride, stride + 1):
                    if cells[place + step] == color:
                        cells[place + step] = LINE
                        piece.append(place + step)
    return count


def verify(grid: Grid) -> Grid:
    framed = np.pad(grid, (0, SIDE))
    # The smallest tile that agrees with everything that can be seen and leaves nothing open.
    sizes = [(height, width) for height in _periods(grid) for width in _periods(grid.T)]
    for height, width in sorted(sizes, key=lambda size: size[0] * size[1]):
        rows, columns = -(-SIDE // height), -(-SIDE // width)
        copies = framed[: rows * height, : columns * width].reshape(rows, height, columns, width)
        tile = copies.max(axis=(0, 2))
        if np.all((copies == 0) | (copies == tile[None, :, None])) and tile.all():
            return np.tile(tile, (rows, columns))[:SIDE, :SIDE]
    raise ValueError("the grid does not repeat a tile")


def _periods(grid: Grid) -> list[int]:
    """The distances at which rows that follow each other agree in everything that can be seen."""
    seen = grid > 0
    return [
        step
        for step in range(1, SIDE)
        if ((grid[step:] == grid[:-step]) | ~seen[step:] | ~seen[:-step]).all()
    ]
