"""The pieces of a puzzle fill a rectangle of 3x4 cells without gaps. The largest piece stays as it lies, the others may
be turned."""

from collections.abc import Iterator
from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Retry,
    Thing,
    canvas,
    colors,
    objects,
    paint,
    place,
    random_shape,
    retrying,
    symmetries,
)

SHAPE = (3, 4)


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.choice([3, 3, 3, 3, 3, 3, 4, 5, 5])
    after = retrying(lambda: _puzzle(rng, count), 1000)
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
    largest_color, *others = colors(rng, 3)
    after = canvas(*SHAPE)
    if count == 5:  # hardly anything but a cross leaves four pieces
        after[1] = after[:, rng.randint(1, 2)] = largest_color
    else:
        height, width = rng.randint(2, 3), rng.randint(3, 4)
        largest = random_shape(rng, height, width, rng.uniform(0.5, 0.8))
        paint(after, largest, rng.randint(0, 3 - height), rng.randint(0, 4 - width), largest_color)
    for rest in objects(np.where(after == 0, 1, 0), diagonal=False):
        first, second = rng.sample(others, 2)
        paint(after, rest.mask, rest.top, rest.left, first)
        if rest.size >= 3 and rng.random() < 0.6:
            row, column = rng.choice(rest.cells)
            part = abs(np.arange(3)[:, None] - row) + abs(np.arange(4) - column) <= rng.randint(0, 2)
            after[part & (after == first)] = second
    pieces = sorted(objects(after, None, diagonal=False), key=lambda piece: -piece.size)
    if len(np.unique(after)) < 3 or len(pieces) != count or pieces[0].size == pieces[1].size:
        raise Retry
    if pieces[0].color != largest_color or not _unique(pieces):
        raise Retry
    return after


def _unique(pieces: list[Thing]) -> bool:
    """Whether only one picture comes from the pieces, if all but the first may be turned and mirrored."""
    ways: list[set[int]] = []  # for each piece what it can cover, as numbers with one bit per cell
    for number, piece in enumerate(pieces):
        covers = set()
        images = [piece.mask] if number == 0 else symmetries(piece.mask)
        for image in {(image.shape, image.tobytes()): image for image in images}.values():
            rows, columns = np.nonzero(image)
            corner = sum(1 << bit for bit in (rows * 4 + columns).tolist())
            for top in range(4 - image.shape[0]):
                covers.update(corner << 4 * top + left for left in range(5 - image.shape[1]))
        ways.append(covers)
    pictures = set()
    nothing: frozenset[tuple[int, int]] = frozenset()
    open_cases = [(0, frozenset(range(len(pieces))), nothing)]
    while open_cases and len(pictures) < 2:
        filled, unused, colored = open_cases.pop()
        if not unused:
            pictures.add(
                frozenset((color, bit) for color, cover in colored for bit in range(12) if cover >> bit & 1)
            )
            continue
        gap = ~filled & (filled + 1)  # the first free cell
        for number in sorted(unused):
            for cover in ways[number]:
                if cover & gap and not cover & filled:
                    case = filled | cover, unused - {number}, colored | {(pieces[number].color, cover)}
                    open_cases.append(case)
    return len(pictures) == 1


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
        turned = [patch] if number == 0 else symmetries(patch)[:images]
        for image in {(image.shape, image.tobytes()): image for image in turned}.values():  # each image once
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
