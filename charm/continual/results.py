"""Compare stream runs: tables over methods and seeds, and the figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from charm.continual.measures import MEASURES
from charm.continual.records import StreamSummary
from charm.drawing import figures
from charm.drawing.figures import Point, Series, common_points
from charm.errors import CharmError
from charm.files import read_sealed, sweep, write_atomically
from charm.tables import Table, spread_text

Runs = Sequence[StreamSummary]  # of one group: they differ only in the seed

# Runs that differ only in the seed have these in common.
SAME = ("stream", "source_sha256", "tasks", "memory", "method", "scope", "halt_weight", "settings")
ONE_SCOPE = ("memory-only", "oracle", "joint")  # methods whose name implies their scope
# In percent: the task right after it was learned, the measures, and what became of the base's own tasks.
COLUMNS = {
    "immediate pass@2": "Learned",
    **{name: name for name in MEASURES},
    **{f"base {name}": f"Base {name}" for name in ("before", "ACC", "forgetting", "WC-ACC")},
}


def gather(folder: Path) -> list[list[StreamSummary]]:
    """Read the finished runs in folders directly inside `folder`, in groups as `group` makes them."""
    return group([read_sealed(path) for path in sorted(folder.glob("*/result.json"))])


def group(found: Sequence[StreamSummary]) -> list[list[StreamSummary]]:
    """Put summaries that differ only in the seed into groups, fewest parameters first."""
    groups: dict[tuple[Any, ...], list[StreamSummary]] = {}
    for one in found:
        groups.setdefault(tuple(one.get(name) for name in SAME), []).append(one)
    return sorted(groups.values(), key=lambda runs: (runs[0]["updated_parameters"], -_mean(runs, "final pass@2")))


def rows_of(groups: Sequence[Runs]) -> list[dict[str, str]]:
    """Return the cells of each group's row in the table, by column."""
    counts = {"Params/task": "updated_parameters", "Bytes/task": "bytes_per_task", "Kept bytes": "kept_bytes"}
    return [
        {
            **{name: runs[0][name.lower()] for name in ("Memory", "Method", "Scope")},
            "Settings": runs[0].get("settings", ""),
            "w_h": f"{runs[0]['halt_weight']:g}",
            **{title: short_count(_mean(runs, name)) for title, name in counts.items()},
            "Seconds/task": f"{_mean(runs, 'seconds_per_task'):.2f}",
            **{title: spread_text([100 * value for value in _values(runs, name)]) for name, title in COLUMNS.items()},
            "Changed values": f"{sum(run['changed_values'] for run in runs):,}",
            "Tasks": str(runs[0]["tasks"]),
            "Seeds": str(len(runs)),
        }
        for runs in groups
    ]


def short_count(count: float) -> str:
    """Write a count as the paper does: 512, 31.76k, 14.765M."""
    if count >= 1e6:
        return f"{count / 1e6:.3f}M"
    return f"{count / 1e3:.2f}k" if count >= 1e3 else f"{count:g}"


def results_table(groups: Sequence[Runs]) -> Table:
    """Return the table for a terminal of 80 columns: the means of the written one."""
    first, rows = groups[0][0], []
    for cells in rows_of(groups):
        scope = "" if cells["Method"] in ONE_SCOPE else f" {cells['Scope']}"
        means = (cells[name].partition(" ")[0] for name in ("ACC", "BWT", "forgetting", "Base before", "Base ACC"))
        rows.append([cells["Memory"], f"{cells['Method']}{scope}, {cells['w_h']}", cells["Params/task"], *means])
    columns = ["Memory", "Method", "Params", "ACC", "BWT", "Forg.", "Base", "after"]
    caption = (
        "method, scope, halting weight; parameters updated per task;\n"
        "means of pass@2 in percent; base: the model's own puzzles; more in table.md"
    )
    title = f"{first['tasks']} unseen tasks of {Path(first['stream']).name}"
    return Table(columns, rows, title, caption, narrow=True)


def write_results(groups: Sequence[Runs], out: Path) -> list[Path]:
    """Write table.md, results.json and, if answers are known, two figures over groups of finished runs; return them."""
    if not groups:
        raise CharmError(f"{out}: there is no finished run to compare")
    sweep(out, "*")
    rows = rows_of(groups)
    text = [[*rows[0]], ["---"] * len(rows[0]), *([*row.values()] for row in rows)]
    written = [out / "table.md", out / "results.json"]
    write_atomically(written[0], "".join(f"| {' | '.join(cells)} |\n" for cells in text))
    write_json(written[1], [run for runs in groups for run in runs])
    if series := tradeoff(groups):
        named = zip(labels_of(groups), groups, strict=True)
        hollow = [label for label, runs in named if runs[0]["method"] == "oracle"]  # without a single model in the end
        written.append(figures.save(figures.cl_tradeoff(series, hollow), out / "parameters.png"))
    if series := retained(groups):
        written.append(figures.save(figures.cl_retained(series), out / "retained.png"))
    return written


def labels_of(groups: Sequence[Runs]) -> list[str]:
    """Name each group; what all of them share is left out."""
    weights, settings = ({runs[0].get(name, "") for runs in groups} for name in ("halt_weight", "settings"))
    streams = {(runs[0].get("stream"), runs[0].get("source_sha256")) for runs in groups}
    labels = []
    for one, *_ in groups:
        scope = "" if one["method"] in ONE_SCOPE else f", {one['scope']}"
        weight = f", w_h={one['halt_weight']:g}" if len(weights) > 1 else ""
        own = f", {one['settings']}" if len(settings) > 1 and one.get("settings") else ""
        tasks = f", {Path(one['stream']).name} {(one.get('source_sha256') or '?')[:8]}" if len(streams) > 1 else ""
        labels.append(f"{one['memory']} {one['method']}{scope}{weight}{own}{tasks}")
    return labels


def _series(groups: Sequence[Runs], x: str, y: str, scale: float) -> Series:
    """Return the measure `y` in percent of each group over the mean of `x`, of runs that have both."""
    series = {}
    for label, runs in zip(labels_of(groups), groups, strict=True):
        if both := [run for run in runs if None not in (run[x], run[y])]:
            series[label] = [Point(scale * _mean(both, x), tuple(100 * run[y] for run in both))]
    return series


# Final accuracy in percent over updated parameters for each task; and on the base's puzzles over that on the stream.
tradeoff = partial(_series, x="updated_parameters", y="final pass@2", scale=1)
retention = partial(_series, x="final pass@2", y="base after", scale=100)


def retained(groups: Sequence[Runs]) -> Series:
    """Return accuracy in percent on the whole stream along it, at the stages that all seeds have."""
    curves = ([{stage: 100 * value for stage, value in run["retained"]} for run in runs] for runs in groups)
    found = zip(labels_of(groups), map(common_points, curves), strict=True)
    return {label: points for label, points in found if points}


def _values(runs: Runs, name: str) -> list[float]:
    return [run[name] for run in runs if run.get(name) is not None]


def _mean(runs: Runs, name: str) -> float:
    values = _values(runs, name)
    return mean(values) if values else 0.0


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=2) + "\n")
