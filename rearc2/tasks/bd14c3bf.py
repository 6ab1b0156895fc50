"""The blue figures that are the red sign, stretched and turned in any way, become red: a figure is the sign if they are
the same after equal neighbouring rows and columns are taken as one."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, canvas, objects, paint, place, symmetries

BLUE, RED = 1, 2
# Figures by name: the sign itself, then the rows and the columns that may be stretched (as one group each).
FIGURES: dict[str, tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]] = {
    "H": (("1.1", "111", "1.1"), (0, 2), (1,)),
    "C": (("111", "1..", "111"), (1,), (1, 2)),
    "O": (("111", "1.1", "111"), (1,), (1,)),
    "8": (("11111", "1.1.1", "11111"), (1,), (1, 3)),
    "A": (("111", "1.1", "111", "1.1"), (1,), (1,)),
    "E": (("111", "1..", "111", "1..", "111"), (1, 3), (1, 2)),
    "F": (("1..", "111", "1..", "111", "1.."), (2,), (1, 2)),
    "P": (("1111", ".1.1", "1111"), (1,), (2,)),
    "L": (("1..", "1..", "111"), (0, 1), (1, 2)),
    "T": (("111", ".1.", ".1."), (1, 2), (0, 2)),
}
SIGNS = ["H", "C", "O", "8", "E", "T"]


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(15, 22)
    name = rng.choice(SIGNS)
    right, wrong = rng.randint(2, 5), rng.randint(2, 5)
    names = [name] * right + [rng.choice([other for other in FIGURES if other != name]) for _ in range(wrong)]
    figures = [rng.choice(symmetries(_stretched(rng, *FIGURES[each], longest=3))) for each in names]
    before = canvas(side, side)
    sign = _stretched(rng, *FIGURES[name], longest=1)
    paint(before, sign, 0, 0, RED)
    places = place(rng, before.shape, [figure.shape for figure in figures], taken=before > 0)
    after = before.copy()
    for number, (figure, (top, left)) in enumerate(zip(figures, places, strict=True)):
        paint(before, figure, top, left, BLUE)
        paint(after, figure, top, left, RED if number < right else BLUE)
    return before, after


def _stretched(
    rng: Random, sign: tuple[str, ...], rows: tuple[int, ...], columns: tuple[int, ...], longest: int
) -> Mask:
    figure = np.array([[cell == "1" for cell in row] for row in sign])
    tall, wide = rng.randint(1, longest), rng.randint(1, longest)
    figure = figure.repeat([tall if row in rows else 1 for row in range(figure.shape[0])], axis=0)
    return figure.repeat([wide if column in columns else 1 for column in range(figure.shape[1])], axis=1)


def _squeezed(mask: Mask) -> Mask:
    """The mask without rows and columns that repeat the one before."""
    rows = [r for r in range(mask.shape[0]) if r == 0 or (mask[r] != mask[r - 1]).any()]
    columns = [c for c in range(mask.shape[1]) if c == 0 or (mask[:, c] != mask[:, c - 1]).any()]
    return mask[rows][:, columns]


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    things = objects(grid, diagonal=False)
    (sign,) = [thing for thing in things if thing.color == RED]
    images = symmetries(_squeezed(sign.mask))
    for thing in things:
        if any(np.array_equal(_squeezed(thing.mask), image) for image in images):
            output[thing.slices][thing.mask] = RED
    return output
