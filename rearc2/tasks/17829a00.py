"""Every figure moves, without turning, to the border line of its own colour: up to the top line or down to the bottom
line, past whatever has the other colour."""

from random import Random

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, grow, objects, paint, random_shape

GROUND = 7
SIDE = 16
WRONG = {"train 0": "the sky blue bar at the right is three cells long in the input, but five in the output"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    ceiling, floor = colors(rng, 2, without=(0, GROUND))
    before, after = canvas(SIDE, SIDE, GROUND), canvas(SIDE, SIDE, GROUND)
    for grid in (before, after):
        grid[0], grid[-1] = ceiling, floor
    for color in (ceiling, floor):
        # Figures of one colour share no column, so that none stops another.
        left = rng.randint(0, 2)
        while left < SIDE:
            figure = _figure(rng)
            height, width = figure.shape
            if left + width > SIDE:
                break
            row = _free_row(rng, before, grow(before == color), figure, left)
            paint(before, figure, row, left, color)
            paint(after, figure, 1 if color == ceiling else SIDE - 1 - height, left, color)
            left += width + rng.choice([0, 1, 1, 1, 2, 3, 4])
    return before, after


def _figure(rng: Random) -> Mask:
    height, width = rng.choice(
        [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (2, 3), (2, 3), (3, 1), (3, 3), (3, 3), (4, 3), (4, 4)]
    )
    return random_shape(rng, height, width, rng.uniform(0.3, 0.55), diagonal=True)


def _free_row(rng: Random, grid: Grid, near: Mask, figure: Mask, left: int) -> int:
    """A row where the figure covers nothing and touches nothing of its own colour."""
    height, width = figure.shape
    blocked = (grid != GROUND) | near
    rows = range(1, SIDE - height)
    free = [row for row in rows if not (blocked[row : row + height, left : left + width] & figure).any()]
    if not free:
        raise Retry
    return rng.choice(free)


def verify(grid: Grid) -> Grid:
    output = canvas(SIDE, SIDE, GROUND)
    ceiling, floor = grid[0, 0], grid[-1, 0]
    output[0], output[-1] = ceiling, floor
    inside = grid.copy()
    inside[[0, -1]] = GROUND
    for figure in objects(inside, GROUND):
        top = 1 if figure.color == ceiling else SIDE - 1 - figure.height
        paint(output, figure.patch, top, figure.left)
    return output
