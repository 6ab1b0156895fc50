"""Black blocks lie at the border. Each slides straight across to the opposite side and leaves an orange trail."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, fill, grow, objects, random_cells, retrying

BLOCK, GREY, ORANGE = 0, 5, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 20), rng.randint(8, 20)
    count = rng.randint(1, 1 + height * width // 30)
    return retrying(lambda: _draw(rng, height, width, count), 500)


def _draw(rng: Random, height: int, width: int, count: int) -> tuple[Grid, Grid]:
    before = random_cells(rng, (height, width), rng.choice([[GREY, ORANGE], [GREY, ORANGE, ORANGE]]))
    after = before.copy()
    near, far = np.zeros((height, width), bool), np.zeros((height, width), bool)
    blocks: list[tuple[Mask, Mask, tuple[int, int, int, int]]] = []
    for _ in range(20 * count):
        if len(blocks) == count:
            break
        level = rng.random() < 0.5  # it slides along rows
        length = width if level else height
        deep, wide = rng.randint(1, min(6, length // 2 - 1)), rng.randint(1, 4)
        limit = (
            (height if level else width) - wide - 1
        )  # corners stay free: there the direction would be open
        if limit < 1:
            continue
        along = rng.randint(1, limit)
        starts = [0, length - deep]
        rng.shuffle(starts)
        start, end = np.zeros((height, width), bool), np.zeros((height, width), bool)
        for covered, first in zip((start, end), starts, strict=True):
            top, left = (along, first) if level else (first, along)
            fill(covered, top, left, *((wide, deep) if level else (deep, wide)), True)
        # Blocks keep apart at the start, and none lands on another's start or end.
        if (grow(start) & near).any() or (start & far).any() or (end & (near | far)).any():
            continue
        near |= start
        far |= end
        blocks.append((start, end, (along, 0, wide, width) if level else (0, along, height, wide)))
    if len(blocks) < count:
        raise Retry
    for _, _, trail in blocks:
        fill(after, *trail, ORANGE)
    for start, end, _ in blocks:
        before[start] = BLOCK
        after[end] = BLOCK
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
