"""A missile stands between its launcher and a block. It flies away from the launcher to the border; the block, a
rectangle wider than the missile, is split in its way, and each half moves aside by half the missile's width."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, objects

GROUND, SIDE = 7, 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    launcher, missile, block = colors(rng, 3, without=(0, GROUND))
    before = canvas(SIDE, SIDE, GROUND)
    # Drawn as flying upwards, along the line between the columns middle - 1 and middle, then turned.
    middle = rng.randint(3, SIDE - 3)
    half = rng.randint(2, 3)
    long, deep = rng.randint(1, 3), rng.randint(1, 4)
    # Half the launcher's width per row, from its tip down to the border.
    if rng.random() < 0.35:
        widths = [1] * rng.randint(2, 4)
    else:
        widths = sorted(rng.choices([1, 2, 3], k=rng.randint(2, 4)))
        if widths[0] == widths[-1]:
            raise Retry
    away = rng.choice([0, 0, 1, 2, 3, 4])
    top = SIDE - len(widths) - long - away - deep
    if top < 0 or middle - max(half + 1, *widths) < 0 or middle + max(half + 1, *widths) > SIDE:
        raise Retry
    for row, wide in enumerate(widths, start=SIDE - len(widths)):
        fill(before, row, middle - wide, 1, 2 * wide, launcher)
    after = before.copy()
    fill(before, SIDE - len(widths) - long, middle - 1, long, 2, missile)
    fill(before, top, middle - half, deep, 2 * half, block)
    fill(after, top, middle - half - 1, deep, half, block)
    fill(after, top, middle + 1, deep, half, block)
    fill(after, 0, middle - 1, long, 2, missile)
    turns = rng.randrange(4)
    return np.rot90(before, turns), np.rot90(after, turns)


def verify(grid: Grid) -> Grid:
    for turns in range(4):
        turned = np.rot90(grid, turns)
        block, missile, launcher = sorted(objects(turned, background=GROUND), key=lambda thing: thing.top)
        wider = block.left < missile.left and block.right > missile.right
        stacked = block.bottom < missile.top and missile.bottom < launcher.top
        if wider and stacked and block.mask.all():
            break
    output = np.where((turned == launcher.color), launcher.color, GROUND)
    aside, half = missile.width // 2, block.width // 2
    fill(output, block.top, block.left - aside, block.height, half, block.color)
    fill(output, block.top, block.left + half + aside, block.height, half, block.color)
    fill(output, 0, missile.left, missile.height, missile.width, missile.color)
    return np.rot90(output, -turns)
