"""Rectangles of one colour hide parts of a wallpaper that repeats a small tile. The answer is what the largest
rectangle hides."""

from itertools import product
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, colors, fill, place, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(18, 26), rng.randint(18, 26)
    palette = rng.sample(range(10), rng.randint(3, 4))
    tile = _tile(rng, palette)
    repeats = shape[0] // tile.shape[0] + 1, shape[1] // tile.shape[1] + 1
    wallpaper = np.tile(tile, repeats)[: shape[0], : shape[1]]
    sizes = [(rng.randint(6, 10), rng.randint(6, 12))]
    area = sizes[0][0] * sizes[0][1]
    for _ in range(rng.randint(1, 2)):
        sizes.append((rng.randint(3, 8), rng.randint(3, 9)))
    if max(height * width for height, width in sizes[1:]) > area - 6:
        raise Retry  # the largest must show
    before = wallpaper.copy()
    places = place(rng, shape, sizes)
    for (top, left), (height, width), color in zip(
        places, sizes, colors(rng, len(sizes), palette), strict=True
    ):
        fill(before, top, left, height, width, color)
    (top, left), (height, width) = places[0], sizes[0]
    return before, wallpaper[top : top + height, left : left + width].copy()


def _tile(rng: Random, palette: list[int]) -> Grid:
    """Diagonal stripes, or a pattern between lines of one colour along the top and perhaps the left."""
    side = rng.randint(3, 4)
    if rng.random() < 0.25:
        stripes = [palette[number % len(palette)] for number in range(side)]
        return np.array([stripes[number:] + stripes[:number] for number in range(side)])
    tile = random_cells(rng, (side, rng.randint(3, 4)), palette[1:])
    tile[0] = palette[0]
    if rng.random() < 0.7:
        tile[:, 0] = palette[0]
    lines = {tuple(row) for row in tile.tolist()}
    if set(palette) - set(tile.ravel().tolist()) or len(lines) < tile.shape[0]:
        raise Retry
    return tile


def verify(grid: Grid) -> Grid:
    areas = {}  # the rectangles' colours fill their boxes, the wallpaper's do not
    for color in np.unique(grid).tolist():
        top, left, height, width = box(grid == color)
        if (grid[top : top + height, left : left + width] == color).all():
            areas[color] = height * width
    largest = max(areas, key=lambda color: areas[color])
    top, left, height, width = box(grid == largest)
    shown = ~np.isin(grid, list(areas))
    for down, right in sorted(product(range(1, 7), repeat=2), key=lambda tile: tile[0] * tile[1]):
        parts = [
            grid[r::down, c::right][shown[r::down, c::right]] for r, c in product(range(down), range(right))
        ]
        if all(len(part) and (part == part[0]).all() for part in parts):
            tile = np.array([part[0] for part in parts]).reshape(down, right)
            rows, columns = np.indices((height, width))
            return tile[(rows + top) % down, (columns + left) % right]
    raise ValueError("the wallpaper does not repeat")
