"""Rectangles lie on a wallpaper. The output is the largest one with the next smaller in its bottom left corner (inside
its border, if it has one), that with the next in its corner, and so on. No wallpaper is left inside."""

from itertools import combinations
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, fill, paint, random_cells, retrying


def generate(rng: Random) -> tuple[Grid, Grid]:
    kinds = _kinds(rng)
    return retrying(lambda: _draw(rng, kinds))  # the kinds are kept: many rectangles fail more often


def _draw(rng: Random, kinds: list[str]) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 25), rng.randint(16, 30)
    papers = colors(rng, rng.randint(2, 4), without=())
    palette = colors(rng, 9 - len(set(papers) - {0}), without=(0, *papers))
    patches: list[Grid] = []  # from the smallest, which is drawn last, to the largest
    tall, wide = rng.randint(1, 2), rng.randint(1, 2)
    if len(palette) < len(kinds) + kinds.count("filled"):
        raise Retry
    for kind in reversed(kinds):
        border = 0 if kind == "solid" else 1
        tall, wide = tall + 2 * border + rng.randint(1, 5), wide + 2 * border + rng.randint(1, 5)
        patches.append(canvas(tall, wide, palette.pop()))
        if border:
            fill(patches[-1], 1, 1, tall - 2, wide - 2, palette.pop() if kind == "filled" else 0)
    if tall >= height or wide >= width:
        raise Retry
    before = np.tile(_tile(rng, papers), (13, 15))[:height, :width]
    after, corner, places = patches[-1].copy(), (tall, 0), []
    for patch, kind in zip(reversed(patches), kinds, strict=True):
        # The left column and the bottom row show the wallpaper.
        top, left = rng.randint(0, height - 1 - len(patch)), rng.randint(1, width - patch.shape[1])
        paint(before, patch, top, left)
        places.append((top, left, *patch.shape))
        paint(after, patch, corner[0] - len(patch), corner[1])
        corner = corner[0] - (kind != "solid"), corner[1] + (kind != "solid")
    for patch, kind, (top, left, tall, wide) in zip(reversed(patches), kinds, places, strict=True):
        seen = before[top : top + tall, left : left + wide]
        if box(before == patch[0, 0]) != (top, left, tall, wide) or (
            kind != "hollow" and (seen != patch).any()
        ):
            raise Retry  # too much is covered
    if set(before[:, 0].tolist()) | set(before[-1].tolist()) != set(papers):
        raise Retry
    return before, after


def _kinds(rng: Random) -> list[str]:
    """From the largest to the smallest: what is seen through lies outside."""
    count = rng.randint(2, 4)
    kinds = ["solid"] * (1 + (count > 2 and rng.random() < 0.3))
    if rng.random() < 0.6:
        kinds.insert(0, "filled")
    return ["hollow"] * (count - len(kinds)) + kinds


def _tile(rng: Random, papers: list[int]) -> Grid:
    """Rows that are shifted against each other, or any cells."""
    if rng.random() < 0.6:
        return np.array([np.roll(papers, rng.randrange(4)) for _ in range(rng.randint(2, 4))])
    return random_cells(rng, (rng.randint(2, 3), rng.randint(2, 3)), papers)


def verify(grid: Grid) -> Grid:
    papers = _papers(grid)
    boxes = {color: box(grid == color) for color in sorted(set(grid.ravel().tolist()) - papers)}
    rectangles = []
    for color, (top, left, height, width) in boxes.items():
        if (top - 1, left - 1, height + 2, width + 2) in boxes.values():
            continue  # it fills another one
        inside = top + 1, left + 1, height - 2, width - 2
        fillings = [other for other, place in boxes.items() if place == inside]
        see_through = np.isin(
            grid[top + 1 : top + height - 1, left + 1 : left + width - 1], list(papers)
        ).any()
        patch = canvas(height, width, color)
        if fillings or see_through:
            patch[1:-1, 1:-1] = fillings[0] if fillings else 0
        rectangles.append((height * width, patch, bool(fillings or see_through)))
    rectangles.sort(key=lambda rectangle: -rectangle[0])
    output = rectangles[0][1].copy()
    bottom, left = len(output), 0
    for _, patch, bordered in rectangles:
        paint(output, patch, bottom - len(patch), left)
        bottom, left = bottom - bordered, left + bordered
    return output


def _papers(grid: Grid) -> set[int]:
    """The wallpaper's colours: those of one or two sides of the grid that no rectangle touches.

    With too few colours, one of the wallpaper would pass for a rectangle that shows wallpaper on its outline.
    """
    sides = [set(line.tolist()) for line in (grid[:, 0], grid[-1], grid[:, -1], grid[0])]
    choices = [*(one | other for one, other in combinations(sides, 2)), *sides]
    fitting = [papers for papers in choices if not _shows_on_outlines(grid, papers)]
    return min(fitting or choices[:1], key=len)


def _shows_on_outlines(grid: Grid, papers: set[int]) -> bool:
    for color in set(grid.ravel().tolist()) - papers:
        top, left, height, width = box(grid == color)
        part = grid[top : top + height, left : left + width]
        if papers & {*part[0].tolist(), *part[-1].tolist(), *part[:, 0].tolist(), *part[:, -1].tolist()}:
            return True
    return False
