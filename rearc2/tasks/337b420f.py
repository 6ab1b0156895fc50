"""Each of three panels holds one main piece and smaller scraps of its colour: the main pieces (the largest, joined over
edges) are put together in one panel, the scraps are left out. A piece that would lie on an earlier one moves aside, as
little as possible."""

from collections.abc import Iterator
from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    canvas,
    colors,
    grow,
    join,
    objects,
    paint,
    random_shape,
    retrying,
    split,
)

SIDE = 5
FREE, LINE = 8, 0


def generate(rng: Random) -> tuple[Grid, Grid]:
    pushed = rng.random() < 0.15
    pieces, shown = retrying(lambda: _pieces(rng, pushed), tries=400)
    panels, output = [], canvas(SIDE, SIDE, FREE)
    for color, piece, own_piece in zip(colors(rng, 3, without=(LINE, FREE)), pieces, shown, strict=True):
        panels.append(_panel(rng, own_piece, color))
        output[piece] = color
    return join([panels], LINE), output


def _pieces(rng: Random, pushed: bool) -> tuple[list[Mask], list[Mask]]:
    """Three pieces as they lie together, and as the panels show them."""
    pieces: list[Mask] = []
    for number in range(3):
        height, width, density = rng.randint(1, 4), rng.randint(1, 4), rng.choice([0.5, 0.7, 0.9])
        if number == 0 and pushed:  # a piece that has no room to move itself
            height, width, density = SIDE, SIDE, 0.3
        elif number == 0 and rng.random() < 0.2:  # a long one
            height, width = 1, SIDE
        taken = np.any([np.zeros((SIDE, SIDE), bool), *pieces], axis=0)
        pieces.append(_somewhere(rng, height, width, density, taken))
    if not all(2 <= piece.sum() <= 10 for piece in pieces):
        raise Retry
    if pushed:
        pieces = [*rng.sample(pieces[:2], 2), pieces[2]]
        return pieces, [*pieces[:2], _pushed(pieces)]
    rng.shuffle(pieces)
    return pieces, pieces


def _panel(rng: Random, piece: Mask, color: int) -> Grid:
    scrap = retrying(lambda: _scrap(rng, piece), tries=20)
    return np.where(piece | scrap, color, FREE)


def _scrap(rng: Random, piece: Mask) -> Mask:
    """Something smaller than the piece that shares no edge with it."""
    height, width = (1, 1) if rng.random() < 0.5 else (rng.randint(1, 3), rng.randint(1, 3))
    scrap = _somewhere(rng, height, width, 0.6, grow(piece, diagonal=False))
    if scrap.sum() >= piece.sum():
        raise Retry
    return scrap


def _somewhere(rng: Random, height: int, width: int, density: float, taken: Mask) -> Mask:
    """A shape in the panel that covers no taken cell."""
    shape = random_shape(rng, height, width, density)
    fits = [
        (top, left)
        for top in range(SIDE - height + 1)
        for left in range(SIDE - width + 1)
        if not (taken[top : top + height, left : left + width] & shape).any()
    ]
    if not fits:
        raise Retry
    top, left = rng.choice(fits)
    whole = np.zeros_like(taken)
    whole[top : top + height, left : left + width] = shape
    return whole


def _pushed(pieces: list[Mask]) -> Mask:
    """The last piece one cell to the right, on another piece, where going back is the only small move that helps.

    The official pairs show one such case: which piece moves, and where to, must be beyond doubt.
    """
    *others, last = pieces
    shown = np.roll(last, 1, axis=1)
    if last[:, -1].any() or sum(not (move & (others[0] | others[1])).any() for move in _moves(shown)) != 1:
        raise Retry
    hit = [number for number, other in enumerate(others) if (other & shown).any()]
    if len(hit) != 1 or others[hit[0]].sum() <= last.sum():
        raise Retry
    if any(not (move & (shown | others[1 - hit[0]])).any() for move in _moves(others[hit[0]])):
        raise Retry
    return shown


def _moves(piece: Mask) -> Iterator[Mask]:
    """The piece moved by one cell, where the panel has room."""
    for axis, step, border in (
        (0, -1, piece[0]),
        (0, 1, piece[-1]),
        (1, -1, piece[:, 0]),
        (1, 1, piece[:, -1]),
    ):
        if not border.any():
            yield np.roll(piece, step, axis)


def verify(grid: Grid) -> Grid:
    (panels,) = split(grid, LINE)
    output = np.full_like(panels[0], FREE)
    for panel in panels:
        main = max(objects(panel, background=FREE, diagonal=False), key=lambda thing: thing.size)
        places = [
            (abs(top - main.top) + abs(left - main.left), top, left)
            for top in range(SIDE - main.height + 1)
            for left in range(SIDE - main.width + 1)
            if (output[top : top + main.height, left : left + main.width][main.mask] == FREE).all()
        ]
        _, top, left = min(places)
        paint(output, main.mask, top, left, main.color)
    return output
