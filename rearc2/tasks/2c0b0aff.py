"""Of several sky-blue panels with green marks, the one that holds the most green pluses is cropped."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow, objects, paint, place

GREEN, PANEL = 3, 8
PLUS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(20, 26), rng.randint(20, 26)
    most = rng.choice([3, 4, 4, 5, 6])
    # Losers hold fewer pluses; the runner-up is often close.
    pluses = [most, *(rng.randint(1, most - 1) for _ in range(rng.choice([2, 3, 3])))]
    panels = [_panel(rng, count) for count in pluses]
    before = canvas(height, width)
    spots = place(rng, before.shape, [panel.shape for panel in panels])
    for panel, (top, left) in zip(panels, spots, strict=True):
        paint(before, panel, top, left)
    return before, panels[0]


def _panel(rng: Random, pluses: int) -> Grid:
    """A panel with exactly so many pluses, and loose green cells that complete no further one."""
    height, width = rng.randint(5 if pluses < 3 else 7, 10), rng.randint(7, 11)
    panel = canvas(height, width, PANEL)
    spots = place(rng, panel.shape, [(3, 3)] * pluses, gap=rng.choice([0, 1]))
    for top, left in spots:
        paint(panel, PLUS, top, left, GREEN)
    diagonal = rng.random() < 0.7  # loose cells keep away from corners too, or from edges alone
    for _ in range(rng.choice([2, 4, 8, 12])):
        free = np.argwhere(~grow(panel == GREEN, diagonal)).tolist()
        if free:
            panel[tuple(rng.choice(free))] = GREEN
    green = panel == GREEN
    found = [
        (r - 1, c - 1)
        for r in range(1, height - 1)
        for c in range(1, width - 1)
        if green[r - 1 : r + 2, c].all() and green[r, c - 1 : c + 2].all()
    ]
    if sorted(found) != sorted(spots) or green.mean() > 0.45:
        raise Retry
    return panel


def verify(grid: Grid) -> Grid:
    panels = [grid[thing.slices] for thing in objects(grid, same_color=False)]
    return max(panels, key=_count).copy()


def _count(panel: Grid) -> int:
    green = panel == GREEN
    arms = green[:-2, 1:-1] & green[2:, 1:-1] & green[1:-1, :-2] & green[1:-1, 2:]
    return int((green[1:-1, 1:-1] & arms).sum())
