"""Each of the three panels shows three objects from left to right: the output holds the left one of the first panel,
the middle one of the second and the right one of the third, where they are."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors, join, objects, paint, random_shape, split

ORANGE, MAGENTA = 7, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([5, 5, 6, 6, 7, 8])
    after = canvas(side, side, ORANGE)
    panels = []
    deck = colors(rng, 8, without=(ORANGE, MAGENTA))
    deck.append(deck[1])
    many = rng.random() < 0.3  # nearly every object in a colour of its own
    for number in range(3):
        panel = canvas(side, side, ORANGE)
        palette = deck[3 * number : 3 * number + 3] if many else colors(rng, 3, without=(ORANGE, MAGENTA))
        if not many and rng.random() < 0.3:
            palette[2] = palette[0]
        edges = [0, *sorted(rng.sample(range(1, side), 2)), side]
        for order, color in enumerate(palette):
            left, width = edges[order], edges[order + 1] - edges[order]
            height, breadth = rng.randint(1, side), rng.randint(1, width)
            shape = random_shape(rng, height, breadth, rng.uniform(0.3, 1), diagonal=True)
            spot = rng.randint(0, side - height), rng.randint(left, left + width - breadth)
            paint(panel, shape, *spot, color)
            if order == number:
                there = after.copy()
                paint(there, shape, *spot, color)
                if (there != after).sum() < shape.sum() or (after[there != after] != ORANGE).any():
                    raise Retry  # two chosen ones overlap
                after = there
        panels.append(panel)
    if (
        len(objects(after, background=ORANGE)) != 3
        or len(np.unique(after)) != 4
        or background(after) != ORANGE
    ):
        raise Retry
    return join([panels], MAGENTA), after


def verify(grid: Grid) -> Grid:
    (panels,) = split(grid, MAGENTA)
    output = np.full_like(panels[0], ORANGE)
    for order, panel in enumerate(panels):
        chosen = sorted(objects(panel, background=ORANGE), key=lambda thing: thing.left)[order]
        output[chosen.slices][chosen.mask] = chosen.color
    return output
