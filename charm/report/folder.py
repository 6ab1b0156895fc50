"""Read a run folder's evaluations and parameters. Nothing here writes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from charm.accounting import Accounting, account
from charm.config import is_number
from charm.errors import CharmError
from charm.files import read_sealed
from charm.model import check_saved
from charm.runs.archive import own_evaluation
from charm.runs.checkpoint import folder_of, steps_of
from charm.runs.settings import read_config
from charm.tasks.instances import Instances

JsonObject = dict[str, Any]


# Evaluations


def evaluations(run: Path) -> dict[str, JsonObject]:
    """eval/NAME.json of a run on ARC's tasks, by name; without those made during training, which the curve shows."""
    names = sorted(path.name.removesuffix(".json") for path in (run / "eval").glob("*.json"))
    wanted = [name for name in names if not name.endswith(".submission") and not name.startswith("step_")]
    return {name: own_evaluation(run, evaluation(run / "eval" / f"{name}.json"), name) for name in wanted}


def blank(run: Path) -> JsonObject | None:
    """The scores with the memory zeroed; None if they were not computed."""
    path = run / "eval" / "blank.json"
    return own_evaluation(run, evaluation(path), "blank") if path.is_file() else None


def evaluation(path: Path) -> JsonObject:
    found = read_sealed(path)
    good = (
        isinstance(found, dict)
        and isinstance(found.get("metrics"), dict)
        and all(map(is_number, found["metrics"].values()))
        and all(isinstance(found.get(name), int) for name in ("step", "puzzles"))
    )
    if not good:
        raise CharmError(f"{path}: not an evaluation (metrics, step or number of puzzles is missing)")
    return found


def scored_steps(run: Path) -> dict[int, JsonObject]:
    """eval/step_N.json by step: the evaluations made during training of a run on ARC's tasks."""
    paths = sorted((run / "eval").glob("step_*.json"))
    found = [
        own_evaluation(run, evaluation(path), path.stem)
        for path in paths
        if not path.name.endswith(".submission.json")
    ]
    return {one["step"]: one for one in found}


def find_evaluation(run: Path) -> JsonObject | None:
    """The evaluation of the newest step, or None. Of several, the standard protocol's, else the one with most views."""
    others = {name: one for name, one in evaluations(run).items() if name not in ("blank", "tasks")}
    named = [*(("", one) for one in scored_steps(run).values()), *others.items()]

    def order(entry: tuple[str, JsonObject]) -> tuple[int, bool, float]:
        name, one = entry
        views = one.get("protocol", {}).get("views", "all")
        return one["step"], name == "standard", views if is_number(views) else math.inf

    return max(named, key=order)[1] if named else None


def newest_evaluation(run: Path) -> JsonObject:
    """Like `find_evaluation`, but raise if there is none."""
    found = find_evaluation(run)
    if found is None:
        raise CharmError(f"{run}: the run has no evaluation yet; run `charm eval {run}` first")
    return found


def headline(run: Path) -> JsonObject | None:
    """Step and pass@k of the newest evaluation of a run on ARC's tasks; None if there is none."""
    found = find_evaluation(run)
    if found is None:
        return None
    scores = {name: found["metrics"][name] for name in ("pass@1", "pass@2") if name in found["metrics"]}
    return {"step": found["step"], "scores": scores}


# Parameters


@dataclass(frozen=True)
class CheckpointSizes:
    """Parameter counts of a checkpoint, from the header of its weights."""

    dense: int
    shared: int  # the memory without its instance rows
    rows: int
    row_values: int

    @property
    def memory(self) -> int:
        return self.shared + self.row_values


def sizes(run: Path) -> CheckpointSizes | None:
    """Parameter counts of the newest checkpoint; None if there is none."""
    steps = steps_of(run)
    if not steps:
        return None
    path = folder_of(run, steps[-1]) / "model.safetensors"
    check_saved(path.parent, path.name)
    dense = shared = rows = row_values = 0
    try:
        with safe_open(path, "np") as file:
            for name in file.keys():  # noqa: SIM118  (the file is no mapping)
                weights = file.get_slice(name)
                shape, count = weights.get_shape(), math.prod(weights.get_shape())
                if not weights.get_dtype().startswith(("F", "BF")):
                    continue  # a constant, not a weight
                if name.startswith(("memory.residual.rows.", "memory.residual.tables.")):
                    rows, row_values = rows + shape[0], row_values + count
                elif name.startswith("memory."):
                    shared += count
                else:
                    dense += count
    except (OSError, SafetensorError) as error:
        raise CharmError(f"{path}: not readable ({error})") from error
    return CheckpointSizes(dense, shared, rows, row_values)


def accounting(run: Path) -> Accounting | None:
    """Parameters by component of the newest checkpoint of a run on ARC's tasks; None if there is none."""
    known = instances(run)
    return None if known is None else account(read_config(run).model, len(known.puzzles), len(known))


def instances(run: Path) -> Instances | None:
    """The puzzle and view of every memory row of the newest checkpoint; None if there is none."""
    steps = steps_of(run)
    if not steps:
        return None
    path = folder_of(run, steps[-1]) / "instances.npz"
    check_saved(path.parent, path.name)
    return Instances.load(path) if path.is_file() else None
