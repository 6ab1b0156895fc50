"""The blue pieces are put together, without turning them, so that joints of one colour lie side by side: one on a
piece's right side meets one on another's left side, one at the bottom meets one at the top. The output is what they
make, cut out; joints without a partner stay as they are."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, frame, objects, paint, place, random_shape

SIDE, GROUND, BLUE = 13, 2, 1
JOINTS = {3: ("down", "up"), 8: ("down", "up", "left", "right"), 4: ("left", "right")}
STEPS = {"down": (1, 0), "up": (-1, 0), "left": (0, -1), "right": (0, 1)}
OPPOSITE = {"down": "up", "up": "down", "left": "right", "right": "left"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.choice((2, 3, 3, 4))
    pieces = [_blank_piece(rng) * BLUE for _ in range(count)]
    palette = rng.sample(list(JOINTS), 3)
    offsets = [(0, 0)]
    for number in range(1, count):
        parent, color = rng.randrange(number), palette[number - 1]
        side = rng.choice(JOINTS[color])
        row, column = _set_joint(rng, pieces[parent], side, color)
        other_row, other_column = _set_joint(rng, pieces[number], OPPOSITE[side], color)
        down, right = STEPS[side]
        top, left = offsets[parent]
        offsets.append((top + row + down - other_row, left + column + right - other_column))
    if count < 4 and rng.random() < 0.6:  # a joint without partner
        color = palette[count - 1]
        _set_joint(rng, rng.choice(pieces), rng.choice(JOINTS[color]), color)
    far = 30  # further than any assembly reaches
    layers = canvas(2 * far, 2 * far)
    for piece, (top, left) in zip(pieces, offsets, strict=True):
        area = layers[far + top : far + top + piece.shape[0], far + left : far + left + piece.shape[1]]
        if (area * piece).any():
            raise Retry
        paint(layers, piece, far + top, far + left)
    top, left, height, width = box(layers > 0)
    made = layers[top : top + height, left : left + width]
    before = canvas(SIDE, SIDE, GROUND)
    for piece, (row, column) in zip(pieces, place(rng, before.shape, [p.shape for p in pieces]), strict=True):
        paint(before, piece, row, column)
    return before, np.where(made > 0, made, GROUND)


def _blank_piece(rng: Random) -> Mask:
    """An irregular piece or a frame, perhaps with an open side."""
    height, width = rng.choice(
        [(3, 3), (3, 4), (3, 5), (4, 3), (5, 3), (5, 5), (4, 4), (3, 6), (6, 3), (8, 3)]
    )
    if rng.random() < 0.5:
        return random_shape(rng, height, width, rng.uniform(0.5, 0.65))
    piece = canvas(height, width)
    frame(piece, 0, 0, height, width, 1)
    opening = rng.choice(("none", "up", "down", "left", "right"))
    rows = {"up": slice(0, 1), "down": slice(-1, None)}.get(opening, slice(1, -1))
    columns = {"left": slice(0, 1), "right": slice(-1, None)}.get(opening, slice(1, -1))
    piece[rows, columns] = 0
    return piece > 0


def _set_joint(rng: Random, piece: Grid, side: str, color: int) -> tuple[int, int]:
    """Colours one cell of the side, not at a corner; returns its place."""
    height, width = piece.shape
    if side in ("up", "down"):
        cells = [(0 if side == "up" else height - 1, column) for column in range(1, width - 1)]
    else:
        cells = [(row, 0 if side == "left" else width - 1) for row in range(1, height - 1)]
    cells = [cell for cell in cells if piece[cell] == BLUE]
    if not cells:
        raise Retry
    joint = rng.choice(cells)
    piece[joint] = color
    return joint


def verify(grid: Grid) -> Grid:
    pieces = objects(np.where(grid == GROUND, 0, grid), same_color=False)
    put = {0: (0, 0)}  # number of the piece -> where its top left corner comes
    waiting = [0]
    while waiting:
        number = waiting.pop()
        for other in range(len(pieces)):
            shared = set(pieces[number].patch.flat) & set(pieces[other].patch.flat) - {0, BLUE}
            if other in put or not shared:
                continue
            (color,) = shared
            (here,) = np.argwhere(pieces[number].patch == color)
            (there,) = np.argwhere(pieces[other].patch == color)
            height, width = pieces[number].mask.shape
            row, column = here
            step = (int(row == height - 1) - int(row == 0), int(column == width - 1) - int(column == 0))
            place_there = np.array(put[number]) + here + step - there
            put[other] = (int(place_there[0]), int(place_there[1]))
            waiting.append(other)
    first_row, first_column = min(r for r, _ in put.values()), min(c for _, c in put.values())
    last_row = max(r + pieces[number].height for number, (r, _) in put.items())
    last_column = max(c + pieces[number].width for number, (_, c) in put.items())
    output = canvas(last_row - first_row, last_column - first_column, GROUND)
    for number, (r, c) in put.items():
        paint(output, pieces[number].patch, r - first_row, c - first_column)
    return output
