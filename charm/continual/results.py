"""Results of stream runs: a summary of each, tables over several, and the two figures. Only reads run folders."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from charm.continual.measures import MEASURES, Matrix, Stages, measures
from charm.drawing import figures
from charm.drawing.figures import Point, Series, common_points
from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.files import read_sealed, sweep, write_atomically, write_sealed
from charm.tables import Table, spread_text
from charm.training.adaptation import Recipe

StreamSummary = dict[str, Any]


class StreamRecords(NamedTuple):
    """What a stream run has written so far."""

    options: dict[str, Any]
    learned_from: dict[str, Any]
    stages: list[dict[str, Any]]
    rechecks: list[dict[str, Any]]

    @property
    def order(self) -> list[str]:
        return list(self.learned_from["order"])


def read_records(folder: Path) -> StreamRecords:
    options, learned_from = (read_sealed(folder / name) for name in ("config.json", "data.json"))
    stages, rechecks = (
        [read_sealed(path) for path in sorted((folder / kind).glob("*.json"))]
        for kind in ("stages", "rechecks")
    )
    if [one["stage"] for one in stages] != list(range(1, len(stages) + 1)):
        raise CharmError(f"{folder / 'stages'}: the record of a stage is missing")
    return StreamRecords(options, learned_from, stages, rechecks)


class Asked(NamedTuple):
    """Accuracy on some tasks after every stage, as `charm.continual.measures` takes it."""

    tasks: list[str]
    r: Matrix
    learned: Stages


def matrices(found: StreamRecords) -> tuple[Asked, Asked]:
    """R of the stream's tasks and of the base's own, from all that was asked.

    A method that updates rows alone leaves the answers to every other task unchanged to the bit, so what was not
    asked in between is known.
    """
    order, stages = found.order, len(found.order)
    own = list(found.rechecks[0].get("accuracy", {}).get("base", {})) if found.rechecks else []
    learned = np.full(stages, stages) if found.options["method"] == "joint" else np.arange(1, stages + 1)
    stream = Asked(order, np.full((stages + 1, stages), np.nan), learned)
    base = Asked(own, np.full((stages + 1, len(own)), np.nan), np.zeros(len(own), np.int64))
    for stage in found.stages:
        number = stage["stage"]
        stream.r[number - 1, number - 1] = _number(stage.get("pass@2 before"))
        stream.r[number, number - 1] = _number(stage.get("pass@2"))
    for recheck in found.rechecks:
        for name, asked in (("stream", stream), ("base", base)):
            values = recheck.get("accuracy", {}).get(name)
            if values is not None:
                asked.r[recheck["stage"]] = [_number(values.get(task)) for task in asked.tasks]
    if found.options["scope"] == "rows" and len(found.stages) == stages:
        for asked in (stream, base):
            for column, at in enumerate(asked.learned):
                for part in (asked.r[:at, column], asked.r[at:, column]):
                    part[np.isnan(part)] = part[0] if len(part) else np.nan
    return stream, base


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def write_matrices(folder: Path) -> None:
    """R.npz and R.json: R and `learned` of the stream and of the base's own tasks, and the measures."""
    with charm_errors(f"{folder}: a record of the stream is damaged", *ODD_VALUES):
        parts = dict(zip(("stream", "base"), matrices(read_records(folder)), strict=True))
    arrays = {
        f"{name}_{field}": np.array(value)
        for name, asked in parts.items()
        for field, value in zip(("tasks", "R", "learned"), asked, strict=True)
    }
    write_atomically(folder / "R.npz", lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]
    content = {
        name: {
            "tasks": asked.tasks,
            "learned": asked.learned.tolist(),
            # After stages of which anything was asked.
            "R": {
                str(stage): [None if np.isnan(value) else value for value in row.tolist()]
                for stage, row in enumerate(asked.r)
                if not np.isnan(row).all()
            },
            "measures": measures(asked.r, asked.learned),
        }
        for name, asked in parts.items()
    }
    write_sealed(folder / "R.json", content)


def summarize(folder: Path) -> StreamSummary:
    """The state of a stream run as one record; measures that do not exist (yet) are None."""
    with charm_errors(f"{folder}: a record of the stream is damaged", *ODD_VALUES):
        return _summary(read_records(folder))


