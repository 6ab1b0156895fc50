"""Compare every parameter count in the paper with ours: those of `tables.toml`, at the sizes of `runs.toml`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from charm.accounting import Accounting, Size, account, account_car, count_components, drawn_size
from charm.automata.keys import CarSizes
from charm.automata.run import CarConfig
from charm.continual.streams import load_stream
from charm.errors import CharmError
from charm.language.config import LMConfig
from charm.language.gpt import components
from charm.language.presets import lm_preset
from charm.paper.runs import DATASETS, VARIANTS
from charm.paper.tables import TABLES, PaperCount
from charm.progress import status
from charm.runs.settings import TrainConfig
from charm.tables import Table
from charm.tasks.augment import draw_views
from charm.tasks.dataset import DataConfig

Count = int | Fraction  # a mean over tasks is a fraction
DRAWN = tuple(name for name, one in DATASETS.items() if one.data or one.stream)  # data sets whose views we can draw
DRAWN_TOLERANCE = Fraction(2, 1000)  # views are random, so the numbers of rows differ slightly


def paper_dataset(config: DataConfig) -> str | None:
    """Return the paper's name for this data, if it gives its size. Repeats, canvases and seeds do not matter."""
    candidates = [replace(config, canvas="full", seed=0, evaluate_repeats=2, auxiliary_repeats=2, data=None)]
    if config.synthetic_views == "shared":  # then synthetic pairs add no rows
        candidates.append(replace(candidates[0], synthetic=(), partial=False))
    return next((name for one in candidates for name, known in DATASETS.items() if one == known.data), None)


def drawn_sizes(names: Iterable[str] = DRAWN, data: Path | None = None) -> tuple[dict[str, Size], list[str]]:
    """Return the sizes of our data by the paper's names, and a sentence for each data set that is not available."""
    sizes, missing = {}, []
    for name in names:
        known = DATASETS[name]
        try:
            if known.data:
                sizes[name] = drawn_size(replace(known.data, data=data))
            else:
                tasks = load_stream(known.stream).tasks  # which have no blank row
                sizes[name] = Size(len(tasks), sum(len(draw_views(task.blind(), 1000, seed=0)) for task in tasks))
        except CharmError as error:
            missing.append(f"{name} is left out: {error}")
    return sizes, missing


@dataclass(frozen=True)
class CountCheck:
    """A claim with our count at the paper's size and our count with the views that we draw."""

    table: str
    claim: PaperCount
    count: Count
    drawn: Count | None

    @property
    def ours(self) -> str:
        return as_printed(self.count, self.claim.printed)

    @property
    def agrees(self) -> bool:
        return self.ours == self.claim.printed

    @property
    def difference(self) -> float | None:
        """Relative difference of the drawn count from the count at the paper's size."""
        return None if self.drawn is None else float(Fraction(self.drawn - self.count) / max(self.count, 1))

    @property
    def passed(self) -> bool:
        """Whether the counts are as expected."""
        return self.agrees == (self.claim.standing != "differs") and abs(self.difference or 0) <= DRAWN_TOLERANCE

    def to_json(self) -> dict[str, Any]:
        known = {name: getattr(self.claim, name) for name in ("label", "data", "standing", "note")}
        found = {"paper": self.claim.printed, "ours": self.ours, "count": _number(self.count), "agrees": self.agrees}
        drawn = {"drawn": None if self.drawn is None else _number(self.drawn), "drawn_difference": self.difference}
        return {"table": self.table, **known, **found, **drawn, "passed": self.passed}


def tally(checks: Sequence[CountCheck]) -> dict[str, int]:
    """Count the checked counts of the paper, those that agree, and those that are given, which are not checked."""
    counted = [check.agrees for check in checks if check.claim.standing != "given"]
    return {"counts": len(counted), "agree": sum(counted), "given": len(checks) - len(counted)}


UNITS = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9}


def as_printed(count: Count, printed: str) -> str:
    """Format a count as `printed` is: the same unit and number of decimals, halves rounded up."""
    digits = printed.rstrip("kMB")
    unit, decimals = printed[len(digits) :], len(digits.partition(".")[2])
    rounded = math.floor(Fraction(count) / UNITS[unit] * 10**decimals + Fraction(1, 2))
    return f"{Decimal(rounded).scaleb(-decimals):,.{decimals}f}{unit}"


