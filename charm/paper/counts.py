"""Compare every parameter count in the paper with ours. To add a table, add a `PaperTable` to `PAPER`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from charm.accounting import Accounting, Size, account, account_car, counted, drawn_size
from charm.automata.keys import CarSizes
from charm.automata.run import CarConfig
from charm.continual.streams import load_stream
from charm.domains import Counted
from charm.errors import CharmError
from charm.language.gpt import components
from charm.language.presets import lm_preset
from charm.paper.printed import BASE_TITLES, PRINTED
from charm.paper.variants import VARIANTS
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
    """The paper's name for this data, if the paper gives its size. Repeats, canvases and seeds do not matter."""
    candidates = [replace(config, canvas="full", seed=0, evaluate_repeats=2, auxiliary_repeats=2, data=None)]
    if config.synthetic_views == "shared":  # then synthetic pairs add no rows
        candidates.append(replace(candidates[0], synthetic=(), partial=False))
    return next((name for one in candidates for name, known in DATASETS.items() if one == known), None)


def drawn_sizes(
    names: Iterable[str] = (*DATASETS, *STREAMS), data: Path | None = None
) -> tuple[dict[str, Size], list[str]]:
    """Sizes of our data by the paper's names, and a sentence for each data set that is not available."""
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


# Claims: one for each count that the paper prints.

Standing = Literal["checked", "given", "differs"]


@dataclass(frozen=True)
class Claim:
    """A printed count and the function that computes it."""

    label: str
    printed: str
    """The count as the paper prints it, with its unit: "29.9M", "31.76k", "13,663,233"."""
    data: str
    """A key of PAPER_SIZES."""
    count: Callable[[Size], Count]
    note: str = ""
    standing: Standing = "checked"
    """given: a number of rows from which the others are computed, so that agreement proves nothing.
    differs: our count is known to differ from the paper's."""


@dataclass(frozen=True)
class PaperTable:
    label: str
    reading: str
    """How we count if the paper leaves it open."""
    claims: list[Claim]


@dataclass(frozen=True)
class CountCheck:
    """A claim with our count at the paper's size and our count with the views that we draw."""

    table: str
    claim: Claim
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
    """How many of the paper's counts were checked, how many agree, and how many are given, which are not checked."""
    checks = list(checks)
    counted = [check.agrees for check in checks if check.claim.standing != "given"]
    return {"counts": len(counted), "agree": sum(counted), "given": len(checks) - len(counted)}


UNITS = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9}


def as_printed(count: Count, printed: str) -> str:
    """The count in the format of `printed`: the same unit and number of decimals, halves rounded up."""
    digits = printed.rstrip("kMB")
    unit = printed[len(digits) :]
    decimals = len(digits.partition(".")[2])
    rounded = math.floor(Fraction(count) / UNITS[unit] * 10**decimals + Fraction(1, 2))
    whole, rest = divmod(rounded, 10**decimals)
    return f"{whole:,}" + (f".{rest:0{decimals}}" if decimals else "") + unit


def check_paper(sizes: Mapping[str, Size], tables: Iterable[PaperTable] | None = None) -> list[CountCheck]:
    """Check every claim; `sizes` are the sizes of our data by the paper's names."""
    return [
        CountCheck(
            table.label,
            claim,
            claim.count(PAPER_SIZES[claim.data]),
            claim.count(sizes[claim.data]) if claim.data in sizes else None,
        )
        for table in (PAPER if tables is None else tables)
        for claim in table.claims
    ]


def _account(key: str, size: Size) -> Accounting:
    """The model of a run of the paper, as `charm reproduce` trains it. CAR's rules and horizons are fixed."""
    config = VARIANTS[key].full()
    if isinstance(config, CarConfig):
        return account_car(config.model, CarSizes(1500, 4, combinations=size.puzzles, rows=size.rows))
    return account(config.model, *size)


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


def _claim(label: str, printed: str, data: str, key: str, what: str) -> Claim:
    """`key` names the variant; `what` is one of COUNTS or a field of Accounting."""
    read = COUNTS.get(what) or attrgetter(what)
    given: Standing = "given" if what.startswith("rows") else "checked"
    return Claim(label, printed, data, lambda size: read(_account(key, size)), standing=given)


