"""Every pink dot draws the side of the green frame that faces it until they touch. Inner walls stay where they are and
grow with the frame."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, frame

GREEN, PINK = 3, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(8, 20), rng.randint(12, 20)
    moves = {
        side: rng.randint(1, 9) for side in rng.sample(["top", "bottom", "left", "right"], rng.randint(2, 3))
    }
    up, down, before_it, behind = (moves.get(side, 0) for side in ("top", "bottom", "left", "right"))
    frame_height, frame_width = rng.randint(3, 7), rng.randint(3, 8)
    if up + frame_height + down > height - 2 or before_it + frame_width + behind > width - 2:
        raise Retry
    top = rng.randint(1 + up, height - 1 - down - frame_height)
    left = rng.randint(1 + before_it, width - 1 - behind - frame_width)
    bottom, right = top + frame_height - 1, left + frame_width - 1
    new_top, new_bottom, new_left, new_right = top - up, bottom + down, left - before_it, right + behind
    # One dot at most faces its side only after the other dots have drawn theirs.
    late = rng.choice(list(moves)) if rng.random() < 0.3 else None
    before, after = canvas(height, width), canvas(height, width)
    for side in moves:
        rows = range(new_top, new_bottom + 1) if side == late else range(top, bottom + 1)
        columns = range(new_left, new_right + 1) if side == late else range(left, right + 1)
        row = {"top": new_top - 1, "bottom": new_bottom + 1}.get(side, rng.choice(rows))
        column = {"left": new_left - 1, "right": new_right + 1}.get(side, rng.choice(columns))
        before[row, column] = after[row, column] = PINK
    frame(before, top, left, bottom - top + 1, right - left + 1, GREEN)
    frame(after, new_top, new_left, new_bottom - new_top + 1, new_right - new_left + 1, GREEN)
    if bottom - top >= 4 and rng.random() < 0.5:
        wall = rng.randint(top + 2, bottom - 2)
        before[wall, left : right + 1] = after[wall, new_left : new_right + 1] = GREEN
    if right - left >= 4 and rng.random() < 0.5:
        wall = rng.randint(left + 2, right - 2)
        before[top : bottom + 1, wall] = after[new_top : new_bottom + 1, wall] = GREEN
    return before, after


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == GREEN)
    bottom, right = top + height - 1, left + width - 1
    old = grid[top : bottom + 1, left : right + 1] == GREEN
    wall_rows = (np.flatnonzero(old.all(axis=1))[1:-1] + top).tolist()
    wall_columns = (np.flatnonzero(old.all(axis=0))[1:-1] + left).tolist()
    dots = np.argwhere(grid == PINK).tolist()
    for _ in dots:  # a dot may face its side only after another one has drawn the frame out
        for row, column in dots:
            if left <= column <= right:
                top, bottom = min(top, row + 1), max(bottom, row - 1)
            elif top <= row <= bottom:
                left, right = min(left, column + 1), max(right, column - 1)
    output = np.where(grid == GREEN, 0, grid)
    for row in (top, *wall_rows, bottom):
        output[row, left : right + 1] = GREEN
    for column in (left, *wall_columns, right):
        output[top : bottom + 1, column] = GREEN
    return output
