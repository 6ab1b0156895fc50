"""The coloured pieces fit together, without turning, into one square ring; the output is that ring around the
background."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, background, canvas, colors, frame, mostly, objects, retrying

Places = list[tuple[int, int]]


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(4, 9)
    count = rng.randint(4, min(7, side))
    pieces = retrying(lambda: _pieces(rng, side, count))
    size = side + mostly(rng, 2, 4, 10)
    return retrying(lambda: _draw(rng, side, size, pieces))


def _draw(rng: Random, side: int, size: int, pieces: list[Places]) -> tuple[Grid, Grid]:
    ground, *palette = colors(rng, len(pieces) + 1)
    before, after = canvas(size, size, ground), canvas(side, side, ground)
    for piece, color in zip(pieces, palette, strict=True):
        rows, columns = np.array(piece).T
        after[rows, columns] = color
        down, right = rows - rows.min(), columns - columns.min()
        top, left = rng.randint(0, size - 1 - int(down.max())), rng.randint(0, size - 1 - int(right.max()))
        if (before[top + down, left + right] != ground).any():
            raise Retry
        before[top + down, left + right] = color
    return before, after


def _pieces(rng: Random, side: int, count: int) -> list[Places]:
    """A ring cut into pieces that go together in one way only."""
    last = side - 1
    ring = [
        [(0, k), (k, last), (last, last - k), (last - k, 0)][edge] for edge in range(4) for k in range(last)
    ]
    cuts = sorted(rng.sample(range(len(ring)), count))
    around = ring * 2
    pieces = [around[a:b] for a, b in zip(cuts, [*cuts[1:], cuts[0] + len(ring)], strict=True)]
    if _assemblies(pieces, ring) != 1:
        raise Retry
    return pieces


def _assemblies(pieces: list[Places], ring: Places) -> int:
    """In how many ways the pieces cover the ring, 2 or more if not one; a set of cells is the bits of a number."""
    stride = max(ring)[1] + 2  # a free column between the rows
    places = [row * stride + column for row, column in ring]
    whole = sum(1 << place for place in places)
    covers: dict[int, list[tuple[int, int]]] = {1 << place: [] for place in places}  # by their lowest bit
    for number, piece in enumerate(pieces):
        bits = [row * stride + column for row, column in piece]
        first = min(bits)
        shape = sum(1 << bit - first for bit in bits)
        for place in places:
            if not shape << place & ~whole:
                covers[1 << place].append((1 << number, shape << place))

    def ways(uncovered: int, left: int) -> int:
        if not left:
            return 1
        found = 0
        for number, cover in covers[uncovered & -uncovered]:
            if number & left and not cover & ~uncovered:
                found += ways(uncovered & ~cover, left & ~number)
                if found > 1:
                    break
        return found

    return ways(whole, (1 << len(pieces)) - 1)


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    pieces = objects(grid, ground)
    side = sum(piece.size for piece in pieces) // 4 + 1
    hole = canvas(side, side, -1)
    frame(hole, 0, 0, side, side, -2)
    result = _cover(hole, [(piece.mask, piece.color) for piece in pieces])
    assert result is not None
    return np.where(result == -1, ground, result)


def _cover(ring: Grid, pieces: list[tuple[Mask, int]]) -> Grid | None:
    """The ring with all pieces laid on its free cells (-2), or None if they do not fit."""
    if not pieces:
        return ring
    row, column = np.argwhere(ring == -2)[0]
    for number, (mask, color) in enumerate(pieces):
        # The first free cell in reading order is the piece's own first cell, in its top row.
        top, left = row, column - int(mask[0].argmax())
        window = ring[top : top + mask.shape[0], max(0, left) : left + mask.shape[1]]
        if left < 0 or window.shape != mask.shape or (window[mask] != -2).any():
            continue
        filled = ring.copy()
        filled[top : top + mask.shape[0], left : left + mask.shape[1]][mask] = color
        result = _cover(filled, pieces[:number] + pieces[number + 1 :])
        if result is not None:
            return result
    return None
