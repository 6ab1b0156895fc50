"""Curves and tables for the page of runs on cellular automata, as values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from charm.config import is_number
from charm.errors import CharmError
from charm.files import read_sealed
from charm.runs.archive import own_evaluation
from charm.tables import Table, percent

# Name in metrics.jsonl -> title, and whether it is a share.
CAR_CURVES = {
    "loss": ("Loss", False),
    "exact_accuracy": ("Exact accuracy", True),
    "evaluation/seen pass@2": ("Seen combinations, pass@2", True),
    "evaluation/unseen pass@2": ("Unseen combinations, pass@2", True),
}
PARTS = ("seen", "unseen")
NUMBERS = ("combinations", "pass@1", "pass@2")  # that every group must have
SHARES = ("pass@1", "pass@2", "cells")  # whole grids within 1 or 2 attempts; correct cells of first answers


def car_evaluation(run: Path, path: Path) -> dict[str, Any]:
    found = read_sealed(path)
    try:
        parts = [found["seen"], found.get("unseen", {})]
        numbers = [group[name] for part in parts for group in part.values() for name in NUMBERS]
        good = isinstance(found["step"], int) and all(map(is_number, numbers))
        good = good and all(not part or "all" in part for part in parts)
    except (AttributeError, KeyError, TypeError):
        good = False
    if not good:
        raise CharmError(f"{path}: not an evaluation on cellular automata (step or shares are missing)")
    return own_evaluation(run, found, path.stem)


def car_steps(run: Path) -> dict[int, dict[str, Any]]:
    """The evaluations of a run by step, oldest first."""
    found = [car_evaluation(run, path) for path in sorted((run / "eval").glob("step_*.json"))]
    return {one["step"]: one for one in found}


def car_tables(runs: Sequence[Path], names: Sequence[str]) -> list[Table]:
    """Seen and unseen combinations: the newest scores, then by horizon and family."""
    newest = [max(car_steps(run).values(), key=lambda one: one["step"], default=None) for run in runs]
    columns = [(part, share) for part in PARTS for share in SHARES]
    rows = []
    for name, found in zip(names, newest, strict=True):
        step = "not evaluated yet" if found is None else f"{found['step']:,}"
        cells = [percent((found or {}).get(part, {}).get("all", {}), share) for part, share in columns]
        rows.append([name, step, *cells])
    heads = ["run", "step", *(f"{part} {share}" for part, share in columns)]
    lead = "Cellular automata: all checkpoints so far and all eight views vote; combinations are averaged."
    return [Table(heads, rows, caption=lead), *_groups(names, newest)]


def _groups(names: Sequence[str], newest: Sequence[dict[str, Any] | None]) -> list[Table]:
    """All shares of one run, or pass@2 of several, by horizon and by family."""
    tables = []
    for part in PARTS:
        groups = [(found or {}).get(part, {}) for found in newest]
        labels = list(dict.fromkeys(label for one in groups for label in one))
        if not labels:
            continue
        if len(names) == 1:
            heads = ["", "combinations", *SHARES]
            rows = [
                [label, f"{group['combinations']:,}", *(percent(group, one) for one in SHARES)]
                for label, group in groups[0].items()
            ]
        else:
            heads = ["pass@2", *labels]
            rows = [
                [name, *(percent(one.get(label, {}), "pass@2") for label in labels)]
                for name, one in zip(names, groups, strict=True)
            ]
        tables.append(Table(heads, rows, f"{part.capitalize()} combinations"))
    return tables
