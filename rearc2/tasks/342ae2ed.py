"""Two squares of the same colour stand diagonally to each other; a diagonal line of their colour joins them."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, fill, grow, line, objects

SIDE, BACKGROUND = 16, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, lines = canvas(SIDE, SIDE, BACKGROUND), canvas(SIDE, SIDE, BACKGROUND)
    for color in colors(rng, rng.randint(3, 5), without=(BACKGROUND,)):
        for _ in range(30):
            size, gap = rng.randint(2, 3), rng.randint(2, 8)
            shift = size + gap
            if shift + size > SIDE:
                continue
            top, left = rng.randint(0, SIDE - shift - size), rng.randint(0, SIDE - shift - size)
            squares, link = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
            fill(squares, top, left, size, size, 1)
            fill(squares, top + shift, left + shift, size, size, 1)
            line(link, (top + size, left + size), (top + shift - 1, left + shift - 1), 1)
            if rng.random() < 0.5:
                squares, link = squares[:, ::-1], link[:, ::-1]
            # Lines may cross between cells but share none; they may pass by a square but not through it.
            drawn = (before != BACKGROUND) | (lines != BACKGROUND)
            near = grow(before != BACKGROUND)
            if not (drawn & (squares + link > 0)).any() and not (near & (squares > 0)).any():
                before[squares > 0] = color
                lines[link > 0] = color
                break
        else:
            raise Retry
    after = before.copy()
    after[lines != BACKGROUND] = lines[lines != BACKGROUND]
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    squares = objects(grid, BACKGROUND)
    for upper in squares:
        for lower in squares:
            if upper.color == lower.color and upper.bottom < lower.top:
                if upper.right < lower.left:
                    line(
                        output,
                        (upper.bottom + 1, upper.right + 1),
                        (lower.top - 1, lower.left - 1),
                        upper.color,
                    )
                else:
                    line(
                        output,
                        (upper.bottom + 1, upper.left - 1),
                        (lower.top - 1, lower.right + 1),
                        upper.color,
                    )
    return output
