"""A row of equal ornamented panels shows a figure that grows steadily from panel to panel; the last panel is still
empty. The output is the last panel with the next state: all ends of strokes move on by constant steps, and where two
sets of colours alternate, the next set is used."""

from itertools import groupby
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    """Drawn with the panels one below the other and figures growing along the rows; turned over half the time."""
    empty, panels = _striped(rng) if rng.random() < 0.3 else _stroked(rng)
    before, after = np.vstack([*panels[:-1], empty]), panels[-1]
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def _empty(rng: Random, height: int, width: int, base: int, ornament: int) -> Grid:
    """A panel with an ornament along its edge, symmetric both ways, never deeper than two cells."""
    corner = scatter(rng, ((height + 1) // 2, (width + 1) // 2), 0.5)
    corner[2 if height > 7 else 1 :, 2:] = False
    if not corner[:2, :2].any():
        raise Retry
    half = np.hstack([corner, corner[:, : width // 2][:, ::-1]])
    whole = np.vstack([half, half[: height // 2][::-1]])
    return np.where(whole, ornament, base)


def _stroked(rng: Random) -> tuple[Grid, list[Grid]]:
    """Three states of one or two figures made of strokes, symmetric about the middle row(s)."""
    height, width = rng.randint(7, 9), rng.randint(10, 13)
    base, ornament, first, second, third = colors(rng, 5)
    empty = _empty(rng, height, width, base, ornament)
    near = (height - 1) // 2  # the middle row, or the upper one of two
    far = near - 1
    # (row, colour, start, end, step of the start, step of the end), from the left edge or from the right one
    from_left = rng.choice(
        [
            [(near, first, 0, rng.randint(0, 1), 0, 1)],
            [(far, first, 0, 1, 0, 1), (far, second, 2, 2, 1, 1), (near, second, 0, 2, 0, 1)],
            [(far, first, 0, 0, 1, 1), (near, first, 0, 1, 1, 2)],
            [(far, first, 0, rng.randint(0, 1), 0, 1), (near, second, 0, rng.randint(0, 1), 0, 1)],
        ]
    )
    from_right = rng.choice(
        [
            [],
            [(far, third, 0, 1, 0, 1), (near, third, 0, 0, 0, 0)],
            [(far, third, 0, 0, 0, 1)],
            [(far, third, 0, 0, 1, 1), (near, third, 0, 0, 1, 1)],
        ]
    )
    panels = []
    for step in range(3):
        panel = empty.copy()
        covered = np.zeros(panel.shape, int)
        for strokes, mirrored in ((from_left, False), (from_right, True)):
            for row, color, start, end, start_step, end_step in strokes:
                columns = slice(2 + start + step * start_step, 2 + end + step * end_step + 1)
                for line in {row, height - 1 - row}:
                    (panel[:, ::-1] if mirrored else panel)[line, columns] = color
                    (covered[:, ::-1] if mirrored else covered)[line, columns] += 1
        if covered.max() > 1 or covered[:, -2:].any():
            raise Retry
        panels.append(panel)
    return empty, panels


def _striped(rng: Random) -> tuple[Grid, list[Grid]]:
    """Five states of a bar with a dotted middle line, in two colours by turns."""
    width = rng.randint(10, 12)
    base, ornament, dots, *bars = colors(rng, 5)
    start_length, step = rng.choice([(1, 2), (1, 1), (2, 1), (2, 2), (3, 1)])
    if start_length + 4 * step > width - 2:
        raise Retry
    empty = canvas(5, width, base)
    ends = _empty(rng, 5, width, base, ornament)
    empty[[0, 4]], empty[1:4, [0, -1]] = ends[[0, 4]], ends[1:4, [0, -1]]
    panels = []
    for number in range(5):
        panel = empty.copy()
        length = start_length + step * number
        panel[1:4, 1 : 1 + length] = bars[number % 2]
        panel[2, 1 : 1 + length : 2] = dots
        panels.append(panel)
    return empty, panels


def verify(grid: Grid) -> Grid:
    if grid.shape[1] > grid.shape[0]:
        return verify(grid.T).T
    count = next(n for n in (3, 5) if grid.shape[0] % n == 0 and _same_edges(np.split(grid, n)))
    *panels, empty = np.split(grid, count)
    output = empty.copy()
    if count == 3:
        for row in range(len(empty)):
            for (color, *old), (_, *new) in zip(
                *(_runs(panel[row], empty[row]) for panel in panels), strict=True
            ):
                start, end = (2 * b - a for a, b in zip(old, new, strict=True))
                output[row, start : end + 1] = color
        return output
    for row in range(len(empty)):
        figures = [np.flatnonzero(panel[row] != empty[row]) for panel in panels]
        if len(figures[0]):
            start, length = figures[0][0], 2 * len(figures[-1]) - len(figures[-2])
            pattern = panels[-2][
                row, start : start + 2
            ]  # the colours of two panels ago: dots and bar by turns
            output[row, start : start + length] = np.resize(pattern, length)
    return output


def _same_edges(panels: list[Grid]) -> bool:
    return all((panel[[0, -1]] == panels[-1][[0, -1]]).all() for panel in panels)


def _runs(row: np.ndarray, empty: np.ndarray) -> list[tuple[int, int, int]]:
    """(colour, first, last) of the strokes in a row."""
    columns = np.flatnonzero(row != empty).tolist()
    return [
        (color, run[0], run[-1])
        for (color, _), group in groupby(
            enumerate(columns), key=lambda item: (int(row[item[1]]), item[1] - item[0])
        )
        for run in [[column for _, column in group]]
    ]
