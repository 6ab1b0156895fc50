"""The records of a stream run on disk; R, the measures and the summary follow from them. Needs no model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from charm.config import checked
from charm.continual.measures import MEASURES, Matrix, Stages, measures
from charm.continual.methods import METHODS
from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.files import check_files, read_sealed, write_sealed
from charm.training.adaptation import Recipe

StreamSummary = dict[str, Any]


def record_file(out: Path, kind: str, number: int) -> Path:
    """Return the file of a stage: "stages" and "rechecks" are records, "rows" are tensors."""
    return out / kind / f"{number:04d}{'.safetensors' if kind == 'rows' else '.json'}"


def check_records(out: Path, stages: int, rechecked: Iterable[int]) -> None:
    """Refuse to resume after these stages without their records: the models of those stages are gone."""
    needed = [record_file(out, "rechecks", number) for number in rechecked]
    for path in (*needed, *(record_file(out, "stages", number) for number in range(1, stages + 1))):
        if not path.is_file():
            problem = f"{path} is missing and cannot be made again, since the model has learned more tasks since"
            raise CharmError(f"{problem}; restore the file or start the stream again in another folder")
        listed = checked(dict[str, Any], read_sealed(path).get("files", {}), f"{path}.files")
        check_files(out, listed, listed)


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
        [read_sealed(path) for path in sorted((folder / kind).glob("*.json"))] for kind in ("stages", "rechecks")
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
    """Return R of the stream's tasks and of the base's own, from all that was asked.

    A method that updates rows alone leaves the answers to every other task unchanged to the bit, so what was not
    asked in between is known.
    """
    order, stages = found.order, len(found.order)
    own = list(found.rechecks[0]["accuracy"]["base"]) if found.rechecks else []
    learned = np.full(stages, stages) if found.options["method"] == "joint" else np.arange(1, stages + 1)
    stream = Asked(order, np.full((stages + 1, stages), np.nan), learned)
    base = Asked(own, np.full((stages + 1, len(own)), np.nan), np.zeros(len(own), np.int64))
    for stage in found.stages:
        number = stage["stage"]
        # What is not known is None in a record, and becomes NaN.
        stream.r[number - 1, number - 1] = stage.get("pass@2 before")
        stream.r[number, number - 1] = stage.get("pass@2")
    for recheck in found.rechecks:
        for name, asked in (("stream", stream), ("base", base)):
            asked.r[recheck["stage"]] = [recheck["accuracy"][name].get(task) for task in asked.tasks]
    if found.options["scope"] == "rows" and len(found.stages) == stages:
        for asked in (stream, base):
            for column, at in enumerate(asked.learned):
                for part in (asked.r[:at, column], asked.r[at:, column]):
                    part[np.isnan(part)] = part[0] if len(part) else np.nan
    return stream, base


def write_matrices(folder: Path) -> None:
    """Write R.json: R and `learned` of the stream and of the base's own tasks, and the measures."""
    with charm_errors(f"{folder}: a record of the stream is damaged", *ODD_VALUES):
        stream, base = matrices(read_records(folder))
    content = {}
    for name, (tasks, r, learned) in (("stream", stream), ("base", base)):
        known = [(str(stage), row.tolist()) for stage, row in enumerate(r) if not np.isnan(row).all()]
        rows = {stage: [None if np.isnan(value) else value for value in row] for stage, row in known}
        found = measures(r, learned)
        content[name] = {"tasks": tasks, "learned": learned.tolist(), "R": rows, "measures": found}
    write_sealed(folder / "R.json", content)


def summarize(folder: Path) -> StreamSummary:
    """Return the state of a stream run as one record; measures that do not exist (yet) are None."""
    with charm_errors(f"{folder}: a record of the stream is damaged", *ODD_VALUES):
        return _summary(read_records(folder))


