"""A table as a value: what is computed hands one over, and `charm.drawing.terminal` prints it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

UNKNOWN = "\N{EN DASH}"  # in place of a number that nobody has


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
