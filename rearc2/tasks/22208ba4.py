"""Squares whose colour occurs in more than one corner of the grid move from the corner towards the middle, by their
own size in both directions; those with a colour of their own stay."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, fill, most_common, objects

GROUND = 7
# Which corners have the same colour: all four, three, or two. With two twos it is not clear which of them move.
ALIKE = ("aaaa", "aaab", "aaba", "abaa", "baaa", "aabc", "abac", "abca", "baac", "baca", "bcaa")


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(1, 5)
    # So large that moved squares meet no others but, in small grids, squares of their own colour.
    height, width = rng.randint(max(6, 3 * size + 1), 30), rng.randint(max(6, 3 * size + 1), 30)
    if rng.random() < 0.3:
        height, width = rng.randint(3 * size + 1, 4 * size + 2), rng.randint(3 * size + 1, 4 * size + 2)
    names = dict(zip("abc", colors(rng, 3, without=(GROUND,)), strict=True))
    corners = [(top, left) for top in (0, height - size) for left in (0, width - size)]
    before, after = canvas(height, width, GROUND), canvas(height, width, GROUND)
    for name, (top, left) in zip(rng.choice(ALIKE), corners, strict=True):
        fill(before, top, left, size, size, names[name])
        if name == "a":
            top, left = (size if top == 0 else top - size), (size if left == 0 else left - size)
        fill(after, top, left, size, size, names[name])
    return before, after


def verify(grid: Grid) -> Grid:
    found = [square.color for square in objects(grid, background=GROUND)]
    return _move(grid, {color for color in found if found.count(color) > 1})


def rival(grid: Grid) -> Grid:
    """The colour that covers most of the corners moves."""
    return _move(grid, {most_common(grid, without=(GROUND,))})


def _move(grid: Grid, moving: set[int]) -> Grid:
    squares = [square for square in objects(grid, background=GROUND) if square.color in moving]
    output = grid.copy()
    for square in squares:
        output[square.slices] = GROUND
    for square in squares:
        down = square.height if square.top == 0 else -square.height
        right = square.width if square.left == 0 else -square.width
        fill(output, square.top + down, square.left + right, square.height, square.width, square.color)
    return output
