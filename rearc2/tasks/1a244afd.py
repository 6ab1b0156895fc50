"""Every blue dot has a pink partner in its row or column. The partner turns a quarter counterclockwise around the dot
and becomes orange; outside the grid it is lost."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

GROUND, DOT, PARTNER, TURNED = 8, 1, 6, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(7, 20)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    pairs = []
    reaches = {}
    wanted = rng.randint(2, 2 + side // 3)
    for _ in range(wanted):
        dot = rng.randrange(side), rng.randrange(side)
        reach = rng.choice([1, 1, 2, 3, 4])
        down, right = rng.choice([(-reach, 0), (reach, 0), (0, -reach), (0, reach)])
        partner, target = (dot[0] + down, dot[1] + right), (dot[0] - right, dot[1] + down)
        if not _inside(partner, side):
            raise Retry
        pairs.append((dot, partner, target))
        reaches[dot] = reaches[partner] = reach
    spots = [spot for pair in pairs for spot in pair]
    if len(set(spots)) < len(spots):
        raise Retry
    for dot, partner, target in pairs:
        before[dot] = after[dot] = DOT
        before[partner] = PARTNER
        if _inside(target, side):
            after[target] = TURNED
    # Who belongs to whom must be clear: time and again some partner has only one dot left in sight.
    left = {partner: _in_sight(before, partner) for _, partner, _ in pairs}
    own = {partner: dot for dot, partner, _ in pairs}
    for (row, column), dots in left.items():
        for dot in dots:
            if abs(row - dot[0]) + abs(column - dot[1]) < max(reaches[row, column], reaches[dot]):
                raise Retry  # others are nearer to each other than partners are
    while left:
        clear = [
            partner
            for partner, dots in left.items()
            if dots & {own[other] for other in left} == {own[partner]}
        ]
        if not clear:
            raise Retry
        for partner in clear:
            del left[partner]
    if TURNED not in after:
        raise Retry
    return before, after


def _inside(spot: tuple[int, int], side: int) -> bool:
    return min(spot) >= 0 and max(spot) < side


def _in_sight(grid: Grid, start: tuple[int, int]) -> set[tuple[int, int]]:
    """The dots that are the first thing one sees along the row and column."""
    dots = set()
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        row, column = start[0] + down, start[1] + right
        while _inside((row, column), len(grid)):
            if grid[row, column] != GROUND:
                if grid[row, column] == DOT:
                    dots.add((row, column))
                break
            row, column = row + down, column + right
    return dots


def verify(grid: Grid) -> Grid:
    dots, partners = (
        [tuple(spot) for spot in np.argwhere(grid == color).tolist()] for color in (DOT, PARTNER)
    )
    output = np.where(grid == DOT, DOT, GROUND)
    while partners:
        for partner in partners:
            choices = [dot for dot in dots if _faces(grid, dot, partner)]
            if len(choices) == 1:
                break
        partners.remove(partner)
        (dot,) = choices
        dots.remove(dot)
        row, column = dot[0] - (partner[1] - dot[1]), dot[1] + (partner[0] - dot[0])
        if 0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]:
            output[row, column] = TURNED
    return output


def _faces(grid: Grid, dot: tuple[int, ...], partner: tuple[int, ...]) -> bool:
    """Whether they share a row or column with nothing between them."""
    (top, bottom), (left, right) = (sorted(pair) for pair in zip(dot, partner, strict=True))
    between = grid[top : bottom + 1, left : right + 1]
    return (top == bottom or left == right) and int((between != GROUND).sum()) == 2
