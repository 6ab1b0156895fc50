"""Every sign that equals the sky blue sign turns sky blue; signs that lie between two of these in a row or column of
signs turn orange."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, label, random_shape, scatter

PLAIN, BETWEEN, LIKE = 1, 7, 8
ROWS, COLUMNS = 4, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    signs = [_sign(rng) for _ in range(rng.randint(4, 7))]
    if len({sign.tobytes() for sign in signs}) < len(signs):
        raise Retry
    places = [(r, c) for r in range(ROWS) for c in range(COLUMNS)]
    like = rng.sample(places, rng.randint(3, 8))
    known = rng.choice(like)
    before, after = canvas(4 * ROWS + 1, 4 * COLUMNS + 1), canvas(4 * ROWS + 1, 4 * COLUMNS + 1)
    found = 0
    for r, c in places:
        sign, color = rng.choice(signs[1:]), PLAIN
        if (r, c) in like:
            sign, color = signs[0], LIKE
        else:
            beside = {column > c for row, column in like if row == r}
            above = {row > r for row, column in like if column == c}
            if len(beside) == 2 or len(above) == 2:  # on both sides
                color, found = BETWEEN, found + 1
        after[4 * r + 1 : 4 * r + 4, 4 * c + 1 : 4 * c + 4] = sign * color
        before[4 * r + 1 : 4 * r + 4, 4 * c + 1 : 4 * c + 4] = sign * (LIKE if (r, c) == known else PLAIN)
    if found < 3:
        raise Retry
    return before, after


def _sign(rng: Random) -> Mask:
    """A connected sign that spans three by three cells, mostly with mirror symmetry; or a dot."""
    if rng.random() < 0.1:
        return np.pad(np.ones((1, 1), bool), 1)
    if rng.random() < 0.4:
        return random_shape(rng, 3, 3, 0.6, diagonal=True)
    sign = scatter(rng, (3, 3), 0.6)
    sign = sign | sign[:, ::-1]
    if not (sign.any(axis=0).all() and sign.any(axis=1).all()) or label(sign)[1] != 1:
        raise Retry
    return sign


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    cells = output[1:, 1:].reshape(ROWS, 4, COLUMNS, 4).swapaxes(1, 2)[:, :, :3, :3]
    known = cells[(cells == LIKE).any(axis=(2, 3))][0] == LIKE
    like = ((cells != 0) == known).all(axis=(2, 3))
    # Between two of them: some before it and some after it along a line.
    between = np.zeros_like(like)
    for axis in (0, 1):
        seen = np.logical_or.accumulate(like, axis)
        to_come = np.flip(np.logical_or.accumulate(np.flip(like, axis), axis), axis)
        between |= seen & to_come & ~like
    for r, c in np.argwhere(like | between):
        part = output[4 * r + 1 : 4 * r + 4, 4 * c + 1 : 4 * c + 4]
        part[part != 0] = LIKE if like[r, c] else BETWEEN
    return output
