"""A blue line runs up and down through the dot and turns at the borders: left at the top and right at the bottom. If
the dot stands in the middle column it is the other way round."""

from random import Random

from rearc2.helpers import Grid, Retry, background, canvas, colors, mostly

BLUE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 5, 8, 17)
    ground, dot = colors(rng, 2, without=(BLUE,))
    middle = side // 2
    centered = side % 2 == 1 and rng.random() < 0.6
    # In the middle column only the very middle: both readings of "in the middle" hold.
    row, column = (middle, middle) if centered else (rng.randint(1, side - 2), rng.randint(1, side - 2))
    # Nor do dots stand in one of the two middle columns of an even width: these might count as the middle.
    if not centered and abs(2 * column - (side - 1)) <= 1:
        raise Retry
    before = canvas(side, side, ground)
    after = before.copy()
    after[:, column] = BLUE
    after[0 if centered else -1, column:] = BLUE
    after[-1 if centered else 0, :column] = BLUE
    before[row, column] = after[row, column] = dot
    return before, after


def verify(grid: Grid) -> Grid:
    return _lines(grid, _dot(grid)[1] * 2 == grid.shape[1] - 1)


def rival(grid: Grid) -> Grid:
    """The dot must be in the middle row too."""
    row, column = _dot(grid)
    return _lines(grid, (2 * row, 2 * column) == (grid.shape[0] - 1, grid.shape[1] - 1))


def rival_even(grid: Grid) -> Grid:
    """Of an even width both middle columns are the middle."""
    return _lines(grid, abs(2 * _dot(grid)[1] - (grid.shape[1] - 1)) <= 1)


def _dot(grid: Grid) -> tuple[int, int]:
    rows, columns = (grid != background(grid)).nonzero()
    return int(rows[0]), int(columns[0])


def _lines(grid: Grid, right_at_top: bool) -> Grid:
    output = grid.copy()
    row, column = _dot(grid)
    output[:row, column] = output[row + 1 :, column] = BLUE
    left, right = slice(0, column), slice(column, None)
    output[0, right if right_at_top else left] = BLUE
    output[-1, left if right_at_top else right] = BLUE
    return output
