"""The pieces of a pipe are put together: each one moves to the left and up or down until its left end continues the
right end of the piece before it. The first one stays."""

from random import Random

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, objects, paint


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 5)
    palette = colors(rng, rng.randint(2, 4))
    tops, left, joined = [], 0, 0
    before, after = canvas(3, 30), canvas(3, 30)
    entry = None
    last_color = 0
    for _ in range(count):
        piece, start, end = _piece(rng)
        height, width = piece.shape
        color = rng.choice([color for color in palette if color != last_color or rng.random() < 0.3])
        top = rng.randint(0, 3 - height)
        joined_top = top if entry is None else entry - start
        if not 0 <= joined_top <= 3 - height or left + width > 30:
            raise Retry
        paint(before, piece, top, left, color)
        paint(after, piece, joined_top, joined, color)
        tops.append(top - joined_top)
        left, joined = left + width + 1, joined + width
        entry, last_color = joined_top + end, color
    if not any(tops):
        raise Retry
    return before[:, : left - 1 + rng.choice([0, 0, 1])].copy(), after[:, :joined].copy()


def _piece(rng: Random) -> tuple[Grid, int, int]:
    """A piece that bends once at most, and the rows of its left and right end."""
    width = rng.randint(2, 3)
    rise = rng.choice([0, 1, 1, 1, 1, 2])
    piece = canvas(rise + 1, width)
    bend = rng.randint(1, width - 1)  # the column where it goes down, never the first
    piece[0, : bend + 1] = piece[:, bend] = piece[rise, bend:] = 1
    return (piece, 0, rise) if rng.random() < 0.5 else (piece[::-1], rise, 0)


def verify(grid: Grid) -> Grid:
    pieces = sorted(objects(grid), key=lambda piece: piece.left)
    output = canvas(3, sum(piece.width for piece in pieces))
    left, end = 0, pieces[0].top + _end(pieces[0].mask)
    for piece in pieces:
        top = end - _end(piece.mask)
        paint(output, piece.patch, top, left)
        left += piece.width
        end = top + _end(piece.mask[:, ::-1], last=True)
    return output


def _end(mask: Mask, last: bool = False) -> int:
    """The row where the pipe ends on the left: in the first column, the end that does not go on to the second.

    In a piece of one column it is the upper end, as the `last` end the lower.
    """
    rows = mask[:, 0].nonzero()[0].tolist()
    onward = [row for row in rows if mask.shape[1] > 1 and mask[row, 1]] or [rows[0] if last else rows[-1]]
    return int(rows[-1] if onward[0] == rows[0] else rows[0])
