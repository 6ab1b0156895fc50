"""Every arrow flies forward to the border, and its head, a plus around a yellow centre, is turned by half a turn."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, objects

GROUND, SHAFT, CENTRE = 8, 1, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Drawn with arrows that point right and left, in lanes of their own.
    count = rng.randint(1, 5)
    width = rng.randint(8, 20)
    gaps = [rng.randint(0, 2), *(rng.randint(1, 3) for _ in range(count - 1)), rng.randint(0, 3)]
    height = 3 * count + sum(gaps)
    before, after = canvas(height, width, GROUND), canvas(height, width, GROUND)
    top = 0
    for gap in gaps[:-1]:
        top += gap
        arms = colors(rng, 4, without=(GROUND, SHAFT, CENTRE))
        old, new = _arrow(arms), _arrow(arms[::-1])
        start = rng.randint(0, width - 7)
        before[top : top + 3, start : start + 6] = old
        after[top : top + 3, width - 6 :] = new
        if rng.random() < 0.5:
            for grid in (before, after):
                grid[top : top + 3] = grid[top : top + 3, ::-1].copy()
        top += 3
    if count > 1 and height > 30:
        raise Retry
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def _arrow(arms: list[int]) -> Grid:
    """An arrow that points right; the arms are listed so that opposite ones are first and last, second and third."""
    upper, behind, front, lower = arms
    arrow = canvas(3, 6, GROUND)
    arrow[[0, 1, 1, 2], [0, 1, 2, 0]] = SHAFT
    arrow[[0, 1, 1, 1, 2], [4, 3, 4, 5, 4]] = upper, behind, CENTRE, front, lower
    return arrow


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape, GROUND)
    for arrow in objects(grid, GROUND, same_color=False):
        centre_row, centre_column = next((r, c) for r, c in arrow.cells if grid[r, c] == CENTRE)
        down = right = 0
        if arrow.width > arrow.height:
            points_right = arrow.right - centre_column == 1
            right = grid.shape[1] - 1 - arrow.right if points_right else -arrow.left
        else:
            points_down = arrow.bottom - centre_row == 1
            down = len(grid) - 1 - arrow.bottom if points_down else -arrow.top
        for r, c in arrow.cells:
            color = grid[r, c]
            if color != SHAFT:  # a cell of the head
                r, c = 2 * centre_row - r, 2 * centre_column - c
            output[r + down, c + right] = color
    return output
