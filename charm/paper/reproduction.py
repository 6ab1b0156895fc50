"""Generate the tables of docs/reproduce.md: every table and figure of the paper, our command, its cost, our results.

    python -m charm.paper.reproduction                 # from the root of the repository: rewrites docs/reproduce.md

Our numbers come from the records in benchmarks/results, so the page always agrees with them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from charm.errors import CharmError
from charm.files import write_atomically
from charm.paper.comparison import claim_side, claim_text
from charm.paper.costs import ARC1, Speed, hours
from charm.paper.drawn import FIGURES, tables_of
from charm.paper.plans import Reproduction, record_name
from charm.paper.records import ResultRecord, read_records
from charm.paper.sizes import CPU_WIDTH, FULL_WIDTH, GROUPS, SIZE_NAMES, SMALL_WIDTH, SizeName
from charm.paper.tables import EMERGED, TABLES, Ours, PaperTable, sections
from charm.paper.verdicts import by_counts, paired, verdict

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
    """The page with the part between its two marks generated again."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise CharmError(f"the page must contain the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{render(records)}{END}{after}"


def render(records: Mapping[str, ResultRecord]) -> str:
    """The generated part: a table for each part of the paper, then the records."""
    speed = measured_speed(records)
    update, evaluation = 768 / speed.training, ARC1 * 16 / speed.forward / 3600
    lines = [
        f"Costs are hours of one GPU ({speed.machine}, {speed.date}): {speed.training:,.1f} samples/s in training and "
        f"{speed.forward:,.1f} forward of `arc1` on full canvases, so an update of 768 takes {update:.2f} s and an "
        f"evaluation of ARC-AGI-1 (the paper's 502 batches of 768, 16 steps) {evaluation:.2f} h, "
        "or half as long again with the votes after 24 steps that the presets take too. "
        "Other reasoners are scaled by their count of operations, which flatters models narrower than `arc1`. Streams "
        "count their updates and not their checks. d20 is scaled from d12 by the parameters of the backbone.",
        "",
    ]
    columns = (
        *("paper", "command", "full size, GPU-hours", "the paper's numbers"),
        *("ours, at our size", "verdict", "seeds"),
    )
    shown = sections()
    for title, rows in shown.items():
        lines += [f"### {title}", "", *_table(columns, [_cells(row, records) for row in rows])]
    every = [row for rows in shown.values() for row in rows]
    lines += [
        coverage(every, records),
        "",
        "### The smaller sizes",
        "",
    ]
    # A size, what it is and its minutes -> groups of variants.
    groups: dict[tuple[str, str, str], list[str]] = {}
    for group, settings in GROUPS.items():
        for size, where in (("cpu", "two CPU cores"), ("small", "one H200")):
            if size in settings:
                row = (size, settings[size].about, f"{settings[size].minutes:g}, {where}")
                groups.setdefault(row, []).append(group)
    sizes = [(", ".join(some), *row) for row, some in groups.items()]
    lines += _table(("group", "size", "setting", "minutes for a run, about"), sizes)
    lines += ["Minutes are planned, not measured, except where a record below has them.", ""]
    made = []
    for name, one in records.items():
        about = (f"{one.what}: {one.size}", f"`{_cell(one.command)}`", f"{one.machine}, {one.date}")
        made.append((_link(name), *about, _seeds(one)))
    lines += ["### What was run here", ""]
    lines += _table(("record", "what and how large", "command", "where, when", "seeds"), made)
    return "\n".join(lines)


