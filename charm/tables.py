"""A table as a value: what is computed hands one over, and `charm.drawing.terminal` prints it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import mean, stdev

UNKNOWN = "\N{EN DASH}"  # in place of an unknown number


def spread_text(values: Sequence[float], form: str = ".2f") -> str:
    """Mean ± sample standard deviation, as "25.0 ± 4.4"; the mean alone of one value, "-" of none."""
    if not values:
        return "-"
    spread = f" ± {stdev(values):{form}}" if len(values) > 1 else ""
    return f"{mean(values):{form}}{spread}"


def percent(shares: Mapping[str, float], name: str) -> str:
    """Format a share as a percentage; a dash if it is missing, for example because no answer is known."""
    return f"{shares[name]:.2%}" if name in shares else UNKNOWN


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
        """Render the table for a notebook."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows if row)
        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        note = f"<div>{escape(self.caption)}</div>" if self.caption else ""
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def count_table(name: str, counts: Iterable[tuple[str, int]], sums: Collection[str], caption: str = "") -> Table:
    """Lay out a model's parameters by component; `sums` are components that sum up those before them."""
    counts = list(counts)
    rows = [(part if part in sums else f"  {part}", f"{count:,}") for part, count in counts]
    totals = [number for number, (part, _) in enumerate(counts) if part in sums]
    return Table(["component", "parameters"], rows, f"Parameters of {name}", caption, totals)
