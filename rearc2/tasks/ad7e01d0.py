"""The picture is repeated in a grid of blocks as large as itself: a block holds the picture where the picture's own
cell is grey, and is empty elsewhere."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, paint, random_cells

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(3, 5)
    others = rng.choice([[2, 1, 0], [2, 3, 0], [2, 3], [2, 1, 3, 0]])
    picture = random_cells(rng, (side, side), [GREY] * rng.randint(1, 3) + others)
    style = rng.randrange(4)
    if style == 1:
        picture = np.where(np.tri(side, dtype=bool), picture, picture.T)
    if style == 2:
        picture[:, (side + 1) // 2 :] = picture[:, : side // 2][:, ::-1]
    count = (picture == GREY).sum()
    if not 2 <= count <= side * side - 2 or not (picture == 2).any():
        raise Retry
    after = canvas(side * side, side * side)
    for row, column in np.argwhere(picture == GREY):
        paint(after, picture, row * side, column * side)
    return picture, after


def verify(grid: Grid) -> Grid:
    return np.kron((grid == GREY).astype(np.int64), grid)
