"""The two maroon ends are joined by the shortest way along the sky-blue net that nowhere touches an orange cell, not
even at a corner; the way becomes maroon."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow, retrying

NET, END, DANGER = 8, 9, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    return retrying(lambda: _pair(rng), tries=10)  # few draws leave just one way


def _pair(rng: Random) -> tuple[Grid, Grid]:
    # Sets of cells are numbers with one bit per cell and a free column between the rows: floods are fast on them.
    height, width = 2 * rng.randint(3, 5) + 1, 2 * rng.randint(3, 6) + 1
    stride = width + 1
    net = sum(
        1 << row * stride + column for row in range(1, height, 2) for column in range(1, width, 2)
    )  # knots
    density = rng.uniform(0.5, 0.95)
    for row in range(1, height - 1):
        for column in range(1 + row % 2, width - 1, 2):  # a thread between two knots
            rim = row in (1, height - 2) or column in (1, width - 2)
            if rng.random() < (max(density, 0.95) if rim else density):
                net |= 1 << row * stride + column
    rows, columns = range(height), range(width)
    doors = [
        (edge, c)
        for edge, r in ((0, 1), (height - 1, height - 2))
        for c in columns
        if net >> r * stride + c & 1
    ]
    doors += [
        (r, edge) for edge, c in ((0, 1), (width - 1, width - 2)) for r in rows if net >> r * stride + c & 1
    ]
    ends = rng.sample(doors, 2)
    if sum(abs(a - b) for a, b in zip(*ends, strict=True)) < rng.randint(4, (height + width) // 2):
        raise Retry  # the way should be long
    start, end = (1 << row * stride + column for row, column in ends)
    if _flood(net & -net, net, stride) != net:
        raise Retry
    dangers, free = 0, net
    inner = [(row, column) for row in rows[1:-1] for column in columns[1:-1]]
    choices = [place for place in inner if not net >> place[0] * stride + place[1] & 1]
    for row, column in rng.sample(choices, min(6, len(choices))):
        danger = 1 << row * stride + column
        dangers |= danger
        across = danger | danger << 1 | danger >> 1
        free &= ~(across | across << stride | across >> stride)
        way = _only_way(free, start, end, stride)
        if way:
            break
    else:
        raise Retry
    # The orange cells matter, and it does not depend on whether corners count as touching.
    steps = way.bit_count() + 2
    if steps - 2 < rng.randint(5, 18) or (_steps(net, start, end, stride) == steps and rng.random() < 0.9):
        raise Retry
    if _steps(net & ~(dangers | _beside(dangers, stride)), start, end, stride) != steps:
        raise Retry
    before = canvas(height, width)
    for cells, color in ((net, NET), (dangers, DANGER), (start | end, END)):
        _color(before, cells, color)
    after = before.copy()
    _color(after, way, END)
    return before, after


def _beside(cells: int, stride: int) -> int:
    return cells << 1 | cells >> 1 | cells << stride | cells >> stride


def _flood(seen: int, free: int, stride: int) -> int:
    """The free cells that can be reached."""
    while True:
        more = seen | _beside(seen, stride) & free
        if more == seen:
            return seen
        seen = more


def _only_way(free: int, start: int, end: int, stride: int) -> int:
    """The free cells between the ends, if they form one way without forks; else 0."""
    ends = start | end
    cells = _flood(start, free | ends, stride)
    if not cells & end:
        return 0
    while True:  # without the ends of blind alleys, again and again
        below, above, right, left = cells << stride, cells >> stride, cells << 1, cells >> 1
        one = below | above | right | left
        two = below & above | right & left | (below | above) & (right | left)  # neighbours, or more
        kept = cells & (two | one & ends)
        if kept == cells:
            break
        cells = kept
    three = below & above & (right | left) | right & left & (below | above)
    return 0 if cells & (three | two & ends) else cells & ~ends


def _steps(free: int, start: int, end: int, stride: int) -> int:
    """How many cells the shortest way has, both ends included."""
    seen, count = start, 1
    while not seen & end:
        more = seen | _beside(seen, stride) & (free | end)
        if more == seen:
            raise Retry
        seen, count = more, count + 1
    return count


def _color(grid: Grid, cells: int, color: int) -> None:
    for row, column in np.ndindex(grid.shape):
        if cells >> row * (grid.shape[1] + 1) + column & 1:
            grid[row, column] = color


def verify(grid: Grid) -> Grid:
    free = (grid == NET) & ~grow(grid == DANGER)
    start, end = (tuple(place) for place in np.argwhere(grid == END).tolist())
    before: dict[tuple[int, int], tuple[int, int]] = {start: start}
    queue = [start]
    for row, column in queue:
        for place in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            inside = 0 <= place[0] < grid.shape[0] and 0 <= place[1] < grid.shape[1]
            if inside and place not in before and (free[place] or place == end):
                before[place] = row, column
                queue.append(place)
    output = grid.copy()
    place = end
    while place != start:
        output[place] = END
        place = before[place]
    return output
