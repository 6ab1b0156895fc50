"""Numbers in README, the model cards, the log and the guides are those of the records.

A quote is a phrase of a page with places for numbers and, for each place, a value from a record. It must be on the
page as the values fill it in. On the pages of WHOLE every number is quoted, or is named in FREE with those that no
record can have: counts of a set, versions, names. In the tables of the log, every number is in a record that its entry
names. A guide measures nothing: what looks like a measurement there is in the log, in a record or in a quote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from safetensors import safe_open

from benchmarks import intervals
from benchmarks.records import ResultRecord, read_record
from charm.paper.comparison import paired_difference
from charm.paper.tables import TABLES
from charm.solving.scores import interval
from charm.solving.solver import choose
from charm.tables import spread_text
from charm.tasks.sources import load_source
from tests.docs.pages import PAGES, ROOT, blocks, read, without_blocks

RESULTS = ROOT / "benchmarks" / "results"
BASE, SPEEDRUN = "charm/released/base/README.md", "charm/released/speedrun/README.md"
LOG, REPRODUCE, SPEED = "docs/LOG.md", "docs/reproduce.md", "docs/speedrun.md"
WHOLE = ("README.md", "docs/compared.md", BASE, SPEEDRUN)
DOLLARS = 3  # for an hour of an H200
ROW_BY_ROW = "task vectors row by row, adaptation not compiled"
COMPARED = "docs/compared.md"
WITH_FAULTS = "with faults that were fixed on 2026-11-18"
NUMBER = re.compile(r"(?<![\w.@/-])\d[\d,]*(?:\.\d+)?(?![\w-]*[a-z]\d)")


class Quote(NamedTuple):
    page: str
    phrase: str
    values: tuple[object, ...]

    @property
    def text(self) -> str:
        return self.phrase.format(*self.values)


@cache
def record(name: str) -> ResultRecord:
    return read_record(RESULTS / f"{name}.json")


def n(name: str, key: str) -> float:
    return record(name).number(key)


def dollars(*seconds: float) -> float:
    return sum(seconds) / 3600 * DOLLARS


def wilson(hits: float, count: int) -> tuple[float, float]:
    low, high = interval(int(hits), count) or (0, 0)
    return 100 * low, 100 * high


def parameters(file: Path) -> int:
    with safe_open(file, "np") as tensors:
        return sum(int(np.prod(tensors.get_slice(name).get_shape())) for name in tensors.keys())  # noqa: SIM118


def whole(key: str) -> float:
    """Return a number of the solve of all 400 tasks whose score is `base`'s."""
    return n("solve_base_400", key)


def runs_of(name: str, variant: str, measure: str = "pass@2") -> dict[int, float]:
    runs = json.loads((RESULTS / f"{name}.json").read_text())["runs"]
    return {run["seed"]: run["scores"][measure] for run in runs if run["variant"] == variant}


def spreads(name: str, variant: str, *measures: str) -> str:
    """Return the cells of a line of a table."""
    return " | ".join(spread_text([*runs_of(name, variant, one).values()], ".1f") for one in measures)


def minus(name: str, first: str, second: str, other: str = "", measure: str = "pass@2") -> str:
    found = paired_difference(runs_of(name, first, measure), runs_of(other or name, second, measure))
    assert found is not None
    return found.text(1).lstrip("+")


def bits_of(name: str, variant: str) -> dict[int, float]:
    runs = json.loads((RESULTS / f"{name}.json").read_text())["runs"]
    return {run["seed"]: run["scores"]["bits per byte"] for run in runs if run["variant"] == variant}


def memory_parameters(name: str, variant: str) -> float:
    runs = json.loads((RESULTS / f"{name}.json").read_text())["runs"]
    return next(run["parameters"]["memory"] for run in runs if run["variant"] == variant) / 1e6


def continual_runs() -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for run in json.loads((RESULTS / "continual_study.json").read_text())["runs"]:
        if run["part"] == "orders":
            found.setdefault(run["memory"][:4], {})[1000 * run["base"] + run["order"]] = 100 * run["ACC"]
    return found


