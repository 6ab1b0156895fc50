"""Every closed blue loop gets a red outline outside and a green one inside, corners included; open ones stay as they
are."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, grow, holes, objects, paint, place

LOOP, OUTER, INNER = 1, 2, 3
WRONG = {"train 2": "cell (13, 3) is red, though it does not touch the loop, not even at a corner"}
NOTHING_CLOSED = "train 1 has no closed loop, and pairs with equal grids are left out"
EXCEPTIONS = dict.fromkeys(["changed cells", "out colours", "out objects"], NOTHING_CLOSED)


def generate(rng: Random) -> tuple[Grid, Grid]:
    largest = min(30, rng.randint(8, 34))
    height, width = (rng.randint(max(8, largest - 5), largest) for _ in range(2))
    count = rng.randint(1, max(1, height * width // 90))
    bodies = [_body(rng, 5 if count > 6 else 8) for _ in range(count)]
    before, after = canvas(height, width), canvas(height, width)
    closed_chance = rng.uniform(0.3, 0.9)
    any_closed = False
    for body, (top, left) in zip(
        bodies, place(rng, before.shape, [b.shape for b in bodies], gap=2), strict=True
    ):
        padded = np.pad(body, 1)
        inside = padded & ~grow(~padded)
        loop = padded & ~inside
        if rng.random() < closed_chance:
            any_closed = True
            paint(after, grow(padded) & ~padded, top - 1, left - 1, OUTER)
            paint(after, inside & grow(loop), top - 1, left - 1, INNER)
        else:
            loop = _opened(rng, loop, inside)
        for grid in (before, after):
            paint(grid, loop, top - 1, left - 1, LOOP)
    if not any_closed:
        raise Retry
    return before, after


def _body(rng: Random, most: int) -> Mask:
    """A rectangle, or two that overlap so that the loop around them has one hole."""
    if rng.random() < 0.35:
        return np.ones((rng.randint(3, most), rng.randint(3, most)), bool)
    height, width = rng.randint(5, most + 1), rng.randint(5, most + 1)
    body = np.zeros((height, width), bool)
    body[: rng.randint(3, height), : rng.randint(3, width - 1)] = True
    first_height, first_width = int(body.any(axis=1).sum()), int(body.any(axis=0).sum())
    body[rng.randint(0, first_height - 3) :, rng.randint(0, first_width - 3) :] = True
    return body if rng.random() < 0.5 else body[:, ::-1]


def _opened(rng: Random, loop: Mask, inside: Mask) -> Mask:
    """The loop without a few cells, so that its inside lies open over an edge."""
    beside = np.argwhere(loop & grow(inside, diagonal=False)).tolist()
    opened = loop.copy()
    for row, column in rng.sample(beside, min(rng.randint(1, 3), len(beside))):
        opened[row, column] = False
    if holes(opened).any():
        raise Retry
    return opened


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    inside = holes(grid == LOOP)
    for thing in objects(grid):
        wall = np.zeros(grid.shape, bool)
        wall[tuple(np.array(thing.cells).T)] = True
        around = grow(wall) & ~wall
        if (around & inside).any():
            output[around] = np.where(inside[around], INNER, OUTER)
    return output
