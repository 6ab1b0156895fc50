"""Grids and tasks as text: rows of digits, in coloured cells where the output is a terminal."""

from __future__ import annotations

import os
import sys
from itertools import zip_longest

from charm.tasks.canvas import FIRST_COLOR
from charm.tasks.svg import PALETTE
from charm.tasks.task import Grid, Task


def grid_lines(grid: Grid | None) -> list[str]:
    """Return the rows of a grid, two characters for each cell; "?" where there is none.

    A digit in the colour of its cell is invisible in a terminal, but it is there in a copy.
    """
    if grid is None:
        return ["? "]
    colored = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    shades = [";".join(map(str, bytes.fromhex(shade[1:]))) for shade in PALETTE[FIRST_COLOR:]]
    cells = [
        f"\x1b[38;2;{one};48;2;{one}m{color} \x1b[0m" if colored else f"{color} " for color, one in enumerate(shades)
    ]
    return ["".join(cells[color] for color in row) for row in grid.tolist()]


def task_text(task: Task) -> str:
    """Return a picture of a task: one pair below the other, each input to the left of its output."""
    parts = [repr(task)]
    for name, pair in task.named_pairs().items():
        blank = "  " * pair.input.shape[1]
        rows = zip_longest(grid_lines(pair.input), grid_lines(pair.output))
        lines = [
            f"{left or blank}{'   ' if number else ' → '}{right or ''}" for number, (left, right) in enumerate(rows)
        ]
        parts.append("\n".join([name, *(line.rstrip() for line in lines)]))
    return "\n\n".join(parts)
