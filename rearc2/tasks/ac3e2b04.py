"""Green rings sit on parallel red lines. Across each ring's middle runs a blue beam through the whole grid, at right
angles to the lines, and where it crosses another line it makes a blue ring."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, frame, objects

BEAM, LINE, RING = 1, 2, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(8, 24), rng.randint(10, 24)
    lines = _apart(rng, width, rng.randint(1, 1 + width // 5))
    beams = _apart(rng, height, rng.randint(1, min(1 + height // 6, 3)))
    before, after = canvas(height, width), canvas(height, width)
    before[:, lines] = after[:, lines] = LINE
    for row in beams:
        after[row] = BEAM
        chosen = rng.choice(lines)
        frame(before, row - 1, chosen - 1, 3, 3, RING)
        for column in lines:
            after[row, column] = LINE
            frame(after, row - 1, column - 1, 3, 3, RING if column == chosen else BEAM)
    return (before, after) if rng.random() < 0.5 else (before.T.copy(), after.T.copy())


def _apart(rng: Random, length: int, count: int) -> list[int]:
    """Places for rings of three cells with a free cell between them."""
    places = sorted(rng.sample(range(1, length - 1), count))
    if any(b - a < 4 for a, b in zip(places, places[1:], strict=False)):
        raise Retry
    return places


def verify(grid: Grid) -> Grid:
    # Every line reaches the first and the last row when the lines stand upright.
    upright = bool((grid[0] == LINE).any() and (grid[-1] == LINE).any() and not (grid[:, 0] == LINE).any())
    output = grid.copy() if upright else grid.T.copy()
    lines = [c for c in range(output.shape[1]) if LINE in (output[0, c], output[-1, c])]
    free = output.copy()
    for ring in objects(np.where(free == RING, RING, 0)):
        row, center = ring.top + 1, ring.left + 1
        beam = output[row]
        beam[beam == 0] = BEAM
        for column in lines:
            if column != center:
                around = output[row - 1 : row + 2, column - 1 : column + 2]
                around[:] = BEAM
                around[1, 1] = LINE
    return output if upright else output.T.copy()
