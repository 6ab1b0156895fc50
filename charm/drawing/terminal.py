"""Terminal output of the commands: tables, and grids, tasks and canvases in coloured characters."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from rich import box
from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.table import Table as RichTable
from rich.text import Text

from charm.drawing.grids import PALETTE, captioned_pairs, ink_on, title_of
from charm.progress import console as new_console
from charm.progress import plain
from charm.tables import Table
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, PAD, Tokens
from charm.tasks.task import Grid, Pair, Task

STYLES = {"✓": "green", "✗": "bold red", "solved": "green"}  # cells drawn in colour
NUMBER = re.compile(r"[-+·]?\d|[-·]?$")


def table_text(table: Table) -> Group:
    """Return a table for a terminal, columns of numbers right-aligned; its caption may be wider than the table."""
    narrow = {"box": box.SIMPLE_HEAD, "padding": 0, "show_edge": False} if table.narrow else {}
    drawn = RichTable(
        title=table.title or None,
        title_justify="left",
        **narrow,  # type: ignore[arg-type]
    )
    for number, heading in enumerate(table.columns):
        cells = [row[number] for row in table.rows if number < len(row)]
        right = number > 0 and all(map(NUMBER.match, cells))
        drawn.add_column(Text(plain(heading)), justify="right" if right else "left", no_wrap=right)
    for number, row in enumerate(table.rows):
        total = number in table.totals
        texts = [Text(plain(cell), STYLES.get(cell, "")) for cell in row]
        drawn.add_row(*texts, style="bold" if total else "", end_section=total)
    return Group(drawn, *([Text(plain(table.caption), "italic")] if table.caption else ()))


def show(*things: Table | RenderableType, console: Console | None = None) -> None:
    """Print tables, lines of text (taken literally) and drawings, one below the other."""
    console = console or new_console()
    for thing in things:
        if isinstance(thing, str):
            console.print(thing, highlight=False, markup=False, soft_wrap=True)
        else:
            console.print(table_text(thing) if isinstance(thing, Table) else thing)


def grid_text(grid: Grid, digits: bool = False) -> Text:
    """Return a grid in coloured cells two characters wide. Digits are visible with `digits` or without colours."""
    return canvas_text(grid + FIRST_COLOR, digits)


@dataclass(frozen=True)
class TaskText:
    """A task for a rich console; pairs flow over its width, and one without an output ends in a "?"."""

    task: Task
    digits: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(title_of(self.task), style="bold")
        for group in captioned_pairs(self.task):
            blocks = [self._block(caption, pair, options.max_width) for caption, pair in group]
            yield Columns(blocks, padding=(0, 3))

    def _block(self, caption: str, pair: Pair, limit: int) -> Group:
        """Return a captioned pair. An output that is too wide is below its input."""
        left = grid_text(pair.input, self.digits)
        right = Text("?", style="bold") if pair.output is None else grid_text(pair.output, self.digits)
        grids = RichTable.grid(padding=(0, 1))
        width = 2 * pair.input.shape[1] + (1 if pair.output is None else 2 * pair.output.shape[1]) + 5
        for row in [(left, "→", right)] if width <= limit else [(left,), ("↓",), (right,)]:
            grids.add_row(*row)
        return Group("", Text(caption, style="dim"), grids)


def marked_text(answer: Grid, truth: Grid) -> Text:
    """Return an answer in coloured cells. A wrong cell shows its state and a mark, a missing one a question mark."""
    text = Text(no_wrap=True, overflow="crop")
    for (i, j), wanted in np.ndenumerate(truth):
        text.append("\n" if i and not j else "")
        if i >= answer.shape[0] or j >= answer.shape[1]:
            text.append("?!", "bold")
            continue
        token = FIRST_COLOR + int(answer[i, j])
        wrong = answer[i, j] != wanted
        # As in grids, the digit of a right cell has the colour of the cell, so it is visible only without colours.
        ink = f"bold {ink_on(token)}" if wrong else PALETTE[token]
        text.append(f"{answer[i, j]}{'!' if wrong else ' '}", f"{ink} on {PALETTE[token]}")
    return text


def show_grids(grids: Mapping[str, Grid]) -> None:
    """Print grids under their names, as many side by side as fit in the terminal."""
    show(Columns([side_by_side((name, grid_text(grid), "")) for name, grid in grids.items()], padding=(0, 3)))


def animate_grids(grids: Mapping[str, Grid]) -> None:
    """Show grids one after the other in the same place."""
    with Live(auto_refresh=False, console=new_console()) as live:
        for name, grid in grids.items():
            live.update(side_by_side((name, grid_text(grid))), refresh=True)
            time.sleep(0.3)


def side_by_side(*columns: tuple[RenderableType, ...]) -> RichTable:
    """Return columns with space between them; the items of a column are stacked."""
    row = RichTable.grid(padding=(0, 3, 0, 0))
    for things in zip(*columns, strict=True):
        row.add_row(*things)
    return row


def canvas_text(tokens: Tokens, digits: bool = False) -> Text:
    """Return a token canvas: colours as in `grid_text`, padding as dots, boundary as hatching."""
    text = Text(no_wrap=True, overflow="crop")
    for number, row in enumerate(tokens):
        text.append("\n" if number else "")
        for token in map(int, row):
            if token in (PAD, BOUNDARY):
                text.append("· " if token == PAD else "▒▒", "dim")
            else:
                # A digit in the colour of its cell is invisible, but it is there without colours or in a copy.
                ink = ink_on(token) if digits else PALETTE[token]
                text.append(f"{token - FIRST_COLOR} ", f"{ink} on {PALETTE[token]}")
    return text
