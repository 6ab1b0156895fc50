"""Three yellow dots are three corners of a square, and at the free corner of one such square a red figure points
away. Every other square gets the same figure, turned with it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, label, objects, paint, place, scatter

DOT, FIGURE = 4, 2
WRONG = {
    "train 2": "the figure of the input, a full ring, loses two cells in the output, and its copies lack them too"
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.choice([2, 3, 3, 3, 4])
    noise = scatter(rng, (size, size), rng.choice([0.45, 1.0]) if size == 2 else 0.55)
    figure = np.triu(noise) | np.triu(noise).T  # symmetric like the squares of dots, whose turn then says all
    if not figure[0].any() or not figure[-1].any() or label(figure)[1] > 1 or figure.sum() < 3:
        raise Retry
    unit = canvas(size + 2, size + 2)
    paint(unit, figure, 2, 2, FIGURE)
    unit[0, 0] = unit[0, 2] = unit[2, 0] = DOT
    side = rng.randint(22, 30)
    count = rng.randint(3, 8)
    before, after = canvas(side, side), canvas(side, side)
    for number, (top, left) in enumerate(place(rng, (side, side), [unit.shape] * count)):
        turned = np.rot90(unit, rng.randrange(4))
        paint(after, turned, top, left)
        paint(before, turned if number == 0 else np.where(turned == DOT, DOT, 0), top, left)
    dots = np.pad(before == DOT, ((0, 2), (0, 2))).astype(int)
    if (dots[:-2, :-2] + dots[2:, :-2] + dots[:-2, 2:] + dots[2:, 2:] == 3).sum() != count:
        raise Retry  # dots of two squares look like one more
    return before, after


def verify(grid: Grid) -> Grid:
    squares = []  # the free corner, and the direction from the square's middle to it
    for top in range(grid.shape[0] - 2):
        for left in range(grid.shape[1] - 2):
            corners = grid[top : top + 3 : 2, left : left + 3 : 2]
            if (corners == DOT).sum() == 3:
                ((r, c),) = np.argwhere(corners != DOT).tolist()
                squares.append((top + 2 * r, left + 2 * c, 2 * r - 1, 2 * c - 1))
    (figure,) = objects(np.where(grid == FIGURE, FIGURE, 0))
    middle = (figure.top + figure.bottom) / 2, (figure.left + figure.right) / 2
    given = min(squares, key=lambda square: abs(square[0] - middle[0]) + abs(square[1] - middle[1]))
    steps = [((r - given[0]) * given[2], (c - given[1]) * given[3]) for r, c in figure.cells]
    output = grid.copy()
    for row, column, down, right in squares:
        for outward, sideward in steps:
            output[row + outward * down, column + sideward * right] = FIGURE
    return output
