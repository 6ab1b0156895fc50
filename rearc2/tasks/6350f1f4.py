"""Under grey noise lie n x n panels of n x n cells, each a two-coloured pattern or solid in its second colour, laid
out like the pattern's own cells. The output has the pattern where the panels were solid, and panels solid in the
first colour where the pattern was."""

from itertools import product
from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, colors, flood, join, retrying, scatter

NOISE = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(2, 5)
    return retrying(lambda: _draw(rng, size))  # the size is kept: small grids fail more often


def _draw(rng: Random, size: int) -> tuple[Grid, Grid]:
    main, second = colors(rng, 2, without=(0, NOISE))
    mains = scatter(rng, (size, size), rng.uniform(0.55, 0.8))
    if not size * size / 2 < mains.sum() < size * size:
        raise Retry
    pattern = np.where(mains, main, second)
    solid = np.full_like(pattern, second)
    before = join([[pattern if own else solid for own in row] for row in mains.tolist()], 0)
    after = join(
        [[np.full_like(solid, main) if own else pattern for own in row] for row in mains.tolist()], 0
    )
    if size == 2 or rng.random() < 0.8:  # without noise there would be few pairs of the smallest size
        before = np.where(_noise(rng, before.shape), NOISE, before)
    for row, column in product(range(size), repeat=2):
        panel = before[row * (size + 1) :, column * (size + 1) :][:size, :size]
        cell = before[row :: size + 1, column :: size + 1]
        own = main if mains[row, column] else second
        if not (panel == own).any() or not (cell == own).any() or not (cell == second).any():
            raise Retry  # the noise hides too much
    return before, after


def _noise(rng: Random, shape: tuple[int, int]) -> Mask:
    """Some ragged clumps."""
    height, width = shape
    noise = np.zeros(shape, bool)
    for _ in range(rng.randint(1, 1 + height * width // 60)):
        free = scatter(rng, shape, rng.uniform(0.4, 0.58))
        start = rng.randrange(height), rng.randrange(width)
        free[start] = True
        noise |= flood(free, start)
    if noise.mean() > 0.3:
        raise Retry
    return noise


def verify(grid: Grid) -> Grid:
    size = round((grid.shape[0] + 1) ** 0.5)
    size -= size * (size + 1) > grid.shape[0] + 1
    steps = range(0, size * (size + 1), size + 1)
    panels = np.array([[grid[top : top + size, left : left + size] for left in steps] for top in steps])
    shades = [int(color) for color in np.unique(panels) if color not in (0, NOISE)]
    for main in shades:
        layout, mains = (panels == main).any(axis=(2, 3)), (panels == main).any(axis=(0, 1))
        if (layout == mains).all() and not mains.all():
            break
    second = sum(shades) - main
    output = np.zeros_like(grid)
    for row, column in product(range(size), repeat=2):
        window = output[steps[row] : steps[row] + size, steps[column] : steps[column] + size]
        window[...] = main if mains[row, column] else np.where(mains, main, second)
    return output
