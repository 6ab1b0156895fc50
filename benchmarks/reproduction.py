"""Generate the tables of docs/reproduce.md: every table and figure of the paper, our command, its cost, our results.

    python -m benchmarks.reproduction      # from the root of the repository: rewrites docs/reproduce.md

Our numbers come from the records in benchmarks/results, so the page always agrees with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.paper_record import record_name
from benchmarks.records import ResultRecord, read_records
from charm.errors import CharmError
from charm.files import write_atomically
from charm.paper.comparison import claim_side, claim_text, paired_difference, verdict
from charm.paper.plans import Reproduction
from charm.paper.runs import ARC1_ANSWERS, MEASURED, SIZE_NAMES, SIZES, VARIANTS, SizeName
from charm.paper.tables import EMERGED, TABLES, Ours, PaperClaim, PaperTable
from charm.solving.scores import interval

BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"


def main() -> None:
    path = Path("docs/reproduce.md")
    records = read_records(Path("benchmarks/results"))
    try:
        old = path.read_text()
    except OSError as error:
        raise SystemExit(f"{path}: run this at the root of the repository ({error.strerror})") from error
    write_atomically(path, update(old, records))


def update(page: str, records: Mapping[str, ResultRecord]) -> str:
    """Generate the part of the page between its two marks again."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise CharmError(f"the page must contain the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{render(records)}{END}{after}"


def render(records: Mapping[str, ResultRecord]) -> str:
    """Return the generated part: for each part of the paper a short table and folded details, then the records."""
    lines: list[str] = []
    for title, rows in sections().items():
        short = [[row.label, _sources(row, records), _tally(row, records)] for row in rows]
        lines += [f"### {title}", "", *_table(("paper", "our runs", "verdicts"), short)]
        details = [line for row in rows for line in _details(row, records)]
        lines += _folded("Commands, costs, numbers and verdicts", details)
    update, evaluation = 768 / MEASURED.training, ARC1_ANSWERS * 16 / MEASURED.forward / 3600
    lines += [
        coverage([row for rows in sections().values() for row in rows], records),
        "",
        f"Costs are hours of one GPU ({MEASURED.machine}, {MEASURED.date}): {MEASURED.training:,.1f} samples/s in "
        f"training and {MEASURED.forward:,.1f} forward of `arc1` on full canvases, so an update of 768 takes "
        f"{update:.2f} s and an evaluation of ARC-AGI-1 (the paper's 502 batches of 768, 16 steps) {evaluation:.2f} h, "
        "or half as long again with the votes after 24 steps that the presets take too. "
        "Other reasoners are scaled by their count of operations, which flatters models narrower than `arc1`. Streams "
        "count their updates and not their checks. d20 is scaled from d12 by the parameters of the backbone.",
        "",
        "### The smaller sizes",
        "",
    ]
    # A size, what it is and its minutes -> groups of variants.
    groups: dict[tuple[str, str, str], list[str]] = {}
    for group, settings in SIZES.items():
        for size, where in (("cpu", "two CPU cores"), ("small", "one H200")):
            if size in settings:
                row = (size, settings[size].about, f"{settings[size].minutes:g}, {where}")
                groups.setdefault(row, []).append(group)
    of_sizes = ("group", "size", "setting", "minutes for a run, about")
    sizes = _table(of_sizes, [(", ".join(g), *row) for row, g in groups.items()])
    lines += _folded("What each group of runs is at these sizes", sizes)
    lines += ["Minutes are planned, not measured, except where a record below has them.", ""]
    made = [
        f"- {_link(name)}: {one.what}: {one.size}. `{one.command}` on {one.machine}, {one.date}; seeds: {_seeds(one)}"
        for name, one in records.items()
    ]
    return "\n".join([*lines, "### What was run here", "", *_folded(f"All {len(made)} records", [*made, ""])])


def sections() -> dict[str, list[PaperTable]]:
    """Return the rows of the reproduction page by their heading."""
    found: dict[str, list[PaperTable]] = {}
    for table in TABLES.values():
        if table.section:
            found.setdefault(table.section, []).append(table)
    return found


