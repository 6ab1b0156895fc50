"""Black blocks lie at the border. Each slides straight across to the opposite side and leaves an orange trail."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, fill, objects, random_cells, retrying

BLOCK, GREY, ORANGE = 0, 5, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 20), rng.randint(8, 20)
    count = rng.randint(1, 1 + height * width // 30)
    return retrying(lambda: _draw(rng, height, width, count), 500)


def _draw(rng: Random, height: int, width: int, count: int) -> tuple[Grid, Grid]:
    before = random_cells(rng, (height, width), rng.choice([[GREY, ORANGE], [GREY, ORANGE, ORANGE]]))
    after = before.copy()
    near, far = np.zeros((height, width), int), np.zeros((height, width), int)
    blocks = []
    for _ in range(count):
        level = rng.random() < 0.5  # it slides along rows
        length = width if level else height
        deep, wide = rng.randint(1, min(6, length // 2 - 1)), rng.randint(1, 4)
        limit = (
            (height if level else width) - wide - 1
        )  # corners stay free: there the direction would be open
        if limit < 1:
            raise Retry
        along = rng.randint(1, limit)
        starts = [0, length - deep]
        rng.shuffle(starts)
        for covered, start in zip((near, far), starts, strict=True):
            top, left = (along, start) if level else (start, along)
            size = (wide, deep) if level else (deep, wide)
            covered[top : top + size[0], left : left + size[1]] += 1
            blocks.append((covered is far, top, left, *size))
        fill(after, *((along, 0, wide, width) if level else (0, along, height, wide)), ORANGE)
    for landed, *where in blocks:
        fill(after if landed else before, *where, BLOCK)
    # Blocks keep apart at the start, and none lands on another's start or end.
    if far.max() > 1 or (near & far).any() or len(objects(np.where(before == BLOCK, 1, 0))) < count:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    landed = np.zeros(grid.shape, bool)
    last_row, last_column = grid.shape[0] - 1, grid.shape[1] - 1
    for block in objects(np.where(grid == BLOCK, 1, 0)):
        rows, columns = block.slices
        if block.left == 0 or block.right == last_column:
            output[rows] = ORANGE
            landed[rows, last_column - block.right : last_column - block.left + 1] = True
        else:
            output[:, columns] = ORANGE
            landed[last_row - block.bottom : last_row - block.top + 1, columns] = True
    return np.where(landed, BLOCK, output)
