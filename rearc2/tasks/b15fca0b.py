"""Yellow marks the shortest way between the two red cells, along rows and columns and around the blue walls."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, mostly, retrying, symmetries

WALL, END, WAY = 1, 2, 4
FAR = 999  # more than any way is long


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 5, 8, 14)
    return retrying(lambda: _draw(rng, side), 2000)


def _draw(rng: Random, side: int) -> tuple[Grid, Grid]:
    before = canvas(side, side)
    column = rng.randint(1, 2)
    last = 0
    while column < side - 2:
        thickness = 2 if side > 8 and rng.random() < 0.1 else 1
        wall = before[:, column : column + thickness]
        wall[:] = WALL
        gap = rng.randint(1, max(1, side // 2))
        start = rng.choice([0, side - gap, rng.randint(0, side - gap)])
        wall[start : start + gap] = 0
        if rng.random() < 0.2:
            wall[rng.randrange(side)] = 0
        last = column + thickness
        column = last + rng.choice([1, 1, 1, 2])
    first, final = (rng.choice([0, side - 1]), 0), (rng.choice([0, side - 1]), rng.randint(last, side - 1))
    if before[first] or before[final]:
        raise Retry
    way = _only_way(before == 0, first, final)
    if len(way) < side + 1:
        raise Retry
    after = before.copy()
    for place in way:
        after[place] = WAY
    for grid in (before, after):
        grid[first] = grid[final] = END
    turn = rng.randrange(8)
    return symmetries(before)[turn].copy(), symmetries(after)[turn].copy()


def _only_way(free: Mask, first: tuple[int, int], final: tuple[int, int]) -> list[tuple[int, int]]:
    """The places of the shortest way; there must be one and no other of the same length."""
    stride = free.shape[1] + 1  # a wall beside each row, and above and below
    cells = np.pad(free, ((1, 1), (0, 1))).ravel().tolist()
    start, end = ((row + 1) * stride + column for row, column in (first, final))
    came_from: dict[int, list[int]] = {start: []}
    layer = [start]
    while layer and end not in came_from:
        found: dict[int, list[int]] = {}
        for here in layer:
            for place in (here - stride, here + stride, here - 1, here + 1):
                if cells[place] and place not in came_from:
                    found.setdefault(place, []).append(here)
        came_from |= found
        layer = list(found)
    way = [end]
    while way[-1] != start:
        before = came_from.get(way[-1], [])
        if len(before) != 1:
            raise Retry
        way += before
    return [(place // stride - 1, place % stride) for place in way]


def verify(grid: Grid) -> Grid:
    first, final = np.argwhere(grid == END)
    total = _distances(grid != WALL, tuple(first)) + _distances(grid != WALL, tuple(final))
    return np.where((total == total[tuple(first)]) & (grid == 0), WAY, grid)


def _distances(free: Mask, start: tuple[int, int]) -> Grid:
    """Steps from `start` to each cell; FAR where no way leads."""
    padded = np.full((free.shape[0] + 2, free.shape[1] + 2), FAR)
    distance = padded[1:-1, 1:-1]
    distance[start] = 0
    while True:
        vertical = np.minimum(padded[:-2, 1:-1], padded[2:, 1:-1])
        nearest = np.minimum(vertical, np.minimum(padded[1:-1, :-2], padded[1:-1, 2:])) + 1
        closer = np.where(free, np.minimum(distance, nearest), distance)
        if (closer == distance).all():
            return closer
        distance[:] = closer