def _table(
    label: str, reading: str, columns: Mapping[str, str], *lines: tuple[str, str, str, str]
) -> PaperTable:
    """Columns map their names to what they count. A line has its label, data, variant, and the printed numbers."""
    claims = [
        _claim(f"{name}: {column}" if column else name, printed, data, key, what)
        for name, data, key, cells in lines
        for (column, what), printed in zip(columns.items(), cells.split(), strict=True)
    ]
    return PaperTable(
        label, reading, [replace(one, **NOTES.get((label, one.label, one.data), {})) for one in claims]
    )


def _by_model(
    label: str, reading: str, models: Mapping[str, str], *columns: tuple[str, str, str, str]
) -> PaperTable:
    """A table over models. A column has its data, its name, what it counts, and a cell for each of the first models."""
    claims = [
        _claim(f"{title}: {column}", printed, data, key, what)
        for data, column, what, cells in columns
        for (key, title), printed in zip(models.items(), cells.split(), strict=False)
    ]
    return PaperTable(label, reading, claims)


# U -> backbone.
SCALING = {2: "6.8M", 3: "10.2M", 4: "13.6M", 6: "20.5M", 8: "27.3M", 12: "40.9M", 24: "81.8M"}


def _scaling(label: str) -> PaperTable:
    """Backbones of U layers. R and the layer-level horizon do not affect counts."""
    claims = []
    for line in PRINTED[f"tab:{label}"].lines:
        shape = line.variant.full().reasoner
        name = f"U={shape.layers} R={shape.recurrences} H={shape.learning_layers}"
        claims.append(_claim(name, SCALING[shape.layers], ARC1, line.run, "backbone"))
    reading = "Backbones alone, with plain SwiGLU: a depthwise convolution would make the four layers 13.7M."
    return PaperTable(label, reading, claims)


@cache
def _language(preset: str) -> Mapping[str, int]:
    key = f"text.{preset.removeprefix('lm-')}"  # lm-d20 is not a run of the paper
    config = VARIANTS[key].full() if key in VARIANTS else lm_preset(preset)
    return components(config.gpt, config.ngram)


def _text_claim(label: str, printed: str, preset: str, part: str) -> Claim:
    return Claim(label, printed, TEXT, lambda size: _language(preset)[part])


def _ngram(label: str, reading: str, base: str, lines: Mapping[str, str]) -> PaperTable:
    """Memories of a language model. A line is the suffix of a preset's name and the printed number of each variant."""
    claims = []
    for line, cells in lines.items():
        for variant, printed in zip(("engram", "cose", "mixture"), cells.split(), strict=False):
            name = base if (line, variant) == ("x0", "engram") else f"{base}-{variant}-{line}"
            claims.append(_text_claim(f"{name}: memory", printed, name, "memory"))
    return PaperTable(label, reading, claims)


# (table, label, data) -> fields of a claim that needs a remark.
NOTES: dict[tuple[str, str, str], dict[str, Any]] = {
    ("component-grid", "CoSE", ARC1): {
        "note": "the accuracy in this line is the gated run's, which has 43,507,745 parameters: 44M"
    },
    ("overall-arc-performance", "HRM: ARC-1 all", ARC1): {
        "note": "475,593,218 prints as 476M; 27M + 448.3M would be 475M",
        "standing": "differs",
    },
}
# The columns of the two exact tables.
EXACT = {"reasoning": "backbone", "compositional": "composition", "table": "table", "total": "total"}
MEMORIES = {
    "arc1.table": "full task table",
    "arc1.table-r32": "rank-32 task table only",
    "arc1.composition": "compositional branch only",
    "arc1.cose": "CoSE, rank 32",
    "arc1.cose-gated": "CoSE, rank 32, gate",
    "arc1.cose-r512": "CoSE, rank 512",
}
BASES = {f"bases.{name}": title for name, title in BASE_TITLES.items()}
# Private parameters of the seven bases, in two tables.
PRIVATE_TRAIN = "32 512 31.28k 31.76k 500.44k 31.25k 499.93k"
PRIVATE_EVAL = "32 512 31.91k 32.39k 510.61k 31.88k 510.10k"

