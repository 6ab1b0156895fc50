"""Blue lines with coloured knots divide the grid into rooms. The blue dots in each room take the colour that is most
frequent among the knots on the room's walls and corners."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, grow, label, line, objects, retrying, scatter

BLUE = 1
Room = tuple[int, int, int, int]  # first row, first column, last row, last column


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(18, 30), rng.randint(18, 30)
    rooms: list[Room] = [(0, 0, height - 1, width - 1)]
    walls: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for _ in range(rng.randint(4, 7)):
        choices = [room for room in rooms if max(room[2] - room[0], room[3] - room[1]) >= 10]
        if not choices:
            break
        room = max(choices, key=lambda room: (room[2] - room[0]) * (room[3] - room[1]))
        top, left, bottom, right = room
        rooms.remove(room)
        # A wall from side to side of the room; its ends are knots, in the walls around or at the grid's border.
        if bottom - top > right - left:
            at = rng.randint(top + 3, bottom - 3)
            walls.append(((at, max(0, left - 1)), (at, min(width - 1, right + 1))))
            rooms += [(top, left, at - 1, right), (at + 1, left, bottom, right)]
        else:
            at = rng.randint(left + 3, right - 3)
            walls.append(((max(0, top - 1), at), (min(height - 1, bottom + 1), at)))
            rooms += [(top, left, bottom, at - 1), (top, at + 1, bottom, right)]
    before = canvas(height, width)
    for start, end in walls:
        line(before, start, end, BLUE)
    knots = sorted({end for wall in walls for end in wall})
    # Two knots side by side in a wall would be hard to tell apart.
    if any(abs(r - q) + abs(c - d) in (1, 2) for r, c in knots for q, d in knots):
        raise Retry
    palette = colors(rng, rng.randint(3, 4), without=(0, BLUE, 5, 7, 9))

    def colored_knots() -> tuple[dict[tuple[int, int], int], list[int]]:
        color_of = {knot: rng.choice(palette) for knot in knots}
        winners = []
        for top, left, bottom, right in rooms:
            near = [
                color_of[r, c] for r, c in knots if top - 1 <= r <= bottom + 1 and left - 1 <= c <= right + 1
            ]
            ranking = sorted(((near.count(color), color) for color in palette), reverse=True)
            if ranking[0][0] == ranking[1][0]:
                raise Retry
            winners.append(ranking[0][1])
        return color_of, winners

    color_of, winners = retrying(colored_knots, 300)
    if len(set(winners)) < 2:
        raise Retry
    for knot in knots:
        before[knot] = color_of[knot]
    after = before.copy()
    for (top, left, bottom, right), color in zip(rooms, winners, strict=True):
        # Dots keep off each other and off the walls.
        free = np.zeros(before.shape, bool)
        free[top : bottom + 1, left : right + 1] = scatter(
            rng, (bottom - top + 1, right - left + 1), rng.uniform(0.08, 0.2)
        )
        walled = grow(before > 0)
        count = 0
        for r, c in np.argwhere(free).tolist():
            if not walled[r, c] and not (before[max(0, r - 1) : r + 2, max(0, c - 1) : c + 2] > 0).any():
                before[r, c], after[r, c] = BLUE, color
                count += 1
        if not count:
            raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    walls = np.zeros(grid.shape, bool)
    for thing in objects(grid, same_color=False, diagonal=False):
        if thing.size > 1:
            walls[thing.slices] |= thing.mask
    numbers, count = label(~walls, diagonal=False)
    for number in range(1, count + 1):
        room = numbers == number
        knots = grid[grow(room) & walls & (grid != BLUE)]
        output[room & (grid == BLUE)] = np.bincount(knots).argmax()
    return output
