"""Every coloured piece at the right moves left, to the sky blue piece that it completes to a rectangle of width five."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, objects, paint

GROUND, SOCKET = 7, 8
WIDTH, JOINED = 11, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 7)
    profiles = set()  # how far the sky blue pieces reach in their three rows, all different
    while len(profiles) < count:
        profiles.add(tuple(rng.randint(1, 4) for _ in range(3)))
    order = rng.sample(sorted(profiles), count)
    partners = rng.sample(range(count), count)  # the row of the piece that fits
    before = canvas(4 * count + 1, WIDTH, GROUND)
    after = before.copy()
    for number, color in enumerate(colors(rng, count, without=(0, GROUND, SOCKET))):
        for row, reach in enumerate(order[number], start=1):
            top, other = 4 * number + row, 4 * partners[number] + row
            before[top, :reach] = after[top, :reach] = SOCKET
            before[other, WIDTH - (JOINED - reach) :] = color
            after[top, reach:JOINED] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.where(grid == SOCKET, SOCKET, GROUND)
    things = objects(grid, GROUND)
    sockets = [thing for thing in things if thing.color == SOCKET]
    for piece in things:
        lengths = piece.mask.sum(axis=1)
        for socket in sockets:
            if piece.color != SOCKET and (socket.mask.sum(axis=1) + lengths == JOINED).all():
                paint(output, piece.patch, socket.top, JOINED - piece.width)
    return output
