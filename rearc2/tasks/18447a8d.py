"""Every coloured piece at the right moves left, to the sky blue piece with which it makes a rectangle."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, objects, paint

GROUND, SOCKET = 7, 8
WIDTH, JOINED = 11, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 7)
    # How far the sky blue pieces reach in their three rows. No two edges have one form, not even shifted, so that
    # every piece fits only once.
    order: list[list[int]] = []
    while len(order) < count:
        reaches = [rng.randint(1, 4) for _ in range(3)]
        if all(len({a - b for a, b in zip(reaches, old, strict=True)}) > 1 for old in order):
            order.append(reaches)
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
