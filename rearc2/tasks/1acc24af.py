"""The blue outline has dents, open below. A grey piece becomes red if it can be turned so that it fills one of the
dents completely; what does not fit in may stick out below."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    box,
    canvas,
    crop,
    flood,
    grow,
    objects,
    paint,
    random_shape,
    symmetries,
)

OUTLINE, PIECE, FITTING = 1, 5, 2
SIDE = 12


def generate(rng: Random) -> tuple[Grid, Grid]:
    bottom = rng.randint(3, 6)
    dents = [_dent(rng) for _ in range(rng.randint(1, 2))]
    dented = np.zeros((SIDE, SIDE), bool)
    for dent, left in zip(dents, _line_up(rng, dents, gap=2, margin=1), strict=True):
        paint(dented, dent, bottom - 1, left, True)
    outline = grow(dented)
    outline[bottom] = True
    outline[bottom + 1 :] = False

    fitting = [True, False] + [rng.random() < 0.5 for _ in range(rng.randint(0, 2))]
    rng.shuffle(fitting)
    pieces = [_fitting(rng, rng.choice(dents)) if fits else _misfit(rng, dents) for fits in fitting]
    if max(len(piece) for piece in pieces) > min(4, 9 - bottom):
        raise Retry
    before = canvas(SIDE, SIDE)
    before[outline & ~dented] = OUTLINE
    after = before.copy()
    for piece, left, fits in zip(pieces, _line_up(rng, pieces, gap=1, margin=0), fitting, strict=True):
        top = SIDE - 1 - len(piece)  # all stand on the last row but one
        paint(before, piece, top, left, PIECE)
        paint(after, piece, top, left, FITTING if fits else PIECE)
    return before, after


def _dent(rng: Random) -> Mask:
    """Two rows high; the upper one is 1 or 2 wide, the lower one may be one wider at either end."""
    deep = rng.choice([1, 1, 2])
    before, after = rng.choice([(0, 0), (0, 0), (0, 0), (0, 1), (1, 0), (1, 1)])
    if before + deep + after > 3:
        raise Retry
    dent = np.ones((2, before + deep + after), bool)
    dent[0, :before] = dent[0, before + deep :] = False
    return dent


def _fitting(rng: Random, dent: Mask) -> Mask:
    """The dent's shape with some more cells below it, turned at random."""
    piece = np.zeros((4, dent.shape[1] + 2), bool)
    piece[:2, 1:-1] = dent
    for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
        near = grow(piece, diagonal=False) & ~piece
        near[:2] = False
        piece[tuple(rng.choice(np.argwhere(near).tolist()))] = True
    return np.rot90(crop(piece), rng.randrange(4))


def _misfit(rng: Random, dents: list[Mask]) -> Mask:
    """A piece that would not fill a dent even if it were mirrored."""
    piece = random_shape(rng, rng.randint(2, 3), rng.randint(1, 3), rng.uniform(0.4, 0.9))
    ends = [crop(image[:2]) for image in symmetries(piece) if image[:2].any()]
    if piece.sum() < 3 or any(np.array_equal(end, dent) for end in ends for dent in dents):
        raise Retry
    return piece


def _line_up(rng: Random, parts: list[Mask], gap: int, margin: int) -> list[int]:
    """The columns where the parts begin, from left to right."""
    free = SIDE - 2 * margin - sum(part.shape[1] for part in parts) - gap * (len(parts) - 1)
    if free < 0:
        raise Retry
    cuts = sorted(rng.randint(0, free) for _ in parts)
    widths = [0, *(part.shape[1] + gap for part in parts)]
    return [margin + cut + sum(widths[: number + 1]) for number, cut in enumerate(cuts)]


def verify(grid: Grid) -> Grid:
    return _fit(grid, mirrored=False)


def rival(grid: Grid) -> Grid:
    """Pieces may be mirrored, too."""
    return _fit(grid, mirrored=True)


def _fit(grid: Grid, mirrored: bool) -> Grid:
    top, _, height, _ = box(grid == OUTLINE)
    bottom = top + height - 1
    below = flood(grid != OUTLINE, (SIDE - 1, 0))[: bottom + 1]
    dents = [dent.mask for dent in objects(below.astype(int), diagonal=False)]
    output = grid.copy()
    for piece in objects(np.where(grid == PIECE, PIECE, 0)):
        images = symmetries(piece.mask)[: 8 if mirrored else 4]
        if any(_fills(image, dent) for image in images for dent in dents):
            paint(output, piece.mask, piece.top, piece.left, FITTING)
    return output


def _fills(piece: Mask, dent: Mask) -> bool:
    """Whether the upper part of the piece, as deep as the dent, has the dent's shape."""
    return len(piece) >= len(dent) and np.array_equal(crop(piece[: len(dent)]), dent)
