"""Three grey signs stand side by side; each is replaced by a 3x3 block of the colour that it stands for."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, upscale

GREY = 5
SIGNS = {
    1: ("...", "...", "555"),
    3: ("555", "5.5", "555"),
    4: ("...", ".5.", "..."),
    6: ("555", "...", "..."),
    9: ("..5", ".5.", "5.."),
}
EXCEPTIONS = {"literal": "which sign stands for which colour is the rule itself"}
CAP = 120  # 5 signs at 3 places, less the 5 official pairs


def generate(rng: Random) -> tuple[Grid, Grid]:
    blocks = [rng.choice(list(SIGNS)) for _ in range(3)]
    before = canvas(3, 9)
    for number, block in enumerate(blocks):
        for r, row in enumerate(SIGNS[block]):
            for c, cell in enumerate(row):
                before[r, 3 * number + c] = GREY if cell == "5" else 0
    return before, upscale(np.array([blocks]), 3)


def verify(grid: Grid) -> Grid:
    output = canvas(3, 9)
    for left in (0, 3, 6):
        panel = grid[:, left : left + 3]
        text = tuple("".join("5" if cell else "." for cell in row) for row in panel.tolist())
        (color,) = [color for color, sign in SIGNS.items() if sign == text]
        output[:, left : left + 3] = color
    return output
