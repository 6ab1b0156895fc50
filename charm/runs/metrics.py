"""metrics.jsonl of a run: a line every few updates, and one per evaluation."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from charm.config import is_number
from charm.errors import CharmError, charm_errors
from charm.files import parse_json, write_atomically

METRICS = "metrics.jsonl"


class LogEntry(NamedTuple):
    """Numbers for metrics.jsonl, and the same in words for whoever watches."""

    values: Mapping[str, float]
    text: str


@dataclass(frozen=True)
class Exam:
    """An evaluation that is due."""

    out: Path  # the run folder
    run: str  # the run's name, as its checkpoints have it
    step: int
    report: Callable[[str], None] = lambda text: None  # shows whoever watches how far it is
    stop: Callable[[], bool] = lambda: False  # comes true when somebody wants the process to end


def write_line(run: Path, step: int, values: dict[str, float]) -> None:
    with (run / METRICS).open("a") as file:
        file.write(json.dumps({"step": step, **values, "time": round(time.time(), 3)}) + "\n")


def forget_later_lines(run: Path, step: int) -> bool:
    """Drop the lines that a run resumed at this step will write again, and a truncated one; whether there were any."""
    path, lines = run / METRICS, _raw_lines(run)
    if step == 0:  # it will also repeat the evaluation before its first update
        path.unlink(missing_ok=True)
        return bool(lines)
    kept = [line for line in lines if _step_of(line) <= step]
    if lines:
        write_atomically(path, "".join(line + "\n" for line in kept))
    return len(kept) < len(lines)


def has_evaluation(run: Path, step: int) -> bool:
    """Return whether the headline of this step's evaluation was written."""
    return any(_step_of(line) == step and '"evaluation/' in line for line in _raw_lines(run))


def _raw_lines(run: Path) -> list[str]:
    path = run / METRICS
    with charm_errors(f"{path}: not readable", OSError):
        return path.read_text(errors="replace").splitlines() if path.is_file() else []


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """Read the lines of metrics.jsonl; the last may be truncated, by a kill or because the run is still training."""
    path, entries, lines = run / METRICS, _raw_lines(run), []
    for number, entry in enumerate(entries, start=1):
        try:
            line = parse_json(entry, f"{path}: line {number}")
        except CharmError:
            if number == len(entries):
                break
            raise
        if not isinstance(line, dict) or not is_number(line.get("step")):
            raise CharmError(f"{path}: line {number} has no step")
        lines.append(line)
    return lines


def curve(lines: list[dict[str, Any]], name: str) -> list[tuple[float, float]]:
    """Return the (step, value) points of one metric."""
    return [(line["step"], line[name]) for line in lines if is_number(line.get(name))]


def mean_around(lines: list[dict[str, Any]], name: str, step: int) -> tuple[float, int]:
    """Average a metric over updates step - 50 to step + 49, as the paper reports its loss; return the number, too.

    The window is shorter if the run ends earlier. A line is the mean over the updates since the previous line, so the
    result is exact if the window ends on a line, as with `log_every` 1.
    """
    begin, end = step - 50, step + 49
    total, updates, last = 0.0, 0, 0
    for at, value in curve(lines, name):
        part = int(min(at, end) - max(last, begin - 1))
        if part > 0:
            total, updates = total + part * value, updates + part
        last = int(at)
    if not updates:
        raise CharmError(f"metrics.jsonl has no {name} between steps {begin} and {end}")
    return total / updates, updates


def newest_scores(lines: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return step and scores of the newest evaluation among the metrics; None before the first."""
    for line in reversed(lines):
        found = {name: value for name, value in line.items() if name.startswith("evaluation/") and is_number(value)}
        if found:
            return {"step": line["step"], "scores": {n.removeprefix("evaluation/"): v for n, v in found.items()}}
    return None


def _step_of(line: str) -> float:
    try:
        return float(parse_json(line, METRICS)["step"])
    except (CharmError, ValueError, KeyError, TypeError):
        return float("inf")  # a line truncated by a kill
