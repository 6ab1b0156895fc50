"""Blue rectangles, connected by thin blue links, form networks with one coloured cell each. The inside of every
rectangle, without its rim, takes the colour of its network; links stay blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, fill, objects, place

BLUE = 1
Box = tuple[int, int, int, int]  # top, left, height, width


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([18, 20, 30, rng.randint(16, 30)])
    count = rng.randint(side * side // 60, side * side // 34)
    sizes = [(rng.choice([3, 3, 3, 4, 4, 5]), rng.choice([3, 3, 3, 4, 4, 5, 6])) for _ in range(count)]
    if side > 24:
        sizes[0] = rng.randint(5, 8), rng.randint(8, 12)
    boxes = [(*spot, *size) for spot, size in zip(place(rng, (side, side), sizes), sizes, strict=True)]
    blue = np.zeros((side, side), bool)
    for top, left, height, width in boxes:
        blue[top : top + height, left : left + width] = True
    network = list(range(count))  # of each rectangle
    pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    most = rng.randint(4, 12)  # rectangles in a network
    for a, b in rng.sample(pairs, len(pairs)):
        if network[a] == network[b] or network.count(network[a]) + network.count(network[b]) > most:
            continue
        if _link(rng, blue, boxes[a], boxes[b]):
            network = [network[a] if number == network[b] else number for number in network]
    groups = [group for group in sorted(set(network)) if network.count(group) > 1]
    if not 2 <= len(groups) <= 5:
        raise Retry
    palette = colors(rng, len(groups), without=(0, BLUE))
    before, after = np.where(blue, BLUE, 0), np.where(blue, BLUE, 0)
    for (top, left, height, width), number in zip(boxes, network, strict=True):
        if number not in groups:  # a rectangle without links goes
            for grid in (before, after):
                fill(grid, top, left, height, width, 0)
        else:
            fill(after, top + 1, left + 1, height - 2, width - 2, palette[groups.index(number)])
    for group, color in zip(groups, palette, strict=True):
        top, left, height, width = boxes[
            rng.choice([i for i, number in enumerate(network) if number == group])
        ]
        before[top + rng.randint(1, height - 2), left + rng.randint(1, width - 2)] = color
    return before, after


def _link(rng: Random, blue: Mask, first: Box, second: Box) -> bool:
    """Links the first rectangle to the second, to its right or below it, if a straight way is free."""
    if (
        first[1] + first[3] > second[1]
    ):  # not to the right: look at both, and the grid, mirrored in the diagonal
        blue, (first, second) = blue.T, [(left, top, w, h) for top, left, h, w in (first, second)]
    start, end = first[1] + first[3], second[1]
    shared = range(max(first[0], second[0]), min(first[0] + first[2], second[0] + second[2]))
    if start >= end or end - start > 8 or not shared:
        return False
    row = rng.choice(shared)
    if blue[max(0, row - 1) : row + 2, start:end].any():
        return False
    blue[row, start:end] = True
    return True


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    for thing in objects(grid, same_color=False):
        (color,) = set(thing.patch[thing.mask].tolist()) - {BLUE}
        padded = np.pad(thing.mask, 1)
        inside = thing.mask.copy()  # cells whose eight neighbours belong to the network too
        for down in range(3):
            for right in range(3):
                inside &= padded[down : down + thing.height, right : right + thing.width]
        output[thing.slices][thing.mask] = BLUE
        output[thing.slices][inside] = color
    return output
