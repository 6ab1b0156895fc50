"""Strips with one colour each are parted by empty columns. In every strip the empty cells get the colour of the next
strip to the right, in the last one that of the first."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, most_common, scatter

HEIGHT, STRIPS, WIDTH = 10, 3, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    floor = rng.randint(0, 9)
    tones = colors(rng, STRIPS, without=(floor,))
    cuts = sorted(rng.sample(range(1, WIDTH), STRIPS - 1))
    widths = np.diff([0, *cuts, WIDTH]).tolist()
    before = canvas(HEIGHT, WIDTH + STRIPS - 1, floor)
    after = before.copy()
    left = 0
    for number, width in enumerate(widths):
        mask = _snake(rng, width) if width > 1 and rng.random() < 0.5 else _repeated(rng, width)
        # A column without the colour would part the strip; two full ones could be taken for the gaps.
        if not mask.any(axis=0).all() or mask.all() or mask.all(axis=0).sum() > 1:
            raise Retry
        before[:, left : left + width] = np.where(mask, tones[number], floor)
        after[:, left : left + width] = np.where(mask, tones[number], tones[(number + 1) % STRIPS])
        left += width + 1
    return before, after


def _repeated(rng: Random, width: int) -> Mask:
    period = rng.randint(2, 7)
    pattern = scatter(rng, (period, width), rng.uniform(0.3, 0.7))
    return np.tile(pattern, (HEIGHT // period + 1, 1))[:HEIGHT]


def _snake(rng: Random, width: int) -> Mask:
    """One cell per row, to and fro with stops."""
    mask = np.zeros((HEIGHT, width), bool)
    stops = rng.randint(1, 3)
    way = [*range(width), *range(width - 2, 0, -1)]
    offset = rng.randrange(len(way) * stops)
    for row in range(HEIGHT):
        mask[row, way[(row + offset) // stops % len(way)]] = True
    if rng.random() < 0.3:
        mask[:, -1] = True
    return mask


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    # A strip may have a full column too, but only the gaps are two of one colour.
    floor = most_common(np.array([column[0] for column in grid.T if (column == column[0]).all()]))
    strips: list[list[int]] = [[]]
    for number, column in enumerate(grid.T):
        if (column == floor).all():
            strips.append([])
        else:
            strips[-1].append(number)
    tones = [int(grid[:, strip][grid[:, strip] != floor][0]) for strip in strips]
    for strip, tone in zip(strips, tones[1:] + tones[:1], strict=True):
        output[:, strip] = np.where(grid[:, strip] == floor, tone, grid[:, strip])
    return output