def of_a_base(base: int) -> float:
    means = [np.mean([acc for key, acc in runs.items() if key // 1000 == base]) for runs in continual_runs().values()]
    return float(means[0] - means[1])


def quotes() -> list[Quote]:
    score, solved = whole("all 400 tasks: pass@2"), whole("all 400 tasks: all test inputs right")
    seconds, earlier_each = (
        whole("seconds"),
        n("solve_groups", "arc1/evaluation, all 400 tasks in one group: seconds per task"),
    )
    training = n("solve_base", "base seconds, three pieces")
    price = dollars(training, seconds)
    size = parameters(ROOT / "charm/released/base/model.safetensors") / 1e6
    hours = (training / 3600, seconds / 3600)
    arc2 = n("solve_base_all", "arc2/evaluation, all 120 tasks: pass@2")
    arc2_solved = n("solve_base_all", "arc2/evaluation, all 120 tasks: all test inputs right")
    earlier = n("solve_base_all", "arc1/evaluation, all 400 tasks: pass@2")
    first_48 = n("solve_base", "arc1/evaluation, 48 tasks: pass@2")
    last_352 = n("solve_base_all", "arc1/evaluation, the last 352 tasks by hash: pass@2")
    concept = n("solve_groups", "concept-arc, all 160 tasks in the group of 560: pass@2")
    public, public_seconds = n("speedrun_public", "pass@2"), n("speedrun_public", "training seconds")
    paper = n("published", "CHARM in the paper: pass@2")
    paper_hours = tuple(
        n("published", f"CHARM in the paper: H100-hours, {which}") for which in ("600,000 updates", "longest run")
    )
    reads = (
        intervals.reads_of_a_row(),
        n("published", "CHARM in the paper: reads of a row, training split"),
    )
    small = "full-cose-ablation-no-rearc_small"
    seeds = paired_difference(runs_of(small, "train.cose"), runs_of(small, "train.table"))
    both, over_tasks = intervals.main_claim(), intervals.continual()
    streams = paired_difference(*continual_runs().values())
    assert seeds is not None
    assert streams is not None
    writer = record("writer").numbers["public pass@2"]
    equal = json.loads((RESULTS / "baselines.json").read_text())["numbers"]
    three, each = equal["charm: training_seconds"], equal["charm: adaptation_seconds"]
    writer_seconds = n("writer", "seconds alone, from tokens/s alone")
    ours = "| **{:.1f}** | {:.1f} | {:.1f}M |"
    at_test_time = "| all together, at test time | {:.2f} + {:.2f} for test time (H200) | {:.2f} |"
    audited = "ARC-AGI-1 evaluation tasks with "
    complete = "{:.0f} of 400 tasks are complete (95 % interval {:.0f} to {:.0f} %)"
    found = [
        Quote("README.md", "**{:.1f} % of ARC-AGI-1's public evaluation set", (score,)),
        Quote(
            "README.md",
            "{:.0f} of 400 tasks complete, 95 % interval {:.0f} to {:.0f} %",
            (solved, *wilson(solved, 400)),
        ),
        Quote("README.md", "{:.1f} million parameters", (size,)),
        Quote(
            "README.md",
            "{:.0f} minutes of training and {:.0f} minutes to answer all 400",
            (training / 60, seconds / 60),
        ),
        Quote("README.md", "about {:.2f} dollars", (price,)),
        Quote("README.md", "{:.1f} % here after {:.0f} minutes", (public, public_seconds / 60)),
        Quote("README.md", "The paper's {:.1f} %, from {:,.0f} to {:,.0f} hours of an H100", (paper, *paper_hours)),
        Quote("README.md", "has {:.1f} % pass@2 on its 18 tasks", (n("quickstart_cpu", "pass@2"),)),
        Quote("README.md", ours, (score, arc2, size)),
        Quote("README.md", at_test_time, (*hours, price)),
        Quote("README.md", "- {:.1f} is one run", (score,)),
        Quote(
            "README.md",
            "one with {:.1f} seconds for each task instead of {:.1f} had {:.1f}, too",
            (
                earlier_each,
                whole("seconds per task"),
                n("solve_groups", "arc1/evaluation, all 400 tasks in one group: pass@2"),
            ),
        ),
        Quote("README.md", "`base` has {:.1f}. Settings", (concept,)),
        Quote(
            "README.md",
            "CoSE has {:.1f} points more than a full table (95 % interval {:.1f} to {:.1f} over five seeds; "
            "{:.1f} to {:.1f} over tasks and seeds)",
            (seeds.mean, *seeds.interval, *both[1:]),
        ),
        Quote("README.md", "read {:.0f} times there and {:.0f} times", reads),
        Quote(
            "README.md",
            "with {:.1f}M parameters against CoSE's {:.2f}M",
            (memory_parameters("pools_small", "train.separate"), memory_parameters(small, "train.cose")),
        ),
        Quote("README.md", "{:.1f} points more than a table of its size", (over_tasks.mean,)),
        Quote("README.md", "({:.1f} to {:.1f} over tasks;", over_tasks[1:]),
        Quote("docs/compared.md", ours, (score, arc2, size)),
        Quote("docs/compared.md", "{:.2f} + {:.2f} for test time (H200) | {:.2f} |", (*hours, price)),
        Quote("docs/compared.md", "learning and votes, {:.1f} s per task", (whole("seconds per task"),)),
        *larger_base(),
        Quote("docs/compared.md", "(this code; 48 of the 400 tasks) | {:.1f} |", (equal["charm: pass@2"],)),
        Quote("docs/compared.md", "| {:.1f}M | 398 training tasks", (baseline_parameters() / 1e6,)),
        Quote("docs/compared.md", "learning and votes, {:.0f} s per task", (each,)),
        Quote(
            "docs/compared.md",
            "{:.2f} + {:.2f} for test time of 400 tasks (H200) | {:.2f} |",
            (three / 3600, 400 * each / 3600, dollars(three, 400 * each)),
        ),
        Quote("docs/compared.md", "| {:.1f}, {:.1f} | not run | 27M", writer),
        Quote(
            "docs/compared.md",
            "{:.2f} (H200), extrapolated | {:.2f} |",
            (writer_seconds / 3600, dollars(writer_seconds)),
        ),
        Quote("docs/compared.md", "seed 0) | {:.1f} | not run | 5.4M", (public,)),
        Quote(
            "docs/compared.md",
            "{:.2f} (H200) | {:.2f} |",
            (public_seconds / 3600, dollars(public_seconds)),
        ),
        Quote(
            "docs/compared.md",
            "{:.0f} s of training and {:.0f} s for all 400 tasks in one group, {:.0f} of them complete "
            "({:.0f} to {:.0f} %)",
            (training, seconds, solved, *wilson(solved, 400)),
        ),
        Quote(
            "docs/compared.md",
            "{:.0f} of 120 complete ({:.0f} to {:.0f} %)",
            (arc2_solved, *wilson(arc2_solved, 120)),
        ),
        Quote("docs/compared.md", "training: {:.0f} s on 398 tasks", (three,)),
        Quote("docs/compared.md", "48 tasks for {:.2f} dollars", (dollars(three, 48 * each),)),
        Quote("docs/compared.md", "it would be {:.2f}.", (dollars(three, 400 * each),)),
        Quote("docs/compared.md", "has {:.1f} on these 48", (first_48,)),
        Quote("docs/compared.md", "The {:.0f} s are computed", (writer_seconds,)),
        Quote("docs/compared.md", "The paper's {:.1f} has not been reproduced", (paper,)),
        Quote("docs/compared.md", "{:,.0f} is its longest run", paper_hours[1:]),
        Quote(BASE, "{:.2f} million parameters", (size,)),
        Quote(BASE, "The paper's {:.1f} has", (paper,)),
        Quote(BASE, "{:.0f} seconds of one NVIDIA H200, seed 0", (training,)),
        Quote(BASE, "({:.0f} seconds alone,\n", (n("solve_base", "base seconds, the last piece"),)),
        Quote(
            BASE,
            "{:.0f} % of the training answers",
            (n("solve_base", "base: exact training answers at the end"),),
        ),
        Quote(BASE, "{:.1f} on ARC-AGI-1's 400 public", (score,)),
        Quote(BASE, "with {:.1f} seconds of an H200 for each", (whole("seconds per task"),)),
        Quote(
            BASE,
            "({:.0f} complete, 95 % interval {:.0f} to {:.0f} %)",
            (solved, *wilson(solved, 400)),
        ),
        Quote(BASE, "{:.1f} on ConceptARC's 160", (concept,)),
        Quote(
            BASE,
            "in {:.1f} seconds each",
            (n("solve_groups", "tasks 101 to 250, groups of 560: seconds per task"),),
        ),
        Quote(BASE, "{:.1f} on ARC-AGI-2's 120 with 3 seconds", (arc2,)),
        Quote(BASE, "ARC-AGI-1 had {:.1f}.", (earlier,)),
        Quote(BASE, "{:.1f} on 20 of ConceptARC's tasks", (n("solve_base_cpu_idle", "pass@2"),)),
        Quote(BASE, "{:.1f} one by one with 3 minutes", (n("solve_base_cpu", "pass@2"),)),
        Quote(BASE, "({:.1f} there in the earlier run, {:.1f} on the other 352)", (first_48, last_352)),
        Quote(BASE, "it solved {:.0f} % of such tasks", (other_sizes(),)),
        Quote(
            BASE,
            "Re-ARC2 ({:.0f} seconds alone",
            (
                n("solve_base_23000", "base seconds, both pieces")
                - n("solve_base_9000", "base seconds, shared with two evaluations"),
            ),
        ),
        Quote(
            BASE,
            "({:.0f} seconds, for most",
            (n("solve_base_9000", "base seconds, shared with two evaluations"),),
        ),
        Quote(
            SPEEDRUN,
            "{:.2f} million parameters",
            (parameters(next((ROOT / SPEEDRUN).parent.glob("checkpoints/*/model.safetensors"))) / 1e6,),
        ),
        Quote(SPEEDRUN, "the paper's {:.1f} has", (paper,)),
        Quote(SPEEDRUN, "{:.1f} minutes of one NVIDIA H200", (n("speedrun", "training seconds") / 60,)),
        Quote(SPEEDRUN, "{:.1f} pass@2 on the test inputs", (n("speedrun", "pass@2"),)),
        Quote(LOG, "**{:.1f} is the score of `base` from now on**", (score,)),
        Quote(LOG, complete, (solved, *wilson(solved, 400))),
        Quote(
            LOG,
            "in {:.1f} seconds for each task. The earlier {:.1f}",
            (earlier_each, earlier),
        ),
        Quote(
            LOG,
            "| CoSE minus full table, pass@2 | +{:.1f} | five seeds (Student's t) | {:.1f} to {:.1f} |",
            (seeds.mean, *seeds.interval),
        ),
        Quote(
            LOG,
            "| the same, tasks solved whole | +{:.1f} | tasks and seeds (bootstrap) | {:.1f} to {:.1f} |",
            both,
        ),
        Quote(LOG, "so the difference is +{:.1f} instead of +{:.1f}", (both.mean, seeds.mean)),
        Quote(LOG, "The interval of +{:.1f} points", (seeds.mean,)),
        Quote(
            LOG,
            "continual learning | +{:.1f} | ten runs (Student's t) | {:.1f} to {:.1f} |",
            (streams.mean, *streams.interval),
        ),
        Quote(LOG, "| the same | +{:.1f} | tasks (bootstrap) | {:.1f} to {:.1f} |", over_tasks),
        Quote(LOG, "read {:.0f} times in these runs and {:.0f} times", reads),
        Quote(LOG, "{:.1f} points from one and {:.1f} from the other", (of_a_base(0), of_a_base(1))),
        Quote(LOG, "{:,.0f} pairs of Re-ARC2", (n("audit_rearc2", "pairs compared"),)),
        Quote(
            LOG,
            "training tasks, {:.0f} have generated pairs that equal their own",
            (n("audit_rearc2", audited + "generated pairs that equal their own official pairs"),),
        ),
        Quote(LOG, "a task: 95 % interval {:.1f} to {:.1f} over the ten pairs", streams.interval),
        Quote(LOG, "One run alone would take {:.1f} minutes", (writer_seconds / 60,)),
        Quote(LOG, "the seeds differ by {:.1f} points", (writer[0] - writer[1],)),
        Quote(
            LOG,
            "the loss after 180 s fell from {:.2f} to {:.2f}",
            tuple(equal[f"varc, {before}: loss"] for before in (ROW_BY_ROW, WITH_FAULTS)),
        ),
        Quote(
            LOG,
            "{:.3f} (before {:.3f}) and {:.3f} ({:.3f})",
            tuple(
                equal[f"{name}: loss"] for one in ("varc", "loopvit-small") for name in (one, f"{one}, {WITH_FAULTS}")
            ),
        ),
        Quote(LOG, "ahead of the table, by {:.1f} and {:.1f} points", tuple(ahead_of_the_table())),
        *log_of_groups(),
        *guides(),
        *reproduction(),
        *shares_of_parts(),
    ]
    return found


def larger_base() -> list[Quote]:
    """Return what the comparison says of the larger base, whose weights are not released."""
    numbers = {
        name: n("flagship_large_2", f"solve-{name}") for name in ("0: pass@2", "1: pass@2", "0+solve-1: complete")
    }
    both, untouched = (n("flagship_large_2", f"solve-0+solve-1{part}: pass@2") for part in ("", ", untouched 202"))
    training = n("flagship_large_2", "large-1: seconds") + n("flagship_large_2", "large-2: seconds")
    answers, complete = n("flagship_large_2", "test time of both: seconds"), numbers["0+solve-1: complete"]
    row = "large` after {:.0f} minutes (this code; two seeds vote together; weights not released) | {:.1f} |"
    hours = (training / 3600, answers / 3600, dollars(training, answers))
    return [
        Quote(COMPARED, row, (training / 60, both)),
        Quote(COMPARED, "{:.2f} + {:.2f} for test time (H200) | {:.2f} |", hours),
        Quote(COMPARED, "- `large` after {:.0f} minutes is", (training / 60,)),
        Quote(COMPARED, "{:,.0f} s, then {:.0f} s to start", (training, answers)),
        Quote(COMPARED, "Alone they have {:.1f} and {:.1f}", (numbers["0: pass@2"], numbers["1: pass@2"])),
        Quote(COMPARED, "{:.0f} tasks are complete ({:.0f} to {:.0f} %)", (complete, *wilson(complete, 400))),
        Quote(COMPARED, "nothing was chosen they have {:.1f}", (untouched,)),
    ]


def ahead_of_the_table() -> Iterator[float]:
    """Yield CoSE minus the table on the larger torus, seed by seed; 9.15 is rounded up."""
    numbers = record("car_small").numbers
    for ours, theirs in zip(numbers["CoSE seen"], numbers["table seen"], strict=True):
        yield ours - theirs + 1e-9


def baseline_parameters() -> int:
    runs = json.loads((RESULTS / "baselines.json").read_text())["runs"]
    return next(run["parameters_with_memory"] for run in runs if run["system"] == "charm")


def other_sizes() -> float:
    key = "answers whose size must be found: {}"
    return 100 * n("solve_base_all", key.format("all test inputs right")) / n("solve_base_all", key.format("tasks"))


def log_of_groups() -> list[Quote]:
    keys = (
        "seconds per task",
        "updates of a group",
        "pass@1",
        "pass@2",
        "pass@1000",
        "all test inputs right",
    )
    row = "| {:.0f} | {:.1f} | {:,.0f} | {:.1f} | {:.1f} | {:.1f} | {:.0f} |"

    def of(size: int, key: str) -> float:
        return n("solve_groups", f"tasks 101 to 250, groups of {size}: {key}")

    sizes = (1, 5, 25, 150, 400, 560)
    found = [Quote(LOG, row, (size, *(of(size, key) for key in keys))) for size in sizes]
    sets = {
        "arc1/evaluation, all 400 tasks in one group": ("| 400 | 481 |", "| {:.1f} | **{:.1f}** | {:.1f} |"),
        "arc1/evaluation, all 400 tasks in the group of 560": ("| 843 |", "| {:.1f} | {:.1f} | {:.1f} |"),
        "concept-arc, all 160 tasks in the group of 560": ("| 843 |", "| {:.1f} | **{:.1f}** | {:.1f} |"),
    }
    for name, (before, scores) in sets.items():
        values = tuple(n("solve_groups", f"{name}: {key}") for key in ("pass@1", "pass@2", "pass@1000"))
        found.append(Quote(LOG, f"{before[:-1]}{scores}", values))
    ends = tuple(of(size, "pass@2") for size in (1, 400, 560))
    found.append(Quote(LOG, "from {:.1f} for tasks learned alone to {:.1f} and {:.1f}", ends))
    before = n("solve_base_all", "arc1/evaluation, tasks 101 to 250: pass@2")
    found.append(Quote(LOG, "{:.1f} here, {:.1f} in the earlier run", (of(150, "pass@2"), before)))
    large = (
        "first candidate of each as the two attempts: pass@2",
        "in the first two of either: pass@2",
        "any candidate",
    )
    values = tuple(n("solve_groups", f"both large runs, {key}") for key in large)
    phrase = "attempts have {:.1f}; one of the two has the answer in its first two for {:.1f}; any candidate of"
    phrase += " either {:.1f}"
    return [*found, Quote(LOG, phrase, values)]


# Row of the log: record, the name of its tasks there, their number.
SOLVED = (
    ("solve_base_all", "arc1/evaluation, all 400 tasks", 400),
    ("solve_base_all", "arc1/evaluation, the last 352 tasks by hash", 352),
    ("solve_base_all", "arc1/evaluation, tasks 251 to 400", 150),
    ("solve_base_all", "arc1/evaluation, tasks 101 to 250", 150),
    ("solve_base_all", "arc1/evaluation, tasks 49 to 100", 52),
    ("solve_base_all", "arc1/evaluation, first 48 again", 48),
    ("solve_base_all", "arc2/evaluation, all 120 tasks", 120),
    ("solve_base_all", "arc2/evaluation, tasks 31 to 120", 90),
    ("solve_base", "arc1/evaluation, 48 tasks", 48),
    ("solve_base", "arc2/evaluation, 30 tasks", 30),
    ("solve_base", "concept-arc, 80 tasks", 80),
    ("solve_base_49000", "concept-arc, 80 tasks", 80),
    ("solve_base_49000", "arc1/evaluation, 48 tasks", 48),
)
SMALL, TRAINING = "full-cose-ablation-no-rearc_small", "cose-arc1training-ablations_small"
MEMORIES = {  # line of docs/reproduce.md's main table -> record, variant
    "full table (`table`)": (SMALL, "train.table"),
    "table at CoSE's rank (`table-r32`)": (SMALL, "train.table-r32"),
    "composition only (`composition`)": (SMALL, "train.composition"),
    "CoSE (`cose`)": (SMALL, "train.cose"),
    "CoSE, gated (`cose-gated`)": (SMALL, "train.cose-gated"),
    "CoSE, Engram-style residual (`cose-engram`)": (TRAINING, "train.cose-engram"),
}
MIXTURES = {  # of its table of data
    "full table, Muon | no Re-ARC | 2": ("component-grid_small", "arc1-plain.table"),
    "CoSE, gated, Muon | no Re-ARC | 2": ("component-grid_small", "arc1-plain.cose-gated"),
    "full table, Muon | 100 | 2": ("component-grid_small", "arc1.table"),
    "CoSE, Muon | 100 | 2": ("component-grid_small", "arc1.cose"),
    "CoSE, gated, Muon | 100 | 2": ("full-cose-ablation_small", "arc1.cose-gated"),
    "full table, AdamW | 10 | 1": ("arc1-rearc-data-ablations_small", "arc1.table-v10-e1"),
    "CoSE, AdamW | 10 | 1": ("arc1-rearc-data-ablations_small", "arc1.cose-adamw-v10-e1"),
    "CoSE, AdamW | 100 | 2": ("data-ratio_small", "arc1.cose-adamw-v100-e2"),
    "CoSE, AdamW | 100 | 10": ("data-ratio_small", "arc1.cose-adamw-v100-e10"),
}
COMPOSERS = {  # of its table of composers and pools
    "full table": ("composers_small", "table"),
    "three separate tables (`separate`)": ("pools_small", "separate"),
    "full table, pooled colours (`table-pooled`)": ("cppool_small", "table-pooled"),
    "three separate tables, pooled colours (`separate-pooled`)": ("cppool_small", "separate-pooled"),
    "FiLM, larger backbone": ("composers_small", "film-larger"),
    "FiLM of slots (`composition`)": ("composers_small", "composition"),
    "FiLM, more hidden units": ("composers_small", "film-wide"),
    "FiLM, more expressive": ("composers_small", "film-deep"),
    "FiLM that adds": ("compo-ablations_small", "film-add"),
    "FiLM (`film`)": ("compo-ablations_small", "film"),
    "addition": ("compo-ablations_small", "add"),
    "hypernetwork": ("compo-ablations_small", "hypernetwork"),
    "mixture of experts": ("compo-ablations_small", "experts"),
    "FiLM, four heads": ("compo-ablations_small", "film-heads"),
}


def reproduction() -> list[Quote]:
    """Quote all scores in the part of docs/reproduce.md that is written by hand."""
    rows, measures = [], ("pass@1", "pass@2", "pass@1000")
    for line, (name, variant) in MEMORIES.items():
        rows.append(f"| {line} | {memory_parameters(name, variant):.2f}M | {spreads(name, variant, *measures)} |")
    rows += [f"| {line} | {spreads(*source, *measures)} |" for line, source in MIXTURES.items()]
    papers = {line.run: line.paper for name in ("compo-ablations", "cppool") for line in TABLES[f"tab:{name}"].runs}
    for line, (name, variant) in COMPOSERS.items():
        paper = float(papers[f"train.{variant}"]["pass@2"].split()[0])
        rows.append(f"| {line} | {spreads(name, f'train.{variant}', 'pass@2', 'pass@1000')} | {paper:.1f} |")
    shown = {line.replace("**", ""): line for line in read(REPRODUCE).splitlines() if line.startswith("|")}
    found = [Quote(REPRODUCE, "{}", (shown.get(row, row),)) for row in rows]

    def mean_of(name: str, variant: str) -> float:
        return float(np.mean([*runs_of(name, variant).values()]))

    grid, gated = "component-grid_small", mean_of("full-cose-ablation_small", "arc1.cose-gated")
    costs = (
        mean_of(grid, "arc1-plain.table") - mean_of(grid, "arc1.table"),
        mean_of(grid, "arc1-plain.cose-gated") - gated,
    )
    ahead = [
        mean_of(name, first) - mean_of(name, second)
        for name, first, second in (
            (grid, "arc1-plain.cose-gated", "arc1-plain.table"),
            (grid, "arc1.cose", "arc1.table"),
            ("full-cose-ablation_small", "arc1.cose-gated", "arc1.table"),
            ("arc1-rearc-data-ablations_small", "arc1.cose-adamw-v10-e1", "arc1.table-v10-e1"),
        )
    ]
    seeds = paired_difference(runs_of(SMALL, "train.cose"), runs_of(SMALL, "train.table"))
    assert seeds is not None
    depths, horizons = "scaling_small", "scaling-tbptt_small"
    shapes = [mean_of(depths, f"sweep.{one}") for one in ("L24-U2", "L24-U12", "L48-U6", "L48-U24")]
    cut = [mean_of(horizons, f"sweep.{one}") for one in ("U2-H6", "U2-H18", "U3-H18", "U3-H3")]
    deep = [spreads(depths, f"sweep.{one}", "pass@2") for one in ("L12-U2", "L12-U6")]
    separate = minus("pools_small", "train.separate", "train.table")
    over_cose = minus("pools_small", "train.separate", "train.cose", TRAINING)
    fewer = minus(SMALL, "train.table", "train.cose", measure="pass@1000")
    repeats = minus("data-ratio_small", "arc1.cose-adamw-v100-e10", "arc1.cose-adamw-v100-e2")
    sizes = (memory_parameters("pools_small", "train.separate"), memory_parameters(SMALL, "train.cose"))
    phrases: list[tuple[str, tuple[object, ...]]] = [
        ("**+{:.1f} points of pass@2** (95 % interval +{:.1f} to +{:.1f} over five", (seeds.mean, *seeds.interval)),
        ("composition alone: +{}. CoSE", (minus(SMALL, "train.cose", "train.composition"),)),
        ("a table at its rank: +{}. Neither", (minus(SMALL, "train.cose", "train.table-r32"),)),
        ("Here it proposes fewer: {}.", (fewer,)),
        ("four pairs of lines, by {:.1f} to {:.1f} points", (min(ahead), max(ahead))),
        ("Re-ARC costs {:.1f} points here (full table) and {:.1f} (CoSE, gated in both)", costs),
        ("better here than two (+{});", (repeats,)),
        ("six times have {} pass@2, six layers repeated twice {}, where", tuple(deep)),
        ("({:.1f} against {:.1f}, {:.1f} against {:.1f})", tuple(shapes)),
        ("two layers are equal ({:.1f} and {:.1f})", tuple(cut[:2])),
        ("ahead of 3 ({:.1f} against {:.1f})", tuple(cut[2:])),
        ("with {:.1f}M memory parameters against its {:.2f}M**", sizes),
        (
            "They are {} points ahead of the\n  full table, and with the same seeds {} ahead of CoSE",
            (separate, over_cose),
        ),
    ]
    return [*found, *(Quote(REPRODUCE, phrase, values) for phrase, values in phrases)]


def shares_of_parts() -> list[Quote]:
    """Quote what the log says of tasks 101 to 250, and of pairs of variants, about generated pairs in a solve."""
    runs = json.loads((RESULTS / "flagship_shares.json").read_text())["runs"]
    part = [task.id for task in choose(load_source("arc1/evaluation").tasks, 150, skip=100)]
    right = {
        name: {task: [rank is not None and rank <= 2 for rank in ranks] for task, ranks in found.items()}
        for name, found in ((name, run["votes"]["ranks of the answers"]) for name, run in runs.items())
    }
    scores = [100 * float(np.mean([np.mean(found[task]) for task in part])) for found in right.values()]
    names = ("solve", "mixed-14", "mixed-30", "mixed-50", "mixed-30-fast")
    assert tuple(right) == names
    by_name = dict(zip(names, scores, strict=True))
    order = [by_name[name] for name in ("solve", "mixed-50", "mixed-14", "mixed-30", "mixed-30-fast")]
    both = [
        100 * float(np.mean([np.mean(np.array(one[task]) | np.array(other[task])) for task in one]))
        for one, other in combinations(right.values(), 2)
    ]
    phrase = "`solve` has {:.1f}, mixed-50 {:.1f}, mixed-14 {:.1f}, mixed-30 {:.1f} and mixed-30-fast {:.1f}."
    two = "Two of the five together solve {:.0f} to {:.0f} % of the tasks"
    return [Quote(LOG, phrase, tuple(order)), Quote(LOG, two, (min(both), max(both)))]


def guides() -> list[Quote]:
    """Quote the main results of the guides, and the tables of the log behind them."""
    found = []
    for name, tasks, count in SOLVED:
        scores = [n(name, f"{tasks}: pass@{k}") for k in (1, 2, 1000)]
        right = n(name, f"{tasks}: all test inputs right")
        bold = "**" if f"| **{scores[1]:.1f}** | {scores[2]:.1f}" in read(LOG) else ""
        phrase = f"| {{:.1f}} | {bold}{{:.1f}}{bold} | {{:.1f}} | {{:.0f}} of {{:.0f}} ({{:.0f}} to {{:.0f}} %) |"
        found.append(Quote(LOG, phrase, (*scores, right, count, *wilson(right, count))))
    found.append(
        Quote(
            "docs/solve.md",
            "one group, `base` has **{:.1f}** in\n  {:.1f} seconds",
            (whole("all 400 tasks: pass@2"), whole("seconds per task")),
        )
    )
    concept = n("solve_groups", "concept-arc, all 160 tasks in the group of 560: pass@2")
    found.append(Quote(LOG, "learned together with ARC-AGI-1's 400, have {:.1f}", (concept,)))

    numbers = record("writer").numbers
    for seed in (0, 1):
        alone = numbers["seconds alone, from tokens/s alone"][seed]
        size = (numbers["examples"][seed] / 1e6, numbers["FLOP"][seed] / 1e16)
        found.append(Quote(SPEED, f"| `writer` | {seed} | 27.3M | 12,000 | {{:.2f}}M | {{:.1f}}e16 |", size))
        for kind, more, values in (
            ("training", " {:.1f} min | {:.2f} |", (alone / 60, dollars(alone))),
            ("public", " the same run |", ()),
        ):
            scores = [numbers[f"{kind} pass@{k}"][seed] for k in (1, 2, 10, 1000)]
            row = f"| `writer` | {seed} | 32 | {{:.1f}} | **{{:.1f}}** | {{:.1f}} | {{:.1f}} | 2026-11-16 |{more}"
            found.append(Quote(SPEED, row, (*scores, *values)))
    for name, count, updates in (("speedrun", "3.70", 17_000), ("speedrun_public", "5.41", 15_500)):
        scores = [n(name, f"pass@{k}") for k in (1, 2, 10, 1000)]
        seconds = n(name, "training seconds")
        row = "| 0 | 256 | {:.1f} | {:.1f} | {:.1f} | {:.1f} | 2026-11-15 | {:.1f} min | {:.2f} |"
        found.append(Quote(SPEED, row, (*scores, seconds / 60, dollars(seconds))))
        found.append(Quote(SPEED, f"| 0 | {count}M | {updates:,} | {{:.1f}}M |", (updates * 768 / 1e6,)))
    early = n("writer_train", "pass@2"), n("writer_train", "seconds alone, from tokens/s alone") / 60
    found.append(Quote(SPEED, "a writer reaches {:.1f} after {:.1f} minutes", early))

    for run in json.loads((RESULTS / "baselines.json").read_text())["runs"]:
        if "," not in run["system"]:  # not the runs from before a change
            name = f"{run['system']}: "
            values = (run["parameters"], n("baselines", name + "pass@1"), n("baselines", name + "pass@2"))
            shown = [f"{value:.1f} %" if value else "0 %" for value in values[1:]]
            row = f"| {{:,}} | {shown[0]} | {shown[1]} | {{:,.0f}} of"
            found.append(Quote(LOG, row, (values[0], n("baselines", name + "updates"))))

    both, over_tasks = intervals.main_claim(), intervals.continual()
    phrase = "{:.1f} to {:.1f} over tasks and seeds"
    found.append(Quote(REPRODUCE, phrase, both[1:]))
    reads = (intervals.reads_of_a_row(), n("published", "CHARM in the paper: reads of a row, training split"))
    found.append(Quote(REPRODUCE, "read {:.0f} times in these runs and {:.0f} times", reads))
    found.append(Quote(LOG, "it is {:.1f} to {:.1f}. Two bases", over_tasks[1:]))
    study = record("continual_study")
    for memory, bold in (("CoSE", "**"), ("table", "")):
        acc = study.text(f"{memory} memory-only", ".1f")
        found.append(Quote(LOG, f"| {acc} | {bold}{acc}{bold} | 0.0 | 0.0 |", ()))
    return found


def against_the_default(name: str, recipe: str) -> tuple[str, ...]:
    """Return how many tasks a recipe solves and the default does not, and the reverse."""
    runs = json.loads((RESULTS / f"{name}.json").read_text())["runs"]
    solved = {run.get("recipe") or run["views"]: set(run["solved"]) for run in runs}
    own, default = solved[recipe], solved[next(iter(solved))]
    return (f"+{len(own - default)}, -{len(default - own)}",) if own is not default else ()


def guide_rows() -> list[tuple[str, tuple[str, ...]]]:
    """Cells that some row of a page's tables must have together."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for name in ("solve_recipes", "solve_views"):
        for key in record(name).numbers:
            recipe, _, last = key.rpartition(": ")
            if last == "pass@2":
                counts = [f"{n(name, f'{recipe}: {what}'):,.0f}" for what in ("updates", "views")]
                scores = [f"{n(name, f'{recipe}: pass@{k}'):.1f}" for k in (1, 2, 1000)]
                right = f"{n(name, f'{recipe}: all test inputs right'):.0f}"
                found.append((LOG, (*counts, *scores, right, *against_the_default(name, recipe))))
    for name, versions in (("nanochat-d12-width", ("-w24", "-w48", "-w96")), ("nanochat-token-budget", ("", "-4640M"))):
        for version in versions:
            ours, theirs = (bits_of(f"{name}_small", f"text.d12-{one}-x5{version}") for one in ("cose", "engram"))
            both = paired_difference(ours, theirs)
            assert both is not None
            spread = (both.interval[1] - both.interval[0]) / 2
            found.append((LOG, (f"{both.mean:.3f} ± {spread:.3f}",)))
    for memory in ("Engram", "CoSE"):
        bits = [record("language_gpu").text(f"{memory} {size}", ".4f") for size in ("x5", "x20")]
        found.append((LOG, tuple(bits)))
    for method in {key.partition(": ")[0] for key in record("continual_released").numbers}:
        scores = [n("continual_released", f"{method}: {what}") for what in ("Learned", "ACC", "base ACC")]
        found.append((LOG, tuple(f"{score:.1f}" for score in scores)))
    for variant in ("full-table", "low-rank", "three-factor", "three-factor-cose"):
        keys = [f"car.{variant} {part} pass@2" for part in ("seen", "unseen")]
        found.append((LOG, tuple(record("car-single-horizon_small").text(key, ".1f") for key in keys)))
    return sorted(found)


# Counts of sets and settings that the data and the code have, versions, and what no record of ours can have.
FREE = {
    "README.md": (
        "its 18 tasks",
        "(77.8 % on another processor)",  # in the log, without a record
        "compared on 150 of the 400\n  tasks, other settings on 48",
        "on all 400, with another",
        "On all 160 of its tasks",
        "compared on 80 of them",
        "(95 % interval",
    ),
    "docs/compared.md": (
        "ARC-AGI-1 (400 tasks) and ARC-AGI-2 (120 tasks)",
        "read on 2026-11-18",
        "assume 3 for an hour",
        "32 views vote, 16 judge",
        "256 views vote",
        "seeds 0 and 1",
        "(this code, seed 0)",
        "27M",
        "25.7M",
        "5.4M",
        "the\n  202 tasks on which nothing",
        "from about 160 training tasks",
        "8 GPUs times",
        "for 600,000 updates",
        "the paper needs about 2,420",
        "(8B) has 71.6 on ARC-AGI-1 for 2 cents per task after 98 H100-hours",
        "(4B) 24.0 on ARC-AGI-2's private set after 864 H100-hours",
        "ARC-AGI-2 had 3 seconds per task",
        "with 2.9 seconds each",
        "398 training tasks",
        "on 398 tasks",
        "for 400 at the same second",
        "It answered 48 tasks",
        "on these 48",
        "48 together",
        "48 of the 400 tasks",
        "all 400 tasks in one group",
    ),
    LOG: (
        "(the group of 560: seed 1)",
        "The groups of 400 and 560",
        "Groups of 1 and 5 had",
        "solved of 150 |",
        "| 560, with ",
        "With 150 tasks a difference below about 6 points",
        "groups of 48 to 150 and 2.9 seconds",
        "a group of 150 are",
        "run with 2.9 seconds",
        "which are among the 400",
        "first 48 of the 400 and on 80 of ConceptARC's 160",
        "independently, 10,000 times",
        "(all 609 tasks, seed 0)",
        "(seeds 0 and 7, up to 500 for each task)",
    ),
    BASE: (
        "eight layers of width 256, and a vector for each of 631 training tasks",
        "each of 8 symmetries",
        "(13 MB)",
        "39,000 updates of 65,536 tokens",
        "9,000 updates with 100 generated pairs",
        "14,000 with 200 pairs of Re-ARC and 300 of Re-ARC2",
        "3.3M tokens/s), the third 16,000 with 300 and 500 new pairs",
        "2.4M tokens/s",
        "together with those 400",
        "groups of 48 to 150 with 2.9 seconds",
        "with 3 minutes for each",
        "on the first 48 of the 400 by hash",
        "and on 80 of ConceptARC's",
    ),
    SPEEDRUN: ("17,000 updates of 768 examples", "of those 400 tasks", "256 views vote"),
}


# The same on every page: seeds, the tasks of a set, the confidence of an interval.
ANYWHERE = r"seed \d|95 % interval|all (?:400|160)\b|ARC-AGI-1's 400 training|tasks 101 to 250"
SKIPPED = re.compile(rf"\]\([^)]*\)|`[^`\n]*`|\d{{4}}-\d{{2}}-\d{{2}}|https?://\S+|{ANYWHERE}")


def published_rows() -> dict[str, dict[str, str]]:
    return {run["system"]: run for run in json.loads((RESULTS / "published.json").read_text())["runs"]}


def rows(page: str) -> list[dict[str, str]]:
    """The rows of the page's tables that have a column "system", by the names of their columns."""
    found, header = [], None
    for line in read(page).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            header = None
        elif header is None:
            header = cells if cells[0] == "system" else []
        elif header and not set(line) <= set("|-"):
            found.append(dict(zip(header, cells, strict=True)))
    return found


QUOTES = quotes()


@pytest.mark.parametrize("quote", QUOTES, ids=lambda quote: f"{quote.page}: {quote.text[:60]}")
def test_a_quoted_number_is_the_record_s(quote: Quote) -> None:
    assert quote.text in read(quote.page), f"{quote.page} must say: {quote.text}"


@pytest.mark.parametrize(("page", "cells"), guide_rows())
def test_a_row_of_a_guide_is_the_record_s(page: str, cells: tuple[str, ...]) -> None:
    lines = [line.replace("*", "") for line in read(page).splitlines() if line.startswith("|")]
    assert any(all(f"| {cell} |" in line for cell in cells) for line in lines), f"{page}: no row has {cells}"


@pytest.mark.parametrize("page", ["README.md", "docs/compared.md"])
def test_others_rows_are_the_record_s(page: str) -> None:
    known = published_rows()
    shown = [row for row in rows(page) if "this code" not in row["system"]]
    assert len(shown) == (len(known) if page == "docs/compared.md" else 5)
    for row in shown:
        assert row == {name: known[row["system"]][name] for name in row}


@pytest.mark.parametrize("page", [*WHOLE, LOG])
def test_every_number_is_quoted_or_free(page: str) -> None:
    text = without_blocks(read(page))
    covered = [quote.text for quote in QUOTES if quote.page == page] + list(FREE[page])
    for phrase in covered:
        assert phrase in text, f"{page} no longer says: {phrase}"
    if page == LOG:
        text = "\n".join(entries(text)[title] for title in entries(text) if title.startswith(WHOLE_ENTRIES))
    for line in [line for line in text.splitlines() if line.startswith("|")]:
        if line.strip("|").split("|")[0].strip() in published_rows():
            covered.append(line)
    open_numbers = [context for _, context in uncovered(text, covered)]
    assert open_numbers == [], f"{page}: quote these from a record (QUOTES), or say why not (FREE)"


def uncovered(text: str, covered: Iterable[str], number: re.Pattern[str] = NUMBER) -> list[tuple[str, str]]:
    """Return the numbers of a text that are in no covered phrase, each with what is around it."""
    mask = bytearray(len(text))  # a phrase that occurs twice covers both
    for phrase in covered:
        for place in re.finditer(re.escape(phrase), text):
            mask[place.start() : place.end()] = b"\1" * len(phrase)
    for skipped in SKIPPED.finditer(text):
        mask[skipped.start() : skipped.end()] = b"\1" * (skipped.end() - skipped.start())
    return [
        (found[0], text[max(0, found.start() - 30) : found.end() + 20])
        for found in number.finditer(text)
        if not mask[found.start()]
    ]


# Entries of the log in which every number is checked, in running text too.
WHOLE_ENTRIES = tuple(f"2026-11-18: {begin}" for begin in ("how many tasks", "do generated pairs", "how sure is"))


def entries(log: str) -> dict[str, str]:
    """Return the entries of the log by their titles."""
    return {part.partition("\n")[0]: part for part in re.split(r"^## ", log, flags=re.MULTILINE)[1:]}


def known_numbers(found: object) -> Iterator[float]:
    """Yield every number of a record: values, means and spreads over seeds, and numbers in its sentences."""
    if isinstance(found, dict):
        for value in found.values():
            yield from known_numbers(value)
        runs = found.get("runs")
        if isinstance(runs, list) and all(
            isinstance(run, dict) and {"variant", "scores"} <= run.keys() for run in runs
        ):
            groups: dict[tuple[str, str], list[float]] = {}
            for run in runs:
                for name, score in run["scores"].items():
                    groups.setdefault((run["variant"], name), []).append(score)
            yield from known_numbers(list(groups.values()))
    elif isinstance(found, list):
        if len(found) > 1 and all(isinstance(value, int | float) for value in found):
            yield from (float(np.mean(found)), float(np.std(found, ddof=1)))
        for value in found:
            yield from known_numbers(value)
    elif isinstance(found, int | float):
        yield found
    elif isinstance(found, str):
        yield from (float(number[0].replace(",", "")) for number in COUNT.finditer(found))


COUNT = re.compile(r"(?<![\w.@/,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-]*[a-z]\d)")
# What the tables of an entry have besides the numbers of its records: names of rows, settings, what a reader can count.
COUNTED = {
    "2026-11-18: what does base score": ("| 1 to 48 |", "| 49 to 100 |", "| 101 to 250 |", "| 251 to 400 |"),
    "2026-11-18: does the quickstart": ("| 77.8 | 77.8 | 0.0 | 303 |",),
    "2026-11-18: how sure": ("continual learning | +6.1", "| the same | +6.1"),
    "2026-11-17: what does `base`": (
        "49,000 |",
        "23,000 |",
        "23,000, no",
        "| 15 to 128 |",
        "| 68 | 81 % |",
        "| 62 | 35 % |",
    ),
    "2026-11-17: how should the task": ("with 2.5 times",),
    "2026-11-16: how should a vision": ("| 128 |", "| 32 |", "and 3.3 times", "for 30 %"),
    "2026-11-16: one mixture": ("| 43.8, 43.6 from", "43.4 with the training tasks' test pairs, 10,000 updates"),
    "2026-11-15: what do the methods of continual learning keep? (GPU)": ("| 0.8 ± 1.2 |",),
    "2026-11-15: unseen combinations on a 16 x 16": ("| 1.02M |", "| 0.33M |"),
    "2026-11-15: what does an n-gram": ("| 1 | | 56 % |", "| 1.182 | 57 % |", "| 1.208 | 54 % |"),
}
# What the text of an entry says with a decimal point that its records do not have: settings, sizes, others' numbers,
# and probes whose numbers stand there alone.
TOLD = {
    "2026-11-20: is a larger base better on a laptop": ("has 25.7 million parameters and `base` 6.6 million",),
    "2026-11-18: how many tasks": ("48 to 150 and 2.9 seconds", "earlier run with 2.9 seconds"),
    "2026-11-18: does the quickstart": ("One task of 18 is 5.6 points",),
    "2026-11-17: what does `base`": ("nothing to adopt it fell, too (61.0 to 56.0)",),
    "2026-11-16: does CoSE learn": ("in 11.6 minutes with 8 jobs",),
    "2026-11-16: one mixture": ("stock TRM's 49.75", "the earlier 43.4 is neither"),
    "2026-11-16: how wide": ("77 MB for training, 22.6M tokens",),
    "2026-11-15: unseen combinations on a CPU": ("one seed) gives 50.8 % and 2.3 %",),
    "2026-11-15: does composition help a GPT? (GPU)": ("torch 2.11",),
}
# These have probes without a record: the entry is all there is.
PROBES = ("2026-11-16: are candidates", "2026-11-16: is it better to write", "2026-11-15: how far does one GPU")


@pytest.mark.parametrize("title", [one for one in entries(read(LOG)) if not one.startswith(PROBES)])
def test_a_table_of_the_log_has_the_numbers_of_its_records(title: str) -> None:
    entry = entries(read(LOG))[title]
    named = set(re.findall(r"benchmarks/results/([\w-]+)\.json", entry))
    if not named:
        commands = r"`[^`]*(?:charm|python|make) |^    (?:charm|python) "
        assert re.search(commands, entry, re.MULTILINE), f"{title}: no command"
        return
    if "`solve_base_*.json`" in entry:
        named |= {path.stem for path in RESULTS.glob("solve_base*.json")}
    known = {
        f"{scale * number:,.{digits}f}"
        for name in named
        for number in known_numbers(json.loads((RESULTS / f"{name}.json").read_text()))
        for scale in (1, 100, 1e-3, 1e-6)
        for digits in range(5)
    }
    known |= {text.lstrip("-") for text in known}
    covered = [quote.text for quote in QUOTES if quote.page == LOG]
    covered += [cells[-1] for page, cells in guide_rows() if page == LOG]
    covered += next((list(phrases) for begin, phrases in COUNTED.items() if title.startswith(begin)), [])
    covered += [found[0] for found in INTERVAL.finditer(entry)]
    covered += next((list(phrases) for begin, phrases in TOLD.items() if title.startswith(begin)), [])
    text = without_blocks(entry).partition("\n")[2]
    tables = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    prose = "\n".join(line for line in text.splitlines() if not line.startswith(("|", "    ")))
    missing = [context for number, context in uncovered(tables, covered, COUNT) if number not in known]
    missing += [
        context for number, context in uncovered(prose, covered, COUNT) if "." in number and number not in known
    ]
    assert missing == [], f"{title}: not in {sorted(named)}"


INTERVAL = re.compile(r"(\d+) of (\d+) \((\d+) to (\d+) %\)")


def test_intervals_of_the_log_are_wilson_s() -> None:
    found = INTERVAL.findall(read(LOG))
    assert len(found) > 20
    for hits, count, *ends in found:
        assert [f"{end:.0f}" for end in wilson(int(hits), int(count))] == ends, f"{hits} of {count}"


# A guide says how. A number that looks like a measurement is in the log with its unit, or in a quote.
MEASURED = re.compile(
    r"(?<![\w.@/,])\d+(?:,\d{3})*(?:\.\d+)?(?: (?:%|points|pass@\d|s|ms|GiB|seconds|minutes|tokens/s)(?!\w)|\*\*)"
)
SETTINGS: dict[str, tuple[str, ...]] = {  # what a program does, and what others say
    "CONTRIBUTING.md": ("stays under 12 minutes", "8 min 33 s; 9 min 47 s", "saves 3 seconds each"),
    "docs/baselines.md": ("after 10 % of warm-up",),
    "docs/kaggle.md": ("takes 80 % or more", "each task has 12 minutes"),
    "docs/memory.md": ("the paper has 48.92 %",),
    SPEED: ("stock TRM reaches 49.75 pass@2", "22 to 120 minutes of an RTX 5090"),
    "docs/notebooks.md": ("4 minutes on two CPU cores",),
    "docs/view.md": ("over 20 seconds", "every 3 seconds", "every 2 seconds", "has 60 seconds to arrive"),
}


@pytest.mark.parametrize("page", sorted(set(PAGES) - {*WHOLE, LOG, "docs/reproduce.md", "docs/rearc_quarantine.md"}))
def test_what_a_guide_measures_is_in_the_log(page: str) -> None:
    text = without_blocks(read(page))
    covered = [quote.text for quote in QUOTES if quote.page == page] + list(SETTINGS.get(page, ()))
    log = re.sub(r"[*\s]+", " ", read(LOG))
    missing = [
        context
        for number, context in uncovered(text, covered, MEASURED)
        if not re.search(rf"(?<![\d.,]){re.escape(number.strip('*'))}(?![\d.]|,\d)", log)
    ]
    assert missing == [], f"{page}: measure in the log, or name the setting (SETTINGS)"


def test_the_template_of_a_record_can_be_read(tmp_path: Path) -> None:
    template = next(block.text for block in blocks(read("docs/leaderboard.md")) if block.language == "json")
    (tmp_path / "record.json").write_text(template)
    assert read_record(tmp_path / "record.json").seeds == (0, 1)