def coverage(rows: Sequence[PaperTable], records: Mapping[str, ResultRecord]) -> str:
    """Say how many rows have runs of ours in their own setting, and how many comparisons were made."""
    made = [row for row in rows if row.ours or row.check or reproduced(row, records)]
    figures = sum(row.label.startswith("fig:") for row in made)
    tables = [row for row in made if row.lines and row.label.startswith("tab:")]
    elsewhere = sum(bool(row.elsewhere) for row in tables)
    tests = sum(1 for row in rows for _ in _claims(row, records))
    return (
        f"Of {len(rows)} rows, {len(tables) - elsewhere} are tables with runs in their own setting and {elsewhere} "
        f"tables with runs in another one, as they say; {figures} are figures, most with the numbers of tables; "
        f"{len(made) - figures - len(tables)} are checks; {len(rows) - len(made)} have nothing of ours. None of the "
        f"training runs is at full size. {tests} differences are compared at 5 %, many of them twice: about "
        f"{0.05 * tests:.0f} would be outside their intervals by chance alone."
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table, and an empty one."""
    head, *lines = (f"| {' | '.join(cells)} |" for cells in (columns, *rows))
    return [head, "|" + "---|" * len(columns), *lines, ""]


def _folded(summary: str, lines: Iterable[str]) -> list[str]:
    """Return lines that are shown on demand."""
    return [f'<details markdown="1"><summary>{summary}</summary>', "", *lines, "</details>", ""]


def _sources(row: PaperTable, records: Mapping[str, ResultRecord]) -> str:
    """Return links to the records of a row, or what it has instead."""
    names = dict.fromkeys([one.record for one in row.ours] + list(_recorded(row, records)))
    if not names:
        return "a check" if row.check else row.instead
    return ", ".join(map(_link, names)) + (f" ({row.elsewhere})" if row.elsewhere else "")


def _tally(row: PaperTable, records: Mapping[str, ResultRecord]) -> str:
    """Count the verdicts on a row: "3 same order, 1 undecided"."""
    return ", ".join(f"{len(some)} {judged}" for judged, some in _judge(row, records).items())


def _details(row: PaperTable, records: Mapping[str, ResultRecord]) -> list[str]:
    """Return the lines about one table or figure: a list, because its numbers are too many for columns."""
    made = {f"{result_text(one, records)} ({_link(one.record)})": one.record for one in row.ours}
    made |= {f"{text} ({_link(name)})": name for name, text in reproduced(row, records).items()}
    seeds = "; ".join(dict.fromkeys(_seeds(records[name]) for name in made.values()))
    ours = "; ".join(made) or row.check or row.instead
    if made and row.elsewhere:
        ours = f"**{row.elsewhere}**: {ours}"
    parts = {
        "Command": command_of(row),
        "GPU-hours at full size": cost_of(row),
        "The paper": paper_of(row),
        "Ours": ours,
        "Seeds": seeds,
        "Verdicts": verdict_of(row, records),
    }
    return [f"**{row.label}**", "", *(f"- {name}: {text}" for name, text in parts.items() if text), ""]


def reproduced(row: PaperTable, records: Mapping[str, ResultRecord]) -> dict[str, str]:
    """Return the scores of each record that `benchmarks/paper_record.py` wrote for this table, by the record's name.

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
        found[name] = f"size {size}: {'; '.join(parts)}"
    return found


def _our_label(title: str, size: SizeName) -> str:
    """Return a line's title with the ranks and loops that it has at a smaller size."""
    shrunk = {"small": (2, "4/6"), "cpu": (4, "16/24")}
    if size not in shrunk:
        return title
    factor, loops = shrunk[size]
    widths = [VARIANTS["train.table"].at(one).memory.rank for one in ("full", size)]

    def rank(found: re.Match[str]) -> str:
        full = int(found[2])
        return f"{found[1]}{widths[1] if full == widths[0] else full // factor}"

    return re.sub(r"(\b[rt]=|\b[Rr]ank-)(\d+)", rank, title).replace("loops 16/24", f"loops {loops}")


def _recorded(row: PaperTable, records: Mapping[str, ResultRecord]) -> dict[str, tuple[PaperTable, SizeName]]:
    """Return the records of a row's tables, by name, each with its table and size."""
    return {
        name: (TABLES[label], size)
        for label in row.sources
        for size in SIZE_NAMES
        if (name := record_name(label, size)) in records
    }


def verdict_of(row: PaperTable, records: Mapping[str, ResultRecord]) -> str:
    """Say what our seeds show about the paper's order, claim by claim; "" where nothing is compared."""
    found = _judge(row, records)
    return "; ".join(f"**{judged}**: {', '.join(some)}" for judged, some in found.items())


def _judge(row: PaperTable, records: Mapping[str, ResultRecord]) -> dict[str, list[str]]:
    """Return the compared differences in words, by verdict."""
    found: dict[str, list[str]] = {}
    for record, claim, claimed in _claims(row, records):
        measure = f" {claim.measure}" if claim.measure else ""
        numbers = {key: dict(zip(record.seeds, record.numbers[f"{key}{measure}"], strict=True)) for key in claim.lines}
        first, second = (claim_side(side, numbers) for side in (claim.first, claim.second))
        difference = paired_difference(first, second)
        assert difference is not None
        ours = [*first.values(), *second.values()]
        losses = claim.measure in LOSSES or 0 < min(ours) <= max(ours) < 2  # others are in percent
        text = f"{claim_text(claim.first, claim.second)}{measure} {difference.text(4 if losses else 1)}"
        judged: str = verdict(claimed, difference)
        asked = int(record.numbers.get(f"asked for{measure}", (0,))[0])
        if judged == "undecided" and claimed and (counts := by_counts(first, second, asked, claimed > 0)):
            judged, text = "same order, by counts", f"{text}: {counts}"
        found.setdefault(judged, []).append(text)
    return {judged: list(dict.fromkeys(some)) for judged, some in found.items()}


def by_counts(first: Mapping[int, float], second: Mapping[int, float], asked: int, more: bool = True) -> str:
    """Describe two scores in percent of `asked` answers if every seed alone decides that the first has more (or less).

    In each seed Wilson's 95 % intervals of the two must be apart. "" if they are not.
    """
    common = sorted(first.keys() & second.keys())
    hits = [[round(side[seed] * asked / 100) for seed in common] for side in (first, second)]
    larger, smaller = hits if more else hits[::-1]
    for many, few in zip(larger, smaller, strict=True):
        bounds = interval(many, asked), interval(few, asked)
        if bounds[0] is None or bounds[1] is None or bounds[0][0] <= bounds[1][1]:
            return ""
    spans = [f"{min(side):,} to {max(side):,}" for side in hits if side]
    return f"{spans[0]} of {asked:,} against {spans[1]} in every seed" if spans else ""


def _claims(
    row: PaperTable, records: Mapping[str, ResultRecord]
) -> Iterator[tuple[ResultRecord, PaperClaim, float | None]]:
    """Yield what the paper claims about numbers of our records, and the paper's difference."""
    for one in row.ours:
        for claim in one.claims:
            first, order, second = re.split(r" ([<>]) ", claim)
            yield records[one.record], PaperClaim(first, second, ""), 1.0 if order == ">" else -1.0
    for name, (table, _) in _recorded(row, records).items():
        for known in table.claims:
            if {f"{key} {known.measure}" for key in known.lines} <= records[name].numbers.keys():
                yield records[name], known, table.paper_difference(known)


def _headline(table: PaperTable) -> str:
    return next((one for one in HEADLINES if one in table.measures), table.measures[0])


def command_of(row: PaperTable) -> str:
    if row.command.startswith("see "):
        return row.command
    return f"`{row.command or f'charm reproduce {row.label} --size full'}`"


def cost_of(row: PaperTable) -> str:
    """Describe the hours of a table's runs at full size with the paper's number of seeds."""
    if row.command:
        return row.cost
    hours = [run.hours for run in Reproduction.of([row.label], "full", None, (), Path(), None).runs()]
    span = " to ".join(dict.fromkeys(f"{one:,.1f}" for one in (min(hours), max(hours))))
    return f"{len(hours)} runs of {span}: {sum(hours):,.0f}"


def paper_of(row: PaperTable) -> str:
    """Return the paper's numbers that the claims of a table compare, or its first ones."""
    if not row.lines:
        return row.paper
    measure = _headline(row)
    keys = {key for claim in row.claims for key in claim.lines}
    lines = [line for line in row.lines if measure in line.paper]
    lines = [line for line in lines if line.key in keys] or lines[:6]
    text = "; ".join(f"{line.title} {line.paper[measure]}" for line in lines)
    return text if measure == "pass@2" else f"{measure}: {text}"


LOSSES = ("token loss", "bits per byte")
FORMS = {**dict.fromkeys(LOSSES, ".4f"), EMERGED: ".0f"}
HEADLINES = ("pass@2", "final pass@2", "seen pass@2", "zero-shot pass@2", *LOSSES)


def result_text(one: Ours, records: Mapping[str, ResultRecord]) -> str:
    """Fill the numbers of a record into the sentence about it."""
    if one.record not in records:
        raise CharmError(f"no record {one.record}")
    record = records[one.record]
    return re.sub(r"\{(.+?):(.+?)\}", lambda found: record.text(found[1], found[2]), one.text)


def _link(record: str) -> str:
    return f"[{record}](../benchmarks/results/{record}.json)"


def _seeds(record: ResultRecord) -> str:
    return ", ".join(map(str, record.seeds)) if record.seeds else "none"


if __name__ == "__main__":
    main()
