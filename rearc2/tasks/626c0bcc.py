"""The figure is put together from blue squares of 2x2 cells and from corners of three cells: red, green and yellow by
the direction they point to. Each piece takes its colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow

SIDE, SKY = 7, 8
# colour -> cells, from the first one in reading order
PIECES = {
    1: ((0, 0), (0, 1), (1, 0), (1, 1)),
    2: ((0, 0), (1, -1), (1, 0)),
    3: ((0, 0), (0, 1), (1, 1)),
    4: ((0, 0), (1, 0), (1, 1)),
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    after = canvas(SIDE, SIDE)
    colors = [*PIECES, *rng.choices(list(PIECES), k=rng.randint(0, 3))]
    rng.shuffle(colors)
    for color in colors:
        spots = []
        for row in range(SIDE - 1):
            for column in range(SIDE):
                cells = [(row + down, column + right) for down, right in PIECES[color]]
                if any(not 0 <= c < SIDE or after[r, c] for r, c in cells):
                    continue
                rim = grow(after != 0, diagonal=False)
                if not after.any() or any(rim[cell] for cell in cells):  # it touches what is there
                    spots.append(cells)
        if not spots:
            raise Retry
        for cell in rng.choice(spots):
            after[cell] = color
    if _ways(frozenset((int(r), int(c)) for r, c in np.argwhere(after))) != 1:
        raise Retry
    return np.where(after, SKY, 0), after


def _ways(figure: frozenset[tuple[int, int]]) -> int:
    """In how many ways the figure can be put together."""
    if not figure:
        return 1
    row, column = min(figure)
    pieces = [{(row + down, column + right) for down, right in cells} for cells in PIECES.values()]
    return sum(_ways(figure - piece) for piece in pieces if piece <= figure)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    if not _solved(output):
        raise ValueError("the figure cannot be put together")
    return output


def _solved(grid: Grid) -> bool:
    """Puts pieces in place of sky blue cells, first cell first, and takes them back where that leads nowhere."""
    left = np.argwhere(grid == SKY)
    if not len(left):
        return True
    for color, cells in PIECES.items():
        rows, columns = (left[0] + cells).T
        if (
            max(rows.max(), columns.max()) < SIDE
            and columns.min() >= 0
            and (grid[rows, columns] == SKY).all()
        ):
            grid[rows, columns] = color
            if _solved(grid):
                return True
            grid[rows, columns] = SKY
    return False
