"""Where a framed panel shows a picture, every empty panel of the same colour gets the same picture."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, scatter

SIZE, PITCH = 5, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(2, 4), rng.randint(3, 4)
    palette = colors(rng, rng.randint(4, 7))
    palette += palette[:2]  # some colours are more frequent
    chosen = [rng.choice(palette) for _ in range(rows * columns)]
    pictured = [color for color in sorted(set(chosen)) if rng.random() < 0.7]
    if not any(chosen.count(color) > 1 for color in pictured):
        raise Retry
    pictures, shown = {}, {}
    for color in pictured:
        pictures[color] = scatter(rng, (SIZE - 2, SIZE - 2), 0.4)
        if not pictures[color].any():
            raise Retry
        shown[color] = rng.choice([number for number, other in enumerate(chosen) if other == color])
    before, after = (canvas(PITCH * rows + 1, PITCH * columns + 1) for _ in range(2))
    for number, color in enumerate(chosen):
        top, left = PITCH * (number // columns) + 1, PITCH * (number % columns) + 1
        for grid in (before, after):
            panel = grid[top : top + SIZE, left : left + SIZE]
            panel[:] = color
            panel[1:-1, 1:-1] = 0
            if color in pictures and (grid is after or shown[color] == number):
                panel[1:-1, 1:-1][pictures[color]] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    corners = [(top, left) for top in range(1, height, PITCH) for left in range(1, width, PITCH)]
    panels = [output[top : top + SIZE, left : left + SIZE] for top, left in corners]
    models = {int(panel[0, 0]): panel.copy() for panel in panels if panel[1:-1, 1:-1].any()}
    for panel in panels:
        panel[:] = models.get(int(panel[0, 0]), panel)
    return output
