"""From its tip, the line of many colours sends its first colour out along the four diagonals, which part the grid into
four wedges. Around the line its colours form chevrons, of which the second reaches one diagonal further than the
wedge; each other wedge is filled with the colour of the mark in the middle of its edge, if there is one."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, colors, flood, objects, ray, to_top, undo_to_top


def generate(rng: Random) -> tuple[Grid, Grid]:
    """Drawn with the line going down from its tip, then turned."""
    side = rng.choice([4, 6, 8, 10, 10, 12])
    length = rng.randint(max(3, side // 2), min(7, side - 1))
    tip, middle = side - length, rng.randrange(1, side - 1)
    palette = colors(rng, 9)
    line, marks = palette[:length], {"top": 0, "left": 0, "right": 0}
    marked = rng.sample(list(marks), rng.randint(1, min(3, 9 - length)))
    for edge, color in zip(marked, palette[length:], strict=False):
        marks[edge] = color
    before, after = canvas(side, side), canvas(side, side)
    before[tip:, middle] = line
    half = slice(side // 2 - 1, side // 2 + 1)
    for edge, part in (("top", (0, half)), ("left", (half, 0)), ("right", (half, -1))):
        if marks[edge]:
            before[part] = marks[edge]
    for r in range(side):
        for c in range(side):
            down, across = r - tip, abs(c - middle)
            if down >= across:
                after[r, c] = line[down - across]
            elif down + across in (0, 1):
                after[r, c] = line[down + across]
            elif down + across < 0:
                after[r, c] = marks["top"]
            else:
                after[r, c] = marks["left" if c < middle else "right"]
    if (before != np.where(before != 0, after, 0)).any():
        raise Retry  # a mark outside its wedge
    turned = rng.choice(SIDES)
    return undo_to_top(before, turned), undo_to_top(after, turned)


def verify(grid: Grid) -> Grid:
    for side in SIDES:
        output = to_top(grid, side).copy()
        (line,) = [thing for thing in objects(output, same_color=False) if len(np.unique(thing.patch)) > 2]
        if line.width == 1 and line.bottom == len(output) - 1:
            break
    line_colors = line.patch[:, 0].tolist()
    marks = [thing for thing in objects(output) if thing.size == 2]
    for cell, color in zip(line.cells, line_colors, strict=True):
        for step in ((1, -1), (1, 1)):
            ray(output, cell, step, color)
    for cell, color in zip(line.cells[:2], line_colors[:2], strict=True):
        for step in ((-1, -1), (-1, 1)):
            ray(output, cell, step, color)
    for mark in marks:
        output[flood((output == 0) | (output == mark.color), mark.cells[0])] = mark.color
    return undo_to_top(output, side)
