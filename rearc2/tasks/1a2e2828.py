"""The output is the colour of the uppermost of the crossing bars: the only one that no other interrupts."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    across, down = rng.choice([1, 2, 2, 3]), rng.choice([1, 2, 2, 3])
    rows, columns = _bars(rng, across), _bars(rng, down)
    bars = [(True, *bar) for bar in rows[:-1]] + [(False, *bar) for bar in columns[:-1]]
    grid = canvas(rows[-1][1], columns[-1][1])
    order = rng.sample(bars, len(bars))
    palette = colors(rng, len(bars))
    for (is_row, start, end), color in zip(order, palette, strict=True):
        (grid if is_row else grid.T)[start:end] = color
    top = order[-1]
    # No bar beside the uppermost one may lie above all bars that cross it.
    crossing = [number for number, bar in enumerate(order) if bar[0] != top[0]]
    if any(bar[0] == top[0] and number > max(crossing) for number, bar in enumerate(order[:-1])):
        raise Retry
    return grid, canvas(1, 1, palette[-1])


def _bars(rng: Random, count: int) -> list[tuple[int, int]]:
    """Start and end of each bar, with gaps before, between and behind; last (0, whole length)."""
    bars = []
    position = 0
    for _ in range(count):
        start = position + rng.choice([1, 1, 2, 3])
        position = start + rng.choice([1, 1, 2, 2, 3])
        bars.append((start, position))
    return [*bars, (0, position + rng.choice([1, 1, 2, 3, 4]))]


def verify(grid: Grid) -> Grid:
    whole = {
        int(line[0]) for lines in (grid, grid.T) for line in lines if line[0] and (line == line[0]).all()
    }
    (color,) = whole
    return canvas(1, 1, color)
