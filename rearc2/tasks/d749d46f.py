"""The blocks that hang from the top are shown twice in ten rows, in the same order and one cell apart: lying flat at
the top, standing upright at the bottom."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, fill, objects

HEIGHT = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    figure, ground = colors(rng, 2)
    blocks = []
    for _ in range(rng.randint(3, 7)):
        short = rng.choice([1, 1, 1, 2, 2, 3])
        long = rng.randint(short, min(6, short + 5))
        blocks.append((short, long) if rng.random() < 0.5 else (long, short))
    gaps = len(blocks) - 1
    before = canvas(max(h for h, w in blocks), sum(w for h, w in blocks) + gaps, ground)
    after = canvas(HEIGHT, sum(max(block) for block in blocks) + gaps, ground)
    if after.shape[1] > 30 or len(before) < 3:
        raise Retry
    left = flat = upright = 0
    for height, width in blocks:
        short, long = min(height, width), max(height, width)
        fill(before, 0, left, height, width, figure)
        fill(after, 0, flat, short, long, figure)
        fill(after, HEIGHT - long, upright, long, short, figure)
        left, flat, upright = left + width + 1, flat + long + 1, upright + short + 1
    return before, after


def verify(grid: Grid) -> Grid:
    figure = int(grid[0, 0])
    (ground,) = {*grid.ravel().tolist()} - {figure}
    blocks = [sorted((block.height, block.width)) for block in objects(grid, background=ground)]
    output = canvas(HEIGHT, sum(long + 1 for _, long in blocks) - 1, ground)
    flat = upright = 0
    for short, long in blocks:
        output[:short, flat : flat + long] = figure
        output[-long:, upright : upright + short] = figure
        flat, upright = flat + long + 1, upright + short + 1
    return output
