"""The yellow cells belong to a 3x3 pattern of yellow and pink. Wherever pink lies in the same arrangement, turned or
mirrored too and cut off by the border too, the yellow cells of the pattern are added."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, crop, paint, place, random_cells, scatter, symmetries

PINK, YELLOW = 6, 4
NOISE = (0, 1, 8)


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 20), rng.randint(12, 20)
    pattern = random_cells(rng, (3, 3), [PINK, YELLOW])
    yellow = pattern == YELLOW
    spans = yellow[0].any() and yellow[-1].any() and yellow[:, 0].any() and yellow[:, -1].any()
    if not spans or not 4 <= yellow.sum() <= 6:
        raise Retry
    pink = scatter(rng, (height, width), rng.uniform(0.06, 0.14))
    copies = rng.randint(1, 4)
    # The first place is the pattern's own; the others may be cut off by the border.
    places = place(rng, (height + 2, width + 2), [(3, 3)] * (copies + 1), gap=0)
    for top, left in places:
        pink[max(0, top - 1) : top + 2, max(0, left - 1) : left + 2] = False
    for number, (top, left) in enumerate(places):
        turns = rng.randrange(4) if number else 0
        paint(pink, np.rot90(pattern, turns) == PINK, top - 1, left - 1)
    before = np.where(pink, PINK, random_cells(rng, (height, width), [*NOISE * 3, *rng.choices(NOISE, k=3)]))
    own = places[0][0] - 1, places[0][1] - 1
    if min(own) < 0 or own[0] > height - 3 or own[1] > width - 3:
        raise Retry
    paint(before, pattern, *own)
    after = before.copy()
    cells = {(r, c) for r, c in np.argwhere(pink).tolist()}
    windows: list[tuple[int, int]] = []
    for number, image in enumerate(symmetries(pattern)):
        wanted = [(r, c) for r, c in np.argwhere(image == PINK).tolist()]
        for row, column in sorted(cells):
            top, left = row - wanted[0][0], column - wanted[0][1]
            window = {(top + r, left + c) for r in range(3) for c in range(3)}
            if window & cells == {(top + r, left + c) for r, c in wanted} and (top, left) not in windows:
                # The official pairs have no mirror image that is not a turned one, and no two copies that overlap.
                if number >= 4 or any(abs(top - t) < 3 and abs(left - c) < 3 for t, c in windows):
                    raise Retry
                windows.append((top, left))
                paint(after, image, top, left)
    if (after != before).sum() < 2:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    pattern = crop(grid, grid == YELLOW)
    pink = np.lib.stride_tricks.sliding_window_view(np.pad(grid == PINK, 2), (3, 3))
    output = np.pad(grid, 2)
    for image in symmetries(pattern):
        for top, left in np.argwhere((pink == (image == PINK)).all(axis=(2, 3))).tolist():
            output[top : top + 3, left : left + 3][image == YELLOW] = YELLOW
    return output[2:-2, 2:-2]


def rival(grid: Grid) -> Grid:
    """Turned arrangements count, mirrored ones do not."""
    pattern = crop(grid, grid == YELLOW)
    pink = np.lib.stride_tricks.sliding_window_view(np.pad(grid == PINK, 2), (3, 3))
    output = np.pad(grid, 2)
    for turns in range(4):
        image = np.rot90(pattern, turns)
        for top, left in np.argwhere((pink == (image == PINK)).all(axis=(2, 3))).tolist():
            output[top : top + 3, left : left + 3][image == YELLOW] = YELLOW
    return output[2:-2, 2:-2]
