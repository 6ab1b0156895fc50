"""Every square with a middle cell (odd side) gets the plus's colour there. The plus stays if most of the squares have
a middle; else it disappears."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, Thing, canvas, colors, fill, grow, objects, place, spots

GROUND = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    plus, square = colors(rng, 2, without=(0, 2, 5, 6, GROUND))
    stays = rng.random() < 0.5
    # The official pairs leave open what "many" is; see the rivals. All of them agree on these numbers.
    if stays:
        sides = [1] * rng.randint(3, 5)
        sides += [rng.choice([3, 3, 3, 5, 7]) for _ in range(rng.randint(2, 4))]
        sides += [rng.choice([2, 2, 4]) for _ in range(rng.randint(max(2, 8 - len(sides)), 4))]
    else:
        sides = [rng.choice([1, 3])] + [rng.choice([3, 5]) for _ in range(rng.randint(1, 2))]
        sides += [rng.choice([2, 2, 4, 4, 6]) for _ in range(rng.randint(len(sides), 6 - len(sides)))]
    before = canvas(16, 16, GROUND)
    after = before.copy()
    corners = _corners(rng, sides) if stays else place(rng, before.shape, [(3, 3), *((n, n) for n in sides)])
    corner, *corners = corners
    middles = [(t + n // 2, c + n // 2) for n, (t, c) in zip(sides, corners, strict=True) if n % 2]
    if not stays and any(row == corner[0] + 1 or column == corner[1] + 1 for row, column in middles):
        raise Retry
    for grid in (before, after) if stays else (before,):
        fill(grid, corner[0] + 1, corner[1], 1, 3, plus)
        fill(grid, corner[0], corner[1] + 1, 3, 1, plus)
    for side, (top, left) in zip(sides, corners, strict=True):
        fill(before, top, left, side, side, square)
        fill(after, top, left, side, side, square)
        if side % 2:
            after[top + side // 2, left + side // 2] = plus
    if 2 * (before == GROUND).sum() <= before.size:
        raise Retry
    return before, after


def _corners(rng: Random, sides: list[int]) -> list[tuple[int, int]]:
    """Places for the plus and the squares; one odd square is level with the plus, another above or below it."""
    top, left = rng.randrange(14), rng.randrange(14)
    taken = np.zeros((16, 16), bool)
    taken[top : top + 3, left : left + 3] = True
    found = {}
    level, upright = rng.sample([number for number, side in enumerate(sides) if side % 2], 2)
    for number in (level, upright):
        side = sides[number]
        free = spots(grow(taken), side, side).tolist()
        fitting = [
            (row, column)
            for row, column in free
            if (row + side // 2 == top + 1 if number == level else column + side // 2 == left + 1)
        ]
        if not fitting:
            raise Retry
        row, column = found[number] = rng.choice(fitting)
        taken[row : row + side, column : column + side] = True
    rest = [number for number in range(len(sides)) if number not in found]
    found |= dict(
        zip(rest, place(rng, taken.shape, [(sides[n], sides[n]) for n in rest], taken=taken), strict=True)
    )
    return [(top, left), *(found[number] for number in range(len(sides)))]


def verify(grid: Grid) -> Grid:
    plus, squares = _plus_and_squares(grid)
    odd = sum(square.height % 2 for square in squares)
    return _marked(grid, plus, squares, stays=2 * odd > len(squares))


def rival_five(grid: Grid) -> Grid:
    """The plus stays if there are as many middles as it has cells."""
    plus, squares = _plus_and_squares(grid)
    return _marked(grid, plus, squares, stays=sum(square.height % 2 for square in squares) >= plus.size)


def rival_all(grid: Grid) -> Grid:
    """The plus stays among many squares, whatever their sides."""
    plus, squares = _plus_and_squares(grid)
    return _marked(grid, plus, squares, stays=len(squares) > 6)


def rival_dots(grid: Grid) -> Grid:
    """The plus stays among several squares of a single cell."""
    plus, squares = _plus_and_squares(grid)
    return _marked(grid, plus, squares, stays=sum(square.size == 1 for square in squares) > 1)


def rival_level(grid: Grid) -> Grid:
    """The plus stays if a middle lies in its row and another in its column."""
    plus, squares = _plus_and_squares(grid)
    return _marked(grid, plus, squares, stays=all(_in_line(plus, squares)))


def rival_in_line(grid: Grid) -> Grid:
    """The plus stays if a middle lies in its row or its column."""
    plus, squares = _plus_and_squares(grid)
    return _marked(grid, plus, squares, stays=any(_in_line(plus, squares)))


def _in_line(plus: Thing, squares: list[Thing]) -> tuple[bool, bool]:
    """Whether a middle lies in the plus's row, and whether one lies in its column."""
    odd = [square for square in squares if square.height % 2]
    level = any(square.top + square.height // 2 == plus.top + 1 for square in odd)
    return level, any(square.left + square.width // 2 == plus.left + 1 for square in odd)


def _plus_and_squares(grid: Grid) -> tuple[Thing, list[Thing]]:
    things = objects(grid, GROUND)
    (plus,) = [thing for thing in things if not thing.mask.all()]
    return plus, [thing for thing in things if thing is not plus]


def _marked(grid: Grid, plus: Thing, squares: list[Thing], stays: bool) -> Grid:
    output = grid.copy()
    if not stays:
        output[plus.slices] = GROUND
    for square in squares:
        if square.height % 2:
            output[square.top + square.height // 2, square.left + square.width // 2] = plus.color
    return output
