"""Blocks of one colour lie on two overlapping sheets. Every bump of a block's edge is painted with its neighbour
inwards, and every dent with its neighbour outwards, in the colour of the other sheet."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, colors, fill, grow, label, retrying, spots


def generate(rng: Random) -> tuple[Grid, Grid]:
    counts = rng.randint(1, 2), rng.randint(1, 2)  # of blocks on the lower and on the upper sheet
    side = rng.randint(14 + 2 * sum(counts), 30)
    return retrying(lambda: _draw(rng, side, counts))


def _draw(rng: Random, side: int, counts: tuple[int, int]) -> tuple[Grid, Grid]:
    ground, lower, upper, block = colors(rng, 4)
    before = canvas(side, side, ground)
    # One sheet at the upper left, one at the lower right, which overlap or touch; either may lie on top.
    bottom, right = rng.randint(side // 3, side * 2 // 3), rng.randint(side // 2, side - 1)
    top, left = rng.randint(bottom * 2 // 3, bottom), rng.randint(0, right * 2 // 3)
    edges = [rng.choice([0, 1]) for _ in range(4)]
    sheets = [
        (edges[0], edges[1], bottom - edges[0], right - edges[1]),
        (top, left, side - edges[2] - top, side - edges[3] - left),
    ]
    rng.shuffle(sheets)
    for sheet, color in zip(sheets, (lower, upper), strict=True):
        fill(before, *sheet, color)
    after = before.copy()
    for color, other, count in zip((lower, upper), (upper, lower), counts, strict=True):
        region = before == color
        free = region.copy()
        for _ in range(count):
            height, width = rng.randint(3, 8), rng.randint(3, 11)
            # The ring of bumps belongs to the box; beside the blocks that are there already one cell stays free.
            places = spots(~free, height + 2, width + 2)
            if not len(places):
                raise Retry
            row, column = places[rng.randrange(len(places))].tolist()
            fill(free, row - 1, column - 1, height + 4, width + 4, False)
            spot = row + 1, column + 1, height, width
            fill(before, *spot, block)
            fill(after, *spot, block)
            _mark(rng, before, after, region, spot, other)
    # Dents on both sides of a corner would cut it off.
    if label(before == block, diagonal=False)[1] != sum(counts):
        raise Retry
    if rng.random() < 0.5:
        before, after = before[:, ::-1], after[:, ::-1]
    return before, after


def _mark(
    rng: Random,
    before: Grid,
    after: Grid,
    region: Mask,
    spot: tuple[int, int, int, int],
    other: int,
) -> None:
    """Puts bumps and dents on the block's sides: few on a small block, so that its body stays plain."""
    top, left, height, width = spot
    sides = [((top, left), (0, 1), (-1, 0), width), ((top + height - 1, left), (0, 1), (1, 0), width)]
    sides += [((top, left), (1, 0), (0, -1), height), ((top, left + width - 1), (1, 0), (0, 1), height)]
    count = rng.randint(2, 4)
    if min(height, width) == 3:
        count = rng.randint(1, 2) if max(height, width) > 4 else 1
    for (row, column), (down, right), (up, aside), length in rng.sample(sides, count):
        places = [rng.randint(1, length - 2)]
        if length >= 8 and min(height, width) > 3 and rng.random() < 0.2:
            places = [rng.randint(1, 2), rng.randint(4, length - 2)]
        for step in places:
            rim = row + down * step, column + right * step
            beyond = rim[0] + up, rim[1] + aside
            # A dent in a side of three cells would look like two bumps.
            if length == 3 or rng.random() < 0.5:
                # A bump stays within the sheet, and does not touch its edge.
                if not region[
                    max(0, beyond[0] - 1) : beyond[0] + 2, max(0, beyond[1] - 1) : beyond[1] + 2
                ].all():
                    raise Retry
                before[beyond] = before[top + 1, left + 1]
            else:
                before[rim] = before[top - 1, left - 1]
            after[rim] = after[beyond] = other


def verify(grid: Grid) -> Grid:
    # The blocks' colour is the one whose every piece touches one other colour only.
    hosts = {}
    for color in np.unique(grid).tolist():
        numbers, count = label(grid == color, diagonal=False)
        pieces = [numbers == number for number in range(1, count + 1)]
        rims = [np.unique(grid[grow(piece, diagonal=False) & ~piece]).tolist() for piece in pieces]
        if all(len(rim) == 1 for rim in rims):
            hosts = {number: rim[0] for number, rim in enumerate(rims)}
            blocks = pieces
    first, second = sorted(set(hosts.values()))
    output = grid.copy()
    for number, piece in enumerate(blocks):
        other = second if hosts[number] == first else first
        # A line at the edge of the piece that holds less than half of its extent is bumps, not body.
        rows, columns = piece.sum(axis=1), piece.sum(axis=0)
        top, left, height, width = box(np.outer(rows * 2 >= rows.max(), columns * 2 >= columns.max()))
        full = np.zeros(piece.shape, bool)
        full[top : top + height, left : left + width] = True
        for row, column in np.argwhere(piece & ~full).tolist():
            inner = min(max(row, top), top + height - 1), min(max(column, left), left + width - 1)
            output[row, column] = output[inner] = other
        for row, column in np.argwhere(full & ~piece).tolist():
            down = (row == top + height - 1) - (row == top)
            right = (column == left + width - 1) - (column == left)
            output[row, column] = output[row + down, column + right] = other
    return output
