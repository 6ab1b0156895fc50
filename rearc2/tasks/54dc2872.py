"""A right angle holds a cell of another colour in its bend. Where a single cell of that colour lies elsewhere, the
figure moves so that its corner lies on that cell; the other figures and cells stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, grow, objects, paint, place


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(10, 16), rng.randint(10, 16)
    movers, stayers, strays = rng.randint(1, 3), rng.randint(1, 2), rng.randint(0, 2)
    outlines = colors(rng, movers + stayers)
    # The colours in the bends differ from each other; each may be the outline of another figure.
    pits = colors(rng, movers + stayers + strays)
    if any(outline == pit for outline, pit in zip(outlines, pits, strict=False)):
        raise Retry
    figures, corners = [], []
    for outline, pit in zip(outlines, pits, strict=False):
        height, width = rng.choice([(2, 3), (3, 2), (3, 3), (3, 3), (3, 4), (4, 3), (4, 4)])
        figure = canvas(height, width)
        bottom, right = rng.choice([0, height - 1]), rng.choice([0, width - 1])
        figure[bottom, :] = figure[:, right] = outline
        figure[1 if bottom == 0 else height - 2, 1 if right == 0 else width - 2] = pit
        figures.append(figure)
        corners.append((bottom, right))
    # Mostly a figure moves far away; some move so little that their places before and after share a box.
    shifts = [
        (rng.randint(-3, 3), rng.randint(-3, 3)) if rng.random() < 0.2 else (0, 0) for _ in range(movers)
    ] + [(0, 0)] * stayers
    sizes = [
        (figure.shape[0] + abs(down), figure.shape[1] + abs(right))
        for figure, (down, right) in zip(figures, shifts, strict=True)
    ]
    # The places before and after, and those of the stray cells, all in one go, so that nothing overlaps.
    places = place(rng, shape, sizes + sizes[:movers] + [(1, 1)] * strays)
    before, after = canvas(*shape), canvas(*shape)
    for number, (figure, (down, right), (top, left)) in enumerate(zip(figures, shifts, places, strict=False)):
        start = end = top + max(0, -down), left + max(0, -right)
        if (down, right) != (0, 0):
            end = start[0] + down, start[1] + right
        elif number < movers:
            end = places[len(figures) + number]
        paint(before, figure, *start)
        paint(after, figure, *end)
        if number < movers:
            row, column = end[0] + corners[number][0], end[1] + corners[number][1]
            lone = np.zeros(shape, bool)
            lone[row, column] = True
            if before[grow(lone, diagonal=False)].any():  # the cell would be a part of the figure
                raise Retry
            before[row, column] = pits[number]
    for stray, pit in zip(places[len(figures) + movers :], pits[len(figures) :], strict=True):
        before[stray] = after[stray] = pit
    return before, after


def verify(grid: Grid) -> Grid:
    things = objects(grid, diagonal=False, same_color=False)
    singles = {thing.color: thing for thing in things if thing.size == 1}
    output = grid.copy()
    moves = []
    for figure in (thing for thing in things if thing.size > 1):
        row, column = np.argwhere(figure.mask & (figure.patch != figure.color))[0].tolist()
        target = singles.get(int(figure.patch[row, column]))
        if target is None:
            continue
        outline = figure.patch == figure.color
        corner_row, corner_column = int(outline.sum(axis=1).argmax()), int(outline.sum(axis=0).argmax())
        output[figure.slices] = output[target.slices] = 0
        moves.append((figure.patch, target.top - corner_row, target.left - corner_column))
    for patch, top, left in moves:
        paint(output, patch, top, left)
    return output
