"""The red frame is cut out, and the four coloured squares in it are enlarged to fill it, a quarter each."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, box, canvas, colors, fill, frame, upscale

SIDE, RED = 14, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    block = rng.choice(
        [1, 2, 2, 2]
    )  # side of a coloured square; the frame's inside is always four times as wide
    side = 4 * block + 2
    palette = colors(rng, 4, without=(0, RED, 7, 9))
    before, after = canvas(SIDE, SIDE), canvas(side, side)
    top, left = rng.randint(0, SIDE - side), rng.randint(0, SIDE - side)
    frame(before, top, left, side, side, RED)
    frame(after, 0, 0, side, side, RED)
    down, right = rng.randint(1, 2 * block + 1), rng.randint(1, 2 * block + 1)
    for number, color in enumerate(palette):
        row, column = divmod(number, 2)
        fill(before, top + down + row * block, left + right + column * block, block, block, color)
        fill(after, 1 + row * 2 * block, 1 + column * 2 * block, 2 * block, 2 * block, color)
    return before, after


def verify(grid: Grid) -> Grid:
    """Reads the squares as one picture and enlarges it to the inside of the frame."""
    picture, side = _picture(grid)
    # By index, not by factor: the inside need not be a multiple of the picture.
    rows, columns = (np.arange(side - 2) * length // (side - 2) for length in picture.shape)
    return np.pad(picture[np.ix_(rows, columns)], 1, constant_values=RED)


def rival_twice(grid: Grid) -> Grid:
    """The squares become twice as wide, whatever the frame."""
    picture, _ = _picture(grid)
    return np.pad(upscale(picture, 2), 1, constant_values=RED)


def _picture(grid: Grid) -> tuple[Grid, int]:
    """The coloured squares, cut out, and the side of the frame."""
    top, left, height, width = box((grid > 0) & (grid != RED))
    return grid[top : top + height, left : left + width], box(grid == RED)[2]
