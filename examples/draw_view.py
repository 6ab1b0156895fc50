"""Draw how a pair of a task becomes what the model sees: a view of it, then tokens on a canvas.

python examples/draw_view.py concepts.png
"""

import sys
from pathlib import Path

from charm.drawing.grids import Label, Panel, Tile, panel_png
from charm.tasks.canvas import FIRST_COLOR, place
from charm.tasks.sources import find_task
from charm.tasks.view import View

CELL, MARGIN, TOP, GAP = 22, 16, 72, 44  # pixels

pair = find_task("3c9b0459").train[0]
view = View(dihedral=1, colors=(0, 3, 4, 2, 1, 5, 6, 7, 8, 9))  # a quarter turn; blue, red, green and yellow change
seen, wanted = (view.apply(grid) for grid in pair.grids())
assert (view.invert(wanted) == pair.output).all()

steps = (
    (
        "a pair of task 3c9b0459",
        "input → output (a half turn)",
        [grid + FIRST_COLOR for grid in pair.grids()],
    ),
    ("under a view", "turned 90°, 1→3 2→4 3→2 4→1", [seen + FIRST_COLOR, wanted + FIRST_COLOR]),
    (
        "as tokens",
        "11 x 11 canvases: colours, boundary (hatched), padding",
        [place(seen, 11), place(wanted, 11)],
    ),
)
panel = Panel(0, TOP + 11 * CELL + MARGIN + 1)
x = MARGIN
for title, text, grids in steps:
    panel.labels += [Label(x, MARGIN + 4, title, bold=True), Label(x, MARGIN + 24, text)]
    width = sum(grid.shape[1] * CELL for grid in grids) + GAP
    for number, grid in enumerate(grids):
        middle = TOP + grid.shape[0] * CELL / 2
        panel.tiles.append(Tile(x, TOP, CELL, grid))
        x += grid.shape[1] * CELL
        if number == 0:
            panel.labels.append(Label(x + GAP / 2, middle, "→", 20, centered=True))
            x += GAP
    x += max(GAP, 230 - width)
panel.width = x - GAP + MARGIN
panel_png(panel, Path(sys.argv[1]))
