"""A key gives each colour a sign. A box with a sign becomes a plain box of the sign's colour, whatever way the sign is
turned or mirrored; a plain box becomes a box with the sign of its colour, as the key shows it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, canvas, fill, objects, paint, random_shape, symmetries

KEY, BOX, SIGN = 8, 2, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = rng.sample([1, 2, 3, 4, 5, 6, 7, 9], 4)
    signs: list[Mask] = []
    while len(signs) < 4:
        sign = random_shape(rng, 3, 3, rng.choice([0.5, 0.6, 0.7]), diagonal=True)
        known = [image.tobytes() for other in signs for image in symmetries(other)]
        if 5 <= sign.sum() <= 7 and sign.tobytes() not in known:
            signs.append(sign)
    before = canvas(18, 22)
    key_left = rng.choice([0, 16])
    fill(before, 0, key_left, 18, 6, KEY)
    tops = sorted(rng.sample(range(1, 7), 4))
    for number, (color, sign) in enumerate(zip(palette, signs, strict=True)):
        # Three rows each and at least one between, as the tops grow; sideways anywhere.
        paint(before, sign, tops[number] + 3 * number, key_left + rng.randint(1, 2), color)
    after = before.copy()
    top = rng.randint(1, 2)
    left = 8 if key_left == 0 else 1
    # A plain box in the colour of the boxes with signs would look like a box without a sign.
    plain = rng.sample([color for color in palette if color != BOX], rng.choice([0, 1, 1, 2]))
    order = rng.sample(list(zip(palette, signs, strict=True)), 4)
    places = [(top + 7 * r, left + 7 * c) for r in range(2) for c in range(2)]
    for place, (color, sign) in zip(places, order, strict=True):
        if color in plain:
            fill(before, *place, 5, 5, color)
            fill(after, *place, 5, 5, BOX)
            paint(after, sign, place[0] + 1, place[1] + 1, SIGN)
        else:
            fill(before, *place, 5, 5, BOX)
            paint(before, rng.choice(symmetries(sign)), place[0] + 1, place[1] + 1, SIGN)
            fill(after, *place, 5, 5, color)
    return before, after


def verify(grid: Grid) -> Grid:
    left = 0 if grid[0, 0] == KEY else 16
    key = grid[:, left : left + 6]
    signs = {}
    for color in sorted(set(key.ravel().tolist()) - {KEY}):
        rows, columns = np.nonzero(key == color)
        signs[color] = (key == color)[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    output = grid.copy()
    boxes = grid.copy()
    boxes[:, left : left + 6] = 0
    for thing in objects(boxes, same_color=False):
        inside = output[thing.slices][1:-1, 1:-1]
        if (inside == inside[0, 0]).all():
            sign = signs[int(inside[0, 0])]
            output[thing.slices] = BOX
            inside[sign] = SIGN
        else:
            turned = [image.tobytes() for image in symmetries(inside == SIGN)]
            (color,) = [color for color, sign in signs.items() if sign.tobytes() in turned]
            output[thing.slices] = color
    return output
