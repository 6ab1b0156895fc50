"""A right angle holds a cell of another colour in its bend. Where a single cell of that colour lies elsewhere, the
figure moves so that its corner lies on that cell; the other figures and cells stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, place


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
    sizes = [figure.shape for figure in figures]
    # The places before and after, and those of the stray cells, all in one go, so that nothing overlaps.
    places = place(rng, shape, sizes + sizes[:movers] + [(1, 1)] * strays)
    starts, ends = places[: len(figures)], places[len(figures) : len(figures) + movers]
    before, after = canvas(*shape), canvas(*shape)
    for number, (figure, start) in enumerate(zip(figures, starts, strict=True)):
        paint(before, figure, *start)
        end = ends[number] if number < movers else start
        paint(after, figure, *end)
        if number < movers:
            before[end[0] + corners[number][0], end[1] + corners[number][1]] = pits[number]
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
