"""Figures of several colours are given as patterns. Elsewhere only some cells of such a figure are there: each time the
whole figure is completed around them."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors, objects, paint, place, random_shape

WRONG = {"train 2": "the green cell at (4, 3) of the pattern itself disappears, while its copies have it"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(13, 26)
    kinds = rng.randint(1, 3 if side > 17 else 2)
    ground, spare, *palette = colors(rng, 2 + 3 * min(kinds, 2) + 1 * (kinds == 3))
    figures, cores = [], []
    for core_color in palette[:kinds]:
        # The colours of the core, which the copies show, belong to one figure alone; the others may be shared.
        core_colors = [core_color, spare] if core_color == palette[0] and rng.random() < 0.4 else [core_color]
        figure, core = _figure(rng, core_colors, rng.sample(palette[kinds:], rng.randint(1, 2)))
        figures.append(figure)
        cores.append(core)
    whole = list(range(kinds))
    partial = [kind for kind in whole for _ in range(rng.randint(1, 3))]
    before, after = canvas(side, side, ground), canvas(side, side, ground)
    places = place(rng, before.shape, [figures[kind].shape for kind in whole + partial], gap=2)
    for number, (kind, (top, left)) in enumerate(zip(whole + partial, places, strict=True)):
        paint(before, figures[kind] if number < kinds else cores[kind], top, left)
        paint(after, figures[kind], top, left)
    return before, after


def _figure(rng: Random, core_colors: list[int], other_colors: list[int]) -> tuple[Grid, Grid]:
    """A figure and its core: one cell of it or two near each other, two if they have two colours."""
    mask = random_shape(rng, rng.randint(3, 5), rng.randint(3, 5), rng.uniform(0.4, 0.6), diagonal=True)
    figure = canvas(*mask.shape)
    for row, column in np.argwhere(mask).tolist():
        figure[row, column] = rng.choice(other_colors)
    first, second = rng.sample(np.argwhere(mask).tolist(), 2)
    distance = max(abs(first[0] - second[0]), abs(first[1] - second[1]))
    two_colors = len(core_colors) == 2
    if distance > 2 or (two_colors and distance < 2):
        raise Retry  # cells of two colours that touch would look like a figure of their own
    cells = [first, second] if two_colors or rng.random() < 0.5 else [first]
    core = canvas(*mask.shape)
    for (row, column), color in zip(cells, 2 * core_colors, strict=False):
        figure[row, column] = core[row, column] = color
    return figure, core


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    things = objects(grid, background=ground, same_color=False)
    figures = [thing.patch for thing in things if len(set(thing.patch[thing.mask].tolist())) > 1]
    left = [
        cell for thing in things if len(set(thing.patch[thing.mask].tolist())) == 1 for cell in thing.cells
    ]
    output = grid.copy()
    while left:
        # The figure and place that explain most of the cells left, the first of them among these.
        row, column = left[0]
        choices = []
        for figure in figures:
            for r, c in np.argwhere(figure == grid[row, column]).tolist():
                cells = {
                    (row - r + down, column - c + right): int(figure[down, right])
                    for down, right in np.argwhere(figure > 0).tolist()
                }
                found = [cell for cell in left if cells.get(cell) == grid[cell]]
                choices.append((len(found), found, cells))
        _, found, cells = max(choices, key=lambda choice: choice[0])
        for cell, color in cells.items():
            output[cell] = color
        left = [cell for cell in left if cell not in found]
    return output
