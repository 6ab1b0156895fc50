"""Terminal output of the commands: tables and lines. `charm.tasks.pictures` has grids and tasks."""

import re
import time
from collections.abc import Mapping

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table as RichTable
from rich.text import Text

from charm.progress import console as new_console
from charm.progress import plain
from charm.tables import Table
from charm.tasks.pictures import grid_lines
from charm.tasks.task import Grid

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


def animate_grids(grids: Mapping[str, Grid]) -> None:
    """Show grids one after the other in the same place."""
    with Live(auto_refresh=False, console=new_console()) as live:
        for name, grid in grids.items():
            live.update(Text.from_ansi("\n".join([name, *grid_lines(grid)])), refresh=True)
            time.sleep(0.3)
