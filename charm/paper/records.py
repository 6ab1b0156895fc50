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
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import mean
from typing import Any

from charm.config import is_number
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
    numbers: Mapping[str, tuple[float, ...]]
    runs: Any = None

    def number(self, name: str) -> float:
        """The mean of a number over seeds."""
        return mean(self._values(name))

    def text(self, name: str, form: str) -> str:
        """As `spread_text`."""
        return spread_text(self._values(name), form)

    def _values(self, name: str) -> tuple[float, ...]:
        if name not in self.numbers:
            raise CharmError(f"the record {self.what!r} has no number {name!r}")
        return self.numbers[name]


def read_record(path: Path) -> ResultRecord:
    found = read_sealed(path)
    names = [field.name for field in fields(ResultRecord)]
    if not isinstance(found, dict) or set(found) - {"runs"} != set(names) - {"runs"}:
        wrong = (
            sorted((set(names) - {"runs"}) ^ (set(found) - {"runs"})) if isinstance(found, dict) else names
        )
        raise CharmError(
            f"{path}: the fields of a record must be {', '.join(names)} (runs is optional); check {', '.join(wrong)}"
        )
    words = ("what", "command", "size", "machine", "date")
    if not all(isinstance(found[name], str) and found[name] for name in words):
        raise CharmError(f"{path}: {', '.join(words)} must be text")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", found["date"]):
        raise CharmError(f"{path}: date must look like 2026-11-15, got {found['date']}")
    seeds, numbers = found["seeds"], found["numbers"]
    if not isinstance(seeds, list) or not all(isinstance(seed, int) for seed in seeds):
        raise CharmError(f"{path}: seeds must be a list of integers")
    if not isinstance(numbers, dict):
        raise CharmError(f"{path}: numbers must be an object")
    values = {}
    for name, given in numbers.items():
        every = given if isinstance(given, list) else [given]
        if not every or not all(map(is_number, every)):
            raise CharmError(f"{path}: {name} must be a number or a list of numbers")
        if isinstance(given, list) and len(given) != len(seeds):
            raise CharmError(f"{path}: {name} has {len(given)} values for {len(seeds)} seeds")
        values[name] = tuple(float(value) for value in every)
    return ResultRecord(**{**found, "seeds": tuple(seeds), "numbers": values})


def read_records(folder: Path) -> dict[str, ResultRecord]:
    """All records in a folder, by name."""
    return {path.stem: read_record(path) for path in sorted(folder.glob("*.json"))}
