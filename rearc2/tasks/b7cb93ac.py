"""The pieces of a puzzle fill a rectangle of 3x4 cells without gaps. The largest piece stays as it lies, the others may
be turned."""

from collections.abc import Iterator
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, place, retrying, symmetries

SHAPE = (3, 4)


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.choice([3, 3, 4, 5])
    after = retrying(lambda: _puzzle(rng, count), 5000)
    pieces = objects(after, None, diagonal=False)
    largest = max(piece.size for piece in pieces)
    patches = [
        piece.patch if piece.size == largest else np.rot90(piece.patch, rng.choice([0, 0, 1, 2, 3]))
        for piece in pieces
    ]
    before = canvas(10, rng.randint(10, 13))
    for patch, (top, left) in zip(patches, place(rng, before.shape, [p.shape for p in patches]), strict=True):
        paint(before, patch, top, left)
    return before, after


def _puzzle(rng: Random, count: int) -> Grid:
    """`count` pieces of three colours, which can be put together in only one way."""
    after = canvas(*SHAPE)
    palette = colors(rng, 3)
    for color in palette:
        row, column = rng.randrange(3), rng.randrange(4)
        after[row, column] = color
    while (after == 0).any():
        row, column = rng.choice(np.argwhere(after).tolist())
        down, right = rng.choice([(0, 1), (1, 0), (0, -1), (-1, 0)])
        row, column = row + down, column + right
        if 0 <= row < 3 and 0 <= column < 4 and after[row, column] == 0:
            # Now and then a colour breaks off and starts elsewhere.
            after[row, column] = (
                after[row - down, column - right] if rng.random() < 0.8 else rng.choice(palette)
            )
    sizes = sorted(piece.size for piece in objects(after, None, diagonal=False))
    if len(np.unique(after)) < 3 or len(sizes) != count or sizes[-1] == sizes[-2] or not 5 <= sizes[-1] <= 8:
        raise Retry
    if len(_solutions(after)) > 1:
        raise Retry
    return after


def _solutions(after: Grid) -> set[tuple[int, ...]]:
    """All ways to fill the rectangle, cell by cell, with all pieces but the largest turned or mirrored."""
    pieces = sorted(objects(after, None, diagonal=False), key=lambda piece: -piece.size)
    ways = []  # for each piece the sets of cell numbers that it can cover
    for number, piece in enumerate(pieces):
        images = [piece.mask] if number == 0 else symmetries(piece.mask)
        covers = set()
        for image in images:
            rows, columns = np.nonzero(image)
            for top in range(4 - image.shape[0]):
                for left in range(5 - image.shape[1]):
                    covers.add(frozenset(((rows + top) * 4 + columns + left).tolist()))
        ways.append(covers)
    found = set()

    def fill_first_gap(cells: tuple[int, ...], left: frozenset[int]) -> None:
        if 0 not in cells:
            found.add(cells)
            return
        gap = cells.index(0)
        for number in left:
            for cover in ways[number]:
                if gap in cover and not any(cells[cell] for cell in cover):
                    color = pieces[number].color
                    fill_first_gap(
                        tuple(color if k in cover else cell for k, cell in enumerate(cells)), left - {number}
                    )

    fill_first_gap((0,) * 12, frozenset(range(len(pieces))))
    return found


def verify(grid: Grid) -> Grid:
    return _assemble(grid, images=4)


def rival_mirror(grid: Grid) -> Grid:
    """Pieces may be mirrored too."""
    return _assemble(grid, images=8)


def _assemble(grid: Grid, images: int) -> Grid:
    pieces = sorted(objects(grid, diagonal=False), key=lambda piece: -piece.size)
    middles = [np.mean(piece.cells, axis=0) for piece in pieces]

    def place_all(number: int, board: Grid, shifts: list[Grid]) -> Iterator[tuple[float, Grid]]:
        if number == len(pieces):
            # Two equal pieces can change places (test 0): of such ways the one that moves the pieces least, as seen
            # from the largest, is taken.
            yield float(sum(((shift - shifts[0]) ** 2).sum() for shift in shifts)), board
            return
        patch = pieces[number].patch
        for image in [patch] if number == 0 else symmetries(patch)[:images]:
            height, width = image.shape
            for top in range(4 - height):
                for left in range(5 - width):
                    under = board[top : top + height, left : left + width]
                    if not (under[image > 0]).any():
                        filled = board.copy()
                        filled[top : top + height, left : left + width] += image
                        middle = np.argwhere(image).mean(axis=0) + np.array((top, left))
                        yield from place_all(number + 1, filled, [*shifts, middle - middles[number]])

    return min(place_all(0, np.zeros(SHAPE, np.int64), []), key=lambda way: way[0])[1]