def check_paper(sizes: Mapping[str, Size]) -> list[CountCheck]:
    """Check every count; `sizes` are the sizes of our data by the paper's names."""
    return [
        CountCheck(label, claim, count_of(claim, DATASETS[claim.data].size), size and count_of(claim, size))
        for label, table in TABLES.items()
        for claim in table.counts
        for size in (sizes.get(claim.data),)
    ]


# Counts that are no field of Accounting. Those "per puzzle" are the parameters updated in continual learning, by scope:
# means over a stream. The initial state is fixed.
COUNTS: dict[str, Callable[[Accounting], Count]] = {
    "rows": lambda m: m.size.rows,
    "rows per puzzle": lambda m: Fraction(m.size.rows, m.size.puzzles),
    "compositional branch": lambda m: m.factors + m.composer,
    "reasoner and memory": lambda m: m.reasoner + m.memory,
    "vector per puzzle": lambda m: Fraction(m.puzzles, m.size.puzzles),
    "private per puzzle": lambda m: Fraction(m.private, m.size.puzzles),
    "composition per puzzle": lambda m: m.shared + Fraction(m.private, m.size.puzzles),
    "full per puzzle": lambda m: m.reasoner + m.shared + Fraction(m.private, m.size.puzzles),
    "everything per puzzle": lambda m: Fraction(m.reasoner + m.memory, m.size.puzzles),
}


def count_of(claim: PaperCount, size: Size) -> Count:
    """Count the parameters of a claim, as `charm reproduce` trains its run, for data of this size."""
    config = VARIANTS[claim.run].full() if claim.run in VARIANTS else lm_preset(claim.run)  # lm-d20 is not a run
    if isinstance(config, LMConfig):
        return components(config.gpt, config.ngram)[claim.what]
    if isinstance(config, CarConfig):  # whose rules and horizons are fixed
        model = account_car(config.model, CarSizes(1500, 4, combinations=size.puzzles, rows=size.rows))
    else:
        model = account(config.model, *size)
    return COUNTS.get(claim.what, attrgetter(claim.what))(model)


# Tables for the terminal.


def paper_tables(checks: list[CountCheck]) -> list[Table]:
    """Return tables that compare the paper's counts with ours, one for each table of the paper."""
    tables = []
    for label, some in groupby(checks, key=lambda check: check.table):
        rows: list[list[str]] = []
        for data, same_data in groupby(some, key=lambda check: check.claim.data):
            rows.append([data])
            for check in same_data:
                note = f"\n  {check.claim.note}" if check.claim.note else ""
                drawn = "" if check.drawn is None else _text(check.drawn)
                tick = check.claim.standing.replace("checked", "✓") if check.passed else "✗"
                rows.append([f"  {check.claim.label}{note}", check.claim.printed, _text(check.count), tick, drawn])
        columns = ["count", "paper", "ours", "", "our views"]
        tables.append(Table(columns, rows, label, TABLES[label].reading if label in TABLES else "", narrow=True))
    return tables


def _text(count: Count) -> str:
    number = _number(count)
    return f"{number:,}" if isinstance(number, int) else f"{number:,.2f}"


def _number(count: Count) -> int | float:
    return int(count) if count == int(count) else float(count)


def count_arc(name: str, config: TrainConfig, data_rows: bool, data: Path | None) -> tuple[dict[str, Any], Table]:
    """Count the parameters of a preset on ARC's tasks, with the paper's number of rows if it is printed, else ours."""
    known = paper_dataset(config.data)
    if known and not data_rows:
        size, origin = DATASETS[known].size, f"the paper's {known} (--data-rows draws our own)"
    else:
        with status("drawing the views of every puzzle"):
            size = drawn_size(config.data if data is None else replace(config.data, data=data))
        origin = "the views drawn here"
    caption = f"{size.puzzles:,} puzzles and {size.rows:,} rows, the blank one included: {origin}."
    return count_components(name, {"rows_from": origin}, caption, account(config.model, *size))
