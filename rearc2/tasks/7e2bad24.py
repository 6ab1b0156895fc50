"""The blue ray that comes from the border goes on diagonally: through green walls, and back from red ones, until it
leaves the picture."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects, symmetries

BLUE, RED, GREEN = 1, 2, 3
SIDE = 16


def generate(rng: Random) -> tuple[Grid, Grid]:
    walls = canvas(SIDE, SIDE)
    if rng.random() < 0.8:
        # Two red walls that face each other can turn the ray more than once; it comes in above the shorter one.
        left = rng.randint(1, SIDE - 6)
        tops = rng.sample([rng.randint(1, 4), rng.randint(5, 8)], 2)
        for column, top in zip((left, rng.randint(left + 3, SIDE - 2)), tops, strict=True):
            walls[top : rng.randint(12, SIDE - 1), column] = RED
    for column in range(rng.randint(1, 5), SIDE - 1, rng.choice([2, 3, 3, 4, 6])):
        if rng.random() < 0.7 and not walls[:, column - 1 : column + 2].any():
            top, length = rng.randint(0, 8), rng.randint(4, 14)
            walls[top : top + length, column] = rng.choice([RED, GREEN])
            if rng.random() < 0.15:
                walls[top + length // 2 : top + length, column] = rng.choice([RED, GREEN])
    walls[-1] = 0
    # Upright walls, and a ray that goes down from the top or from a side.
    row, column, right = rng.choice(
        [(0, rng.randrange(SIDE), rng.choice([-1, 1])), (rng.randint(0, 6), 0, 1)]
    )
    path, turns = [], 0
    while row < SIDE and 0 <= column < SIDE:
        path.append((row, column))
        following = column + right
        if row + 1 < SIDE and 0 <= following < SIDE:
            ahead, beside = walls[row + 1, following], walls[row, following]
            # The ray meets a wall squarely, never at its end.
            if (ahead == RED) != (beside == RED):
                raise Retry
            if ahead == RED:
                right, turns = -right, turns + 1
                if 0 <= column + right < SIDE and walls[row + 1, column + right] == RED:
                    raise Retry
        row, column = row + 1, column + right
    # The given part of the ray meets nothing yet; later it is turned back, or sometimes just crosses a wall.
    given = rng.randint(3, 6)
    start = [walls[max(0, r - 1) : r + 2, max(0, c - 1) : c + 2] for r, c in path[:given]]
    crosses = any(walls[place] == GREEN for place in path)
    if (
        len(path) < given + 4
        or any((near == RED).any() for near in start)
        or any(walls[p] for p in path[:given])
    ):
        raise Retry
    if not turns and not crosses:
        raise Retry
    # Rays that turn once or never are far more frequent: most of them are left out.
    if turns < 2 and rng.random() < 0.7:
        raise Retry
    before, after = walls.copy(), walls.copy()
    for number, place in enumerate(path):
        after[place] = BLUE
        if number < given:
            before[place] = BLUE
    view = rng.randrange(8)
    return symmetries(before)[view], symmetries(after)[view]


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    # Red cells, with what they turn round: the way across for upright walls (1), the way up or down for others (0).
    red = objects(np.where(grid == RED, RED, 0), diagonal=False)
    walls = {place: int(thing.height > thing.width) for thing in red for place in thing.cells}
    ray = sorted((r, c) for r, c in np.argwhere(grid == BLUE).tolist())
    # The ray starts at the border: of its two ends the one that lies there.
    first, last = ray[0], ray[-1]
    if first[0] not in (0, height - 1) and first[1] not in (0, width - 1):
        first, last = last, first
    row, column = last
    step = [1 if last[0] > first[0] else -1, 1 if last[1] > first[1] else -1]
    while True:
        ahead = row + step[0], column + step[1]
        if ahead in walls:
            step[walls[ahead]] *= -1
        row, column = row + step[0], column + step[1]
        if not (0 <= row < height and 0 <= column < width):
            return output
        output[row, column] = BLUE
