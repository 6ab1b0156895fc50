"""The table of docs/reproduce.md: every table and figure of the paper with our command, its cost and what was run.

    python -m charm.paper.reproduction                 # from the root of the repository: writes docs/reproduce.md anew

All numbers of ours come from the records in benchmarks/results, so that the page cannot drift from them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from charm.arc.presets import arc1
from charm.domains import domain_of_preset
from charm.errors import CharmError
from charm.files import write_atomically
from charm.paper.costs import Speed
from charm.paper.records import ResultRecord, read_records
from charm.paper.tables import SECTIONS, Ours, Row, StreamCost, TokensCost, TrainingCost

BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"


def main() -> None:
    path = Path("docs/reproduce.md")
    records = read_records(Path("benchmarks/results"))
    try:
        old = path.read_text()
    except OSError as error:
        raise SystemExit(f"{path}: run this at the root of the repository ({error.strerror})") from error
    write_atomically(path, updated(old, records))


def updated(page: str, records: Mapping[str, ResultRecord]) -> str:
    """The page with the part between its two marks generated anew."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise CharmError(f"the page lacks one of the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{render(records)}{END}{after}"


def render(records: Mapping[str, ResultRecord]) -> str:
    """The generated part: a table for each part of the paper, then the records."""
    speed = measured_speed(records)
    lines = [
        f"Costs are hours of one GPU ({speed.machine}, {speed.date}): {speed.training:,.1f} samples/s in training and "
        f"{speed.forward:,.1f} forward of `arc1` on full canvases, so an update of 768 takes {speed.step:.2f} s and an "
        f"evaluation of ARC-AGI-1 (the paper's 502 batches of 768, 16 steps) {speed.evaluation:.2f} h, "
        "or half as long again with the votes after 24 steps that the presets take too. "
        "Costs with ≈ are scaled by the count of operations, which flatters models narrower than `arc1`.",
        "",
    ]
    for title, rows in SECTIONS.items():
        lines += [f"### {title}", ""]
        lines += [
            "| paper | command | full size, GPU-hours | the paper's number | ours, at our size | seeds |"
        ]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_line(row, speed, records) for row in rows]
        lines.append("")
    run = sum(bool(row.ours) for rows in SECTIONS.values() for row in rows)
    every = sum(map(len, SECTIONS.values()))
    lines += [
        f"{run} of {every} rows have a run or a check of ours; none of the training runs is at full size.",
        "",
    ]
    lines += ["### What was run here", "", "| record | what and how large | command | where, when | seeds |"]
    lines.append("|---|---|---|---|---|")
    for name, record in records.items():
        told = f"{record.what}: {record.size}"
        cells = (
            _link(name),
            told,
            f"`{_cell(record.command)}`",
            f"{record.machine}, {record.date}",
            _seeds(record),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _line(row: Row, speed: Speed, records: Mapping[str, ResultRecord]) -> str:
    command = row.command if row.command.startswith("see ") else f"`{_cell(row.command)}`"
    ours = "; ".join(f"{tell(one, records)} ({_link(one.record)})" for one in row.ours) or row.instead
    seeds = "; ".join(dict.fromkeys(_seeds(records[one.record]) for one in row.ours))
    cells = (row.label, command, cost_text(speed, row.cost, records), row.paper, ours, seeds)
    return f"| {' | '.join(cells)} |"


def tell(one: Ours, records: Mapping[str, ResultRecord]) -> str:
    """The sentence about a record, with its numbers filled in."""
    if one.record not in records:
        raise CharmError(f"there is no record {one.record}")
    return one.text.format_map(_Numbers(records[one.record]))


class _Numbers(dict[str, "_Number"]):
    """A record's numbers as `str.format_map` wants them."""

    def __init__(self, record: ResultRecord) -> None:
        self.record = record

    def __missing__(self, name: str) -> _Number:
        return _Number(self.record, name)


@dataclass(frozen=True)
class _Number:
    record: ResultRecord
    name: str

    def __format__(self, form: str) -> str:
        return self.record.text(self.name, form)


def _link(record: str) -> str:
    return f"[{record}](../benchmarks/results/{record}.json)"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _seeds(record: ResultRecord) -> str:
    return ", ".join(map(str, record.seeds)) if record.seeds else "none"


# Costs


def measured_speed(records: Mapping[str, ResultRecord]) -> Speed:
    """As recorded."""
    if "speed_arc1" not in records:
        raise CharmError("costs need the record speed_arc1")
    found = records["speed_arc1"]
    return Speed(
        found.number("training samples/s"), found.number("forward samples/s"), found.machine, found.date
    )


def cost_text(
    speed: Speed, cost: TrainingCost | StreamCost | TokensCost | str, records: Mapping[str, ResultRecord]
) -> str:
    """In words and hours."""
    match cost:
        case str():
            return cost
        case StreamCost(tasks, runs, updates, batch):
            each = tasks * updates * batch / speed.training / 3600
            return f"{tasks} x {updates:,} updates: {each:,.0f}{_runs(runs)}, checks apart"
        case TokensCost(name, tokens, runs):
            wanted, told = f"{name} tokens/s", f"{tokens / 1e9:.2f}B tokens"
            rates = [one.number(wanted) for one in records.values() if wanted in one.numbers]
            if not rates:
                return f"{told}{_runs(runs)}; no step time measured"
            return f"{told}: {tokens / rates[-1] / 3600:,.1f}{_runs(runs)}"
        case TrainingCost(names, predictions, runs, steps):
            return _trainings(speed, names, predictions, runs, steps)


def _trainings(speed: Speed, names: tuple[str, ...], predictions: int, runs: int, steps: int | None) -> str:
    configs = [domain_of_preset(name).configuration(name) for name in names]
    parts = [speed.hours(config, steps or config.steps, predictions) for config in configs]
    scaled = "" if all(config.reasoner == arc1().reasoner for config in configs) else "≈ "
    if len(parts) > 1:
        totals = [sum(part) for part in parts]
        span = " to ".join(dict.fromkeys(f"{total:,.0f}" for total in (min(totals), max(totals))))
        return f"{scaled}{span} for each of {len(parts)} variants, {sum(totals):,.0f} in all"
    updates = steps or configs[0].steps
    evaluations = math.ceil(updates / configs[0].evaluate_every)
    (learning, asking) = parts[0]
    formula = (
        f"{updates:,} x {3600 * learning / updates:.2f} s + {evaluations} x {asking / evaluations:.2f} h"
    )
    return f"{scaled}{formula} = {learning + asking:,.0f}{_runs(runs)}"


def _runs(count: int) -> str:
    return "" if count == 1 else f" for each of {count} variants"


if __name__ == "__main__":
    main()
