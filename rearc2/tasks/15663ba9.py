"""On every closed loop the corners that bend outwards turn yellow, those that bend inwards red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, grow, outside

OUTWARD, INWARD = 4, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Drawn with one more row and column on each side, so that no cell lacks a neighbour.
    height, width = rng.randint(12, 24), rng.randint(12, 24)
    (color,) = colors(rng, 1, without=(0, OUTWARD, INWARD))
    after = canvas(height, width)
    free = np.zeros(after.shape, bool)
    free[1:-1, 1:-1] = True
    for _ in range(rng.randint(2, 2 + height * width // 150)):
        area = _area(rng, free)
        free = free & ~grow(area)
        rim = area & grow(~area)
        after[rim] = color
        for r, c in np.argwhere(rim).tolist():
            for down, right in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
                if rim[r + down, c] and rim[r, c + right]:
                    after[r, c] = OUTWARD if area[r + down, c + right] else INWARD
    after = after[1:-1, 1:-1]
    if (after == INWARD).sum() < 3:
        raise Retry
    return np.where(after > 0, color, 0), after


def _area(rng: Random, free: Mask) -> Mask:
    """A union of rectangles in free space that a single line of cells encloses: nowhere too thin for that."""
    # Sets of cells are numbers with one bit per cell. No area reaches the border, so rows need nothing between them.
    stride = free.shape[1]
    full = (1 << free.size) - 1
    allowed = int("".join("01"[cell] for cell in reversed(free.ravel().tolist())), 2)
    for _ in range(200):
        height, width = (min(rng.randint(3, 13), side - 2) for side in free.shape)
        top, left = rng.randint(1, free.shape[0] - height - 1), rng.randint(1, free.shape[1] - width - 1)
        area = 0
        for _ in range(rng.choice([1, 3, 5, 7, 9])):
            h, w = rng.randint(3, max(3, height // 2 + 1)), rng.randint(3, max(3, width // 2 + 1))
            row, column = top + rng.randint(0, height - h), left + rng.randint(0, width - w)
            for r in range(row, row + h):
                area |= (1 << w) - 1 << r * stride + column
        if area & ~allowed:
            continue
        others = full & ~area
        across = others | others << 1 | others >> 1
        rim = area & (across | across << stride | across >> stride)
        below, above, right, left = rim << stride, rim >> stride, rim << 1, rim >> 1
        two = below & above | right & left | (below | above) & (right | left)  # neighbours, or more
        three = below & above & (right | left) | right & left & (below | above)
        single = not rim & (three | ~two)
        # No holes, and in one piece.
        if single and _flood(1, others, stride) == others and _flood(area & -area, area, stride) == area:
            cells = [area >> place & 1 > 0 for place in range(free.size)]
            return np.array(cells).reshape(free.shape)
    raise Retry


def _flood(seen: int, free: int, stride: int) -> int:
    """The free cells that can be reached over edges."""
    while True:
        more = (seen | seen << 1 | seen >> 1 | seen << stride | seen >> stride) & free
        if more == seen:
            return seen
        seen = more


def verify(grid: Grid) -> Grid:
    outer = np.pad(outside(np.pad(grid, 1) > 0), 1, constant_values=True)
    path = np.pad(grid, 2) > 0
    output = grid.copy()
    for r, c in np.argwhere(grid > 0).tolist():
        vertical = [down for down in (-1, 1) if path[r + 2 + down, c + 2]]
        horizontal = [right for right in (-1, 1) if path[r + 2, c + 2 + right]]
        if len(vertical) == len(horizontal) == 1:
            # The cell between the two arms: a corner bends inwards if it looks out of the loop there.
            between = outer[r + 2 + vertical[0], c + 2 + horizontal[0]]
            output[r, c] = INWARD if between else OUTWARD
    return output
