"""All windows have four panes, and each of the four positions has one colour: the few panes that are filled tell the
colours, and all panes are filled accordingly."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, fill, objects, place

POSITIONS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(20, 30)
    count = rng.choice([4, 4, 5, 6]) if side < 26 else rng.choice([4, 5, 6, 6, 7])
    bar, *pane_colors = colors(rng, 5)
    color = dict(zip(POSITIONS, pane_colors, strict=True))
    most = 5 if count < 6 else 4
    windows = []  # sizes of the panes: two heights, two widths
    for _ in range(count):
        largest = rng.choice([2, most, most + rng.randint(0, 3)])
        windows.append([rng.randint(1, largest) for _ in range(4)])
    boxes = [(above + below + 3, west + east + 3) for above, below, west, east in windows]
    before, after = canvas(side, side), canvas(side, side)
    shown = {position: rng.randrange(count) for position in POSITIONS}
    spots = place(rng, before.shape, boxes, margin=1)
    for number, (sizes, (top, left), (height, width)) in enumerate(zip(windows, spots, boxes, strict=True)):
        fill(before, top, left, height, width, bar)
        fill(after, top, left, height, width, bar)
        for down, right in POSITIONS:
            pane = (
                top + 1 + down * (sizes[0] + 1),
                left + 1 + right * (sizes[2] + 1),
                sizes[down],
                sizes[2 + right],
            )
            fill(before, *pane, color[down, right] if shown[down, right] == number else 0)
            fill(after, *pane, color[down, right])
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    pane_color: dict[int, int] = {}
    panes = []  # (position 0..3, slices)
    for window in objects(grid, same_color=False):
        part = grid[window.slices]
        frame_color = part[0, 0]
        cross_row = next(r for r in range(1, window.height - 1) if (part[r] == frame_color).all())
        cross_column = next(c for c in range(1, window.width - 1) if (part[:, c] == frame_color).all())
        for position, (rows, columns) in enumerate(
            (rows, columns)
            for rows in (slice(1, cross_row), slice(cross_row + 1, -1))
            for columns in (slice(1, cross_column), slice(cross_column + 1, -1))
        ):
            panes.append((position, output[window.slices][rows, columns]))
            if part[rows, columns].any():
                pane_color[position] = int(part[rows, columns][0, 0])
    for position, pane in panes:
        pane[...] = pane_color[position]
    return output
