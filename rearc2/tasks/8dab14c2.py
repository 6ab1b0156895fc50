"""A thick L has bumps and dents. Through each of them a row or column moves by one cell: a bump makes a dent at the far
end of its row or column, a dent makes a bump."""

from collections import Counter
from itertools import product
from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, retrying

GROUND, FIGURE = 8, 1
STEPS = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(13, 20), rng.randint(13, 20)
    base = np.zeros((height, width), bool)
    base[2:-2, 2:-2] = True
    # Thickness of the two bars; at least five rows and columns are cut out.
    down, right = rng.randint(3, min(6, height - 9)), rng.randint(3, min(6, width - 9))
    base[2 : height - 2 - down, 2 : width - 2 - right] = False
    if rng.random() < 0.5:
        base = base[::-1]
    if rng.random() < 0.5:
        base = base[:, ::-1]
    count = rng.randint(2, 6)
    shown, moved = retrying(lambda: _moves(rng, base, count))
    return np.where(shown, FIGURE, GROUND), np.where(moved, FIGURE, GROUND)


def _moves(rng: Random, base: Mask, count: int) -> tuple[Mask, Mask]:
    """The figure with one end of some rows and columns changed, and with both ends changed."""
    shown, moved = base.copy(), base.copy()
    taken: set[tuple[int, int]] = set()
    changes: Counter[tuple[int, int, int]] = Counter()  # per edge: the way it faces, its row or column
    for _ in range(count):
        out = rng.choice(STEPS)
        rims = {step: ~base & np.roll(base, step, (0, 1)) for step in STEPS}  # cells just outside, that way
        bump = tuple(rng.choice(np.argwhere(rims[out]).tolist()))
        dent = bump
        while base[dent[0] - out[0], dent[1] - out[1]]:
            dent = dent[0] - out[0], dent[1] - out[1]
        taken_now = {bump, dent}
        seen, facing = (bump, out) if rng.random() < 0.5 else (dent, (-out[0], -out[1]))
        near = {(seen[0] + a, seen[1] + b) for a in (-1, 0, 1) for b in (-1, 0, 1)}
        # Its direction must be plain: no corner, no other change beside it.
        edges = sum(base[seen[0] + a, seen[1] + b] != base[seen] for a, b in STEPS)
        if edges != 1 or taken & (near | taken_now):
            raise Retry
        # And where the edge runs: most of it stays whole.
        rim = seen if seen == bump else (dent[0] - out[0], dent[1] - out[1])
        edge = (*facing, rim[0] if facing[0] else rim[1])
        length = rims[facing][rim[0]].sum() if facing[0] else rims[facing][:, rim[1]].sum()
        changes[edge] += 1
        if 2 * changes[edge] >= length:
            raise Retry
        taken |= taken_now
        shown[seen] = not base[seen]
        moved[bump], moved[dent] = True, False
    return shown, moved


def verify(grid: Grid) -> Grid:
    figure = grid == FIGURE
    base = _smooth(figure)
    output = grid.copy()
    for r, c in np.argwhere(figure != base).tolist():
        # Into the figure from a bump, or from the ground beyond a dent.
        ((down, right),) = [
            (a, b) if figure[r, c] else (-a, -b) for a, b in STEPS if base[r + a, c + b] != base[r, c]
        ]
        end = (r, c)
        while base[end[0] + down, end[1] + right]:
            end = end[0] + down, end[1] + right
        if figure[r, c]:
            output[end] = GROUND
        else:
            output[end[0] + down, end[1] + right] = FIGURE
    return output


def _smooth(figure: Mask) -> Mask:
    """The L (a box less a box in one of its corners) that differs from the figure in the fewest cells."""
    top, left, height, width = box(figure)
    best, least = figure, figure.size
    for up, down, back, ahead in product((0, 1), repeat=4):  # bumps make the box larger by at most one cell
        area = slice(top + up, top + height - down), slice(left + back, left + width - ahead)
        for flip in (slice(None), slice(None, None, -1)):
            for turn in (slice(None), slice(None, None, -1)):
                part = figure[area][flip, turn]
                rows, columns = np.indices(part.shape) + 1
                cut = 2 * part.cumsum(axis=0).cumsum(axis=1) - rows * columns  # cells lost less cells matched
                differ = figure.sum() + part.size - 2 * part.sum() + cut
                if differ.min() < least:
                    least = int(differ.min())
                    tall, wide = np.unravel_index(differ.argmin(), differ.shape)
                    best = np.zeros_like(figure)
                    view = best[area][flip, turn]
                    view[:] = True
                    view[: tall + 1, : wide + 1] = False
    return best
