"""Every figure of 5x5 cells holds one cell in the colour of a dot in a corner of the grid. Figure and cell exchange
their colours, and copies of all figures with the dot's colour are laid over each other in its corner."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    background,
    canvas,
    colors,
    paint,
    place,
    retrying,
    scatter,
    symmetric_shape,
)

CORNERS = [(0, 0), (0, 25), (25, 0), (25, 25)]  # places of the 5x5 corners
WRONG = {
    "train 2": "the green figure's two lowest cells are missing in the corner at the top right",
    "test 1": "the cell of the pink figure does not become pink but yellow",
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 6)
    dots = rng.randint(2, min(3, 9 - count))
    return retrying(lambda: _draw(rng, count, dots), 1000)


def _draw(rng: Random, count: int, dots: int) -> tuple[Grid, Grid]:
    ground, *palette = colors(rng, 1 + dots + count, ())
    dot_colors, figure_colors = palette[:dots], palette[dots:]
    corners = rng.sample(CORNERS, dots)
    before, after = canvas(30, 30, ground), canvas(30, 30, ground)
    taken = np.zeros((30, 30), bool)
    # Two free cells between figures keep them apart for certain; the corners of 5x5 cells stay free.
    for rows in (slice(4), slice(26, 30)):
        taken[rows, :4] = taken[rows, 26:] = True
    places = place(rng, (30, 30), [(7, 7)] * count, gap=0, taken=taken)
    owners = list(range(dots)) + [rng.randrange(dots) for _ in range(count - dots)]
    for number, (color, owner, (top, left)) in enumerate(zip(figure_colors, owners, places, strict=True)):
        top, left = top + 1, left + 1
        # Officially the dot is always part of a copy: of the first one here.
        tip = (-1 if corners[owner][0] else 0), (-1 if corners[owner][1] else 0)
        figure = retrying(lambda tip=tip if number < dots else None: _figure(rng, tip))
        row, column = rng.choice(np.argwhere(figure).tolist())
        rest = figure.copy()
        rest[row, column] = False
        if not rest.any(axis=0).sum() >= 4 or not rest.any(axis=1).sum() >= 4:
            raise Retry
        dot = dot_colors[owner]
        paint(before, figure, top, left, color)
        paint(after, figure, top, left, dot)
        before[top + row, left + column], after[top + row, left + column] = dot, color
        paint(after, figure, *corners[owner], dot)
    for color, (top, left) in zip(dot_colors, corners, strict=True):
        before[0 if top == 0 else 29, 0 if left == 0 else 29] = color
    return before, after


def _figure(rng: Random, tip: tuple[int, int] | None) -> Mask:
    """A figure that touches all sides of its 5x5 box, with a cell at the tip; it may consist of several parts."""
    if rng.random() < 0.4:
        figure = symmetric_shape(rng, 5, 5, rng.uniform(0.3, 0.5), rng.choice(["lr", "ud", "both"]))
    else:
        figure = scatter(rng, (5, 5), rng.uniform(0.15, 0.4))
        figure |= rng.choice([figure.T, figure[::-1], figure[:, ::-1]])
    if tip is not None and not figure[tip]:
        raise Retry
    if not 5 <= figure.sum() <= 16 or not (
        figure[[0, -1]].any(axis=1).all() and figure[:, [0, -1]].any(axis=0).all()
    ):
        raise Retry
    return figure


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    output = grid.copy()
    dots = {int(grid[r, c]): (r, c) for r in (0, 29) for c in (0, 29) if grid[r, c] != ground}
    for color in sorted(set(grid.ravel().tolist()) - {ground} - set(dots)):
        own = np.argwhere(grid == color)
        for dot, (corner_row, corner_column) in dots.items():
            for cell in np.argwhere(grid == dot):
                cells = np.vstack([own, cell])
                top, left = cells.min(axis=0)
                bottom, right = cells.max(axis=0)
                if bottom - top < 5 and right - left < 5:
                    output[own[:, 0], own[:, 1]] = dot
                    output[cell[0], cell[1]] = color
                    down = (0 if corner_row == 0 else 25) - top
                    sideways = (0 if corner_column == 0 else 25) - left
                    output[cells[:, 0] + down, cells[:, 1] + sideways] = dot
    return output
