"""A table as a value: what is computed hands one over, and `charm.drawing.terminal` prints it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

UNKNOWN = "\N{EN DASH}"  # in place of an unknown number


@dataclass(frozen=True)
class Table:
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    """A row may be shorter than the columns: its other cells are empty."""
    title: str = ""
    caption: str = ""
    totals: Collection[int] = ()
    """Numbers of rows in bold, each the last of its section."""
    narrow: bool = False
    """Without lines between the columns, to fit into 80 characters."""

    def html(self) -> str:
        """The table for a notebook."""
        head = "".join(f"<th>{escape(str(name))}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in self.rows if row
        )
        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        note = f"<div>{escape(self.caption)}</div>" if self.caption else ""
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"
