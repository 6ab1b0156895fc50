"""metrics.jsonl of a run: a line every few updates, evaluations too."""

from __future__ import annotations

import json
import time
from pathlib import Path

from charm.files import write_atomically

METRICS = "metrics.jsonl"


def write_line(run: Path, step: int, values: dict[str, float]) -> None:
    """Add a line to a run's metrics."""
    with (run / METRICS).open("a") as file:
        file.write(json.dumps({"step": step, **values, "time": round(time.time(), 3)}) + "\n")


def forget_later_lines(run: Path, step: int) -> bool:
    """Drop what a run that goes on from this step will write again, and a line cut short by a kill.

    Returns whether there was any.
    """
    path = run / METRICS
    if not path.is_file():
        return False
    if step == 0:  # it will also evaluate again before its first update
        path.unlink()
        return True
    lines = path.read_text(errors="replace").splitlines()
    kept = [line for line in lines if _step_of(line) <= step]
    write_atomically(path, "".join(line + "\n" for line in kept))
    return len(kept) < len(lines)


def has_evaluation(run: Path, step: int) -> bool:
    """Whether the headline of this step's evaluation was written."""
    path = run / METRICS
    lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
    return any(_step_of(line) == step and '"evaluation/' in line for line in lines)


def _step_of(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")  # a line cut short by a kill
