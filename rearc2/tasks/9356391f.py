"""The top row lists colours: the first is the dot's, the others are the colours of the square rings around it, from
inside out, a blank being an empty ring. A ring that does not fit into the grid is cut off and its colour in the list
turns grey."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, frame, objects

SIDE, GREY = 16, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    cut = rng.random() < 0.4  # only ever the last ring, by one cell
    length = rng.randint(4, 7) if cut else rng.randint(3, 6)
    key = _key(rng, length)
    if cut:
        key[-2] = 0  # else that ring would touch the border, and whether it then fits is never shown
    reach = length - 1
    rooms = {(r, c): min(SIDE - 1 - r, c, SIDE - 1 - c) for r in range(3 + reach, SIDE) for c in range(SIDE)}
    dots = [dot for dot, room in rooms.items() if (room == reach - 1 if cut else room > reach)]
    row, column = rng.choice(dots)
    before = canvas(SIDE, SIDE)
    before[0, :length], before[1], before[row, column] = key, GREY, key[0]
    after = before.copy()
    for radius in range(1, length):
        size = 2 * radius + 1
        ring = canvas(SIDE + 2, SIDE + 2)  # a spare border: what lies on it is cut off
        frame(ring, row - radius + 1, column - radius + 1, size, size, key[radius])
        after[ring[1:-1, 1:-1] > 0] = key[radius]
    if cut:
        after[0, reach] = GREY
    return before, after


def _key(rng: Random, length: int) -> list[int]:
    """Colours with repeats and blanks, but neither at the beginning; the last is no blank."""
    palette = colors(rng, length, without=(0, GREY))
    key = palette[:2]
    while len(key) < length - 1:
        chance = rng.random()
        key.append(0 if chance < 0.25 else key[-1] if chance < 0.45 else palette[len(key)])
    return [*key, palette[-1]]


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    key = grid[0, : 1 + np.flatnonzero(grid[0])[-1]]
    (dot,) = [thing for thing in objects(grid) if thing.top > 1]
    output = grid.copy()
    for r, c in np.ndindex(height, width):
        radius = max(abs(r - dot.top), abs(c - dot.left))
        if radius < len(key) and key[radius]:
            output[r, c] = key[radius]
    room = min(dot.top, dot.left, height - 1 - dot.top, width - 1 - dot.left)
    for radius in range(room + 1, len(key)):
        if key[radius]:
            output[0, radius] = GREY
    return output


def rival(grid: Grid) -> Grid:
    """A ring that touches the border is one that does not fit, too."""
    output = verify(grid)
    (dot,) = [thing for thing in objects(grid) if thing.top > 1]
    room = min(dot.left, grid.shape[0] - 1 - dot.top, grid.shape[1] - 1 - dot.left)
    too_far = (np.arange(grid.shape[1]) >= room) & (grid[0] > 0)
    output[0, too_far] = GREY
    return output
