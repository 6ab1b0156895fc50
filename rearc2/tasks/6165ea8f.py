"""A table of the figures in the order of the colours listed at the upper right: red where two have the same shape,
turned or mirrored, grey where they differ, black for a figure with itself."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, crop, fill, paint, place, random_shape, symmetries

RED, GREY = 2, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 7)
    palette = colors(rng, count, without=(0, RED, GREY))
    most = rng.randint(2, 4)
    kinds = [rng.randrange(most) for _ in palette]
    if not 1 < len(set(kinds)) < count:  # some are alike, some are not
        raise Retry
    models = [
        random_shape(rng, rng.randint(3, 5), rng.randint(3, 6), rng.uniform(0.4, 0.6)).astype(int)
        for _ in range(4)
    ]
    if (
        len({min(image.tobytes() + bytes(image.shape) for image in symmetries(model)) for model in models})
        < 4
    ):
        raise Retry
    figures = [rng.choice(symmetries(models[kind])) for kind in kinds]
    before = canvas(rng.randint(18, 26), rng.randint(18, 26))
    taken = np.zeros(before.shape, bool)
    taken[:, -1] = True
    places = place(rng, before.shape, [figure.shape for figure in figures], taken=taken)
    for figure, color, (top, left) in zip(figures, palette, places, strict=True):
        paint(before, figure, top, left, color)
    before[:count, -1] = palette
    after = canvas(3 * count + 2, 3 * count + 2)
    for number, color in enumerate(palette, 1):
        fill(after, 0, 3 * number, 2, 2, color)
        fill(after, 3 * number, 0, 2, 2, color)
        for other in range(1, count + 1):
            if other != number:
                same = kinds[number - 1] == kinds[other - 1]
                fill(after, 3 * number, 3 * other, 2, 2, RED if same else GREY)
    return before, after


def verify(grid: Grid) -> Grid:
    listed = [int(color) for color in grid[:, -1] if color]
    figures = [crop((grid[:, :-1] == color).astype(np.int64)) for color in listed]
    table = np.full((len(listed) + 1, len(listed) + 1), GREY)
    table[0, 1:] = table[1:, 0] = listed
    for row, figure in enumerate(figures, 1):
        for column, other in enumerate(figures, 1):
            if any(np.array_equal(figure, image) for image in symmetries(other)):
                table[row, column] = RED
    np.fill_diagonal(table, 0)
    # Blocks of 2x2 with a free line between them.
    output = np.kron(table, np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]]))
    return output[:-1, :-1]
