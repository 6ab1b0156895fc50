"""Yellow figures turn green and shine yellow beams onto the sky-blue line; from there sky blue goes on to the far edge
and pushes the red cells it meets there, so that they pile up at the edge."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, place, random_shape, to_top, undo_to_top

RED, GREEN, YELLOW, SKY = 2, 3, 4, 8
SIDE = 30


def generate(rng: Random) -> tuple[Grid, Grid]:
    """Drawn with the figures above the line, then turned."""
    line = rng.randint(6, 13)
    base = rng.randint(line + 8, 26)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    heights = [rng.choice([1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5]) for _ in range(SIDE)]
    for grid in (before, after):
        grid[line] = SKY
        for column, height in enumerate(heights):
            grid[base - height + 1 : base + 1, column] = RED
    sizes = [(rng.randint(1, 3), rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6])) for _ in range(rng.randint(3, 6))]
    for (height, width), (_, left) in zip(
        sizes, place(rng, (1, SIDE), [(1, w) for _, w in sizes]), strict=True
    ):
        figure = random_shape(rng, height, width, rng.uniform(0.5, 1))
        top = rng.randint(0, line - 2 - height)
        for column in range(width):
            rows = np.flatnonzero(figure[:, column]) + top
            if rows[-1] - rows[0] >= len(rows):
                raise Retry  # a gap inside the figure: would the beam fill it?
            before[rows, left + column] = YELLOW
            after[rows, left + column] = GREEN
            after[rows[-1] + 1 : line, left + column] = YELLOW
            after[line + 1 :, left + column] = SKY
            after[SIDE - heights[left + column] :, left + column] = RED
    side = rng.choice(SIDES)
    return undo_to_top(before, side), undo_to_top(after, side)


def verify(grid: Grid) -> Grid:
    for side in SIDES:
        output = to_top(grid, side).copy()
        lines = np.flatnonzero((output == SKY).all(axis=1))
        if len(lines) and not (output[lines[0] :] == YELLOW).any():
            break
    (line,) = lines
    for cells in output.T:  # a view: each column is changed in place
        figure = np.flatnonzero(cells == YELLOW)
        if len(figure):
            cells[figure[-1] + 1 : line] = YELLOW
            cells[figure] = GREEN
            pushed = np.count_nonzero(cells == RED)
            cells[line:] = SKY
            cells[len(cells) - pushed :] = RED
    return undo_to_top(output, side)
