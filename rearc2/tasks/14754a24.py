"""In noise of grey and black hide plus signs, partly yellow and else grey; the border may cut off an arm. Their grey
cells turn red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, place, random_cells

YELLOW, GREY, RED = 4, 5, 2
PLUS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 24), rng.randint(10, 24)
    count = rng.randint(2, 3 + height * width // 80)
    # Boxes may stick out by one row or column, so that a sign lacks an arm there, but not at a corner of the grid.
    centers = place(rng, (height + 2, width + 2), [(3, 3)] * count, gap=2)
    after = random_cells(rng, (height, width), [0, GREY])
    signs = []
    for row, column in centers:
        cells = [(row + d, column + r) for d, r in PLUS if 0 <= row + d < height and 0 <= column + r < width]
        if len(cells) < 4:
            raise Retry
        for cell in cells:
            after[cell] = RED
        yellow = rng.sample(cells, rng.choice([2, 2, 3, 3, 4 if len(cells) > 4 else 3]))
        for cell in yellow:
            after[cell] = YELLOW
        signs.append((set(cells), set(yellow)))
    for row in range(height):
        for column in range(width):
            look = {
                (row + d, column + r) for d, r in PLUS if 0 <= row + d < height and 0 <= column + r < width
            }
            yellow_here = {cell for cell in look if after[cell] == YELLOW}
            if len(yellow_here) < 2 or any(after[cell] == 0 for cell in look) or (row, column) in centers:
                continue
            # It looks like a sign. If the yellow cells do not tell that it is none, a black cell has to.
            if not any(yellow_here < yellow for _, yellow in signs):
                loose = sorted(cell for cell in look if not any(cell in cells for cells, _ in signs))
                if not loose:
                    raise Retry
                after[rng.choice(loose)] = 0
    return np.where(after == RED, GREY, after), after


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    looks = []  # where a sign could be: its cells and the yellow ones among them
    for row, column in np.ndindex(grid.shape):
        cells = [(row + d, column + r) for d, r in PLUS if 0 <= row + d < height and 0 <= column + r < width]
        if all(grid[cell] for cell in cells):
            looks.append((cells, {cell for cell in cells if grid[cell] == YELLOW}))
    output = grid.copy()
    explained: set[tuple[int, int]] = set()
    # The sign that explains most yellow cells comes first; one that only shares some of another's is none.
    for cells, yellow in sorted(looks, key=lambda look: -len(look[1])):
        if len(yellow - explained) >= 2:
            explained |= yellow
            for cell in cells:
                if grid[cell] == GREY:
                    output[cell] = RED
    return output
