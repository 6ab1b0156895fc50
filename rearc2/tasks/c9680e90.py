"""Below the maroon line every red dot moves along its straight trail of magenta cells to the trail's end, and the
trails disappear. Above the line the grey dots do the same as in a mirror."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas

GROUND, LINE, DOT, TRAIL, IMAGE = 7, 9, 2, 6, 5
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = rng.randint(3, 7)
    side = 2 * half + 1
    owner: dict[tuple[int, int], int] = {}  # trail cells
    dots: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    aim = rng.randint(2, half + 1)
    for _ in range(100):
        down, right = rng.choice(STEPS)
        length = rng.choice([1, 1, 1, 2, 2, 3, 4])
        row, column = rng.randrange(half), rng.randrange(side)
        trail = [(row + down * step, column + right * step) for step in range(1, length + 1)]
        row_end, column_end = trail[-1]
        if not (0 <= row_end < half and 0 <= column_end < side) or len(dots) == aim:
            continue
        cells = [(row, column), *trail]
        if any(cell in owner or cell in dots for cell in cells):
            continue
        near_dot = {(row + r, column + c) for r, c in STEPS}
        near_trail = {(r + a, c + b) for r, c in trail for a, b in STEPS}
        # A dot touches its own trail alone, and no trail touches another one.
        if near_dot & owner.keys() or near_trail & (owner.keys() | set(dots)):
            continue
        owner.update(dict.fromkeys(trail, len(dots)))
        dots.append((row, column))
        ends.append(trail[-1])
    if len(dots) < aim:
        raise Retry
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    before[half] = after[half] = LINE
    for row, column in owner:
        before[half + 1 + row, column] = TRAIL
    for grid, places in ((before, dots), (after, ends)):
        for row, column in places:
            grid[half + 1 + row, column] = DOT
            grid[half - 1 - row, column] = IMAGE
    return before, after


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    output = canvas(height, width, GROUND)
    output[height // 2] = LINE
    for row in range(height):
        for column in range(width):
            if grid[row, column] != DOT:
                continue
            for down, right in STEPS:
                r, c = row, column
                while (
                    0 <= r + down < height and 0 <= c + right < width and grid[r + down, c + right] == TRAIL
                ):
                    r, c = r + down, c + right
                if (r, c) != (row, column):
                    output[r, c] = DOT
                    output[height - 1 - r, c] = IMAGE
    return output
