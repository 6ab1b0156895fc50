"""The square turns red, and all maroon dots fly straight to it and stop beside it; only the one that was nearest gets
in by one cell."""

from random import Random

from rearc2.helpers import SIDES, Grid, Retry, box, canvas, fill

GROUND, DOT, SQUARE, HIT = 7, 9, 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 20)
    size = rng.randint(3, min(6, side - 4))
    top, left = rng.randint(0, side - size), rng.randint(0, side - size)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    fill(before, top, left, size, size, SQUARE)
    fill(after, top, left, size, size, HIT)
    # How much room there is on each side, and the place at a distance from the square.
    rooms = {"top": top, "right": side - left - size, "bottom": side - top - size, "left": left}
    lines = [(name, line) for name in SIDES for line in range(size) if rooms[name] > 1]
    count = rng.randint(2, 8)
    if count > len(lines):
        raise Retry
    dots = [(rng.randint(1, rooms[name] - 1), name, line) for name, line in rng.sample(lines, count)]
    nearest = min(gap for gap, _, _ in dots)
    if [gap for gap, _, _ in dots].count(nearest) > 1:
        raise Retry
    for gap, name, line in dots:
        before[_place(name, line, gap, top, left, size)] = DOT
        after[_place(name, line, -1 if gap == nearest else 0, top, left, size)] = DOT
    return before, after


def _place(name: str, line: int, gap: int, top: int, left: int, size: int) -> tuple[int, int]:
    """The cell on a line of the square's rows or columns, `gap` cells away from its side."""
    if name == "top":
        return top - 1 - gap, left + line
    if name == "bottom":
        return top + size + gap, left + line
    if name == "left":
        return top + line, left - 1 - gap
    return top + line, left + size + gap


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == SQUARE)
    output = canvas(*grid.shape, GROUND)
    fill(output, top, left, height, width, HIT)
    dots = [(int(row), int(column)) for row, column in zip(*(grid == DOT).nonzero(), strict=True)]
    flights = []
    for row, column in dots:
        # The nearest cell of the square, and the step away from it.
        goal = min(max(row, top), top + height - 1), min(max(column, left), left + width - 1)
        distance = abs(row - goal[0]) + abs(column - goal[1])
        step = (row - goal[0]) // distance, (column - goal[1]) // distance
        flights.append((distance, goal, step))
    nearest = min(flights)[0]
    for distance, goal, step in flights:
        output[goal if distance == nearest else (goal[0] + step[0], goal[1] + step[1])] = DOT
    return output
