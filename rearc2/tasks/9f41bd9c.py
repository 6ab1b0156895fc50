"""The grey jellyfish swims to the other side; its tentacles trail behind, one cell further per row. The top row of the
sea floor becomes maroon from the cell after the last row's first tentacle to the side it came from."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, fill

WATER, FISH, FLOOR, LIT = 1, 5, 6, 9
BODY, LEGS = 5, (0, 2, 4)  # the body is five cells wide and two tall, with three tentacles


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = max(rng.randint(11, 30), rng.randint(11, 30))
    legs = rng.randint(2, min(16, side - 6))
    floor = rng.randint(2, side * 2 // 5)
    top = side - floor - legs - 2
    if top < 0:
        raise Retry
    before = canvas(side, side, WATER)
    fill(before, side - floor, 0, floor, side, FLOOR)
    after = before.copy()
    # It swims from the right to the left.
    fill(before, top, side - BODY, 2, BODY, FISH)
    fill(after, top, 0, 2, BODY, FISH)
    for leg in LEGS:
        fill(before, top + 2, side - BODY + leg, legs, 1, FISH)
        for down in range(legs):
            after[top + 2 + down, leg + down] = FISH
    after[side - floor, legs:] = LIT
    if rng.random() < 0.5:
        before, after = before[:, ::-1], after[:, ::-1]
    return before, after


def verify(grid: Grid) -> Grid:
    rightwards = grid[:, 0].tolist().count(FISH) > 0
    # As a view in which it swims to the left.
    sea = grid[:, ::-1] if rightwards else grid
    output = np.where(sea == FISH, WATER, sea)
    top, left, height, width = box(sea == FISH)
    shift = 0
    for row in range(top, top + height):
        shift = max(0, row - top - 2)
        output[row, shift : shift + width] = sea[row, left : left + width]
    output[top + height, shift + 1 :] = LIT
    return output[:, ::-1] if rightwards else output
