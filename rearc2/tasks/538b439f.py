"""Every rectangle is mirrored at the line across the grid, and the colour of the line fills the space between it and
its image. Noise that lies there is covered."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors, fill, objects, scatter, splits


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, line_color, block_color, noise_color = colors(rng, 4)
    height, width = rng.randint(16, 24), rng.randint(16, 24)
    line = rng.randint(6, width // 2)  # its column; the rectangles lie left of it
    before = canvas(height, width, ground)
    before[scatter(rng, before.shape, rng.uniform(0.02, 0.12))] = noise_color
    before[:, line] = line_color
    after = before.copy()
    top = rng.randint(0, 3)
    while top + 2 <= height:
        tall, wide = rng.randint(2, min(5, height - top)), rng.randint(2, 4)
        least = max(0, 2 * line - width + 1)  # the image must fit in
        left = rng.randint(least, line - wide - 1)
        distance = line - left
        fill(after, top, left, tall, 2 * distance + 1, line_color)
        fill(after, top, line + distance - wide + 1, tall, wide, block_color)
        for grid in (before, after):
            fill(grid, top, left, tall, wide, block_color)
        top += tall + rng.randint(1, 9)
    noise = [thing for thing in objects(before, background=ground) if thing.color == noise_color]
    if all(thing.size > 1 for thing in noise):
        raise Retry  # single cells tell the noise from the rectangles
    turns = rng.randrange(4)
    return np.rot90(before, turns), np.rot90(after, turns)


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    lines = [column for column in splits(grid)[1] if grid[0, column] != ground]
    if not lines:
        return verify(grid.T).T
    (line,) = lines
    output = grid.copy()
    things = [thing for thing in objects(grid, background=ground) if thing.color != grid[0, line]]
    noise = {thing.color for thing in things if thing.size == 1}
    for block in things:
        if block.color not in noise:
            image = 2 * line - block.right, 2 * line - block.left
            rows = output[block.top : block.bottom + 1]
            rows[:, min(image[0], block.left) : max(image[1], block.right) + 1] = grid[0, line]
            rows[:, image[0] : image[1] + 1] = rows[:, block.left : block.right + 1] = block.color
    return output
