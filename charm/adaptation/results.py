"""What stream runs found: a summary of each, tables over several, and the two figures. Reads run folders only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from charm.drawing import figures
from charm.drawing.figures import Point, Series
from charm.errors import CharmError
from charm.files import read_sealed, write_atomically
from charm.tables import Table

StreamSummary = dict[str, Any]


def summarize(folder: Path) -> StreamSummary:
    """The state of a stream run as one record; measures that do not exist (yet) are None."""
    options, learned_from = (read_sealed(folder / name) for name in ("config.json", "data.json"))
    order = learned_from["order"]
    stages = [read_sealed(path) for path in sorted((folder / "stages").glob("*.json"))]
    rechecks = [read_sealed(path) for path in sorted((folder / "rechecks").glob("*.json"))]
    if [one["stage"] for one in stages] != list(range(1, len(stages) + 1)):
        raise CharmError(f"{folder / 'stages'}: the record of a stage is missing")
    scored = [one for one in stages if one.get("pass@2") is not None]
    finished = len(stages) == len(order)
    # Jointly learned tasks share one set of shared weights, which is divided by their number.
    sharing = len(order) if options["method"] == "joint" else 1
    counts = [one["private_parameters"] + one["shared_parameters"] / sharing for one in stages]
    summary: StreamSummary = {
        "method": options["method"],
        "scope": options["scope"],
        "memory": memory_name(learned_from["base"]["model"]["memory"]),
        "halt_weight": options["recipe"]["halt_weight"],
        "seed": options["recipe"]["seed"],
        "stream": options["stream"],
        "tasks": len(order),
        "stages": len(stages),
        "skipped": learned_from["skipped"],
        "updated_parameters": mean(counts) if counts else None,
        "token_loss": mean(one["token_loss"] for one in stages) if stages else None,
        "changed_values": sum(one["changed_values"] for one in stages),
        "distance": stages[-1]["distance"] if stages else 0.0,
        "seconds": sum(one["seconds"] for one in stages),
    }
    for k in ("pass@1", "pass@2"):
        summary[f"zero-shot {k}"] = _metric(rechecks[:1], "stream", k)
        summary[f"immediate {k}"] = mean(one[k] for one in scored) if scored else None
        summary[f"final {k}"] = None
    summary["base before"] = _metric(rechecks[:1], "base", "pass@2")
    summary["base after"] = None
    summary["retained"] = [
        [one["stage"], one["stream"]["pass@2"]] for one in rechecks if "pass@2" in one["stream"]
    ]
    if options["method"] == "oracle":
        # No single model: each task's own counts for the tasks so far, and the others are wrong.
        every = options["recheck_every"]
        ends = [n for n in range(1, len(stages) + 1) if n % every == 0 or n == len(order)]
        summary["retained"] += [[n, sum(one["pass@2"] or 0 for one in stages[:n]) / len(order)] for n in ends]
        if finished:
            summary |= {f"final {k}": summary[f"immediate {k}"] for k in ("pass@1", "pass@2")}
    elif finished and rechecks and rechecks[-1]["stage"] == len(order):
        summary |= {f"final {k}": _metric(rechecks[-1:], "stream", k) for k in ("pass@1", "pass@2")}
        summary["base after"] = _metric(rechecks[-1:], "base", "pass@2")
    return summary


def memory_name(memory: dict[str, Any]) -> str:
    """A memory design in a few letters, as the paper's tables have it."""
    if memory["design"] == "separate":
        return "separate tables"
    sizes = [f"r={memory['rank']}"] + ([f"t={memory['task_width']}"] if memory.get("task_width") else [])
    return f"{'CoSE' if memory['design'] == 'cose' else 'Table'} ({', '.join(sizes)})"


def _metric(rechecks: Sequence[dict[str, Any]], of: str, name: str) -> float | None:
    return rechecks[0][of].get(name) if rechecks else None


# Several runs


ONE_SCOPE = ("memory-only", "oracle", "joint")  # methods whose name tells their scope
COLUMNS = {
    "immediate pass@2": "Immediate",
    "final pass@1": "Final p@1",
    "final pass@2": "Final p@2",
    "base before": "Base before",
    "base after": "Base after",
}


def gather(folders: Sequence[Path]) -> list[list[StreamSummary]]:
    """Finished runs in groups that differ in the seed alone, fewest parameters first."""
    return group([read_sealed(folder / "result.json") for folder in folders])


def group(found: Sequence[StreamSummary]) -> list[list[StreamSummary]]:
    """Summaries in groups that differ in the seed alone, fewest parameters first."""
    groups: dict[tuple[Any, ...], list[StreamSummary]] = {}
    for one in found:
        key = tuple(one[name] for name in ("stream", "tasks", "memory", "method", "scope", "halt_weight"))
        groups.setdefault(key, []).append(one)
    return sorted(
        groups.values(), key=lambda runs: (runs[0]["updated_parameters"], -_mean(runs, "final pass@2"))
    )


def runs_in(folder: Path) -> list[Path]:
    """Folders of finished runs directly inside `folder`."""
    return sorted(path.parent for path in folder.glob("*/result.json"))