def coverage(rows: Sequence[PaperTable], records: Mapping[str, ResultRecord]) -> str:
    """Say how many rows have runs of ours in their own setting, and how many comparisons were made."""
    made = [row for row in rows if row.ours or row.check or reproduced(row, records)]
    figures = sum(row.label.startswith("fig:") for row in made)
    tables = [row for row in made if row.lines and row.label.startswith("tab:")]
    elsewhere = sum(bool(row.elsewhere) for row in tables)
    tests = sum(len(claims) for row in rows for claims in _claims(row, records).values())
    return (
        f"Of {len(rows)} rows, {len(tables) - elsewhere} are tables with runs in their own setting and {elsewhere} "
        f"tables with runs in another one, as they say; {figures} are figures, most with the numbers of tables; "
        f"{len(made) - figures - len(tables)} are checks; {len(rows) - len(made)} have nothing of ours. None of the "
        f"training runs is at full size. {tests} differences are compared at 5 %, many of them twice: about "
        f"{0.05 * tests:.0f} would be outside their intervals by chance alone."
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table, and an empty one."""
    head, *lines = (f"| {' | '.join(cells)} |" for cells in (columns, *rows))
    return [head, "|" + "---|" * len(columns), *lines, ""]


def _cells(row: PaperTable, records: Mapping[str, ResultRecord]) -> list[str]:
    made = {f"{result_text(one, records)} ({_link(one.record)})": one.record for one in row.ours}
    made |= {f"{text} ({_link(name)})": name for name, text in reproduced(row, records).items()}
    seeds = "; ".join(dict.fromkeys(_seeds(records[name]) for name in made.values()))
    ours = "; ".join(made) or row.check or row.instead
    if made and row.elsewhere:
        ours = f"**{row.elsewhere}**: {ours}"
    return [row.label, command_of(row), cost_of(row), paper_of(row), ours, verdict_of(row, records), seeds]


def reproduced(row: PaperTable, records: Mapping[str, ResultRecord]) -> dict[str, str]:
    """The scores of each record that `charm reproduce --record` wrote for this table, by the record's name.

    A figure has those of the tables whose runs it draws.
    """
    found = {}
    for name, (table, size) in _recorded(row, records).items():
        parts: list[str] = []
        for measure in (_headline(table), *(one for one in table.measures if one == "unseen pass@2")):
            form = FORMS.get(measure, ".1f")
            scores = [
                f"{_our_label(line.title, size)} {records[name].text(f'{line.key} {measure}', form)}"
                for line in table.runs
                if f"{line.key} {measure}" in records[name].numbers
            ]
            parts.append(f"unseen: {'; '.join(scores)}" if parts else "; ".join(scores))
        found[name] = f"size {size}: {_cell('; '.join(parts))}"
    return found


def _our_label(title: str, size: SizeName) -> str:
    """Return a line's title with the ranks and loops that it has at a smaller size."""
    shrunk = {"small": (2, SMALL_WIDTH, "4/6"), "cpu": (4, CPU_WIDTH, "16/24")}
    if size not in shrunk:
        return title
    factor, width, loops = shrunk[size]

    def rank(found: re.Match[str]) -> str:
        full = int(found[2])
        return f"{found[1]}{width if full == FULL_WIDTH else full // factor}"

    return re.sub(r"(\b[rt]=|\b[Rr]ank-)(\d+)", rank, title).replace("loops 16/24", f"loops {loops}")


def _recorded(row: PaperTable, records: Mapping[str, ResultRecord]) -> dict[str, tuple[PaperTable, SizeName]]:
    """The records of a row's tables, by name, each with its table and size."""
    labels = tables_of(row.label) if row.label in FIGURES else [row.label] if row.lines else []
    return {
        name: (TABLES[label], size)
        for label in labels
        for size in SIZE_NAMES
        if (name := record_name(label, size)) in records
    }


def verdict_of(row: PaperTable, records: Mapping[str, ResultRecord]) -> str:
    """What our seeds say about the paper's order, claim by claim; "" where nothing is compared."""
    found: dict[str, list[str]] = {}
    for name, claims in _claims(row, records).items():
        record = records[name]
        for first, second, measure, claimed in claims:
            sides = [claim_side(side, partial(_by_seed, record, measure)) for side in (first, second)]
            difference = paired(*sides)
            assert difference is not None
            names = claim_text(first, second)
            ours = [value for side in sides for value in side.values()]
            losses = measure.strip() in LOSSES or 0 < min(ours) <= max(ours) < 2
            digits = 4 if losses else 1  # percent
            spread = f" ± {difference.half_width:.{digits}f}" if math.isfinite(difference.half_width) else ""
            text = f"{names}{measure} {difference.mean:+.{digits}f}{spread}"
            judged: str = verdict(claimed, difference)
            asked = record.numbers.get(f"asked for{measure}", (0,))
            if (
                judged == "undecided"
                and claimed
                and (counts := by_counts(sides[0], sides[1], int(asked[0]), claimed > 0))
            ):
                judged, text = "same order, by counts", f"{text}: {counts}"
            found.setdefault(judged, []).append(text)
    return _cell(
        "; ".join(f"**{judged}**: {', '.join(dict.fromkeys(some))}" for judged, some in found.items())
    )


def _by_seed(record: ResultRecord, measure: str, key: str) -> dict[int, float]:
    return dict(zip(record.seeds, record.numbers[f"{key}{measure}"], strict=True))


def _claims(
    row: PaperTable, records: Mapping[str, ResultRecord]
) -> dict[str, list[tuple[str, str, str, float | None]]]:
    """Record -> two of its numbers (key and measure) that the paper distinguishes, and the paper's difference."""
    claims: dict[str, list[tuple[str, str, str, float | None]]] = {}
    for one in row.ours:
        for claim in one.claims:
            first, order, second = re.split(r" ([<>]) ", claim)
            claims.setdefault(one.record, []).append((first, second, "", 1.0 if order == ">" else -1.0))
    for name, (table, _) in _recorded(row, records).items():
        numbers = records[name].numbers
        claims[name] = [
            (one.first, one.second, f" {one.measure}", table.claimed(one))
            for one in table.claims
            if {f"{key} {one.measure}" for key in one.lines} <= numbers.keys()
        ]
    return claims


def _headline(table: PaperTable) -> str:
    return next((one for one in HEADLINES if one in table.measures), table.measures[0])


def command_of(row: PaperTable) -> str:
    if row.command.startswith("see "):
        return row.command
    return f"`{_cell(row.command or f'charm reproduce {row.label} --size full')}`"


def cost_of(row: PaperTable) -> str:
    """Hours of a table's runs at full size with the paper's number of seeds, as text."""
    if row.command:
        return row.cost
    plan = Reproduction.of([row.label], "full", None, (), Path(), None)
    runs = [(hours(variant, "full"), len(seeds)) for variant, seeds in plan.wanted()]
    every, count = sum(each * seeds for each, seeds in runs), sum(seeds for _, seeds in runs)
    span = " to ".join(dict.fromkeys(f"{each:,.1f}" for each in (min(runs)[0], max(runs)[0])))
    return f"{count} runs of {span}: {every:,.0f}"


def paper_of(row: PaperTable) -> str:
    """The paper's numbers that the claims of a table compare, or its first ones."""
    if not row.lines:
        return row.paper
    measure = _headline(row)
    keys = {key for claim in row.claims for key in claim.lines}
    lines = [line for line in row.lines if measure in line.paper]
    lines = [line for line in lines if line.key in keys] or lines[:6]
    text = "; ".join(f"{line.title} {line.paper[measure]}" for line in lines)
    return _cell(text if measure == "pass@2" else f"{measure}: {text}")


LOSSES = ("token loss", "bits per byte")
FORMS = {**dict.fromkeys(LOSSES, ".4f"), EMERGED: ".0f"}
HEADLINES = ("pass@2", "final pass@2", "seen pass@2", "zero-shot pass@2", *LOSSES)


def result_text(one: Ours, records: Mapping[str, ResultRecord]) -> str:
    """The sentence about a record, with its numbers filled in."""
    if one.record not in records:
        raise CharmError(f"no record {one.record}")
    record = records[one.record]
    return re.sub(r"\{(.+?):(.+?)\}", lambda found: record.text(found[1], found[2]), one.text)


def _link(record: str) -> str:
    return f"[{record}](../benchmarks/results/{record}.json)"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _seeds(record: ResultRecord) -> str:
    return ", ".join(map(str, record.seeds)) if record.seeds else "none"


def measured_speed(records: Mapping[str, ResultRecord]) -> Speed:
    if "speed_arc1" not in records:
        raise CharmError("no record speed_arc1, which costs are computed from")
    found = records["speed_arc1"]
    return Speed(
        found.number("training samples/s"), found.number("forward samples/s"), found.machine, found.date
    )


if __name__ == "__main__":
    main()
