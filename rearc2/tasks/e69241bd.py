"""Every coloured cell pours out: it fills the black area around it, over edges, between the grey walls."""

from random import Random

from rearc2.helpers import Grid, Retry, colors, flood, label, scatter

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(6, 14)
    walls = scatter(rng, (side, side), rng.uniform(0.4, 0.5))
    areas, count = label(~walls, diagonal=False)
    large = [number for number in range(1, count + 1) if (areas == number).sum() > 2]
    wanted = rng.randint(2, 4)
    # Areas that stay dry are part of the picture.
    if len(large) < wanted or count <= wanted:
        raise Retry
    before = walls * GREY
    after = before.copy()
    for number, color in zip(
        rng.sample(large, wanted), colors(rng, wanted, without=(0, 2, GREY, 9)), strict=True
    ):
        after[areas == number] = color
        row, column = rng.choice([(r, c) for r in range(side) for c in range(side) if areas[r, c] == number])
        before[row, column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for row in range(grid.shape[0]):
        for column in range(grid.shape[1]):
            color = grid[row, column]
            if color not in (0, GREY):
                output[flood((grid == 0) | (grid == color), (row, column))] = color
    return output
