"""The colour spreads from the filled rooms through the doors into all rooms that can be reached. Between the two
houses it fills the box that their outer doors span."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, colors, fill, flood, frame, grow, label

WALL = 8
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1, without=(0, WALL))
    gap = rng.randint(2, 6)
    # Both houses on a large plan, of which the grid shows a window; it may cut off parts of them.
    before, after, doors = canvas(80, 80), canvas(80, 80), canvas(80, 80)
    outer_doors = []
    for lower in (False, True):
        house = _house(rng, color)
        height, width = house[0].shape
        top, left = 40 + gap if lower else 40 - height, rng.randint(20, 26)
        for plan, part in zip((before, after, doors), house, strict=True):
            plan[top : top + height, left : left + width] = part[::-1] if lower else part
        outer_doors.append(int(np.flatnonzero(doors[40 + gap if lower else 39])[0]))
    left, right = sorted(outer_doors)
    if (after[[39, 40 + gap], left : right + 1] == 0).any():
        raise Retry  # both walls go along the whole box
    fill(after, 40, left, gap, right - left + 1, color)
    whole, needed = box(before != 0), box(grow(doors != 0))
    rows, columns = (_window(rng, whole[i], whole[i + 2], needed[i], needed[i + 2]) for i in (0, 1))
    before, after = before[rows, columns], after[rows, columns]
    if max(before.shape) > 30:
        raise Retry
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def _window(rng: Random, start: int, length: int, needed: int, needed_length: int) -> slice:
    """Some margin around the whole, or a cut that leaves what is needed."""
    end, needed_end = start + length, needed + needed_length
    first = rng.randint(start, needed) if rng.random() < 0.3 else start - rng.randint(0, 3)
    last = rng.randint(needed_end, end) if rng.random() < 0.3 else end + rng.randint(0, 3)
    return slice(first, last)


def _house(rng: Random, color: int) -> tuple[Grid, Grid, Grid]:
    """Before, after and doors of rows of rooms; a chain of them leads to an outer door in the lowest wall."""
    size = rng.choice([3, 3, 4, 5])
    pitch = size + 1
    rows, columns = rng.randint(1, 3), rng.randint(3, 27 // pitch)
    room = (rows - 1, rng.randrange(columns))
    chain = [room]
    doors = canvas(rows * pitch + 1, columns * pitch + 1)
    doors[-1, room[1] * pitch + rng.randint(2, size - 1)] = 1
    # The longer of two lengths: officially most rooms are reached.
    for _ in range(max(rng.randint(1, rows * columns) for _ in range(2))):
        ways = [(room[0] + down, room[1] + right) for down, right in STEPS]
        ways = [way for way in ways if 0 <= way[0] < rows and 0 <= way[1] < columns and way not in chain]
        if not ways:
            break
        way = rng.choice(ways)
        middle = rng.randint(2, size - 1)
        if way[0] == room[0]:
            doors[room[0] * pitch + middle, max(way[1], room[1]) * pitch] = 1
        else:
            doors[max(way[0], room[0]) * pitch, room[1] * pitch + middle] = 1
        room = way
        chain.append(room)
    # Now and then the row of rooms farthest from the outer door is shorter.
    kept = range(columns)
    if rows > 1 and rng.random() < 0.4:
        inside = [column for row, column in chain if row == 0] or [rng.randrange(columns)]
        kept = range(min(inside), min(columns, max(inside) + 2))
    before, after = canvas(*doors.shape), canvas(*doors.shape)
    for row in range(rows):
        for column in kept if row == 0 else range(columns):
            corner = row * pitch, column * pitch
            for grid in (before, after):
                frame(grid, *corner, pitch + 1, pitch + 1, WALL)
            if (row, column) in chain:
                fill(after, corner[0] + 1, corner[1] + 1, size, size, color)
            if (row, column) == room:
                fill(before, corner[0] + 1, corner[1] + 1, size, size, color)
    before[doors > 0], after[doors > 0] = 0, color
    return before, after, doors


def verify(grid: Grid) -> Grid:
    wall = np.pad(grid == WALL, 1)
    across = wall[1:-1, :-2] & wall[1:-1, 2:]
    along = wall[:-2, 1:-1] & wall[2:, 1:-1]
    doors = (grid != WALL) & (across | along)
    around = _around(grid, doors)
    top, left, height, width = box(doors & grow(around, diagonal=False))
    between = np.zeros(grid.shape, bool)
    between[top : top + height, left : left + width] = True
    reached = flood((grid != WALL) & (~around | between), (grid != 0) & (grid != WALL))
    return np.where(reached, grid.max(where=grid != WALL, initial=0), grid)


def _around(grid: Grid, doors: Mask) -> Mask:
    """What is outside the houses: it reaches from one border to the opposite one, as rooms that are cut off do not."""
    regions, count = label((grid != WALL) & ~doors, diagonal=False)
    ends = [set(line.tolist()) for line in (regions[0], regions[-1], regions[:, 0], regions[:, -1])]
    through = [
        number for number in range(1, count + 1) if any({number} <= ends[i] & ends[i + 1] for i in (0, 2))
    ]
    return np.isin(regions, through)