PAPER = (
    _table(
        "embedding-params",
        "The initial state and one blank row count.",
        {"rows": "rows", "task memory": "memory", "total": "total"},
        ("URM, full table", ARC1, "systems.urm-arc1", "0.876M 448.3M 462.0M"),
        ("URM, full table", ARC1_REARC, "arc1.table", "0.877M 448.9M 462.5M"),
        ("CHARM (r=32 + gate)", ARC1_REARC, "arc1.cose-gated", "0.877M 29.9M 43.5M"),
        ("URM, full table", ARC2, "systems.urm-arc1", "1.191M 609.6M 623.3M"),
        ("CHARM (r=32)", ARC2, "arc1.cose", "1.191M 39.8M 53.5M"),
        ("CHARM (r=32)", ARC2_REARC2, "arc1.cose", "1.289M 43.0M 56.6M"),
    ),
    PaperTable(
        "param-decomp-arc1",
        "The initial state counts; the halt head has one output, also under the full table.",
        [
            _claim(name, printed, ARC1_REARC, f"arc1.{variant}", what)
            for name, printed, variant, what in (
                ("URM backbone", "13,663,233", "cose-gated", "backbone"),
                ("full instance table", "448,872,960", "table", "table"),
                ("compositional branch", "1,545,728", "cose-gated", "compositional branch"),
                ("residual table", "28,054,560", "cose-gated", "table"),
                ("residual up-projection", "16,384", "cose-gated", "up_projection"),
                ("optional gate", "262,656", "cose-gated", "gate"),
                ("URM + full table", "462,536,193", "table", "total"),
                ("CHARM without gate", "43,279,905", "cose", "total"),
                ("CHARM with gate", "43,542,561", "cose-gated", "total"),
            )
        ],
    ),
    _table(
        "param-arc1-exact",
        "The initial states count (two of them in TRM); the halt heads of TRM and URM without Re-ARC have two outputs.",
        EXACT,
        ("TRM task table", ARC1, "systems.trm-arc1", "6,830,082 0 448,315,904 455,145,986"),
        ("URM task table", ARC1, "systems.urm-arc1", "13,663,746 0 448,315,904 461,979,650"),
        ("composition only", ARC1_REARC, "arc1.composition", "13,663,233 1,545,728 0 15,208,961"),
        ("URM task table", ARC1_REARC, "arc1.table", "13,663,233 0 448,872,960 462,536,193"),
        ("rank-32 table only", ARC1_REARC, "arc1.table-r32", "13,663,233 16,384 28,054,560 41,734,177"),
        ("CoSE, rank 32", ARC1_REARC, "arc1.cose", "13,663,233 1,562,112 28,054,560 43,279,905"),
        ("CoSE, rank 32, gate", ARC1_REARC, "arc1.cose-gated", "13,663,233 1,824,768 28,054,560 43,542,561"),
        ("CoSE, rank 512", ARC1_REARC, "arc1.cose-r512", "13,663,233 1,545,728 448,872,960 464,081,921"),
    ),
    _table(
        "param-arc2-exact",
        "As ARC-AGI-1's.",
        EXACT,
        ("URM task table", ARC2, "systems.urm-arc1", "13,663,746 0 609,599,488 623,263,234"),
        ("CoSE, rank 32", ARC2, "arc1.cose", "13,663,233 1,725,952 38,099,968 53,489,153"),
        ("CoSE, rank 32", ARC2_REARC2, "arc1.cose", "13,663,233 1,725,952 41,252,832 56,642,017"),
    ),
    _by_model(
        "full-cose-ablation",
        "The rank-32 table counts with its up-projection.",
        MEMORIES,
        (ARC1_REARC, "embedding", "memory", "448.9M 28.1M 1.5M 29.6M 29.9M 450.4M"),
    ),
    _by_model(
        "full-cose-ablation-no-rearc",
        "As with Re-ARC; the rows are those without it, so the full table is 448.3M and the gated CoSE 29.8M.",
        MEMORIES,
        (ARC1, "embedding", "memory", "448.3M 28.0M 1.5M 29.6M 29.8M"),
    ),
    _table(
        "component-grid",
        "CoSE is counted without the gate in all four lines.",
        {"": "total"},
        ("full table", ARC1, "arc1.table", "462M"),
        ("CoSE", ARC1, "arc1.cose", "43M"),
        ("full table", ARC1_REARC, "arc1.table", "463M"),
        ("CoSE", ARC1_REARC, "arc1.cose", "43M"),
        ("full table", ARC2, "arc1.table", "623M"),
        ("CoSE", ARC2, "arc1.cose", "53M"),
        ("full table", ARC2_REARC2, "arc1.table", "674M"),
        ("CoSE", ARC2_REARC2, "arc1.cose", "57M"),
    ),
    _table(
        "overall-arc-performance",
        "VARC is not a model of this project.",
        {"backbone": "backbone", "ARC-1 all": "total"},
        ("HRM", ARC1, "systems.hrm-arc1", "27M 475M"),
        ("TRM", ARC1, "systems.trm-arc1", "7M 455M"),
        ("URM", ARC1, "systems.urm-arc1", "14M 462M"),
        ("CHARM, gated", ARC1_REARC, "arc1.cose-gated", "14M 44M"),
    ),
    _table(
        "sec:task-memory",
        "The sizes that the text gives.",
        {"": "memory"},
        ("task table on ARC-AGI-1", ARC1, "arc1.table", "448M"),
        ("task table on ARC-AGI-2", ARC2, "arc1.table", "610M"),
    ),
    _scaling("scaling"),
    _scaling("scaling-tbptt"),
    _table(
        "car-single-horizon",
        "Initial state not counted; rows with a blank one; rules and horizons without.",
        {"backbone": "reasoner", "total": "reasoner and memory", "memory": "memory"},
        ("full table", CAR_SINGLE, "car-280k.full-table", "1.710M 4.783M 3.072M"),
        ("low-rank table", CAR_SINGLE, "car-280k.low-rank", "1.710M 1.906M 0.196M"),
        ("three-factor composition", CAR_SINGLE, "car-280k.three-factor", "1.710M 2.229M 0.519M"),
        ("three-factor CoSE", CAR_SINGLE, "car-280k.three-factor-cose", "1.710M 2.425M 0.715M"),
    ),
    _table(
        "car-all-horizons",
        "As single-horizon.",
        {"memory": "memory"},
        *(
            (name, data, f"car-280k.{variant}", printed)
            for name, variant, *both in (
                ("full table", "full-table", "3.072M", "12.288M"),
                ("low-rank table", "low-rank", "0.196M", "0.772M"),
                ("two-factor composition", "two-factor", "0.518M", "1.670M"),
                ("two-factor CoSE", "two-factor-cose", "0.714M", "2.442M"),
                ("three-factor composition", "three-factor", "0.519M", "0.519M"),
                ("three-factor CoSE", "three-factor-cose", "0.715M", "1.291M"),
            )
            for data, printed in zip((CAR_SINGLE, CAR_ALL), both, strict=True)
        ),
    ),
    PaperTable(
        "app:lm",
        "Backbones of the language models.",
        [
            _text_claim("lm-d12", "286M", "lm-d12", "backbone"),
            _text_claim("lm-d20", "896.5M", "lm-d20", "backbone"),
        ],
    ),
    _ngram(
        "nanochat-d12",
        "Two memories with a composer each, half as wide as the model; no prime is the size of two tables.",
        "lm-d12",
        {"x0": "0 3.5M", "x5": "254M 258M", "x10": "506M 510M", "x20": "1.01B 1.01B", "x40": "2.02B 2.02B"},
    ),
    _ngram(
        "nanochat-d12-width",
        "As above; the composer's width does not follow that of the look-ups.",
        "lm-d12",
        {"x5-w24": "15.9M 19.4M 19.3M", "x5-w48": "31.8M 35.3M 35.1M", "x5-w96": "63.6M 67.1M 66.7M"},
    ),
    _ngram(
        "nanochat-d20", "As above.", "lm-d20", {"x5": "426M 436M", "x10": "846M 856M", "x20": "1.68B 1.69B"}
    ),
    _table(
        "cose-cl-params, caption",
        "The mean number of rows of a puzzle.",
        {"": "rows per puzzle"},
        ("rows of a puzzle", TRAIN_STREAM, "bases.cose-r32", "976.42"),
        ("rows of a puzzle", EVAL_STREAM, "bases.cose-r32", "996.28"),
    ),
    _by_model(
        "cose-cl-params",
        "A puzzle's vector and its rows; a mean over the stream.",
        BASES,
        (TRAIN_STREAM, "task embedding row", "vector per puzzle", "32 512 32 512 512 0 0"),
        (TRAIN_STREAM, "train params/task", "private per puzzle", PRIVATE_TRAIN),
        (EVAL_STREAM, "eval params/task", "private per puzzle", PRIVATE_EVAL),
    ),
    _by_model(
        "cose-cl-core",
        "The initial state is not updated, so it is not counted.",
        BASES,
        (TRAIN_STREAM, "memory-only", "private per puzzle", PRIVATE_TRAIN),
        (
            TRAIN_STREAM,
            "oracle",
            "full per puzzle",
            "14.733M 14.717M 14.781M 14.765M 15.217M 13.710M 14.163M",
        ),
        (EVAL_STREAM, "memory-only", "private per puzzle", PRIVATE_EVAL),
        (EVAL_STREAM, "oracle", "full per puzzle", "14.733M 14.717M 14.782M 14.766M 15.228M 13.711M 14.173M"),
    ),
    _by_model(
        "cose-cl-joint",
        "Shared weights without the initial state, and all private rows, over the puzzles of the stream.",
        BASES,
        (
            TRAIN_STREAM,
            "joint",
            "everything per puzzle",
            "63.27k 63.67k 94.58k 94.99k 563.60k 89.95k 558.57k",
        ),
        (
            EVAL_STREAM,
            "joint",
            "everything per puzzle",
            "129.27k 129.61k 161.30k 161.63k 639.70k 151.87k 629.94k",
        ),
    ),
    PaperTable(
        "cose-cl-baselines",
        "A scope is what is updated in addition to the puzzle's vector and its rows.",
        [
            _claim(f"{method}, {scope}", printed, TRAIN_STREAM, "bases.cose-r32", f"{what} per puzzle")
            for scope, printed, what, methods in (
                ("full, per-task", "14.765M", "full", ("fine-tuning oracle",)),
                ("private rows", "31.76k", "private", ("memory-only",)),
                ("composition", "1.102M", "composition", ("L2-SP", "rehearsal", "EWC", "naive")),
                ("full model", "14.765M", "full", ("L2-SP", "rehearsal", "EWC", "naive")),
            )
            for method in methods
        ],
    ),
    PaperTable(
        "fig:cl-baseline-param-efficiency",
        "The caption's numbers.",
        [
            _claim("memory-only", "31.8k", TRAIN_STREAM, "bases.cose-r32", "private per puzzle"),
            _claim("composition", "1.10M", TRAIN_STREAM, "bases.cose-r32", "composition per puzzle"),
            _claim("full model", "14.77M", TRAIN_STREAM, "bases.cose-r32", "full per puzzle"),
        ],
    ),
)


