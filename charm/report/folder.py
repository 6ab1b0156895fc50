"""Read a run folder's evaluations and parameters. Nothing here writes."""

import math
from pathlib import Path
from typing import Any, TypedDict

from charm.accounting import Accounting, account
from charm.config import checked, is_number
from charm.errors import CharmError, charm_errors
from charm.evaluation.protocols import protocol_text, stored_protocol
from charm.files import read_sealed
from charm.models.model import check_saved
from charm.runs.archive import own_evaluation
from charm.runs.checkpoint import saved_model
from charm.runs.settings import read_config
from charm.tasks.instances import Instances

JsonObject = dict[str, Any]


class _Evaluation(TypedDict):
    metrics: dict[str, float]
    step: int
    puzzles: int


def evaluation(run: Path, name: str) -> JsonObject:
    path = run / "eval" / f"{name}.json"
    with charm_errors(f"{path}: not an evaluation", CharmError):
        found: JsonObject = checked(_Evaluation, read_sealed(path), name)
    return own_evaluation(run, found, name)


def evaluations(run: Path, in_training: bool = False) -> dict[str, JsonObject]:
    """Return all evaluations by name: those made later, or those made during training, which the curve shows."""
    names = sorted(path.stem for path in (run / "eval").glob("*.json"))
    wanted = [name for name in names if name.startswith("step_") == in_training]
    return {name: evaluation(run, name) for name in wanted if not name.endswith(".submission")}


def find_evaluation(run: Path) -> JsonObject | None:
    """Return the evaluation of the newest step, or None; of several the standard one, else the one with most views."""
    named = evaluations(run, in_training=True) | evaluations(run)

    def order(name: str) -> tuple[int, bool, float]:
        views = named[name].get("protocol", {}).get("views", "all")
        return named[name]["step"], name == "standard", views if is_number(views) else math.inf

    newest = max((name for name in named if name not in ("blank", "tasks", "blank_tasks")), key=order, default=None)
    return None if newest is None else named[newest]


def headline(run: Path) -> JsonObject | None:
    """Return step, pass@k and protocol of the newest evaluation of a run on ARC's tasks; None if there is none."""
    found = find_evaluation(run)
    if found is None:
        return None
    scores = {name: found["metrics"][name] for name in ("pass@1", "pass@2") if name in found["metrics"]}
    return {"step": found["step"], "scores": scores, "protocol": protocol_of(found)}


def protocol_of(found: JsonObject) -> str:
    """Return the protocol of an evaluation in words; "" where the record has none."""
    return protocol_text(stored_protocol(found, "an evaluation")) if "protocol" in found else ""


def accounting(run: Path) -> Accounting | None:
    """Count the parameters by component of the newest checkpoint of a run on ARC's tasks; None if there is none."""
    known = instances(run)
    return None if known is None else account(read_config(run).model, len(known.puzzles), len(known))


def instances(run: Path) -> Instances | None:
    """Return the puzzle and view of every memory row of the newest checkpoint; None if there is none."""
    saved = saved_model(run)
    if saved is None:
        return None
    check_saved(saved, "model.safetensors", "instances.npz")
    path = saved / "instances.npz"
    return Instances.load(path) if path.is_file() else None
