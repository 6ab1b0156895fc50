"""The two maroon ends are joined by the shortest way along the sky-blue net that nowhere touches an orange cell, not
even at a corner; the way becomes maroon."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, grow, label, retrying

NET, END, DANGER = 8, 9, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    return retrying(lambda: _pair(rng), tries=10)  # few draws leave just one way


def _pair(rng: Random) -> tuple[Grid, Grid]:
    height, width = 2 * rng.randint(3, 5) + 1, 2 * rng.randint(3, 6) + 1
    net = np.zeros((height, width), bool)
    net[1:-1:2, 1:-1:2] = True  # knots
    density = rng.uniform(0.5, 0.95)
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if (row + column) % 2:  # a thread between two knots
                rim = row in (1, height - 2) or column in (1, width - 2)
                net[row, column] = rng.random() < (max(density, 0.95) if rim else density)
    doors = [(edge, column) for edge, row in ((0, 1), (-1, -2)) for column in np.flatnonzero(net[row])]
    doors += [(row, edge) for edge, column in ((0, 1), (-1, -2)) for row in np.flatnonzero(net[:, column])]
    ends = [(int(row) % height, int(column) % width) for row, column in rng.sample(doors, 2)]
    if sum(abs(a - b) for a, b in zip(*ends, strict=True)) < rng.randint(4, (height + width) // 2):
        raise Retry  # the way should be long
    if label(net, diagonal=False)[1] > 1:
        raise Retry
    dangers = np.zeros_like(net)
    free = {(row, column) for row, column in np.argwhere(net).tolist()}
    choices = (np.argwhere(~net[1:-1, 1:-1]) + 1).tolist()
    for row, column in rng.sample(choices, min(6, len(choices))):
        dangers[row, column] = True
        free -= {(r, c) for r in range(row - 1, row + 2) for c in range(column - 1, column + 2)}
        found = _only_way(free, ends)
        if found is not None:
            break
    else:
        raise Retry
    way = np.zeros_like(net)
    for place in found:
        way[place] = True
    # The orange cells matter, and it does not depend on whether corners count as touching.
    if way.sum() < rng.randint(5, 18) or (_steps(net, ends) == way.sum() + 2 and rng.random() < 0.9):
        raise Retry
    if _steps(net & ~grow(dangers, diagonal=False), ends) != way.sum() + 2:
        raise Retry
    before = canvas(height, width)
    before[net] = NET
    before[dangers] = DANGER
    for place in ends:
        before[place] = END
    after = before.copy()
    after[way] = END
    return before, after


def _at(like: Mask, place: tuple[int, int]) -> Mask:
    mask = np.zeros_like(like)
    mask[place] = True
    return mask


def _only_way(free: set[tuple[int, int]], ends: list[tuple[int, int]]) -> set[tuple[int, int]] | None:
    """The free cells between the ends, if they form one way without forks."""
    cells = free | set(ends)
    found = {ends[0]}
    waiting = [ends[0]]
    while waiting:
        new = [place for place in _beside(waiting.pop()) if place in cells and place not in found]
        found.update(new)
        waiting += new
    if ends[1] not in found:
        return None
    near = {place: sum(other in found for other in _beside(place)) + (place in ends) for place in found}
    waiting = [place for place in found if near[place] < 2]
    while waiting:  # blind alleys, cell by cell from their ends
        place = waiting.pop()
        if near.pop(place, None) is not None:
            for other in _beside(place):
                if other in near:
                    near[other] -= 1
                    waiting += [other] if near[other] < 2 else []
    if any(count != 2 for count in near.values()):
        return None
    return near.keys() - set(ends)


def _beside(place: tuple[int, int]) -> list[tuple[int, int]]:
    row, column = place
    return [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]


def _steps(free: Mask, ends: list[tuple[int, int]]) -> int:
    """How many cells the shortest way has, both ends included."""
    seen = _at(free, ends[0])
    free = free | _at(free, ends[1])
    for count in range(1, free.size):
        if seen[ends[1]]:
            return count
        seen |= grow(seen, diagonal=False) & free
    raise Retry


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
