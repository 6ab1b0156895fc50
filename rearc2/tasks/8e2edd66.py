"""Black and colour are exchanged in the pattern; a copy of that lies in every block that stands for a black cell of the
input."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, label, retrying, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    color = rng.randint(1, 9)
    holes = rng.choice([1, 1, 1, 3])  # at least so many pieces of black: three are rare by chance
    pattern = retrying(lambda: _pattern(rng, holes))
    after = canvas(9, 9)
    for r, c in np.argwhere(~pattern).tolist():
        after[3 * r : 3 * r + 3, 3 * c : 3 * c + 3] = np.where(pattern, 0, color)
    return np.where(pattern, color, 0), after


def _pattern(rng: Random, holes: int) -> Mask:
    pattern = scatter(rng, (3, 3), 0.5)
    if not 3 <= pattern.sum() <= 7 or label(~pattern)[1] < holes:
        raise Retry
    return pattern


def verify(grid: Grid) -> Grid:
    holes = (grid == 0).astype(np.int64)
    return np.kron(holes, holes) * grid.max()
