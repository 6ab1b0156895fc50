"""Coloured cells on the border shine straight into the red diamond: each fills its column (on the left and right
border: its row) inside it, up to the first obstacle or the far wall."""

from random import Random

from rearc2.helpers import SIDES, Grid, canvas, colors, holes, to_top

SIDE, RED = 11, 2
MIDDLE = SIDE // 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    obstacle, *lights = colors(rng, 8, without=(0, RED))
    before = canvas(SIDE, SIDE)
    for r in range(SIDE):
        reach = MIDDLE - abs(r - MIDDLE)
        before[r, MIDDLE - reach] = before[r, MIDDLE + reach] = RED
    inside = [(r, c) for r in range(SIDE) for c in range(SIDE) if abs(r - MIDDLE) + abs(c - MIDDLE) < MIDDLE]
    for place in rng.sample(inside, rng.choice([0, 0, 1, 2, 3, 4, 5, 6])):
        before[place] = obstacle
    after = before.copy()
    density = rng.uniform(0.4, 1.1)
    # One half of the upper border, the opposite half of the lower one.
    for c in [*range(MIDDLE + 1, SIDE), *range(MIDDLE)]:
        if rng.random() < density:
            from_above = c > MIDDLE
            color = rng.choice(lights)
            before[0 if from_above else -1, c] = after[0 if from_above else -1, c] = color
            for r in range(SIDE) if from_above else reversed(range(SIDE)):
                if (r, c) in inside:
                    if before[r, c]:
                        break
                    after[r, c] = color
    if rng.random() < 0.5:
        before, after = before[:, ::-1], after[:, ::-1]
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def verify(grid: Grid) -> Grid:
    inside = holes(grid == RED)
    output = grid.copy()
    for side in SIDES:
        turned, target, room = to_top(grid, side), to_top(output, side), to_top(inside, side)
        for c, color in enumerate(turned[0]):
            if color in (0, RED):
                continue
            for r in range(len(turned)):
                if room[r, c] and turned[r, c]:
                    break
                if room[r, c]:
                    target[r, c] = color
    return output
