"""The pieces of a puzzle fill a rectangle of 3x4 cells without gaps. The largest piece stays as it lies, the others may
be turned."""

from collections.abc import Iterator
from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Retry,
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
    after = [0] * 12  # in reading order
    if count == 5:  # hardly anything but a cross leaves four pieces
        middle = rng.randint(1, 2)
        largest = [4, 5, 6, 7, middle, 8 + middle]
    else:
        height, width = rng.randint(2, 3), rng.randint(3, 4)
        rows, columns = np.nonzero(random_shape(rng, height, width, rng.uniform(0.5, 0.8)))
        corner = 4 * rng.randint(0, 3 - height) + rng.randint(0, 4 - width)
        largest = (rows * 4 + columns + corner).tolist()
    for cell in largest:
        after[cell] = largest_color
    for rest in _parts([0 if color else 1 for color in after]):
        if after[rest[0]]:
            continue
        first, second = rng.sample(others, 2)
        for cell in rest:
            after[cell] = first
        if len(rest) >= 3 and rng.random() < 0.6:
            row, column = divmod(rng.choice(rest), 4)
            reach = rng.randint(0, 2)
            for cell in range(12):
                if after[cell] == first and abs(cell // 4 - row) + abs(cell % 4 - column) <= reach:
                    after[cell] = second
    pieces = sorted(_parts(after), key=lambda piece: -len(piece))
    if len(set(after)) < 3 or len(pieces) != count or len(pieces[0]) == len(pieces[1]):
        raise Retry
    if after[pieces[0][0]] != largest_color or not _unique(pieces, after):
        raise Retry
    return np.array(after).reshape(SHAPE)


def _parts(colored: list[int]) -> list[list[int]]:
    """The connected cells of one colour, in reading order."""
    parts = []
    left = set(range(12))
    while left:
        first = min(left)
        left.remove(first)
        part = [first]
        for cell in part:
            column = cell % 4
            for near in (cell - 4, cell + 4, cell - 1 if column else -1, cell + 1 if column < 3 else -1):
                if near in left and colored[near] == colored[first]:
                    left.remove(near)
                    part.append(near)
        parts.append(sorted(part))
    return parts


def _unique(pieces: list[list[int]], colored: list[int]) -> bool:
    """Whether only one picture comes from the pieces, if all but the first may be turned and mirrored."""
    ways = []  # for each piece what it can cover, as numbers with one bit per cell
    for number, piece in enumerate(pieces):
        covers = set()
        places = [divmod(cell, 4) for cell in piece]
        turned = [(column, row) for row, column in places]
        for image in [places] if number == 0 else [places, turned]:
            rows, columns = zip(*image, strict=True)
            top, left = min(rows), min(columns)
            height, width = max(rows) - top, max(columns) - left
            if height > 2:
                continue
            for down, right in (
                ((0, 0),) if number == 0 else ((0, 0), (0, width), (height, 0), (height, width))
            ):
                # Counted from the other side, the rows or columns are mirrored.
                corner = sum(1 << 4 * abs(r - top - down) + abs(c - left - right) for r, c in image)
                covers.update(corner << 4 * y + x for y in range(3 - height) for x in range(4 - width))
        ways.append(covers)
    pictures = set()
    open_cases = [(0, (1 << len(pieces)) - 1, 0)]
    while open_cases and len(pictures) < 2:
        filled, unused, picture = open_cases.pop()
        if not unused:
            pictures.add(picture)
            continue
        gap = ~filled & (filled + 1)  # the first free cell
        for number, covers in enumerate(ways):
            if unused >> number & 1:
                shift = 12 * colored[pieces[number][0]]
                for cover in covers:
                    if cover & gap and not cover & filled:
                        open_cases.append((filled | cover, unused & ~(1 << number), picture | cover << shift))
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
