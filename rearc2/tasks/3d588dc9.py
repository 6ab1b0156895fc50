"""The black arrow beside the grey stairs, in their rows, loses its tip, and the column of it that faces them turns
magenta. The other arrow, in no row of theirs, stays."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, colors, objects, paint, place

SIDE, GROUND, ARROW, STAIRS, HIT = 16, 7, 0, 5, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(SIDE, SIDE, GROUND)
    # The stairs stand at the left border, what they hit is to their right; the whole may be mirrored.
    steps, length = rng.randint(3, 5), rng.randint(5, 8)
    stairs_top = rng.randint(0, SIDE - steps)
    paint(before, _stairs(length, steps), stairs_top, 0, STAIRS)
    target, block = _arrow(rng.choice(["up", "right", "down"]))
    height, width = target.shape
    top, left = rng.randint(0, SIDE - height), rng.randint(length + 1, SIDE - width)
    first, last = top + block[0].start, top + block[0].stop - 1
    if first >= stairs_top + steps or last < stairs_top:
        raise Retry
    paint(before, target, top, left, 1)
    free_rows = np.ones(SIDE, bool)
    free_rows[max(0, stairs_top - 1) : stairs_top + steps + 1] = False
    other, _ = _arrow(rng.choice(["up", "right", "down", "left"]))
    palette = colors(rng, 3, without=(GROUND, ARROW, STAIRS, HIT))
    more = _stairs(rng.randint(3, 5), 3)[:, :: rng.choice([1, -1])]
    square = np.ones((rng.randint(1, 2),) * 2, bool)
    dot = np.ones((1, 1), bool)
    parts = [(other, ARROW), (more, palette[0]), (square, ARROW), (dot, palette[1])][: rng.choice([3, 4, 4])]
    parts += [(dot, palette[2])] * rng.randint(0, 1)
    before[before == 1] = ARROW
    taken = before != GROUND
    taken[stairs_top : stairs_top + steps, :left] = (
        True  # nothing stands between the stairs and what they hit
    )
    places = place(rng, before.shape, [part.shape for part, _ in parts], taken=taken)
    if not free_rows[places[0][0] : places[0][0] + len(other)].all():
        raise Retry
    for (part, color), (part_top, part_left) in zip(parts, places, strict=True):
        before[part_top : part_top + part.shape[0], part_left : part_left + part.shape[1]][part] = color
    after = before.copy()
    after[top : top + height, left : left + width] = GROUND
    rows, columns = (
        slice(start + part.start, start + part.stop) for start, part in zip((top, left), block, strict=True)
    )
    after[rows, columns] = ARROW
    after[rows, columns.start] = HIT
    return (before, after) if rng.random() < 0.5 else (before[:, ::-1], after[:, ::-1])


def _stairs(length: int, steps: int) -> Mask:
    """Rows of cells that shrink by one from row to row, down to at least one."""
    return np.arange(length) < length - np.arange(min(steps, length))[:, None]


def _arrow(direction: str) -> tuple[Mask, tuple[slice, slice]]:
    """A block of 3 x 4 cells with a tip of two; and where the block is."""
    arrow = np.ones((3, 6), bool)
    arrow[[0, 2], 4:] = False
    if direction in ("left", "down"):
        arrow = arrow[:, ::-1]
    if direction in ("up", "down"):
        arrow = np.rot90(arrow)
    rows = np.flatnonzero(arrow.sum(axis=1) > 1)
    columns = np.flatnonzero(arrow.sum(axis=0) > 1)
    return arrow, (slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1))


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    stairs_top, stairs_left, steps, _ = box(grid == STAIRS)
    for thing in objects(np.where(grid == ARROW, 1, 0), diagonal=False):
        in_rows = thing.top < stairs_top + steps and thing.bottom >= stairs_top
        if thing.size < 10 or not in_rows:
            continue
        arrow = output[thing.slices]
        tip = thing.mask & ((thing.mask.sum(axis=1) == 1)[:, None] | (thing.mask.sum(axis=0) == 1))
        arrow[tip] = GROUND
        _, first, _, width = box(arrow == ARROW)
        facing = arrow[:, first if stairs_left < thing.left else first + width - 1]
        facing[facing == ARROW] = HIT
    return output
