"""Recorded measurements: benchmarks/results/NAME.json, one record each.

what      one line of text
command   what was run
size      how large, in words
machine   where
date      when, YYYY-MM-DD
seeds     the seeds, or [] if there are none
numbers   name -> a number, or a list with one for each seed
runs      optional: raw results, from which figures are drawn
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from charm.config import from_json
from charm.errors import CharmError
from charm.files import read_sealed
from charm.tables import spread_text


@dataclass(frozen=True)
class ResultRecord:
    what: str
    command: str
    size: str
    machine: str
    date: str
    seeds: tuple[int, ...]
    numbers: dict[str, tuple[float, ...]]
    runs: Any = None

    def number(self, name: str) -> float:
        """Return the mean of a number over seeds."""
        return mean(self._values(name))

    def text(self, name: str, form: str) -> str:
        return spread_text(self._values(name), form)

    def _values(self, name: str) -> tuple[float, ...]:
        if name not in self.numbers:
            raise CharmError(f"the record {self.what!r} has no number {name!r}")
        return self.numbers[name]


def read_record(path: Path) -> ResultRecord:
    found = read_sealed(path)
    given: Any = found.get("numbers") if isinstance(found, dict) else None
    if isinstance(given, dict):  # one value, or one for each seed
        lists = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
        found = {**found, "numbers": lists}
    record = from_json(ResultRecord, found, str(path))
    if not all((record.what, record.command, record.size, record.machine)):
        raise CharmError(f"{path}: what, command, size and machine must be text")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", record.date):
        raise CharmError(f"{path}: date must look like 2026-11-15, got {record.date}")
    for name, values in record.numbers.items():
        if not values or (isinstance(given[name], list) and len(values) != len(record.seeds)):
            raise CharmError(f"{path}: {name} has {len(values)} values for {len(record.seeds)} seeds")
    return record


def read_records(folder: Path) -> dict[str, ResultRecord]:
    return {path.stem: read_record(path) for path in sorted(folder.glob("*.json"))}
