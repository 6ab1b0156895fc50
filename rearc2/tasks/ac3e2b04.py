"""Green rings sit on parallel red lines. Across each ring's middle runs a blue beam through the whole grid, at right
angles to the lines, and where it crosses another line it makes a blue ring."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, frame, objects

BEAM, LINE, RING = 1, 2, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(8, 24), rng.randint(10, 24)
    lines = _apart(rng, width, rng.randint(1, 1 + width // 6))
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
    places = sorted(rng.sample(range(1, length - 1 - 3 * (count - 1)), count))
    return [place + 3 * number for number, place in enumerate(places)]


def verify(grid: Grid) -> Grid:
    # A line runs through its whole column or row; nothing of it is hidden but by rings.
    upright = bool(np.isin(grid, (LINE, RING)).all(axis=0).any())
    output = grid.copy() if upright else grid.T.copy()
    lines = np.flatnonzero(np.isin(output, (LINE, RING)).all(axis=0)).tolist()
    for ring in objects(np.where(output == RING, RING, 0)):
        row, center = ring.top + 1, ring.left + 1
        beam = output[row]
        beam[beam == 0] = BEAM
        for column in lines:
            if column != center:
                around = output[row - 1 : row + 2, column - 1 : column + 2]
                around[:] = BEAM
                around[1, 1] = LINE
    return output if upright else output.T.copy()