def rows_of(groups: Sequence[Sequence[StreamSummary]]) -> list[list[str]]:
    """The cells of the table, a header first."""
    header = [
        "Memory",
        "Method",
        "Scope",
        "w_h",
        "Params/task",
        *COLUMNS.values(),
        "Changed values",
        "Tasks",
        "Seeds",
    ]
    lines = [header]
    for runs in groups:
        one = runs[0]
        changed = sum(run["changed_values"] for run in runs)
        lines.append(
            [
                *(one["memory"], one["method"], one["scope"], f"{one['halt_weight']:g}"),
                short_count(_mean(runs, "updated_parameters")),
                *(spread(runs, name) for name in COLUMNS),
                *(f"{changed:,}", str(one["tasks"]), str(len(runs))),
            ]
        )
    return lines


def spread(runs: Sequence[StreamSummary], name: str) -> str:
    """Mean and sample standard deviation in percent."""
    values = [100 * run[name] for run in runs if run[name] is not None]
    if not values:
        return "-"
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


def short_count(count: float) -> str:
    """As the paper prints counts: 512, 31.76k, 14.765M."""
    if count >= 1e6:
        return f"{count / 1e6:.3f}M"
    return f"{count / 1e3:.2f}k" if count >= 1e3 else f"{count:g}"


def results_table(groups: Sequence[Sequence[StreamSummary]]) -> Table:
    """The table to look at in a terminal of 80 columns: the means of the written one."""
    first = groups[0][0]
    title = f"{first['tasks']} unseen tasks of {Path(first['stream']).name}"
    rows = []
    for runs in groups:
        one = runs[0]
        scope = "" if one["method"] in ONE_SCOPE else f" {one['scope']}"
        method = f"{one['method']}{scope}, {one['halt_weight']:g}"
        names = ("immediate pass@2", "final pass@2", "base before", "base after")
        count = short_count(_mean(runs, "updated_parameters"))
        means = (spread(runs, name).partition(" ")[0] for name in names)
        rows.append([one["memory"], method, count, *means])
    columns = ["Memory", "Method", "Params", "Immed.", "Final", "Base", "after"]
    caption = (
        "method, scope, halting weight; parameters updated per task;\n"
        "mean pass@2 in percent; base: the model's own puzzles"
    )
    return Table(columns, rows, title, caption, narrow=True)


def write_results(folders: Sequence[Path], out: Path) -> list[Path]:
    """table.md, results.json and the two figures over finished runs; returns what was written.

    Where nothing was scored, since the tasks came without answers, there is nothing to draw.
    """
    groups = gather(folders)
    if not groups:
        raise CharmError(f"{out}: there is no finished run to compare")
    header, *lines = rows_of(groups)
    text = [header, ["---"] * len(header), *lines]
    written = [out / "table.md", out / "results.json"]
    write_atomically(written[0], "".join(f"| {' | '.join(cells)} |\n" for cells in text))
    write_json(written[1], [run for runs in groups for run in runs])
    if series := tradeoff(groups):
        written.append(out / "parameters.png")
        figures.save(figures.cl_tradeoff(series, hollow_labels(groups)), written[-1])
    if series := retained(groups):
        written.append(out / "retained.png")
        figures.save(figures.cl_retained(series), written[-1])
    return written


def labels_of(groups: Sequence[Sequence[StreamSummary]]) -> list[str]:
    """A name for each group; what all of them share is left out."""
    weights = {runs[0]["halt_weight"] for runs in groups}
    labels = []
    for runs in groups:
        one = runs[0]
        scope = "" if one["method"] in ONE_SCOPE else f", {one['scope']}"
        weight = f", w_h={one['halt_weight']:g}" if len(weights) > 1 else ""
        labels.append(f"{one['memory']} {one['method']}{scope}{weight}")
    return labels


def hollow_labels(groups: Sequence[Sequence[StreamSummary]]) -> list[str]:
    """The names of groups without a single model in the end."""
    return [
        label for label, runs in zip(labels_of(groups), groups, strict=True) if runs[0]["method"] == "oracle"
    ]


def tradeoff(groups: Sequence[Sequence[StreamSummary]]) -> Series:
    """Final accuracy in percent over updated parameters for each task, of the groups that have one."""
    series = {}
    for label, runs in zip(labels_of(groups), groups, strict=True):
        values = tuple(100 * run["final pass@2"] for run in runs if run["final pass@2"] is not None)
        if values:
            series[label] = [Point(_mean(runs, "updated_parameters"), values)]
    return series


def retained(groups: Sequence[Sequence[StreamSummary]]) -> Series:
    """Accuracy in percent on the whole stream along it, at the stages that all seeds have."""
    series = {}
    for label, runs in zip(labels_of(groups), groups, strict=True):
        curves = [{stage: 100 * value for stage, value in run["retained"]} for run in runs]
        stages = sorted(set.intersection(*(set(curve) for curve in curves)))
        if stages:
            series[label] = [Point(stage, tuple(curve[stage] for curve in curves)) for stage in stages]
    return series


def _mean(runs: Sequence[StreamSummary], name: str) -> float:
    values = [run[name] for run in runs if run[name] is not None]
    return mean(values) if values else 0.0


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=2) + "\n")
