"""The dotted frame becomes solid and is emptied; the dotted boxes outside move into it as solid ones, in their order
along the frame, one cell apart and centred across."""

from random import Random

from rearc2.helpers import Grid, Retry, background, box, canvas, colors, fill, frame, most_common

SIDE = 25


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, dots, frame_color, *box_colors = colors(rng, 3 + rng.randint(2, 4))
    before = canvas(SIDE, SIDE, ground)
    before[1::2, 1::2] = dots
    after = before.copy()
    # The boxes lie below the frame, as wide along it as drawn here; the picture is transposed half of the time.
    lengths = [rng.choice([1, 3, 3, 5]) for _ in box_colors]
    deep = rng.choice([3, 3, 5])
    width = sum(lengths) + len(lengths) + 3
    height = deep + rng.choice([4, 4, 6, 8])
    if width > SIDE - 4 or (deep + 1) * len(lengths) + 3 == height:
        raise Retry  # too wide, or the boxes would fit in one above the other as well
    top, left = 1 + 2 * rng.randint(0, 2), 1 + 2 * rng.randint(0, (SIDE - 2 - width) // 2)
    frame(after, top, left, height, width, frame_color)
    fill(after, top + 1, left + 1, height - 2, width - 2, ground)
    view = before[top : top + height : 2, left : left + width : 2]
    view[[0, -1]] = view[:, [0, -1]] = frame_color
    inner = left + 2
    outer = rng.randrange(2, SIDE - sum(lengths) - len(lengths), 2)
    for number, (length, color) in enumerate(zip(lengths, box_colors, strict=True)):
        fill(after, top + 1 + (height - 2 - deep) // 2, inner, deep, length, color)
        inner += length + 1
        if top + height + 2 + deep >= SIDE or outer + length >= SIDE:
            raise Retry
        down = rng.randrange(top + height + 2, SIDE - deep, 2)
        before[down : down + deep : 2, outer : outer + length : 2] = color
        outer += length + 1 + (2 * rng.randint(0, 2) if number < len(lengths) - 1 else 0)
    return (before.T, after.T) if rng.random() < 0.5 else (before, after)


def verify(grid: Grid) -> Grid:
    ground, dots = background(grid), most_common(grid[1::2, 1::2])
    # The boxes' dots lie in even rows and columns, the frame's in odd ones.
    strays = grid[::2, ::2]
    found = [
        (color, box(strays == color)) for color in range(10) if color != ground and (strays == color).any()
    ]
    odd = grid[1::2, 1::2]
    (frame_color,) = set(odd.ravel().tolist()) - {dots}
    top, left, height, width = (2 * number for number in box(odd == frame_color))
    top, left, height, width = top + 1, left + 1, height - 1, width - 1
    output = canvas(*grid.shape, ground)
    output[1::2, 1::2] = dots
    frame(output, top, left, height, width, frame_color)
    fill(output, top + 1, left + 1, height - 2, width - 2, ground)
    # Along the frame's direction in which the boxes fill it exactly.
    across = sum(2 * w for _, (_, _, _, w) in found) + 3 == width
    place = (left if across else top) + 2
    for color, (_, _, rows, columns) in sorted(found, key=lambda item: item[1][1 if across else 0]):
        rows, columns = 2 * rows - 1, 2 * columns - 1
        if across:
            fill(output, top + (height - rows) // 2, place, rows, columns, color)
        else:
            fill(output, place, left + (width - columns) // 2, rows, columns, color)
        place += (columns if across else rows) + 1
    return output
