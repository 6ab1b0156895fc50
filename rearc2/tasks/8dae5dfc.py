"""In every nest of frames the order of the colours from outside to inside is reversed."""

from random import Random

from rearc2.helpers import Grid, Retry, background, canvas, colors, fill, objects, place, retrying


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(15, 24), rng.randint(15, 24)
    count = rng.randint(1, 3)
    return retrying(lambda: _draw(rng, height, width, count))


def _draw(rng: Random, height: int, width: int, count: int) -> tuple[Grid, Grid]:
    nests = []
    for _ in range(count):
        layers = [
            rng.choice([1, 1, 2]) for _ in range(rng.randint(2, 4))
        ]  # thickness, from outside; then the core
        core = rng.randint(1, 5), rng.randint(1, 5)
        nests.append(
            (layers, colors(rng, len(layers) + 1), core[0] + 2 * sum(layers), core[1] + 2 * sum(layers))
        )
    spots = place(rng, (height, width), [(tall, wide) for _, _, tall, wide in nests])
    before, after = canvas(height, width), canvas(height, width)
    for (layers, palette, tall, wide), (top, left) in zip(nests, spots, strict=True):
        depth = 0
        for number, thickness in enumerate([*layers, 0]):
            for grid, color in ((before, palette[number]), (after, palette[-1 - number])):
                fill(grid, top + depth, left + depth, tall - 2 * depth, wide - 2 * depth, color)
            depth += thickness
    if background(before) != 0:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for nest in objects(grid, same_color=False):
        inwards = [int(nest.patch[k, k]) for k in range((min(nest.height, nest.width) + 1) // 2)]
        order = list(dict.fromkeys(inwards))
        for color, new in zip(order, reversed(order), strict=True):
            output[nest.slices][nest.patch == color] = new
    return output