def _summary(records: StreamRecords) -> StreamSummary:
    options, order, stages, rechecks = records.options, records.order, records.stages, records.rechecks
    scored = [one for one in stages if one.get("pass@2") is not None]
    finished = len(stages) == len(order)
    # Jointly learned tasks share one set of shared weights, which is divided by their number.
    sharing = len(order) if options["method"] == "joint" else 1
    counts = [one["private_parameters"] + one["shared_parameters"] / sharing for one in stages]
    summary: StreamSummary = {
        "method": options["method"],
        "scope": options["scope"],
        "memory": memory_name(records.learned_from["base"]["model"]["memory"]),
        "halt_weight": options["recipe"]["halt_weight"],
        "settings": settings_of(options),
        "seed": options["recipe"]["seed"],
        "stream": options["stream"],
        "tasks": len(order),
        "stages": len(stages),
        "skipped": records.learned_from["skipped"],
        "updated_parameters": mean(counts) if counts else None,
        "bytes_per_task": 4 * mean(one["private_parameters"] for one in stages) if stages else None,
        "kept_bytes": stages[-1].get("kept_bytes", 0) if stages else 0,
        "token_loss": mean(one["token_loss"] for one in stages) if stages else None,
        "changed_values": sum(one["changed_values"] for one in stages),
        "distance": stages[-1]["distance"] if stages else 0.0,
        "seconds": sum(one["seconds"] for one in stages),
        "seconds_per_task": mean(one.get("learning_seconds", one["seconds"]) for one in stages)
        if stages
        else None,
    }
    for k in ("pass@1", "pass@2"):
        summary[f"zero-shot {k}"] = _metric(rechecks[:1], "stream", k)
        summary[f"immediate {k}"] = mean(one[k] for one in scored) if scored else None
        summary[f"final {k}"] = None
    summary["base before"] = _metric(rechecks[:1], "base", "pass@2")
    summary["base after"] = None
    asked = [one for one in rechecks if "pass@2" in one["stream"]]
    summary["retained"] = [[one["stage"], one["stream"]["pass@2"]] for one in asked]
    summary |= dict.fromkeys([*MEASURES, *(f"base {name}" for name in MEASURES)])
    if options["method"] == "oracle":
        # No single model: each task's own counts for the tasks so far, and the others are wrong.
        every = options["recheck_every"]
        ends = [n for n in range(1, len(stages) + 1) if n % every == 0 or n == len(order)]
        summary["retained"] += [[n, sum(one["pass@2"] or 0 for one in stages[:n]) / len(order)] for n in ends]
        if finished:
            summary |= {f"final {k}": summary[f"immediate {k}"] for k in ("pass@1", "pass@2")}
            summary["ACC"] = summary["final pass@2"]
    elif finished and rechecks and rechecks[-1]["stage"] == len(order):
        summary |= {f"final {k}": _metric(rechecks[-1:], "stream", k) for k in ("pass@1", "pass@2")}
        summary["base after"] = _metric(rechecks[-1:], "base", "pass@2")
        stream, base = matrices(records)
        summary |= measures(stream.r, stream.learned)
        summary |= {f"base {name}": value for name, value in measures(base.r, base.learned).items()}
    return summary


def settings_of(options: Mapping[str, Any]) -> str:
    """Settings of a method that are its own or not the paper's, in a few words: "buffer 10, shared_lr 0.001"."""
    own = {"replay": "buffer", "lora": "rank", "sparse": "units"}.get(options["method"], "")
    parts = [f"{own} {options[own]}"] if own in options else []
    if options.get("strength") is not None:
        parts.append(f"strength {options['strength']:g}")
    rates = {name: options["recipe"].get(name) for name in ("task_lr", "row_lr", "shared_lr")}
    parts += [
        f"{name} {rate:g}"
        for name, rate in rates.items()
        if rate not in (None, getattr(Recipe, name)) and (name != "shared_lr" or options["scope"] != "rows")
    ]
    if options["recipe"].get("rows", Recipe.rows) != Recipe.rows:
        parts.append(f"rows {options['recipe']['rows']}")
    return ", ".join(parts)


def memory_name(memory: dict[str, Any]) -> str:
    """A memory design in a few letters, as the paper's tables have it."""
    if memory["design"] == "separate":
        return "separate tables"
    sizes = [f"r={memory['rank']}"] + ([f"t={memory['task_width']}"] if memory.get("task_width") else [])
    return f"{'CoSE' if memory['design'] == 'cose' else 'Table'} ({', '.join(sizes)})"


def _metric(rechecks: Sequence[dict[str, Any]], of: str, name: str) -> float | None:
    return rechecks[0][of].get(name) if rechecks else None


# Several runs


SAME = ("stream", "tasks", "memory", "method", "scope", "halt_weight", "settings")  # but for the seed
ONE_SCOPE = ("memory-only", "oracle", "joint")  # methods whose name implies their scope
# In percent: the task right after it was learned, the measures, and what became of the base's own tasks.
COLUMNS = {
    "immediate pass@2": "Learned",
    **{name: name for name in MEASURES},
    **{f"base {name}": f"Base {name}" for name in ("before", "ACC", "forgetting", "WC-ACC")},
}


def gather(folder: Path) -> list[list[StreamSummary]]:
    """The finished runs in folders directly inside `folder`, in groups as `group` makes them."""
    return group([read_sealed(path) for path in sorted(folder.glob("*/result.json"))])


