"""The frame shrinks to a rounded five by five one with its content in the middle; two copies of it lie on the
diagonal of an orange 15x15 grid."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, crop, frame, random_cells

GROUND = 7
PLACES = (2, 8)


def generate(rng: Random) -> tuple[Grid, Grid]:
    frame_color, *others = colors(rng, 3, without=(0, 5, GROUND))
    height, width = rng.randint(5, 12), rng.randint(5, 12)
    before = _framed(height, width, frame_color)
    small = _framed(5, 5, frame_color)
    if rng.random() < 0.15:
        small[2, 2] = rng.choice([frame_color, *others])
        before[rng.randint(1, height - 2), rng.randint(1, width - 2)] = small[2, 2]
    else:
        used = rng.choice([[frame_color], others, others, [frame_color, others[0]], [others[0]]])
        content = random_cells(rng, (3, 3), [GROUND] * rng.randint(len(used), 3 * len(used)) + used)
        inked = content != GROUND
        if not inked.any() or crop(inked).shape != (3, 3) or (height, width) == (5, 5):
            raise Retry
        small[1:4, 1:4] = content
        top, left = rng.randint(1, height - 4), rng.randint(1, width - 4)
        before[top : top + 3, left : left + 3] = content
    after = canvas(15, 15, GROUND)
    for start in PLACES:
        after[start : start + 5, start : start + 5] = small
    return before, after


def _framed(height: int, width: int, color: int) -> Grid:
    grid = canvas(height, width, GROUND)
    frame(grid, 0, 0, height, width, color)
    grid[[0, 0, -1, -1], [0, -1, 0, -1]] = GROUND
    return grid


def verify(grid: Grid) -> Grid:
    inside = grid[1:-1, 1:-1]
    content = crop(inside, inside != GROUND)
    height, width = content.shape
    output = canvas(15, 15, GROUND)
    for start in PLACES:
        output[[start, start + 4], start + 1 : start + 4] = grid[0, 1]
        output[start + 1 : start + 4, [start, start + 4]] = grid[0, 1]
        top, left = start + (5 - height) // 2, start + (5 - width) // 2
        output[top : top + height, left : left + width] = content
    return output
