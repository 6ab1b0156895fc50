"""The plan beside the red tile says by sky blue cells where on the large plain rectangle the tile's sky blue cells are
stamped; the plan may be drawn enlarged."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, objects, paint, scatter, upscale

RED, SKY = 2, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    tile = scatter(rng, (side := rng.randint(3, 5), side), rng.uniform(0.35, 0.65))
    plan = scatter(rng, (rng.randint(2, 4), rng.randint(2, 7)), rng.uniform(0.25, 0.45))
    if rng.random() < 0.4:
        plan = plan | plan[:, ::-1]
    factor = rng.choice([1, 1, 2, 2, 3])
    if not tile.any() or tile.all() or not plan.any() or plan.all():
        raise Retry
    (color,) = colors(rng, 1, without=(0, RED, SKY))
    drawn = upscale(np.where(plan, SKY, color), factor)
    height, width = plan.shape[0] * side, plan.shape[1] * side
    top, left = 1 + max(side, drawn.shape[0]) + 1, rng.randint(1, 3)
    tile_left = rng.randint(0, 1)
    before = canvas(
        top + height + rng.randint(1, 3),
        max(left + width, tile_left + side + 1 + drawn.shape[1]) + rng.randint(1, 3),
    )
    if max(before.shape) > 30:
        raise Retry
    paint(before, np.where(tile, SKY, RED), 1, tile_left)
    paint(before, drawn, 1, tile_left + side + 1)
    fill(before, top, left, height, width, color)
    return before, np.where(np.kron(plan, tile), SKY, color)


def verify(grid: Grid) -> Grid:
    parts = objects(grid, diagonal=False, same_color=False)
    (tile,) = [part for part in parts if (part.patch == RED).any()]
    (sheet,) = [part for part in parts if part.size > 1 and not np.isin(part.patch, (RED, SKY)).any()]
    (plan,) = [part for part in parts if part not in (tile, sheet)]
    factor = plan.height * tile.height // sheet.height
    output = sheet.patch.copy()
    for row, column in np.argwhere(plan.patch[::factor, ::factor] == SKY).tolist():
        paint(output, tile.patch == SKY, row * tile.height, column * tile.width, SKY)
    return output
