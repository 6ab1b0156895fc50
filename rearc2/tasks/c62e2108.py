"""Every blue mark at the border faces a square ring: the ring is repeated side by side towards the mark, up to the
border, where it is cut off. The marks disappear."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Mask, Retry, canvas, colors, grow, objects, paint, to_top

BLUE, SIZE = 1, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(14, 26), rng.randint(14, 26)
    (color,) = colors(rng, 1, without=(0, BLUE))
    ring = canvas(SIZE, SIZE, color)
    ring[1:-1, 1:-1] = 0
    before, after, taken = canvas(height, width), canvas(height, width), np.zeros((height, width), bool)
    rows, columns = set[int](), set[int]()
    count = rng.randint(1, 3)
    for _ in range(60):
        top, left = rng.randint(1, height - SIZE - 1), rng.randint(1, width - SIZE - 1)
        sides = rng.sample(SIDES, rng.randint(1, 3))
        reach = _reach(top, left, sides, (height, width))
        # Rings have rows and columns of their own, so that every mark belongs to one, and their chains do not cross.
        own_rows, own_columns = set(range(top, top + SIZE)), set(range(left, left + SIZE))
        if not count or own_rows & rows or own_columns & columns or (grow(reach) & taken).any():
            continue
        count, rows, columns, taken = count - 1, rows | own_rows, columns | own_columns, taken | reach
        paint(before, ring, top, left)
        for side in sides:
            down, right = {"top": (-1, 0), "bottom": (1, 0), "left": (0, -1), "right": (0, 1)}[side]
            for step in range(8):
                paint(after, ring, top + SIZE * step * down, left + SIZE * step * right)
            if down:
                before[0 if side == "top" else -1, left : left + SIZE] = BLUE
            else:
                before[top : top + SIZE, 0 if side == "left" else -1] = BLUE
    if count:
        raise Retry
    return before, after


def _reach(top: int, left: int, sides: list[str], shape: tuple[int, int]) -> Mask:
    """The cells of a ring and the bands from it to the given sides."""
    reach = np.zeros(shape, bool)
    first, last = 0 if "top" in sides else top, shape[0] if "bottom" in sides else top + SIZE
    reach[first:last, left : left + SIZE] = True
    first, last = 0 if "left" in sides else left, shape[1] if "right" in sides else left + SIZE
    reach[top : top + SIZE, first:last] = True
    return reach


def verify(grid: Grid) -> Grid:
    output = np.where(grid == BLUE, 0, grid)
    for side in SIDES:
        # Turned so that the marks in question lie in the first row.
        before, after = to_top(grid, side), to_top(output, side)
        for ring in objects(before):
            if ring.color != BLUE and (before[0, ring.left : ring.right + 1] == BLUE).all():
                patch = before[ring.slices]
                for row in range(ring.top):
                    after[row, ring.left : ring.right + 1] = patch[(row - ring.top) % ring.height]
    return output
