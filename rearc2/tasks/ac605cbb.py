"""Every colour has its own arrow: from the dot a grey line of a certain length runs in a certain direction and ends in
a second dot. Where two lines cross, a yellow diagonal starts and runs down and left to the border."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, ray, retrying

GREY, YELLOW = 5, 4
# Colour: direction (down, right) and length of the grey line, and the step from its last cell to the second dot.
ARROWS = {1: ((0, 1), 2, (-1, 0)), 2: ((0, -1), 3, (0, -1)), 3: ((1, 0), 2, (1, 0)), 6: ((-1, 0), 5, (-1, 0))}


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(9, 13)
    chosen = rng.sample(list(ARROWS), rng.randint(1, 4))
    crossed = rng.random() < 0.6 and 2 in chosen and len({3, 6} & set(chosen)) > 0
    return retrying(lambda: _draw(rng, side, chosen, crossed), 2000)


def _draw(rng: Random, side: int, chosen: list[int], crossed: bool) -> tuple[Grid, Grid]:
    before, after = canvas(side, side), canvas(side, side)
    dots, lines = [], []
    for color in chosen:
        (down, right), length, (last_down, last_right) = ARROWS[color]
        row, column = rng.randrange(side), rng.randrange(side)
        cells = [(row + step * down, column + step * right) for step in range(1, length + 1)]
        end = cells[-1][0] + last_down, cells[-1][1] + last_right
        if not (0 <= end[0] < side and 0 <= end[1] < side and 0 <= cells[-1][1] < side):
            raise Retry
        before[row, column] = color
        dots += [(row, column), end]
        lines.append((color, cells))
        for place in ((row, column), end):
            after[place] = color
    grey = [(cell, color) for color, cells in lines for cell in cells]
    places = dots + [cell for cell, _ in grey]
    crossings = [cell for cell in set(places) if places.count(cell) > 1]
    if len(crossings) != crossed or len(set(dots)) < len(dots) or {cell for cell, _ in grey} & set(dots):
        raise Retry
    for cell, _ in grey:
        after[cell] = GREY
    for row, column in crossings:
        if 1 in [color for cell, color in grey if cell == (row, column)]:
            raise Retry  # officially the line of colour 1 never crosses another
        while row < side and column >= 0:
            if (row, column) in places and (row, column) not in crossings:
                raise Retry
            after[row, column] = YELLOW
            row, column = row + 1, column - 1
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    crossings = []
    for color, (step, length, last) in ARROWS.items():
        for row, column in zip(*(grid == color).nonzero(), strict=True):
            for _ in range(length):
                row, column = row + step[0], column + step[1]
                if output[row, column] == GREY:
                    crossings.append((row, column))
                output[row, column] = GREY
            output[row + last[0], column + last[1]] = color
    for place in crossings:
        output[place] = YELLOW
        ray(output, place, (1, -1), YELLOW)
    return output
