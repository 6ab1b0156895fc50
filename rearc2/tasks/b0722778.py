"""In every band the first 2x2 block becomes the second by a change: left and right swap (blocks with one odd cell), a
quarter turn (two stripes), or other colours. The answer is the third block after the same change."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    bands = rng.randint(3, 6)
    before, after = canvas(3 * bands - 1, 9), canvas(3 * bands - 1, 2)
    for top in range(0, 3 * bands, 3):
        first, second, third, answer = _band(rng)
        before[top : top + 2, 0:2] = first
        before[top : top + 2, 3:5] = second
        before[top : top + 2, 7:9] = third
        after[top : top + 2] = answer
    return before, after


def _band(rng: Random) -> tuple[Grid, Grid, Grid, Grid]:
    change = rng.choice(["mirror", "turn", "colours"])
    old, new = colors(rng, 2), colors(rng, 2)
    if change == "mirror":
        # One odd cell, in the same row of both blocks.
        row = rng.randrange(2)
        first, third = _odd(old, row, rng.randrange(2)), _odd(new, row, rng.randrange(2))
        return first, first[:, ::-1], third, third[:, ::-1]
    if change == "turn":
        # Two stripes, which lie the same way in both blocks.
        turns = rng.choice([1, -1])
        first, third = np.array([[old[0]] * 2, [old[1]] * 2]), np.array([[new[0]] * 2, [new[1]] * 2])
        if rng.random() < 0.5:
            first, third = first.T, third.T
        return first, np.rot90(first, turns), third, np.rot90(third, turns)
    while set(new) == set(old):
        new = colors(rng, 2)
    shapes = [_shape(rng), _shape(rng)]
    before, after = np.array(old), np.array(new)
    return before[shapes[0]], after[shapes[0]], before[shapes[1]], after[shapes[1]]


def _odd(pair: list[int], row: int, column: int) -> Grid:
    block = np.full((2, 2), pair[0])
    block[row, column] = pair[1]
    return block


def _shape(rng: Random) -> Grid:
    """One odd cell, or two stripes, in zeros and ones."""
    shape = np.array(rng.choice([[[0, 1], [0, 1]], [[0, 0], [1, 1]], [[1, 0], [0, 0]], [[1, 1], [1, 0]]]))
    return np.rot90(shape, rng.randrange(4))


def verify(grid: Grid) -> Grid:
    output = np.zeros((grid.shape[0], 2), np.int64)
    for top in range(0, grid.shape[0], 3):
        first, second, third = (grid[top : top + 2, left : left + 2] for left in (0, 3, 7))
        # An odd cell that changes sides could also have been turned; officially it is always the mirror.
        images = [(first[:, ::-1], third[:, ::-1])]
        images += [(np.rot90(first, turns), np.rot90(third, turns)) for turns in (1, -1)]
        answers = [answer for image, answer in images if (image == second).all()]
        if not answers:
            recolor = dict(zip(first.ravel().tolist(), second.ravel().tolist(), strict=True))
            answers = [np.array([[recolor[cell] for cell in row] for row in third.tolist()])]
        output[top : top + 2] = answers[0]
    return output
