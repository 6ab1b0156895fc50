"""The two blocks flood the space between them over the whole breadth of the grid and meet halfway; a middle line
that belongs to neither stays free."""

from random import Random

from rearc2.helpers import Grid, Retry, background, canvas, colors, objects


def generate(rng: Random) -> tuple[Grid, Grid]:
    breadth, reach, thick = rng.randint(3, 9), rng.randint(2, 10), rng.choice([1, 2, 2, 2, 3])
    middle = rng.randint(0, 1)
    length = 2 * (1 + thick + reach) + middle
    if length > 30 or length <= breadth:
        raise Retry
    ground, first, last = colors(rng, 3)
    before = canvas(length, breadth, ground)
    before[1 : 1 + thick, 1:-1] = first
    before[-1 - thick : -1, 1:-1] = last
    after = before.copy()
    after[1 + thick : 1 + thick + reach] = first
    after[-1 - thick - reach : -1 - thick] = last
    if (before == ground).sum() * 2 <= before.size:
        raise Retry
    return (before.T, after.T) if rng.random() < 0.5 else (before, after)


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    output = grid.copy()
    first, second = objects(grid, ground)
    upright = first.bottom < second.top
    view = output if upright else output.T
    if not upright and first.left > second.left:
        first, second = second, first
    start, stop = (first.bottom, second.top) if upright else (first.right, second.left)
    reach = (stop - start - 1) // 2
    view[start + 1 : start + 1 + reach] = first.color
    view[stop - reach : stop] = second.color
    return output
