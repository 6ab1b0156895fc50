"""Compare every parameter count in the paper with ours. The counts are in `tables.toml`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
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
from charm.paper.runs import VARIANTS
from charm.paper.tables import TABLES, PaperCount
from charm.progress import status
from charm.runs.settings import TrainConfig
from charm.tables import Table
from charm.tasks.augment import draw_views
from charm.tasks.dataset import DataConfig

Count = int | Fraction  # a mean over tasks is a fraction

# Numbers of puzzles and rows, in the paper and here.

ARC1, ARC1_REARC = "ARC-AGI-1", "ARC-AGI-1 + Re-ARC"
ARC2, ARC2_REARC2 = "ARC-AGI-2", "ARC-AGI-2 + Re-ARC2"
TRAIN_STREAM, EVAL_STREAM = "ARC-AGI-2 training stream", "ARC-AGI-2 evaluation stream"
CAR_SINGLE, CAR_ALL = "CAR single-horizon", "CAR all-horizons"
TEXT = "text"

PAPER_SIZES = {
    ARC1: Size(960, 875_617),
    ARC1_REARC: Size(960, 876_705),
    ARC2: Size(1280, 1_190_624),
    ARC2_REARC2: Size(1280, 1_289_151),
    # The paper prints the means, 976.42 and 996.28 rows per puzzle; these are the totals.
    TRAIN_STREAM: Size(233, 227_506),
    EVAL_STREAM: Size(114, 113_576),
    # Combinations of rule and horizon with a row for each of eight views, and a blank row.
    CAR_SINGLE: Size(1500, 8 * 1500 + 1),
    CAR_ALL: Size(6000, 8 * 6000 + 1),
    TEXT: Size(0, 0),  # no size in a language model depends on its data
}

_ARC2_DATA = DataConfig(train=("arc2/training",), evaluate=("arc2/evaluation",))
DATASETS = {
    ARC1: DataConfig(),
    ARC1_REARC: DataConfig(synthetic=("rearc",)),
    ARC2: _ARC2_DATA,
    ARC2_REARC2: replace(_ARC2_DATA, synthetic=("rearc", "rearc2"), synthetic_views="own"),
}
STREAMS = {TRAIN_STREAM: "arc2-training", EVAL_STREAM: "arc2-evaluation"}  # names in `charm adapt`

DRAWN_TOLERANCE = Fraction(2, 1000)  # views are random, so the numbers of rows differ slightly


def paper_dataset(config: DataConfig) -> str | None:
    """Return the paper's name for this data, if it gives its size. Repeats, canvases and seeds do not matter."""
    candidates = [replace(config, canvas="full", seed=0, evaluate_repeats=2, auxiliary_repeats=2, data=None)]
    if config.synthetic_views == "shared":  # then synthetic pairs add no rows
        candidates.append(replace(candidates[0], synthetic=(), partial=False))
    return next((name for one in candidates for name, known in DATASETS.items() if one == known), None)


def drawn_sizes(
    names: Iterable[str] = (*DATASETS, *STREAMS), data: Path | None = None
) -> tuple[dict[str, Size], list[str]]:
    """Return the sizes of our data by the paper's names, and a sentence for each data set that is not available."""
    sizes, missing = {}, []
    for name in names:
        try:
            if name in STREAMS:
                tasks = load_stream(STREAMS[name]).tasks  # which have no blank row
                rows = sum(len(draw_views(task.blind(), 1000, seed=0)) for task in tasks)
                sizes[name] = Size(len(tasks), rows)
            else:
                sizes[name] = drawn_size(replace(DATASETS[name], data=data))
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
        if self.drawn is None:
            return None
        return float(Fraction(self.drawn - self.count) / max(self.count, 1))

    @property
    def passed(self) -> bool:
        """Whether the counts are as expected."""
        expected = self.agrees == (self.claim.standing != "differs")
        return expected and (self.difference is None or abs(self.difference) <= DRAWN_TOLERANCE)

    def to_json(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "label": self.claim.label,
            "data": self.claim.data,
            "paper": self.claim.printed,
            "ours": self.ours,
            "count": _number(self.count),
            "agrees": self.agrees,
            "standing": self.claim.standing,
            "drawn": None if self.drawn is None else _number(self.drawn),
            "drawn_difference": self.difference,
            "passed": self.passed,
            "note": self.claim.note,
        }


def tally(checks: Iterable[CountCheck]) -> dict[str, int]:
    """Count the checked counts of the paper, those that agree, and those that are given, which are not checked."""
    checks = list(checks)
    counted = [check.agrees for check in checks if check.claim.standing != "given"]
    return {"counts": len(counted), "agree": sum(counted), "given": len(checks) - len(counted)}


UNITS = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9}


def as_printed(count: Count, printed: str) -> str:
    """Format a count as `printed` is: the same unit and number of decimals, halves rounded up."""
    digits = printed.rstrip("kMB")
    unit = printed[len(digits) :]
    decimals = len(digits.partition(".")[2])
    rounded = math.floor(Fraction(count) / UNITS[unit] * 10**decimals + Fraction(1, 2))
    whole, rest = divmod(rounded, 10**decimals)
    return f"{whole:,}" + (f".{rest:0{decimals}}" if decimals else "") + unit


def check_paper(sizes: Mapping[str, Size]) -> list[CountCheck]:
    """Check every count; `sizes` are the sizes of our data by the paper's names."""
    return [
        CountCheck(
            table.label,
            claim,
            count_of(claim, PAPER_SIZES[claim.data]),
            count_of(claim, sizes[claim.data]) if claim.data in sizes else None,
        )
        for table in TABLES.values()
        for claim in table.counts
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
    found: Count = (COUNTS.get(claim.what) or attrgetter(claim.what))(model)
    return found


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
    if known is None or data_rows:
        with status("drawing the views of every puzzle"):
            size = drawn_size(config.data if data is None else replace(config.data, data=data))
        origin = "the views drawn here"
    else:
        size = PAPER_SIZES[known]
        origin = f"the paper's {known} (--data-rows draws our own)"
    caption = f"{size.puzzles:,} puzzles and {size.rows:,} rows, the blank one included: {origin}."
    return count_components(name, {"rows_from": origin}, caption, account(config.model, *size))
