"""Blocks with two or more sky blue cells disappear; those with one or none stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, objects, place

BLUE, SKY = 1, 8
KEPT = 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(12, 18), rng.randint(12, 18)
    sizes = [(rng.randint(2, 4), rng.randint(2, 6)) for _ in range(KEPT + rng.randint(2, 5))]
    before, after = canvas(*shape), canvas(*shape)
    for number, ((height, width), (top, left)) in enumerate(
        zip(sizes, place(rng, shape, sizes), strict=True)
    ):
        block = canvas(height, width, BLUE)
        # Three blocks stay, as always officially, so that "the three with the fewest" says the same.
        count = rng.randint(0, 1) if number < KEPT else rng.randint(2, min(4, height * width - 2))
        block.flat[rng.sample(range(height * width), count)] = SKY
        before[top : top + height, left : left + width] = block
        if number < KEPT:
            after[top : top + height, left : left + width] = block
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for block in objects(grid, same_color=False):
        if (block.patch == SKY).sum() > 1:
            output[block.slices] = 0
    return output


def rival_three(grid: Grid) -> Grid:
    """The three blocks with the fewest sky blue cells stay."""
    blocks = sorted(objects(grid, same_color=False), key=lambda block: int((block.patch == SKY).sum()))
    output = np.zeros_like(grid)
    for block in blocks[:KEPT]:
        output[block.slices] = grid[block.slices]
    return output
