"""Every yellow rectangle gets a border in the colour of its dots, as thick as there are dots."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, fill, objects, paint, place, retrying

YELLOW = 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    side, count = rng.randint(22, 30), rng.randint(2, 4)
    return retrying(lambda: _draw(rng, side, count))


def _draw(rng: Random, side: int, count: int) -> tuple[Grid, Grid]:
    before, after = canvas(side, side), canvas(side, side)
    dots = [rng.randint(1, 5) for _ in range(count)]
    sizes = [(rng.randint(3, 4 + number), rng.randint(3, 6 + number)) for number in dots]
    places = place(rng, before.shape, [(h + 2 * n, w + 2 * n) for n, (h, w) in zip(dots, sizes, strict=True)])
    palette = colors(rng, count, without=(0, YELLOW))
    for number, (height, width), (top, left), color in zip(dots, sizes, places, palette, strict=True):
        fill(after, top, left, height + 2 * number, width + 2 * number, color)
        # Dots keep off the edge of the rectangle and off each other.
        spots = place(rng, (height, width), [(1, 1)] * number, margin=1)
        for grid in (before, after):
            fill(grid, top + number, left + number, height, width, YELLOW)
            for row, column in spots:
                grid[top + number + row, left + number + column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for block in objects(grid, same_color=False):
        dots = [int(grid[cell]) for cell in block.cells if grid[cell] != YELLOW]
        thick = len(dots)
        fill(
            output,
            block.top - thick,
            block.left - thick,
            block.height + 2 * thick,
            block.width + 2 * thick,
            dots[0],
        )
        paint(output, block.patch, block.top, block.left)
    return output
