"""On the grey block the red cell takes the place of the sky blue one and pushes it off: that one falls to the ground
beside the block, on its own side."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill, mostly, objects

GROUND, BLOCK, RED, BLUE = 7, 5, 2, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 7, 12, 24)
    top = rng.randint(2, side - 3)
    left = rng.randint(0, side // 4)
    width = rng.randint(3, side - left - 1)
    red = rng.randint(left, left + width - 3)
    blue = rng.randint(red + 2, left + width - 1)
    before = canvas(side, side, GROUND)
    fill(before, top, left, side - top, width, BLOCK)
    if (before == BLOCK).sum() * 2 >= before.size:
        raise Retry
    after = before.copy()
    before[top - 1, red], before[top - 1, blue] = RED, BLUE
    after[top - 1, blue], after[-1, left + width] = RED, BLUE
    return (before[:, ::-1], after[:, ::-1]) if rng.random() < 0.5 else (before, after)


def verify(grid: Grid) -> Grid:
    things = {thing.color: thing for thing in objects(grid, GROUND)}
    block, red, blue = things[BLOCK], things[RED], things[BLUE]
    output = grid.copy()
    output[red.top, red.left] = GROUND
    output[blue.top, blue.left] = RED
    output[-1, block.right + 1 if blue.left > red.left else block.left - 1] = BLUE
    return output
