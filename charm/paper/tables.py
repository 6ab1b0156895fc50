"""The paper's tables and figures as data: one record for each, read from `tables.toml`.

A table may report runs (`lines`, `claims`), parameter counts (`counts`), or something that a command checks. `ours` are
sentences about our records. The file explains its format; `charm reproduce` and docs/reproduce.md are made from it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any, Literal

from charm.config import from_json
from charm.errors import CharmError, charm_errors
from charm.paper.runs import VARIANTS, Variant

MINUS = " - "
EMERGED = "updates to 1 % unseen"  # a measure of automata

# given: a number of rows from which the others are computed, so that agreement proves nothing
# differs: our count is known to differ from the paper's
Standing = Literal["checked", "given", "differs"]


@dataclass(frozen=True)
class PaperLine:
    """A line of a table that reports runs."""

    title: str
    run: str  # the key of its variant; "" for a run that this code does not make
    paper: Mapping[str, str]  # numbers by measure, as printed: "49.75 ± 2.50"; empty if the line is not the paper's
    seeds: int = 1  # number of runs behind the paper's number
    prefix: str = ""  # prefix of our score names, if one run is evaluated in several ways

    @property
    def key(self) -> str:
        """Name of this line in claims and in `--variants`."""
        return self.run + (f"@{self.prefix.strip()}" if self.prefix else "")

    @property
    def variant(self) -> Variant:
        return VARIANTS[self.run]

    def printed_mean(self, measure: str) -> float:
        """Return the paper's mean of a measure."""
        return float(self.paper[measure].split(" ± ")[0])


@dataclass(frozen=True)
class PaperClaim:
    """Two lines that the paper compares; its numbers show which one is better. "A - B" is a difference of two lines."""

    first: str
    second: str
    measure: str
    difference: str = ""  # the difference, if the paper prints it

    @property
    def lines(self) -> set[str]:
        """The keys of all lines in it."""
        return {*self.first.split(MINUS), *self.second.split(MINUS)}


@dataclass(frozen=True)
class PaperCount:
    """A parameter count that the paper prints, and what to count for it."""

    label: str
    data: str  # a key of `charm.paper.runs.DATASETS`
    run: str  # the key of a variant, or a preset of a language model
    what: str  # a key of `charm.paper.counts.COUNTS`, a field of `Accounting`, or a part of a language model
    printed: str  # the count with its unit: "29.9M", "31.76k", "13,663,233"
    standing: Standing = "checked"
    note: str = ""


@dataclass(frozen=True)
class Ours:
    """A sentence about a record; `{name:.1f}` stands for the record's number with that name and its spread."""

    record: str
    text: str
    claims: tuple[str, ...] = ()  # the paper's order of two of the record's numbers, such as "CoSE seen > table seen"


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of the paper."""

    label: str  # its label in the paper's source
    section: str = ""  # heading on the reproduction page; "" for counts in the text, which it does not show
    measures: tuple[str, ...] = ()  # columns of its lines
    lines: tuple[PaperLine, ...] = ()
    claims: tuple[PaperClaim, ...] = ()
    about: str = ""  # what the paper leaves open about its runs, and how we interpret it
    alone: str = ""  # the line for which the paper counts tasks that no other line has among its candidates
    alone_count: int = 0  # the paper's count of these tasks
    panels: tuple[tuple[str, str, str, str], ...] = ()  # end of the file's name, table, drawing, pattern of its runs
    counts: tuple[PaperCount, ...] = ()
    reading: str = ""  # how we count parameters if the paper leaves it open
    ours: tuple[Ours, ...] = ()
    elsewhere: str = ""  # how the setting of our runs differs from the table's: another split or stream
    instead: str = "no run"  # text of the cell for our numbers if there is no record
    check: str = ""  # result of a check that is not a record
    paper: str = ""  # the paper's numbers in words, if they are not in `lines`
    command: str = ""  # command that makes or checks it; `charm reproduce` if empty
    cost: str = ""  # cost in words, if there is nothing to train

    @property
    def sources(self) -> list[str]:
        """The tables whose runs it shows: those that a figure draws, or itself."""
        return list(dict.fromkeys(panel[1] for panel in self.panels)) or ([self.label] if self.lines else [])

    @property
    def runs(self) -> list[PaperLine]:
        """The lines with a run that this code makes."""
        return [line for line in self.lines if line.run]

    def line(self, key: str) -> PaperLine:
        return next(line for line in self.lines if line.key == key)

    def paper_difference(self, claim: PaperClaim) -> float | None:
        """Return the paper's difference for a claim; None if one of the lines is not the paper's."""
        if claim.difference:
            return float(claim.difference.split(" ± ")[0])
        first, second = self.line(claim.first), self.line(claim.second)
        if not (first.paper and second.paper):
            return None
        return first.printed_mean(claim.measure) - second.printed_mean(claim.measure)


def read_tables(text: str) -> dict[str, PaperTable]:
    """Parse tables by label; the head of `tables.toml` explains the format."""
    return {label: _table(label, content) for label, content in tomllib.loads(text).items()}


def _table(label: str, given: dict[str, Any]) -> PaperTable:
    if unknown := sorted(given.keys() - {one.name for one in fields(PaperTable)}):
        raise CharmError(f"{label} has no field {unknown[0]!r}")
    with charm_errors(f"{label} cannot be read", ValueError, TypeError):
        given["measures"] = tuple(filter(None, given.get("measures", "").split(" | ")))
        given["lines"] = tuple(_line(cells, given["measures"]) for cells in _cells(given.get("lines", "")))
        given["claims"] = tuple(map(_claim, given.get("claims", "").strip().splitlines()))
        given["panels"] = tuple((*cells, "")[:4] for cells in _cells(given.get("panels", "")))
        given["counts"] = tuple(map(_count, _cells(given.get("counts", ""))))
        given["ours"] = tuple(from_json(Ours, one, label) for one in given.get("ours", ()))
        return PaperTable(label, **given)


def _cells(text: str) -> Iterator[list[str]]:
    for line in text.strip().splitlines():
        yield [cell.strip() for cell in line.split("|")]


def _line(cells: list[str], measures: Sequence[str]) -> PaperLine:
    key, title, *numbers = cells
    seeds = int(numbers.pop().removeprefix("n=")) if numbers[-1].startswith("n=") else 1
    printed = {name: number for name, number in zip(measures, numbers, strict=True) if number}
    run, _, prefix = key.partition("@")
    return PaperLine(title, "" if run == "-" else run, printed, seeds, f"{prefix} " if prefix else "")


def _claim(text: str) -> PaperClaim:
    measure, _, rest = text.partition(": ")
    sides, _, difference = rest.partition(" = ")
    between = f"){MINUS}(" if sides.startswith("(") else MINUS
    first, second = sides.removeprefix("(").removesuffix(")").split(between)
    return PaperClaim(first, second, measure, difference)


def _count(cells: list[str]) -> PaperCount:
    label, data, run, what, printed, *rest = cells
    standing, note = rest or ("", "")
    if standing not in ("", "differs"):
        raise ValueError(f"a count may be marked as differs, got {standing!r}")
    given: Standing = "differs" if standing else "given" if what.startswith("rows") else "checked"
    return PaperCount(label, data, run, what, printed, given, note)


TABLES = read_tables((files("charm.paper") / "tables.toml").read_text("utf-8"))
