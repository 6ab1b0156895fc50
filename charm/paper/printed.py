"""The paper's tables that report runs: the printed numbers of every line, the run behind it, and what is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from charm.errors import CharmError
from charm.paper.variants import VARIANTS, Variant


@dataclass(frozen=True)
class PrintedLine:
    """A line of a table."""

    title: str
    run: str
    """The key of its variant; "" where the run is not ours to make."""
    paper: Mapping[str, str]
    """Measure -> as printed: "49.75 ± 2.50"."""
    seeds: int = 1
    """Runs behind the paper's number."""
    prefix: str = ""
    """Start of the names of our scores, where one run is evaluated in several ways."""

    @property
    def key(self) -> str:
        """How claims and `--variants` name this line."""
        return self.run + (f"@{self.prefix.strip()}" if self.prefix else "")

    @property
    def variant(self) -> Variant:
        return VARIANTS[self.run]

    def printed(self, measure: str) -> float:
        """The paper's mean."""
        return float(self.paper[measure].split(" ± ")[0])


@dataclass(frozen=True)
class PrintedClaim:
    """Two lines that the paper tells apart; which of them is ahead follows from its numbers."""

    first: str
    second: str
    measure: str


@dataclass(frozen=True)
class PrintedTable:
    label: str
    lines: tuple[PrintedLine, ...]
    claims: tuple[PrintedClaim, ...] = ()
    about: str = ""
    """What the paper leaves open and how we read it."""

    @property
    def measures(self) -> list[str]:
        return list(dict.fromkeys(measure for line in self.lines for measure in line.paper))

    @property
    def runs(self) -> list[PrintedLine]:
        """The lines that have a run of ours."""
        return [line for line in self.lines if line.run]

    def line(self, key: str) -> PrintedLine:
        return next(line for line in self.lines if line.key == key)


def _table(
    label: str,
    measures: str,
    lines: Mapping[str, str],
    claims: tuple[tuple[str, str, str], ...] = (),
    group: str = "",
    about: str = "",
) -> PrintedTable:
    """`lines`: variant -> "title | printed numbers | n=3"; the number of runs is 1 where it is not given."""
    names, made = measures.split(" | "), []
    for run, text in lines.items():
        title, *cells = (cell.strip() for cell in text.split("|"))
        seeds = int(cells.pop().removeprefix("n=")) if cells[-1].startswith("n=") else 1
        printed = {name: cell for name, cell in zip(names, cells, strict=True) if cell}
        made.append(PrintedLine(title, _key(group, run), printed, seeds))
    judged = tuple(
        PrintedClaim(_key(group, first), _key(group, second), one) for first, second, one in claims
    )
    return PrintedTable(label, tuple(made), judged, about)


def _key(group: str, run: str) -> str:
    return run if "." in run or not group else f"{group}.{run}"


# The paper does not say how many runs are behind this line.
STOCK = "49.75 ± 2.50 | 71.75 ± 0.22 | n=3"

