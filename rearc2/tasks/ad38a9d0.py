"""Each of six shapes has its own colour: pieces of the shape are painted with it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow, objects, paint, spots

BACKGROUND, PIECE = 7, 6
SHAPES = {
    2: ("#", "#", "#"),
    3: (".#.", "###", ".#."),
    4: ("##", ".#"),
    5: ("###", "###"),
    8: ("##.", ".##"),
    9: ("#", "#"),
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    names = list(SHAPES) + [rng.choice(list(SHAPES)) for _ in range(rng.randint(0, 2))]
    after = canvas(9, 9)
    corners = rng.random() < 0.4  # pieces never touch along edges, but they may at corners
    rng.shuffle(names)
    for name in sorted(names, key=lambda name: name not in (3, 5, 8)):
        shape = np.array([[cell == "#" for cell in row] for row in SHAPES[name]])
        blocked = grow(after > 0, diagonal=not corners)
        choices = [
            (r, c)
            for r, c in spots(np.zeros((9, 9), bool), *shape.shape).tolist()
            if not (blocked[r : r + shape.shape[0], c : c + shape.shape[1]] & shape).any()
        ]
        if not choices:
            raise Retry
        paint(after, shape, *rng.choice(choices), name)
    return np.where(after > 0, PIECE, BACKGROUND), np.where(after > 0, after, BACKGROUND)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for piece in objects(grid, BACKGROUND, diagonal=False):
        text = tuple("".join(".#"[int(cell)] for cell in row) for row in piece.mask)
        (color,) = [color for color, shape in SHAPES.items() if shape == text]
        paint(output, piece.mask, piece.top, piece.left, color)
    return output
