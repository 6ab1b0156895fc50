"""Every rectangle moves one step diagonally, towards its corner that is sky blue, and that corner takes its colour."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, fill, objects, place, retrying

BACKGROUND, MARK = 7, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 6)
    side = rng.randint(7 + count, 11 + count)
    return retrying(lambda: _draw(rng, side, count))  # so that many rectangles are as likely as few


def _draw(rng: Random, side: int, count: int) -> tuple[Grid, Grid]:
    sizes = [(rng.randint(2, 5), rng.randint(2, 5)) for _ in range(count)]
    palette = colors(rng, count, without=(BACKGROUND, MARK))
    before, after = canvas(side, side, BACKGROUND), canvas(side, side, BACKGROUND)
    places = place(rng, before.shape, sizes, gap=rng.randint(0, 1))
    for (height, width), (top, left), color in zip(sizes, places, palette, strict=True):
        steps = [
            (down, right)
            for down in (-1, 1)
            for right in (-1, 1)
            if 0 <= top + down <= side - height and 0 <= left + right <= side - width
        ]
        down, right = rng.choice(steps)
        fill(before, top, left, height, width, color)
        before[top if down < 0 else top + height - 1, left if right < 0 else left + width - 1] = MARK
        new = slice(top + down, top + down + height), slice(left + right, left + right + width)
        if (after[new] != BACKGROUND).any():
            raise Retry
        after[new] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape, BACKGROUND)
    for block in objects(grid, background=BACKGROUND, diagonal=False):
        if block.color != MARK:
            # What lacks in the box is the marked corner.
            row, column = divmod(int((~block.mask).argmax()), block.width)
            down, right = 1 if row else -1, 1 if column else -1
            fill(output, block.top + down, block.left + right, block.height, block.width, block.color)
    return output
