"""The two red cells of the margins say by how much the picture moves down and to the right, round the edges: a mark
beside the first row or above the first column means no move. The margins go away."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

CORNER, MARGIN, MARK = 7, 6, 2
SIDE = 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    picture = _patches(rng)
    down, right = rng.randrange(SIDE), rng.randrange(SIDE)
    before = canvas(SIDE + 1, SIDE + 1, MARGIN)
    before[0, 0] = CORNER
    before[1 + down, 0] = before[0, 1 + right] = MARK
    before[1:, 1:] = picture
    return before, np.roll(picture, (down, right), axis=(0, 1))


def _patches(rng: Random) -> Grid:
    """Patches of all six colours: seeds that spread until the square is full."""
    picture = canvas(SIDE, SIDE)
    places = [(row, column) for row in range(SIDE) for column in range(SIDE)]
    palette = colors(rng, 6, without=(0, CORNER, MARGIN, MARK))
    for number, place in enumerate(rng.sample(places, rng.randint(6, 8))):
        picture[place] = palette[number % 6]
    while not picture.all():
        row, column = rng.choice(places)
        down, right = rng.choice([(0, 1), (1, 0), (0, -1), (-1, 0)])
        near = row + down, column + right
        if picture[row, column] and near in places and not picture[near]:
            picture[near] = picture[row, column]
    return picture


def verify(grid: Grid) -> Grid:
    down = int(np.flatnonzero(grid[1:, 0] == MARK)[0])
    right = int(np.flatnonzero(grid[0, 1:] == MARK)[0])
    rows, columns = (np.arange(SIDE) - down) % SIDE, (np.arange(SIDE) - right) % SIDE
    return grid[1:, 1:][np.ix_(rows, columns)]
