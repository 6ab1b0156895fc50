"""Every green frame has a nub on one side; beside the opposite side lies its mirror image, one free line apart: blue
if the nub is to the left or right, sky blue if it is at the top or bottom.

All official nubs are in the very middle of their side, so the image may as well be turned; no others are drawn."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Mask, canvas, frame, objects, paint, place, undo_to_top

FRAME, SIDEWAYS, UPRIGHT = 3, 1, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(18, 30), rng.randint(16, 30)
    after = canvas(height, width)
    frames = []
    sides = [rng.choice(["top", "bottom"]), rng.choice(["left", "right"])]
    for side in sides + [rng.choice(SIDES) for _ in range(rng.randint(0, 3))]:
        body = _body(rng)
        # The nub first, then the frame, a free line, the mirror image.
        pair = np.vstack([body * FRAME, canvas(1, body.shape[1]), body[::-1] * _color(side)])
        frames.append(undo_to_top(pair, side))
    for pair, (top, left) in zip(
        frames, place(rng, (height, width), [pair.shape for pair in frames]), strict=True
    ):
        paint(after, pair, top, left)
    if list(after[:, -1][after[:, -1] > 0]) == [SIDEWAYS]:
        after = after[:, :-1]  # an image's nub may stick out of the grid
    before = np.where(after == FRAME, FRAME, 0)
    return before, after


def _body(rng: Random) -> Mask:
    """A frame with its nub at the top, in the middle of that side."""
    height, width = rng.randint(3, 6), rng.choice([3, 5])
    body = canvas(height + 1, width)
    frame(body, 1, 0, height, width, 1)
    body[0, width // 2] = 1
    return body > 0


def _color(side: str) -> int:
    return UPRIGHT if side in ("top", "bottom") else SIDEWAYS


def verify(grid: Grid) -> Grid:
    return _with_images(grid, turned=False)


def rival_turned(grid: Grid) -> Grid:
    """The image is the frame after half a turn."""
    return _with_images(grid, turned=True)


def _with_images(grid: Grid, turned: bool) -> Grid:
    output = grid.copy()
    for thing in objects(grid):
        # The nub is alone in the first or last row or column of the box.
        rows, columns = thing.mask.sum(axis=1), thing.mask.sum(axis=0)
        half_turn = thing.mask[::-1, ::-1]
        across, down = (half_turn, half_turn) if turned else (thing.mask[:, ::-1], thing.mask[::-1])
        if rows[0] == 1:
            paint(output, down, thing.bottom + 2, thing.left, UPRIGHT)
        elif rows[-1] == 1:
            paint(output, down, thing.top - 1 - thing.height, thing.left, UPRIGHT)
        elif columns[0] == 1:
            paint(output, across, thing.top, thing.right + 2, SIDEWAYS)
        else:
            paint(output, across, thing.top, thing.left - 1 - thing.width, SIDEWAYS)
    return output
