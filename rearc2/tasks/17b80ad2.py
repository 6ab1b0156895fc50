"""In every column with a grey cell at the bottom each coloured cell spreads upwards, to the next coloured cell or to
the top."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, random_cells, scatter

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(6, 24)
    count = rng.randint(1, 1 + side // 5)
    # Columns that spread are no neighbours.
    columns = sorted(rng.sample(range(1, side - count), count))
    columns = [column + index for index, column in enumerate(columns)]
    before = canvas(side, side)
    if rng.random() < 0.7:
        noise = scatter(rng, (side - 1, side), rng.uniform(0.05, 0.2))
        before[:-1] = random_cells(rng, noise.shape, [1, 2, 3, 4, 6, 7, 8, 9]) * noise
    after = before.copy()
    for column in columns:
        before[:, column] = 0
        seeds = sorted(rng.sample(range(side - 1), rng.randint(1, 1 + side // 4)))
        shades = [colors(rng, 1, without=(0, GREY))[0] for _ in seeds]
        start = 0
        for seed, color in zip([*seeds, side - 1], [*shades, GREY], strict=True):
            before[seed, column] = color
            after[start : seed + 1, column] = color
            start = seed + 1
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for column, color in enumerate(grid[-1].tolist()):
        if color == GREY:
            for row in reversed(range(len(grid))):
                color = grid[row, column] or color
                output[row, column] = color
    return output
