"""The blocks, worn here and there, stand in rows and columns. The answer shows one cell of each block's colour, with
the columns in reverse order."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, crop, most_common, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(2, 4), rng.randint(2, 4)
    palette = colors(rng, rng.randint(4, min(9, rows * columns)))
    cells = [palette[number % len(palette)] for number in range(rows * columns)]
    table = np.array(rng.sample(cells, len(cells))).reshape(rows, columns)
    # Rows and columns of blocks that are alike could not be told apart.
    if (table[1:] == table[:-1]).all(axis=1).any() or (table[:, 1:] == table[:, :-1]).all(axis=0).any():
        raise Retry
    heights, widths = [rng.randint(3, 8) for _ in range(rows)], [rng.randint(3, 7) for _ in range(columns)]
    blocks = table.repeat(heights, axis=0).repeat(widths, axis=1)
    margins = [(rng.randint(1, 2), rng.randint(1, 5)) for _ in range(2)]
    if sum(heights) + sum(margins[0]) > 30 or sum(widths) + sum(margins[1]) > 30:
        raise Retry
    worn = scatter(rng, blocks.shape, rng.uniform(0.08, 0.18))
    whole = ~worn
    before = np.pad(np.where(worn, 0, blocks), margins)
    # All outer sides and all joints between blocks can still be seen.
    if not (whole[0].any() and whole[-1].any() and whole[:, 0].any() and whole[:, -1].any()):
        raise Retry
    for picture, kept, lengths in ((blocks, whole, heights), (blocks.T, whole.T, widths)):
        for edge in np.cumsum(lengths)[:-1]:
            if not ((picture[edge - 1] != picture[edge]) & kept[edge - 1] & kept[edge]).any():
                raise Retry
    return before, table[:, ::-1]


def verify(grid: Grid) -> Grid:
    picture = crop(grid)
    bands = np.split(picture, _edges(picture))
    table = [
        [most_common(block, without=[0]) for block in np.split(band, _edges(picture.T), axis=1)]
        for band in bands
    ]
    return np.array(table)[:, ::-1]


def _edges(picture: Grid) -> list[int]:
    """The rows where some block of another colour begins."""
    above, below = picture[:-1], picture[1:]
    return [
        int(row) + 1 for row in np.flatnonzero(((above != below) & (above > 0) & (below > 0)).any(axis=1))
    ]
