"""The cells of each column fall and form a pyramid under it, with rows of 1, 3, 5, ... cells filled from its top in the
order in which the cells stood."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(14, 30), rng.randint(7, 20)
    before, after = canvas(height, width), canvas(height, width)
    end = -1  # last column of the pyramid before
    for _ in range(rng.randint(1, 1 if width < 10 else 2 if width < 15 else 3)):
        rows = rng.choice([2, 2, 3, 3, 4])
        column = end + 1 + rows + rng.randint(0, max(0, width // 2 - rows))
        end = column + rows - 1
        if end >= width or rows * rows > height - rows:
            raise Retry
        # The colour may change from one row of the pyramid to the next.
        palette = colors(rng, rows)
        bands = sorted(rng.randint(0, rows - 1) for _ in range(rows)) if rng.random() < 0.6 else [0] * rows
        falling = []
        for row, band in enumerate(bands):
            falling += [palette[band]] * (2 * row + 1)
            top = height - rows + row
            after[top, column - row : column + row + 1] = palette[band]
        lowest = rng.randint(rows * rows, height - rows)
        for row, color in zip(sorted(rng.sample(range(lowest), rows * rows)), falling, strict=True):
            before[row, column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    for column in range(grid.shape[1]):
        cells = [int(color) for color in grid[:, column] if color]
        rows = round(len(cells) ** 0.5)
        for row in range(rows):
            for number in range(2 * row + 1):
                output[row - rows, column - row + number] = cells.pop(0)
    return output
