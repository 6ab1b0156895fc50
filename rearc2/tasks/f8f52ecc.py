"""All cells of one colour, but for the sky blue bars, are strung on one line with as few bends as can be; the line
keeps clear of everything else."""

from itertools import pairwise, permutations
from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, retrying

PAPER, BAR = 1, 8
Place = tuple[int, int]
STEPS = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(8, 16), rng.randint(10, 16)
    before = canvas(height, width, PAPER)
    after = before.copy()
    tints = colors(rng, 8, without=(PAPER, BAR))
    lines, bent = rng.randint(1, 4), False
    for color in tints[:lines]:
        way, shown, bar = retrying(lambda: _line(rng, after))
        bent |= way[0][0] != way[-1][0] and way[0][1] != way[-1][1]
        for cell in bar:
            before[cell] = after[cell] = BAR
        for cell in way:
            after[cell] = color
        for cell in shown:
            before[cell] = color
    if not bent:
        raise Retry  # straight lines alone would not show the rule
    for _ in range(rng.randint(0, 2)):
        length, row = rng.randint(2, 7), rng.randrange(height)
        start = rng.randint(0, width - length)
        if (after[row, start : start + length] == PAPER).all():
            before[row, start : start + length] = after[row, start : start + length] = BAR
    for color in tints[lines : lines + rng.randint(0, 5)]:
        cell = rng.randrange(height), rng.randrange(width)
        if after[cell] == PAPER:
            before[cell] = after[cell] = color
    if not (before == BAR).any():
        raise Retry
    return before, after


def _line(rng: Random, taken: Grid) -> tuple[list[Place], list[Place], list[Place]]:
    """A line with at most two bends over free cells, the cells of it that are seen, and a bar that belongs to it."""
    height, width = taken.shape
    ends = [(rng.randrange(height), rng.randrange(width))]
    step = rng.choice(STEPS)
    for _ in range(rng.choice([1, 2, 2, 3])):
        length = rng.randint(2, 8)
        ends.append((ends[-1][0] + step[0] * length, ends[-1][1] + step[1] * length))
        step = rng.choice([(step[1], step[0]), (-step[1], -step[0])])
    if any(not (0 <= row < height and 0 <= column < width) for row, column in ends):
        raise Retry
    parts = [_between(a, b) for a, b in pairwise(ends)]
    way = [ends[0]] + [cell for part in parts for cell in part[1:]]
    shown, bar = _shown(rng, parts), []
    if len(parts) == 2 and rng.random() < 0.4:
        # Only the two ends are seen, and a bar is in the way round the other corner.
        shown = [ends[0], ends[2]]
        corner = (ends[0][0] + ends[2][0] - ends[1][0], ends[0][1] + ends[2][1] - ends[1][1])
        row, column = rng.choice(_between(ends[0], corner)[1:] + _between(corner, ends[2])[1:-1])
        start = column - rng.randint(0, 4)
        bar = [(row, c) for c in range(start, start + rng.randint(3, 6)) if 0 <= c < width]
        if (row, column) not in bar or set(bar) & set(way):
            raise Retry
    # A line that comes back could be cut short by more bends: draw only lines that are the shortest too.
    if len(parts) == 3 and any(_length(order) < len(way) - 1 for order in permutations(shown)):
        raise Retry
    if len(shown) == len(way) or any(taken[cell] != PAPER for cell in [*way, *bar]):
        raise Retry
    return way, shown, bar


def _length(places: tuple[Place, ...]) -> int:
    return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(places))


def _between(start: Place, end: Place) -> list[Place]:
    """The cells from start to end, both included, along a row or column."""
    length = abs(end[0] - start[0]) + abs(end[1] - start[1])
    down, right = (end[0] - start[0]) // length, (end[1] - start[1]) // length
    return [(start[0] + down * k, start[1] + right * k) for k in range(length + 1)]


def _shown(rng: Random, parts: list[list[Place]]) -> list[Place]:
    """Both ends, and enough of the rest that every straight part of the line is known."""
    shown = [parts[0][0], parts[-1][-1], rng.choice(parts[0][1:-1])]
    if len(parts) == 3:
        middle = parts[1]
        back = parts[0][1][0] - parts[0][0][0] != parts[2][1][0] - parts[2][0][0]
        back |= parts[0][1][1] - parts[0][0][1] != parts[2][1][1] - parts[2][0][1]
        # A line that comes back could be closed at its other side too, if only the corners were seen.
        shown += [rng.choice(middle[1:-1])] if back or rng.random() < 0.5 else [middle[0], middle[-1]]
        shown.append(rng.choice(parts[2][1:-1]))
    elif rng.random() < 0.5:
        shown.append(rng.choice(parts[-1][:-1]))
    return sorted(set(shown))


def verify(grid: Grid) -> Grid:
    return _strung(grid, shortest=False)


def rival(grid: Grid) -> Grid:
    """The shortest line, and of equally long ones the one with the fewest bends."""
    return _strung(grid, shortest=True)


def _strung(grid: Grid, shortest: bool) -> Grid:
    output = grid.copy()
    for color in range(10):
        rows, columns = (grid == color).nonzero()
        if color in (PAPER, BAR) or len(rows) < 2:
            continue
        places = list(zip(rows.tolist(), columns.tolist(), strict=True))
        best: tuple[int, int, list[Place]] = (999, 999, [])
        for start in places:
            rest = [place for place in places if place != start]
            best = _string(grid, [start], None, rest, 0, best, shortest)
        for place in best[2]:
            output[place] = color
    return output


def _string(
    grid: Grid,
    way: list[Place],
    step: Place | None,
    rest: list[Place],
    bends: int,
    best: tuple[int, int, list[Place]],
    shortest: bool,
) -> tuple[int, int, list[Place]]:
    """The best of `best` and the lines that go on from `way` through all the `rest`: fewest bends, then
    shortest, or the other way round."""
    if not rest:
        return (*_cost(bends, len(way), shortest), way)  # only better ways get here
    row, column = way[-1]
    for goal in rest:
        for corner in sorted({(row, goal[1]), (goal[0], column)}):
            legs = [leg for leg in ((way[-1], corner), (corner, goal)) if leg[0] != leg[1]]
            cells, turns, heading = [], bends, step
            for start, end in legs:
                size = abs(end[0] - start[0]) + abs(end[1] - start[1])
                ahead = (end[0] - start[0]) // size, (end[1] - start[1]) // size
                turns += heading is not None and heading != ahead
                heading = ahead
                cells += [(start[0] + ahead[0] * k, start[1] + ahead[1] * k) for k in range(1, size + 1)]
            free = all(grid[cell] == PAPER for cell in cells[:-1]) and not set(cells) & set(way)
            if free and _cost(turns, len(way) + len(cells), shortest) < best[:2]:
                others = [place for place in rest if place != goal]
                best = _string(grid, way + cells, heading, others, turns, best, shortest)
    return best


def _cost(bends: int, length: int, shortest: bool) -> tuple[int, int]:
    return (length, bends) if shortest else (bends, length)
