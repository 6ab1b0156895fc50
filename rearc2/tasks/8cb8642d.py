"""Every rectangle with a dot in an inner corner becomes a frame. Inside, in the dot's colour, diagonals run from the
four corners until they meet, and a straight line joins the two meeting points."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, fill, frame, line, objects, place, retrying

SIZES = [(h, w) for h in range(3, 13) for w in range(3, 13) if h == w or min(h, w) % 2]  # inside the frame


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(11, 22), rng.randint(11, 24)
    most = 1 + height * width // 110
    count = rng.randint(1, most)
    return retrying(lambda: _draw(rng, height, width, count))  # as often many rectangles as few


def _draw(rng: Random, height: int, width: int, count: int) -> tuple[Grid, Grid]:
    fitting = [
        (h, w) for h, w in SIZES if h + 4 <= height and w + 4 <= width and h * w * count < height * width
    ]
    insides = [rng.choice(fitting) for _ in range(count)]
    spots = place(rng, (height, width), [(h + 2, w + 2) for h, w in insides])
    before, after = canvas(height, width), canvas(height, width)
    for (tall, wide), (top, left) in zip(insides, spots, strict=True):
        color, dot = rng.sample(range(1, 10), 2)
        fill(before, top, left, tall + 2, wide + 2, color)
        before[top + rng.choice([1, tall]), left + rng.choice([1, wide])] = dot
        frame(after, top, left, tall + 2, wide + 2, color)
        rows, columns = np.indices((tall, wide))
        from_edge_r, from_edge_c = np.minimum(rows, tall - 1 - rows), np.minimum(columns, wide - 1 - columns)
        nearest = np.minimum(from_edge_r, from_edge_c)
        drawn = (from_edge_r == from_edge_c) | (nearest == (min(tall, wide) - 1) // 2)
        after[top + 1 : top + 1 + tall, left + 1 : left + 1 + wide][drawn] = dot
    if background(before) != 0:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid, same_color=False):
        inside = output[thing.top + 1 : thing.bottom, thing.left + 1 : thing.right]
        (dot,) = set(inside.ravel().tolist()) - {thing.color}
        inside[:] = 0
        last_row, last_column = inside.shape[0] - 1, inside.shape[1] - 1
        reach = min(last_row, last_column) // 2
        ends = [(reach, reach), (last_row - reach, last_column - reach)]
        for image in (inside, inside[::-1], inside[:, ::-1], inside[::-1, ::-1]):
            line(image, (0, 0), (reach, reach), dot)
        if last_row != last_column:
            line(inside, ends[0], ends[1], dot)
    return output
