"""The two dots are joined by a parallelogram: from each of them one green way goes first straight, then diagonally,
and the other first diagonally, then straight."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, line

DOT, WAY = 8, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(8, 20), rng.randint(8, 20)
    down, right = rng.randint(2, height - 1), rng.randint(2, width - 1)
    if max(down, right) < 5 or down == right:
        raise Retry
    top, left = rng.randint(0, height - 1 - down), rng.randint(0, width - 1 - right)
    ends = [(top, left), (top + down, left + right)]
    if rng.random() < 0.5:
        ends = [(top, left + right), (top + down, left)]
    (top, start), (bottom, end) = ends
    diagonal = min(down, right)
    sideways = diagonal if end > start else -diagonal
    # The corners of the parallelogram: the diagonal starts at the one dot or ends at the other.
    corners = [(top + diagonal, start + sideways), (bottom - diagonal, end - sideways)]
    before, after = canvas(height, width), canvas(height, width)
    for corner in corners:
        line(after, ends[0], corner, WAY)
        line(after, corner, ends[1], WAY)
    for place in ends:
        before[place] = after[place] = DOT
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    places = [tuple(map(int, place)) for place in zip(*(grid == DOT).nonzero(), strict=True)]
    for (row, column), goal in (places, places[::-1]):
        # Diagonally as far as both distances allow, then straight.
        while (row, column) != goal:
            output[row, column] = WAY
            row += (goal[0] > row) - (goal[0] < row)
            column += (goal[1] > column) - (goal[1] < column)
    for place in places:
        output[place] = DOT
    return output
