"""Every black square of at least 2x2 cells becomes blue, larger ones first: what they take is no longer free."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, fill, place, scatter, spots

SIDE = 10
GREY, BLUE = 5, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    sizes = sorted(rng.choices([2, 2, 3, 4], weights=[6, 4, 4, 1], k=rng.randint(3, 7)), reverse=True)
    if len(sizes) > 1 and sum(size * size for size in sizes) > 40:
        raise Retry
    squares = [
        (top, left, size)
        for size, (top, left) in zip(
            sizes, place(rng, (SIDE, SIDE), [(s, s) for s in sizes], gap=0), strict=True
        )
    ]
    planted = np.zeros((SIDE, SIDE), bool)
    for top, left, size in squares:
        planted[top : top + size, left : left + size] = True
    grey = scatter(rng, (SIDE, SIDE), rng.uniform(0.35, 0.55)) & ~planted
    _close_other_squares(rng, grey, planted, squares)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    before[grey] = after[grey] = GREY
    for top, left, size in squares:
        fill(after, top, left, size, size, BLUE)
    return before, after


def _close_other_squares(rng: Random, grey: Mask, planted: Mask, squares: list[tuple[int, int, int]]) -> None:
    """Adds grey cells until no choice is left: among what larger squares leave free, only planted squares fit."""
    for size in (5, 4, 3, 2):
        larger = np.zeros_like(planted)
        for top, left, side in squares:
            if side > size:
                larger[top : top + side, left : left + side] = True
        for top, left in spots(grey | larger, size, size).tolist():
            part = np.s_[top : top + size, left : left + size]
            if (top, left, size) in squares or grey[part].any():
                continue
            open_cells = np.argwhere(~planted[part]).tolist()
            if not open_cells:
                raise Retry
            row, column = rng.choice(open_cells)
            grey[top + row, left + column] = True


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for size in range(min(grid.shape), 1, -1):
        for top in range(grid.shape[0] - size + 1):
            for left in range(grid.shape[1] - size + 1):
                part = output[top : top + size, left : left + size]
                if not part.any():
                    part[...] = BLUE
    return output
