"""The key on the left edge gives two colours per line: every figure of the first one gets a ground of the second
that reaches one cell beyond it on all sides; what the figure encloses stays black."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, holes, objects, paint, place, symmetric_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(16, 28)
    kinds = rng.choice([2, 2, 2, 3])
    palette = colors(rng, 2 * kinds)
    pad = 2  # so far figures may be cut off by the border, but for the left one
    before, after = canvas(side + 2 * pad, side + 2 * pad), canvas(side + 2 * pad, side + 2 * pad)
    taken = np.zeros(before.shape, bool)
    taken[:, : pad + 1] = True
    key = []
    for number in range(kinds):
        color, ground = palette[2 * number : 2 * number + 2]
        top = pad + side - 2 - 3 * (kinds - 1 - number)
        for grid in (before, after):
            grid[top : top + 2, pad : pad + 2] = [color, ground]
        key.append((color, ground))
        taken[top - 1 : top + 3, : pad + 2] = True
    copies = [rng.randrange(kinds) for _ in range(rng.randint(kinds, 2 + side * side // 130))]
    copies[:kinds] = range(kinds)
    shapes = [symmetric_shape(rng, rng.randint(4, 6), 5, rng.uniform(0.6, 0.8)) for _ in range(kinds)]
    # No cell is open to the outside over a corner only: whether the figure encloses it would be a matter of taste.
    if any((holes(shape) != holes(shape, diagonal=True)).any() for shape in shapes):
        raise Retry
    if rng.random() < 0.6:  # mostly nothing is cut off
        taken[:pad] = taken[-pad:] = taken[:, -pad:] = True
    sizes = [(shapes[kind].shape[0] + 2, 7) for kind in copies]
    for kind, (top, left), (height, width) in zip(
        copies, place(rng, before.shape, sizes, gap=0, taken=taken), sizes, strict=True
    ):
        color, ground = key[kind]
        figure = np.pad(shapes[kind], 1)
        fill(after, top, left, height, width, ground)
        paint(after, figure, top, left, color)
        after[top : top + height, left : left + width][holes(figure)] = 0
        paint(before, figure, top, left, color)
        # What is cut off leaves the enclosed cells as they are.
        part = np.ix_(
            *(
                [cell for cell in range(n) if pad <= start + cell < pad + side]
                for start, n in ((top, height), (left, width))
            )
        )
        rest = np.pad(figure[part], 1)
        if (holes(rest)[1:-1, 1:-1] != holes(figure)[part]).any() or figure[part].sum() < 8:
            raise Retry
    inside = slice(pad, pad + side), slice(pad, pad + side)
    before, after = before[inside], after[inside]
    if len(objects(before, diagonal=False)) != 2 * kinds + len(copies):  # a figure fell apart
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    key = {int(row[0]): int(row[1]) for row in grid if row[0] != 0}
    for thing in objects(grid):
        if thing.left < 2:  # the key
            continue
        figure = np.pad(thing.mask, 1)
        ground = ~figure & ~holes(figure)
        paint(output, ground, thing.top - 1, thing.left - 1, key[thing.color])
    return output
