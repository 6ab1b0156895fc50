"""Every frame is filled with a checkerboard, from its upper left inner cell on, of the colour whose loose cells are
just as many; the loose cells disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, frame, objects, place


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 26), rng.randint(14, 28)
    count = rng.choice([2, 2, 3])
    frame_colors, fillings = np.split(np.array(colors(rng, 2 * count)), 2)
    sizes = [(rng.randint(3, 8), rng.randint(3, 11)) for _ in range(count)]
    before, after = canvas(height, width), canvas(height, width)
    free = after == 0
    amounts = {}
    for number, (top, left) in enumerate(place(rng, (height, width), sizes, margin=1)):
        tall, wide = sizes[number]
        for grid in (before, after):
            frame(grid, top, left, tall, wide, int(frame_colors[number]))
        free[top : top + tall, left : left + wide] = False
        cells = [(r, c) for r in range(tall - 2) for c in range(wide - 2) if (r + c) % 2 == 0]
        for r, c in cells:
            after[top + 1 + r, left + 1 + c] = fillings[number]
        amounts[int(fillings[number])] = len(cells)
    total = sum(amounts.values())
    if len(set(amounts.values())) < count or total > 0.3 * free.sum():
        raise Retry
    places = np.argwhere(free).tolist()
    for color, amount in amounts.items():
        left = amount
        for r, c in rng.sample(places, len(places)):
            if left and before[r, c] == 0 and not _beside(before, r, c, color):
                before[r, c] = color
                left -= 1
        if left:
            raise Retry
    return before, after


def _beside(grid: Grid, row: int, column: int, color: int) -> bool:
    """Whether the place touches a cell of that colour, over a corner too: dots are counted, and cells."""
    return bool((grid[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] == color).any())


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    frames = [thing for thing in objects(grid, diagonal=False) if thing.height > 2 and thing.width > 2]
    for thing in frames:
        output[thing.slices][thing.mask] = thing.color
    loose = grid * (output == 0)
    for thing in frames:
        rows, columns = np.indices((thing.height - 2, thing.width - 2))
        board = (rows + columns) % 2 == 0
        (color,) = [color for color in range(1, 10) if (loose == color).sum() == board.sum()]
        output[thing.slices][1:-1, 1:-1][board] = color
    return output