def group(found: Sequence[StreamSummary]) -> list[list[StreamSummary]]:
    """Summaries in groups that differ only in the seed, fewest parameters first."""
    groups: dict[tuple[Any, ...], list[StreamSummary]] = {}
    for one in found:
        key = tuple(one.get(name) for name in SAME)
        groups.setdefault(key, []).append(one)
    return sorted(
        groups.values(), key=lambda runs: (runs[0]["updated_parameters"], -_mean(runs, "final pass@2"))
    )


def rows_of(groups: Sequence[Sequence[StreamSummary]]) -> list[list[str]]:
    """The cells of the table, a header first."""
    header = [
        *("Memory", "Method", "Scope", "Settings", "w_h"),
        *("Params/task", "Bytes/task", "Kept bytes", "Seconds/task"),
        *COLUMNS.values(),
        *("Changed values", "Tasks", "Seeds"),
    ]
    rows = [header]
    for runs in groups:
        one, changed = runs[0], sum(run["changed_values"] for run in runs)
        sizes = (_mean(runs, name) for name in ("updated_parameters", "bytes_per_task", "kept_bytes"))
        about = [one["memory"], one["method"], one["scope"], one.get("settings", "")]
        costs = [*map(short_count, sizes), f"{_mean(runs, 'seconds_per_task'):.2f}"]
        scores = [spread(runs, name) for name in COLUMNS]
        counts = [f"{changed:,}", str(one["tasks"]), str(len(runs))]
        rows.append([*about, f"{one['halt_weight']:g}", *costs, *scores, *counts])
    return rows


def spread(runs: Sequence[StreamSummary], name: str) -> str:
    """Mean and sample standard deviation in percent."""
    return spread_text([100 * run[name] for run in runs if run.get(name) is not None])


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
        names = ("ACC", "BWT", "forgetting", "base before", "base ACC")
        count = short_count(_mean(runs, "updated_parameters"))
        means = (spread(runs, name).partition(" ")[0] for name in names)
        rows.append([one["memory"], method, count, *means])
    columns = ["Memory", "Method", "Params", "ACC", "BWT", "Forg.", "Base", "after"]
    caption = (
        "method, scope, halting weight; parameters updated per task;\n"
        "means of pass@2 in percent; base: the model's own puzzles; more in table.md"
    )
    return Table(columns, rows, title, caption, narrow=True)


def write_results(groups: Sequence[Sequence[StreamSummary]], out: Path) -> list[Path]:
    """table.md, results.json and the two figures over groups of finished runs; returns what was written.

    Where nothing was scored, since the tasks came without answers, there is nothing to draw.
    """
    if not groups:
        raise CharmError(f"{out}: there is no finished run to compare")
    sweep(out, "*")
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
    settings = {runs[0].get("settings", "") for runs in groups}
    labels = []
    for runs in groups:
        one = runs[0]
        scope = "" if one["method"] in ONE_SCOPE else f", {one['scope']}"
        weight = f", w_h={one['halt_weight']:g}" if len(weights) > 1 else ""
        own = f", {one['settings']}" if len(settings) > 1 and one.get("settings") else ""
        labels.append(f"{one['memory']} {one['method']}{scope}{weight}{own}")
    return labels


def hollow_labels(groups: Sequence[Sequence[StreamSummary]]) -> list[str]:
    """The names of groups without a single model in the end."""
    named = zip(labels_of(groups), groups, strict=True)
    return [label for label, runs in named if runs[0]["method"] == "oracle"]


def tradeoff(groups: Sequence[Sequence[StreamSummary]]) -> Series:
    """Final accuracy in percent over updated parameters for each task, of the groups that have one."""
    series = {}
    for label, runs in zip(labels_of(groups), groups, strict=True):
        values = tuple(100 * run["final pass@2"] for run in runs if run["final pass@2"] is not None)
        if values:
            series[label] = [Point(_mean(runs, "updated_parameters"), values)]
    return series


def retention(groups: Sequence[Sequence[StreamSummary]]) -> Series:
    """Final accuracy in percent on the base's own puzzles over that on the stream, of the groups that have both."""
    series = {}
    for label, runs in zip(labels_of(groups), groups, strict=True):
        both = [run for run in runs if run["final pass@2"] is not None and run["base after"] is not None]
        if both:
            values = tuple(100 * run["base after"] for run in both)
            series[label] = [Point(100 * _mean(both, "final pass@2"), values)]
    return series


def retained(groups: Sequence[Sequence[StreamSummary]]) -> Series:
    """Accuracy in percent on the whole stream along it, at the stages that all seeds have."""
    series = {}
    for label, runs in zip(labels_of(groups), groups, strict=True):
        curves = [{stage: 100 * value for stage, value in run["retained"]} for run in runs]
        if points := common_points(curves):
            series[label] = points
    return series


def _mean(runs: Sequence[StreamSummary], name: str) -> float:
    values = [run[name] for run in runs if run.get(name) is not None]
    return mean(values) if values else 0.0


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=2) + "\n")
