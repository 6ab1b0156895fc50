"""The loose pieces move, without turning, into the holes of the large blocks and fill them exactly; a hole may take two
pieces. Grey cells disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, Thing, canvas, colors, fill, grow, holes, objects, place, spots

GREY = 5
Piece = tuple[int, int, int]  # height, width, colour
# Height and width of its box, and its pieces with the rows and columns where they begin.
Hole = tuple[int, int, list[tuple[int, int, Piece]]]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(19, 29), rng.randint(19, 29)
    blocks = [(rng.randint(6, 13), rng.randint(8, 13)) for _ in range(rng.choice([1, 2, 2]))]
    before, after = canvas(height, width), canvas(height, width)
    pieces: list[Piece] = []
    shades = colors(rng, len(blocks), without=(0, GREY))
    for (tall, wide), shade, (top, left) in zip(
        blocks, shades, place(rng, before.shape, blocks), strict=True
    ):
        free = np.zeros(before.shape, bool)
        free[top + 1 : top + tall - 1, left + 1 : left + wide - 1] = True
        before[grow(free)] = after[grow(free)] = shade
        already = len(pieces)
        for _ in range(rng.randint(2, 7)):
            h, w, parts = _hole(rng, shade)
            choices = spots(~free, h, w)
            # Pieces of one size have one colour, or it would not be clear which goes where.
            clash = any(old[:2] == new[:2] and old != new for old in pieces for _, _, new in parts)
            if not len(choices) or clash:
                continue
            row, column = choices[rng.randrange(len(choices))].tolist()
            free[row - 1 : row + h + 1, column - 1 : column + w + 1] = False
            for down, right, piece in parts:
                fill(before, row + down, column + right, *piece[:2], 0)
                fill(after, row + down, column + right, *piece)
                pieces.append(piece)
        if len(pieces) == already:
            raise Retry
    if len(pieces) < 2 or len(_outcomes(before, (before == 0) & (after > 0), pieces)) > 1:
        raise Retry
    loose = [*pieces, *[(1, 1, GREY)] * rng.randint(4, 12)]
    for (h, w, color), (top, left) in zip(
        loose, place(rng, before.shape, [piece[:2] for piece in loose], taken=after > 0), strict=True
    ):
        fill(before, top, left, h, w, color)
    return before, after


def _hole(rng: Random, shade: int) -> Hole:
    color, other = colors(rng, 2, without=(0, GREY, shade))
    h, w = rng.choice([(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (2, 2), (2, 3), (2, 4), (3, 4), (3, 6)])
    if rng.random() < 0.5:
        h, w = w, h
    kind = rng.random()
    if kind < 0.65 or h * w > 6:
        return h, w, [(0, 0, (h, w, color))]
    if kind < 0.8:
        more = rng.randint(1, w)
        return h, w + more, [(0, 0, (h, w, color)), (0, w, (h, more, color))]
    if kind < 0.95:
        more = rng.randint(1, h)
        return h + more, w, [(0, 0, (h, w, color)), (h, 0, (more, w, color))]
    # A bar that ends at the side of another one, of a different colour.
    tall, wide, row = rng.randint(2, 4), rng.randint(2, 4), rng.randrange(2)
    return tall, wide + 1, [(0, wide, (tall, 1, color)), (row, 0, (1, wide, other))]


def _outcomes(grid: Grid, gaps: Mask, pieces: list[Piece]) -> set[bytes]:
    """All ways the grid can look when the pieces fill the gaps; the search ends when there are two."""
    if not gaps.any():
        return {grid.tobytes()}
    found: set[bytes] = set()
    row, column = np.argwhere(gaps)[0].tolist()
    for piece in sorted(set(pieces)):
        h, w, color = piece
        spot = slice(row, row + h), slice(column, column + w)
        if gaps[spot].sum() == h * w and len(found) < 2:
            filled, left, rest = grid.copy(), gaps.copy(), list(pieces)
            filled[spot], left[spot] = color, False
            rest.remove(piece)
            found |= _outcomes(filled, left, rest)
    return found


def verify(grid: Grid) -> Grid:
    output, gaps = canvas(*grid.shape), np.zeros(grid.shape, bool)
    pieces = []
    for thing in objects(grid):
        inside = holes(thing.mask)
        if inside.any():
            output[thing.slices] += thing.patch
            gaps[thing.slices] |= inside
        elif thing.color != GREY:
            pieces.append(thing)
    _fit(output, gaps, pieces)
    return output


def _fit(output: Grid, gaps: Mask, pieces: list[Thing]) -> bool:
    """Fills the gaps in reading order; steps back when a piece was the wrong one."""
    if not gaps.any():
        return True
    row, column = np.argwhere(gaps)[0].tolist()
    for number, piece in enumerate(pieces):
        spot = slice(row, row + piece.height), slice(column, column + piece.width)
        if gaps[spot].shape == piece.mask.shape and gaps[spot].all():
            output[spot], gaps[spot] = piece.color, False
            if _fit(output, gaps, pieces[:number] + pieces[number + 1 :]):
                return True
            gaps[spot] = True
    return False
