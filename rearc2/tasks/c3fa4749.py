"""One-coloured blocks in the noise hold hollows full of noise. A hollow that opens to the border of the grid and is
closed to all other sides gets the colour of its cell at the border."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, colors, grow, label, objects, random_cells

BLOCK = 12  # cells; noise of one colour does not make as large an object


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([20, 25, 30])
    fluid, *block_colors = colors(rng, 5, without=())
    before = random_cells(rng, (side, side), list(range(10)))
    after = before.copy()
    taken = np.zeros((side, side), bool)
    kinds = ["open"] * rng.randint(1, 3) + rng.sample(["closed", "leaking"], rng.randint(0, 1))
    for kind, color in zip(kinds, block_colors, strict=False):
        block, hollow = _block(rng, kind)
        # Drawn for a block at the upper border, then turned to another side.
        turns = rng.randrange(4)
        place = rng.randint(0, side - block.shape[1])
        whole, inner = np.zeros((2, side, side), bool)
        whole[: block.shape[0], place : place + block.shape[1]] = block
        inner[: block.shape[0], place : place + block.shape[1]] = hollow
        mouth = inner.copy()
        mouth[1:] = False
        whole, inner, mouth = (np.rot90(mask, turns) for mask in (whole, inner, mouth))
        around = grow(whole)
        if (around & taken).any():
            raise Retry
        taken |= around
        for grid in (before, after):
            grid[around & (grid == color)] = rng.choice([other for other in range(10) if other != color])
            grid[whole & ~inner] = color
        # Both grids hold the same noise in the hollow, of any colours but the block's.
        noise = random_cells(rng, (side, side), [other for other in range(10) if other != color])
        noise[mouth] = fluid
        before[inner] = after[inner] = noise[inner]
        if kind == "open":
            after[inner] = fluid
    if (before != after).sum() < 2:
        raise Retry
    return before, after


def _block(rng: Random, kind: str) -> tuple[Mask, Mask]:
    """A block whose first row lies at the border, and its hollow: a room, with a way to the border if it is open."""
    depth, breadth = rng.randint(5, 12), rng.randint(5, 11)
    block, hollow = np.ones((depth, breadth), bool), np.zeros((depth, breadth), bool)
    top, left = rng.randint(1, depth - 3), rng.randint(2, breadth - 3)
    bottom, right = rng.randint(top, depth - 3), rng.randint(left, breadth - 3)
    if kind == "closed":
        top = max(top, 2)
    if bottom < top or (bottom - top > 2 and right - left > 2):
        raise Retry
    hollow[top : bottom + 1, left : right + 1] = True
    way = rng.randint(left, right)
    if kind != "closed":
        hollow[:top, way] = True
    if kind == "leaking":
        hollow[bottom:, way] = True
    return block, hollow


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    border = np.ones(grid.shape, bool)
    border[1:-1, 1:-1] = False
    for block in objects(grid, background=None, diagonal=False):
        if block.size < BLOCK:
            continue
        free = np.ones(grid.shape, bool)
        free[block.slices][block.mask] = False
        regions, count = label(free, diagonal=False)
        sizes = np.bincount(regions.ravel(), minlength=count + 1)
        surroundings = int(sizes[1:].argmax()) + 1
        for number in range(1, count + 1):
            hollow = regions == number
            mouth = hollow & border
            if number != surroundings and mouth.any():
                output[hollow] = grid[mouth][0]
    return output
