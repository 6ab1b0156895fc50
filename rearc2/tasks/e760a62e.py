"""In a lattice of blue lines, the rooms between two dots of one colour in a line are filled with their colour; where a
red and a green line cross, the room becomes pink."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill

LINES, RED, GREEN, PINK = 8, 2, 3, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    room = rng.randint(2, 5)
    side = rng.randint(max(20, 4 * (room + 1)), 30)
    count = (side + 1) // (room + 1)  # whole rooms in a line; the rest of the grid shows parts of rooms
    before = canvas(side, side)
    before[room :: room + 1] = before[:, room :: room + 1] = LINES
    filled = {}
    knots = {}
    for color in (RED, GREEN):
        knots[color], filled[color] = _way(rng, count)
    if knots[RED] & filled[GREEN] or knots[GREEN] & filled[RED]:
        raise Retry
    crossing = filled[RED] & filled[GREEN]
    if not crossing and rng.random() < 0.7:
        raise Retry
    after = before.copy()
    middle = (room - 1) // 2, rng.choice([(room - 1) // 2, room // 2])
    for color in (RED, GREEN):
        for r, c in knots[color]:
            before[r * (room + 1) + middle[0], c * (room + 1) + middle[1]] = color
        for r, c in filled[color]:
            fill(after, r * (room + 1), c * (room + 1), room, room, PINK if (r, c) in crossing else color)
    return before, after


def _way(rng: Random, count: int) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The corners and the rooms of a way with one to three legs, in which only neighbouring corners are in line."""
    place = [rng.randrange(count), rng.randrange(count)]
    axis = rng.randrange(2)
    corners, rooms = [tuple(place)], {(place[0], place[1])}
    for _ in range(rng.choice((1, 1, 2, 3))):
        ends = [end for end in range(count) if abs(end - place[axis]) > 1]
        if not ends:
            raise Retry
        end = rng.choice(ends)
        while place[axis] != end:
            place[axis] += 1 if end > place[axis] else -1
            rooms.add((place[0], place[1]))
        corners.append(tuple(place))
        axis = 1 - axis
    for first, one in enumerate(corners):
        if any(one[0] == other[0] or one[1] == other[1] for other in corners[first + 2 :]):
            raise Retry
    return {(r, c) for r, c in corners}, rooms


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    room = int(np.flatnonzero((grid == LINES).all(axis=1))[0])
    reach = {}
    for color in (RED, GREEN):
        dots = np.argwhere(grid == color) // (room + 1)
        reach[color] = np.zeros(grid.shape, bool)
        for one in dots:
            for other in dots:
                if (one == other).any():
                    (top, left), (bottom, right) = np.minimum(one, other), np.maximum(one, other)
                    reach[color][
                        top * (room + 1) : (bottom + 1) * (room + 1),
                        left * (room + 1) : (right + 1) * (room + 1),
                    ] = True
        output[reach[color] & (grid != LINES)] = color
    output[reach[RED] & reach[GREEN] & (grid != LINES)] = PINK
    return output
