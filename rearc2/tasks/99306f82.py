"""A diagonal of colours leads to the corner of a blue frame. Inside the frame they become nested rings, in order from
outside to inside; the last one fills the rest."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, fill, frame

BLUE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 6)
    rings = colors(rng, count, without=(0, BLUE))
    least = 2 * count - 1  # inside, so that every colour has room
    height = least + rng.randint(0, 5)
    width = max(least, height + rng.choice([-1, 0, 0, 0, 1]))
    side = min(30, count + 2 + max(height, width) + rng.randint(1, 5))
    before = canvas(side, side)
    for number, color in enumerate(rings):
        before[number, number] = color
    frame(before, count, count, height + 2, width + 2, BLUE)
    after = before.copy()
    for number, color in enumerate(rings):
        corner = count + 1 + number
        fill(after, corner, corner, height - 2 * number, width - 2 * number, color)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    rings = []
    while grid[len(rings), len(rings)] != BLUE:
        rings.append(grid[len(rings), len(rings)])
    first = len(rings) + 1
    last_row = next(r for r in range(first, len(grid)) if grid[r, first] == BLUE) - 1
    last_column = next(c for c in range(first, grid.shape[1]) if grid[first, c] == BLUE) - 1
    for r in range(first, last_row + 1):
        for c in range(first, last_column + 1):
            depth = min(r - first, c - first, last_row - r, last_column - c)
            output[r, c] = rings[min(depth, len(rings) - 1)]
    return output
