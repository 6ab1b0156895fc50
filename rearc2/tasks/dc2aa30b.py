"""The nine panels are sorted by their number of red cells: fewest at the top right, more to the left, then the next
row from the right again."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, join, split

LINE, BLUE, RED = 0, 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    ordered = []
    for red in sorted(rng.sample(range(10), 9)):
        cells = [RED] * red + [BLUE] * (9 - red)
        rng.shuffle(cells)
        ordered.append(np.array(cells).reshape(3, 3))
    shuffled = rng.sample(ordered, 9)
    before = [shuffled[start : start + 3] for start in (0, 3, 6)]
    after = [ordered[start : start + 3][::-1] for start in (0, 3, 6)]
    return join(before, LINE), join(after, LINE)


def verify(grid: Grid) -> Grid:
    panels = [panel for row in split(grid, LINE) for panel in row]
    panels.sort(key=lambda panel: int((panel == RED).sum()))
    output = grid.copy()
    for number, panel in enumerate(panels):
        row, from_right = divmod(number, 3)
        output[4 * row : 4 * row + 3, 8 - 4 * from_right : 11 - 4 * from_right] = panel
    return output