def _summary(records: StreamRecords) -> StreamSummary:
    options, order, stages, rechecks = records.options, records.order, records.stages, records.rechecks

    def average(values: Iterable[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return mean(known) if known else None

    def metrics(recheck: int, of: str) -> dict[str, Any]:
        return rechecks[recheck][of] if rechecks else {}

    finished = len(stages) == len(order)
    # Jointly learned tasks share one set of shared weights, which is divided by their number.
    sharing = len(order) if options["method"] == "joint" else 1
    immediate = {k: average(one.get(k) for one in stages) for k in ("pass@1", "pass@2")}
    last = stages[-1] if stages else {"kept_bytes": 0, "distance": 0.0}
    summary: StreamSummary = {
        **{name: options[name] for name in ("method", "scope", "stream")},
        **{name: options["recipe"][name] for name in ("halt_weight", "seed")},
        "memory": memory_name(records.learned_from["base"]["model"]["memory"]),
        "settings": settings_of(options),
        "tasks": len(order),
        "stages": len(stages),
        "skipped": records.learned_from["skipped"],
        "updated_parameters": average(one["private_parameters"] + one["shared_parameters"] / sharing for one in stages),
        "bytes_per_task": average(4 * one["private_parameters"] for one in stages),
        **{name: last[name] for name in ("kept_bytes", "distance")},
        "token_loss": average(one["token_loss"] for one in stages),
        **{name: sum(one[name] for one in stages) for name in ("changed_values", "seconds")},
        "seconds_per_task": average(one["learning_seconds"] for one in stages),
        **{f"zero-shot {k}": metrics(0, "stream").get(k) for k in immediate},
        **{f"immediate {k}": value for k, value in immediate.items()},
        **{f"final {k}": None for k in immediate},
        "base before": metrics(0, "base").get("pass@2"),
        "base after": None,
        "retained": [[one["stage"], one["stream"]["pass@2"]] for one in rechecks if "pass@2" in one["stream"]],
        **dict.fromkeys([*MEASURES, *(f"base {name}" for name in MEASURES)]),
    }
    if options["method"] == "oracle":
        # No single model: each task's own counts for the tasks so far, and the others are wrong.
        every = options["recheck_every"]
        ends = [n for n in range(1, len(stages) + 1) if n % every == 0 or n == len(order)]
        summary["retained"] += [[n, sum(one["pass@2"] or 0 for one in stages[:n]) / len(order)] for n in ends]
        if finished:
            summary |= {f"final {k}": value for k, value in immediate.items()}
            summary["ACC"] = summary["final pass@2"]
    elif finished and rechecks and rechecks[-1]["stage"] == len(order):
        summary |= {f"final {k}": metrics(-1, "stream").get(k) for k in immediate}
        summary["base after"] = metrics(-1, "base").get("pass@2")
        stream, base = matrices(records)
        summary |= measures(stream.r, stream.learned)
        summary |= {f"base {name}": value for name, value in measures(base.r, base.learned).items()}
    return summary


def settings_of(options: Mapping[str, Any]) -> str:
    """Name the settings of a method that are its own or not the paper's: "buffer 10, shared_lr 0.001"."""
    own = METHODS[options["method"]].setting
    found = {own: options[own]} if options.get(own) is not None else {}
    names = ("task_lr", "row_lr", *(("shared_lr",) if options["scope"] != "rows" else ()), "rows")
    recipe = {name: options["recipe"].get(name, getattr(Recipe, name)) for name in names}
    found |= {name: value for name, value in recipe.items() if value != getattr(Recipe, name)}
    return ", ".join(f"{name} {value:g}" if name != "rows" else f"rows {value}" for name, value in found.items())


def memory_name(memory: Mapping[str, Any]) -> str:
    """Name a memory design in a few letters, as the paper's tables do."""
    if memory["design"] == "separate":
        return "separate tables"
    sizes = [f"r={memory['rank']}"] + ([f"t={memory['task_width']}"] if memory.get("task_width") else [])
    return f"{'CoSE' if memory['design'] == 'cose' else 'Table'} ({', '.join(sizes)})"
