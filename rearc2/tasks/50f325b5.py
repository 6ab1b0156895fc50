"""Green cells in the noise that form the sky blue figure, turned or mirrored in any way, become sky blue too. Figures
do not share cells: what is only turned comes before what is mirrored."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, crop, place, random_cells, random_shape, symmetries

GREEN, MARK = 3, 8
NOISE = (0, 0, 2, 2, 4, 7)  # without green, of which there is less or more


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = random_shape(rng, rng.randint(2, 3), 3, rng.uniform(0.4, 0.6), diagonal=True)
    if not 4 <= shape.sum() <= 6:
        raise Retry
    palette = NOISE + (GREEN,) * rng.randint(1, 3)
    before = random_cells(rng, (rng.randint(11, 18), rng.randint(14, 18)), palette)
    copies = [rng.choice(symmetries(shape)) for _ in range(rng.randint(2, 5))]
    planted = np.zeros(before.shape, bool)
    places = place(rng, before.shape, [copy.shape for copy in copies])
    for number, (copy, (top, left)) in enumerate(zip(copies, places, strict=True)):
        rows, columns = copy.nonzero()
        before[rows + top, columns + left] = MARK if number == 0 else GREEN
        planted[rows + top, columns + left] = True
    _spoil(rng, before, planted, shape)
    return before, np.where(planted, MARK, before)


def _spoil(rng: Random, grid: Grid, planted: Mask, shape: Mask) -> None:
    """Recolours one cell of every figure that the noise happens to form."""
    for image in symmetries(shape):
        windows = np.lib.stride_tricks.sliding_window_view(grid == GREEN, image.shape)
        for top, left in np.argwhere(windows[..., image].all(axis=2)).tolist():
            cells = [(top + r, left + c) for r, c in np.argwhere(image).tolist()]
            noise = [cell for cell in cells if not planted[cell]]
            if noise and all(grid[cell] == GREEN for cell in cells):
                grid[rng.choice(noise)] = rng.choice((0, 2, 4, 7))


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for image in symmetries(crop(grid, grid == MARK) == MARK):
        windows = np.lib.stride_tricks.sliding_window_view(grid == GREEN, image.shape)
        for top, left in np.argwhere(windows[..., image].all(axis=-1)):
            window = output[top : top + image.shape[0], left : left + image.shape[1]]
            if (window[image] == GREEN).all():  # not used by another figure yet
                window[image] = MARK
    return output