# Tables for the terminal.


def paper_tables(checks: list[CountCheck]) -> list[Table]:
    """Tables that compare the paper's counts with ours, one for each table of the paper."""
    readings = {table.label: table.reading for table in PAPER}
    tables = []
    for label, some in groupby(checks, key=lambda check: check.table):
        rows: list[list[str]] = []
        for data, same_data in groupby(some, key=lambda check: check.claim.data):
            rows.append([data])
            for check in same_data:
                note = f"\n  {check.claim.note}" if check.claim.note else ""
                drawn = "" if check.drawn is None else _text(check.drawn)
                tick = {"given": "given", "differs": "differs"}.get(check.claim.standing, "✓")
                tick = tick if check.passed else "✗"
                name = f"  {check.claim.label}{note}"
                rows.append([name, check.claim.printed, _text(check.count), tick, drawn])
        columns = ["count", "paper", "ours", "", "our views"]
        tables.append(Table(columns, rows, label, readings.get(label, ""), narrow=True))
    return tables


def _text(count: Count) -> str:
    number = _number(count)
    return f"{number:,}" if isinstance(number, int) else f"{number:,.2f}"


def _number(count: Count) -> int | float:
    return int(count) if count == int(count) else float(count)


def count_arc(name: str, config: TrainConfig, data_rows: bool, data: Path | None) -> Counted:
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
    return counted(name, {"rows_from": origin}, caption, account(config.model, *size))
