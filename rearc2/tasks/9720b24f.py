"""Whatever lies inside another figure (a ring, even an open one) is removed."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, grow, objects, paint, place, random_shape, spots


def generate(rng: Random) -> tuple[Grid, Grid]:
    tiny = rng.random() < 0.15
    height, width = (rng.choice([3, 3, 4, 5, 6]) if tiny else rng.randint(9, 18) for _ in range(2))
    palette = rng.sample(range(1, 10), rng.randint(3, 5))
    rings = [_ring(rng, min(9, height), min(9, width)) for _ in range(1 if tiny else rng.randint(1, 3))]
    places = place(rng, (height, width), [ring.shape for ring in rings])
    before, after = canvas(height, width), canvas(height, width)
    outside = np.ones(before.shape, bool)  # what is clear of all rings and their boxes
    for ring, (top, left) in zip(rings, places, strict=True):
        box = slice(top, top + ring.shape[0]), slice(left, left + ring.shape[1])
        color, *others = rng.sample(palette, len(palette))
        before[box] = after[box] = ring * color
        outside[max(0, top - 1) : box[0].stop + 1, max(0, left - 1) : box[1].stop + 1] = False
        inside = (_walls_seen(ring) >= 3) & ~ring
        for other in others[: rng.choice([0, 1, 1, 2])]:
            _drop(rng, [before[box]], inside, other)
    if (before == after).all():
        raise Retry
    for _ in range(0 if tiny else rng.randint(0, height * width // 30)):
        _drop(rng, [before, after], outside, rng.choice(palette))
    return before, after


def _ring(rng: Random, most_height: int, most_width: int) -> Mask:
    """The outline of a box with cut corners, thicker in places, with an opening or without."""
    height, width = rng.randint(min(4, most_height), most_height), rng.randint(min(4, most_width), most_width)
    down = np.arange(height)[:, None] - (height - 1) / 2
    right = np.arange(width) - (width - 1) / 2
    bevel = rng.choice([0, 0, 1, 1, 2, min(height, width) // 2])
    solid = abs(down) + abs(right) <= (height + width) / 2 - 1 - bevel
    ring = solid & grow(~np.pad(solid, 1), diagonal=False)[1:-1, 1:-1]
    if rng.random() < 0.3 and width > 4:
        ring |= solid & (np.arange(width) == 1)
    around = sorted(np.argwhere(ring).tolist(), key=lambda cell: np.arctan2(down[cell[0], 0], right[cell[1]]))
    start = rng.randrange(len(around))
    for step in range(rng.randint(0, max(1, len(around) // 5))):
        ring[tuple(around[(start + step) % len(around)])] = False
    if len(objects(ring.astype(int))) != 1:
        raise Retry
    return ring


def _drop(rng: Random, grids: list[Grid], free: Mask, color: int) -> None:
    """Draws a small piece where there is room for it; `free` loses the cells it takes and those around it."""
    piece = random_shape(rng, rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2, 3]), 0.6, diagonal=True)
    choices = spots(~free, *piece.shape)
    if not len(choices):
        return
    top, left = choices[rng.randrange(len(choices))].tolist()
    for grid in grids:
        paint(grid, piece, top, left, color)
    free[max(0, top - 1) : top + piece.shape[0] + 1, max(0, left - 1) : left + piece.shape[1] + 1] = False


def _walls_seen(wall: Mask) -> Grid:
    """In how many of the four directions each cell has a cell of the wall."""
    turned = [np.logical_or.accumulate(np.rot90(wall, turns), axis=0) for turns in range(4)]
    return np.sum([np.rot90(seen, -turns) for turns, seen in enumerate(turned)], axis=0)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    things = objects(grid)
    for inner in things:
        for outer in things:
            wide_enough = outer.left <= inner.left and inner.right <= outer.right
            tall_enough = outer.top <= inner.top and inner.bottom <= outer.bottom
            if outer is not inner and wide_enough and tall_enough:
                paint(output, inner.mask, inner.top, inner.left, 0)
    return output


def rival(grid: Grid) -> Grid:
    """Removed is what one figure hems in on three sides at least."""
    output = grid.copy()
    for outer in objects(grid):
        wall = np.zeros(grid.shape, bool)
        paint(wall, outer.mask, outer.top, outer.left, 1)
        output[(_walls_seen(wall) >= 3) & ~wall] = 0
    return output
