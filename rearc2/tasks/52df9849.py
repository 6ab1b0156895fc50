"""What is partly covered comes to the front: rectangles and diagonal lines that lie behind other figures are drawn
whole, in front of them."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, colors, fill, retrying

BACKGROUND = 7
SIDE = 16


def generate(rng: Random) -> tuple[Grid, Grid]:
    if rng.random() < 0.5:
        return retrying(lambda: _picture(rng, *_shapes(rng)))
    counts = rng.randint(1, 3), rng.randint(1, 3)  # drawn once, so that many bars are as likely as few
    return retrying(lambda: _picture(rng, *_bars(rng, counts)))


def _picture(rng: Random, behind: list[Mask], front: list[Mask]) -> tuple[Grid, Grid]:
    """Refuses a scene in which something cannot be recognised."""
    under, over = np.sum(behind, axis=0), np.sum(front, axis=0)
    if max(under.max(), over.max()) > 1 or not all(
        0 < under[figure].sum() < figure.sum() for figure in front
    ):
        raise Retry
    for figure in behind:
        visible = figure & (over == 0)
        if not visible.any() or (visible == figure).all() or box(visible) != box(figure):
            raise Retry
    figures = list(
        zip(behind + front, colors(rng, len(behind) + len(front), without=(BACKGROUND,)), strict=True)
    )
    before, after = canvas(SIDE, SIDE, BACKGROUND), canvas(SIDE, SIDE, BACKGROUND)
    for figure, color in figures:
        before[figure] = color
    for figure, color in reversed(figures):
        after[figure] = color
    for figure in behind + front:
        top, left, height, width = box(figure)
        part = slice(top, top + height), slice(left, left + width)
        # A figure that is no rectangle must not look like one.
        if not figure[part].all() and not (before[part] == BACKGROUND).any():
            raise Retry
    return before, after


def _bars(rng: Random, counts: tuple[int, int]) -> tuple[list[Mask], list[Mask]]:
    """Bars across bars."""
    layers = []
    for count in counts:
        bars = []
        for top in rng.sample(range(2, 12), count):
            start, end = rng.randint(0, 3), rng.randint(11, SIDE)
            bars.append(_rectangle(top, start, rng.randint(1, 4), end - start))
        layers.append(bars)
    return layers[0], [bar.T for bar in layers[1]]


def _shapes(rng: Random) -> tuple[list[Mask], list[Mask]]:
    """Rectangles and diagonals behind rectangles and triangles."""
    behind = [_block(rng) if rng.random() < 0.6 else _diagonal(rng) for _ in range(rng.randint(1, 3))]
    front = [_block(rng) if rng.random() < 0.6 else _triangle(rng) for _ in range(rng.randint(1, 2))]
    return behind, front


def _rectangle(top: int, left: int, height: int, width: int) -> Mask:
    grid = canvas(SIDE, SIDE)
    fill(grid, top, left, height, width, 1)
    return grid > 0


def _block(rng: Random) -> Mask:
    height, width = rng.randint(2, 9), rng.randint(2, 9)
    return _rectangle(rng.randint(0, SIDE - height), rng.randint(0, SIDE - width), height, width)


def _diagonal(rng: Random) -> Mask:
    length = rng.randint(7, SIDE)
    mask = np.zeros((SIDE, SIDE), bool)
    top, left = rng.randint(0, SIDE - length), rng.randint(0, SIDE - length)
    mask[range(top, top + length), range(left, left + length)] = True
    return mask if rng.random() < 0.5 else mask[::-1]


def _triangle(rng: Random) -> Mask:
    """Its tip is above or below, and one of its sides falls more steeply than the other."""
    height = rng.randint(4, 8)
    top, tip = rng.randint(0, SIDE - height), rng.randint(height, SIDE - height)
    mask = np.zeros((SIDE, SIDE), bool)
    for row in range(height):
        mask[top + row, tip - row : tip + 1 + row // 2] = True
    return mask[:: rng.choice((-1, 1)), :: rng.choice((-1, 1))]


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for color in sorted(set(np.unique(grid).tolist()) - {BACKGROUND}):
        mask = grid == color
        top, left, height, width = box(mask)
        if not (grid[top : top + height, left : left + width] == BACKGROUND).any():
            whole = mask.copy()
            whole[top : top + height, left : left + width] = True
        else:
            whole = _completed_diagonal(mask)
        if (whole != mask).any():
            output[whole] = color
    return output


def _completed_diagonal(mask: Mask) -> Mask:
    """The diagonal with its gaps closed; any other figure as it is."""
    rows, columns = np.nonzero(mask)
    whole = mask.copy()
    steps = np.arange(rows.min(), rows.max() + 1)
    if len(set((rows - columns).tolist())) == 1:
        whole[steps, steps - rows[0] + columns[0]] = True
    elif len(set((rows + columns).tolist())) == 1:
        whole[steps, rows[0] + columns[0] - steps] = True
    return whole
