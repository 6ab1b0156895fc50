"""The sky-blue beams fall down to the ground. One that meets a red bar runs along its top to the nearer end (from the
middle: to the right) and falls on just beside the bar."""

from collections.abc import Callable
from itertools import pairwise
from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill, objects

BEAM, BAR = 8, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(8, 18), rng.randint(9, 20)
    length = rng.randint(2, height // 2)
    floor = length + rng.randint(0, 2)  # the row of the bars
    bars = []
    left = rng.randint(1, 4)
    while (end := left + rng.randint(2, 6)) < width:
        bars.append((left, end))
        left = end + rng.randint(1, 5)
    bars = sorted(rng.sample(bars, min(len(bars), rng.randint(1, 3))))
    columns = list(range(rng.randint(0, 1), width, 2))
    if rng.random() < 0.7:
        columns = [column + rng.randint(-1, 1) for column in range(rng.randint(1, 3), width - 1, 3)]
    columns = sorted(set(columns) - {rng.randrange(width) for _ in range(rng.randint(0, 4))})
    if any(b - a == 1 for a, b in pairwise(columns)):
        raise Retry
    before, after = canvas(height, width), canvas(height, width)
    for left, end in bars:
        for grid in (before, after):
            fill(grid, floor, left, 1, end - left, BAR)
    met = 0
    for column in columns:
        fill(before, 0, column, length, 1, BEAM)
        under = [(left, end) for left, end in bars if left <= column < end]
        if not under:
            fill(after, 0, column, height, 1, BEAM)
            continue
        met += 1
        left, end = under[0]
        to_left, to_right = column - left + 1, end - column
        if 1 < to_left < to_right:
            raise Retry  # officially only beams on the left end run to the left: the rival reads it so
        fill(after, 0, column, floor, 1, BEAM)
        if to_left < to_right:
            fill(after, floor - 1, left - 1, 1, to_left, BEAM)
            fill(after, floor - 1, left - 1, height - floor + 1, 1, BEAM)
        else:
            fill(after, floor - 1, column, 1, to_right, BEAM)
            fill(after, floor - 1, end, height - floor + 1, 1, BEAM)
    if not met:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    return _fallen(grid, lambda to_left, to_right: to_left < to_right)


def rival(grid: Grid) -> Grid:
    """Only a beam on the left end runs to the left."""
    return _fallen(grid, lambda to_left, to_right: to_left == 1)


def _fallen(grid: Grid, runs_left: Callable[[int, int], bool]) -> Grid:
    output = grid.copy()
    for beam in objects(grid):
        if beam.color != BEAM:
            continue
        row, column = beam.bottom, beam.left
        while row + 1 < grid.shape[0]:
            if grid[row + 1, column] != BAR:
                row += 1
                output[row, column] = BEAM
                continue
            ends = []
            for step in (-1, 1):
                distance = 0
                while grid[row + 1, column + step * distance] == BAR:
                    distance += 1
                ends.append(distance)
            step = -1 if runs_left(*ends) else 1
            while grid[row + 1, column] == BAR:
                column += step
                output[row, column] = BEAM
    return output