PRINTED: dict[str, PrintedTable] = {
    table.label: table
    for table in (
        _table(
            "tab:full-cose-ablation-no-rearc",
            "pass@1 | pass@2 | pass@1000",
            {
                "table": "Full task table | 54.16 ± 1.91 | 59.97 ± 1.77 | 80.41 ± 1.67 | n=4",
                "table-r32": "Rank-32 task table only | 52.88 | 58.00 | 79.25",
                "composition": "Compositional branch only | 47.38 | 51.50 | 70.12",
                "cose": "CoSE (rank-32 residual) | 56.46 ± 1.51 | 62.67 ± 2.43 | 79.96 ± 1.81 | n=3",
                "cose-gated": "CoSE (gated r=32) | 57.41 ± 1.82 | 64.91 ± 2.25 | 81.41 ± 1.65 | n=4",
            },
            (
                ("cose", "table", "pass@2"),
                ("cose-gated", "table", "pass@2"),
                ("cose", "table-r32", "pass@2"),
                ("cose", "composition", "pass@2"),
                ("table", "composition", "pass@2"),
                ("table", "table-r32", "pass@2"),
            ),
            "plain",
        ),
        _table(
            "tab:cppool",
            "pass@2 | pass@1000",
            {
                "table": f"Combinatorial task table, unrestricted | {STOCK}",
                "table-pooled": "Combinatorial task table, 1000-pooled | 52.08 | 71.25",
                "separate": "3 separate tables, unrestricted | 52.33 | 71.00",
                "separate-pooled": "3 separate tables, 1000-pooled | 45.52 ± 0.80 | 62.19 ± 0.97 | n=3",
            },
            (
                ("separate", "separate-pooled", "pass@2"),
                ("table-pooled", "separate-pooled", "pass@2"),
                ("table-pooled", "separate-pooled", "pass@1000"),
            ),
            "train",
        ),
        _table(
            "tab:lowrank-ablations",
            "pass@2 | pass@1000",
            {
                "table": f"Stock TRM full task table (r=512) | {STOCK}",
                "table-r128": "Low-rank task table (r=128) | 47.71 | 69.38",
                "table-r64": "Low-rank task table (r=64) | 46.04 | 66.00",
                "table-r32": "Low-rank task table (r=32) | 45.46 | 67.50",
                "table-r8": "Low-rank task table (r=8) | 38.29 ± 0.95 | 55.92 ± 1.35 | n=3",
            },
            (
                ("table", "table-r32", "pass@2"),
                ("table", "table-r8", "pass@2"),
                ("table-r32", "table-r8", "pass@2"),
            ),
            "train",
        ),
        _table(
            "tab:compo-ablations",
            "pass@2 | pass@1000",
            {
                "table": f"Full task table | {STOCK}",
                "film": "Lookup, slots, FiLM-concat | 47.50 ± 1.16 | 63.25 ± 2.01 | n=3",
                "composition": "Slots, slots, FiLM-concat | 46.77 ± 0.27 | 64.50 ± 1.59 | n=3",
                "hypernetwork": "Lookup, slots, hypernetwork | 46.46 | 59.38",
                "film-deep": "Lookup, slots, more expressive FiLM | 46.09 ± 2.30 | 62.00 ± 0.88 | n=3",
                "film-larger": "Lookup, slots, FiLM-concat, larger backbone | 45.58 ± 0.71 | 64.13 ± 0.35 | n=3",
                "film-add": "Lookup, slots, FiLM-add | 45.21 ± 3.23 | 63.88 ± 2.28 | n=3",
                "experts": "Lookup, slots, mixture of experts | 44.79 | 60.25",
                "film-wide": "Lookup, slots, FiLM-concat, 1024 hidden units | 44.58 | 63.04",
                "add": "Lookup, slots, add | 44.21 | 63.50",
                "film-heads": "Lookup, slots, FiLM-concat, 4 heads | 43.83 | 61.50",
            },
            (
                ("table", "film", "pass@2"),
                ("table", "film", "pass@1000"),
                ("table", "composition", "pass@1000"),
                ("film", "add", "pass@2"),
            ),
            "train",
            "The paper does not say how large the larger backbone is; ours has four layers instead of two. Where a "
            "spread is printed without the number of runs, we take three.",
        ),
        _table(
            "tab:cose-arc1training-ablations",
            "pass@2 | pass@1000",
            {
                "table": f"Full task table | {STOCK}",
                "cose-gated": "FiLM-concat + gated residual (r=32) | 51.83 ± 0.76 | 68.96 ± 1.48 | n=3",
                "cose": "FiLM-concat + residual (r=32) | 51.25 ± 0.94 | 67.19 ± 0.80 | n=3",
                "cose-engram": "FiLM-concat + Engram residual (r=32) | 50.08 | 66.88",
            },
            (
                ("cose-gated", "table", "pass@2"),
                ("cose", "table", "pass@2"),
                ("cose", "cose-engram", "pass@2"),
                ("cose-gated", "cose-engram", "pass@2"),
                ("table", "cose", "pass@1000"),
            ),
            "train",
        ),
    )
}


def printed_table(label: str) -> PrintedTable:
    """A table by its label in the paper's source."""
    if label not in PRINTED:
        raise CharmError(f"the paper has no table {label!r}; `charm reproduce` lists the labels")
    return PRINTED[label]
