"""One-coloured blocks in the noise hold hollows full of noise. A hollow that opens to the border of the grid and is
closed to all other sides gets the colour of its cell at the border."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, colors, grow, label, random_cells

BLOCK = 12  # cells; noise of one colour does not make as large an object


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([20, 25, 30])
    fluid, *block_colors = colors(rng, 5, without=())
    before = random_cells(rng, (side, side), list(range(10)))
    taken, filled = np.zeros((2, side, side), bool)
    kinds = ["open"] * rng.choice([1, 2, 3, 3]) + rng.sample(["closed", "leaking"], rng.randint(0, 1))
    for kind, color in zip(kinds, block_colors, strict=False):
        hollow = _hollow(rng, kind)
        depth, breadth = hollow.shape
        # Drawn for a block at the upper border, then turned to another side.
        whole, inner, mouth = np.zeros((3, side, side), bool)
        left = rng.randint(0, side - breadth)
        whole[:depth, left : left + breadth] = True
        inner[:depth, left : left + breadth] = hollow
        mouth[0] = inner[0]
        turns = rng.randrange(4)
        whole, inner, mouth = (np.rot90(mask, turns) for mask in (whole, inner, mouth))
        around = grow(whole)
        if (around & taken).any():
            raise Retry
        taken |= around
        # No noise of the block's colour touches it or lies in its hollow.
        noise = random_cells(rng, (side, side), [other for other in range(10) if other != color])
        before[around] = noise[around]
        before[whole & ~inner] = color
        before[mouth] = fluid
        if kind == "open":
            filled |= inner
    after = np.where(filled, fluid, before)
    return before, after


def _hollow(rng: Random, kind: str) -> Mask:
    """The hollow in a block at the upper border: a room, with a way to the border and perhaps another one out."""
    depth, breadth = rng.randint(5, 12), rng.randint(5, 11)
    hollow = np.zeros((depth, breadth), bool)
    top, left = (
        rng.randint(2 if kind == "closed" else 1, max(2, depth // 2 - 1)),
        rng.randint(2, breadth // 2),
    )
    bottom, right = (
        max(rng.randint(a, b), rng.randint(a, b)) for a, b in ((top, depth - 3), (left, breadth - 3))
    )
    if bottom - top > 2 and right - left > 2:
        raise Retry
    hollow[top : bottom + 1, left : right + 1] = True
    way = rng.randint(left, right)
    if kind != "closed":
        hollow[:top, way] = True
    if kind == "leaking":
        hollow[bottom:, way] = True
    return hollow


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    border = np.ones(grid.shape, bool)
    border[1:-1, 1:-1] = False
    for block in _blocks(grid):
        free = ~block
        regions, count = label(free, diagonal=False)
        sizes = np.bincount(regions.ravel(), minlength=count + 1)
        surroundings = int(sizes[1:].argmax()) + 1
        for number in range(1, count + 1):
            hollow = regions == number
            mouth = hollow & border
            if number != surroundings and mouth.any():
                output[hollow] = grid[mouth][0]
    return output


def _blocks(grid: Grid) -> list[Mask]:
    """The large pieces of one colour, by first cell in reading order."""
    blocks = []
    for color in range(10):
        numbers, count = label(grid == color, diagonal=False)
        sizes = np.bincount(numbers.ravel(), minlength=count + 1)
        blocks += [numbers == number for number in range(1, count + 1) if sizes[number] >= BLOCK]
    return sorted(blocks, key=lambda block: int(block.argmax()))
