"""Every magenta dot at the bottom sends a red beam up. Under an orange cell (which turns sky blue) it bends right, from
yellow to green, to get past the bar, and rises again; it ends in magenta at the top or where it can go neither way."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, retrying

BAR, HIT, BEAM, LEFT_BEND, RIGHT_BEND, END = 7, 8, 2, 4, 3, 6
Place = tuple[int, int]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(15, 30), rng.randint(10, 30)
    count = rng.randint(1, 1 + width // 10)
    beams, bars = retrying(lambda: _routes(rng, height, width, count))
    before, after = canvas(height, width), canvas(height, width)
    crowd = height * width * rng.choice([0, 0.02, 0.05, 0.08, 0.11])
    for grid in (before, after):
        for place in bars:
            grid[place] = BAR
    for _ in range(int(crowd)):
        row, column, length = rng.randrange(height), rng.randrange(width), rng.choice([1] * 6 + [2, 2, 3, 5])
        for place in [(row, column + step) for step in range(min(length, width - column))]:
            if place not in beams:
                before[place] = after[place] = BAR
    for place, color in (beams | bars).items():
        after[place] = color
        if place[0] == height - 1:
            before[place] = color
    return before, after


def _routes(rng: Random, height: int, width: int, count: int) -> tuple[dict[Place, int], dict[Place, int]]:
    """Some beams that do not meet, and all their bars."""
    beams: dict[Place, int] = {}
    bars: dict[Place, int] = {}
    for start in rng.sample(range(1, width * 4 // 5), count):
        beam, passed = _route(rng, height, width, start)
        if beam.keys() & beams.keys() or passed.keys() & bars.keys():
            raise Retry
        beams |= beam
        bars |= passed
    if beams.keys() & bars.keys() or HIT not in bars.values():
        raise Retry
    return beams, bars


def _route(rng: Random, height: int, width: int, column: int) -> tuple[dict[Place, int], dict[Place, int]]:
    """A beam from the bottom row, and the bars that make it go that way."""
    row = height - 1
    beam: dict[Place, int] = {(row, column): END}
    bars: dict[Place, int] = {}
    while True:
        turn, length = row - rng.choice([2, 3, 4, 5, 6, 9, 13]), rng.randint(1, 5)
        if turn < 1 or column + length >= width:
            beam |= {(r, column): BEAM for r in range(1, row)} | {(0, column): END}
            return beam, bars
        beam |= {(r, column): BEAM for r in range(turn, row)}
        left = max(0, column - rng.randint(0, 3))
        bars |= {(turn - 1, c): BAR for c in range(left, column + length)}
        if rng.random() < 0.1:
            beam[turn, column] = END
            bars[turn, column + 1] = BAR
            return beam, bars
        bars[turn - 1, column] = HIT
        beam |= {(turn, c): BEAM for c in range(column + 1, column + length)}
        beam |= {(turn, column): LEFT_BEND, (turn, column + length): RIGHT_BEND}
        row, column = turn, column + length


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for start in (grid[-1] == END).nonzero()[0].tolist():
        row, column = len(grid) - 1, start
        while True:
            while row > 0 and grid[row - 1, column] != BAR:
                row -= 1
                output[row, column] = BEAM
            if row == 0 or grid[row, column + 1] == BAR:
                output[row, column] = END
                break
            output[row - 1, column] = HIT
            output[row, column] = LEFT_BEND
            while grid[row - 1, column] == BAR:
                column += 1
                output[row, column] = BEAM
            output[row, column] = RIGHT_BEND
    return output
