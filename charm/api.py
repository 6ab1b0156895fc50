"""CHARM as a library: load a model, solve a task, train, evaluate. See docs/api.md."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

from charm import hub
from charm.config import is_number
from charm.devices import choose_device, place
from charm.domains import DOMAINS, domain_of, domain_of_preset
from charm.errors import CharmError
from charm.files import read_sealed
from charm.models.model import CharmModel
from charm.paths import model_at
from charm.runs.checkpoint import newest_checkpoint
from charm.solving.options import BUDGET, CPU_BUDGET, SolveOptions
from charm.solving.solution import Clock, Solution, improved
from charm.solving.solver import open_solver
from charm.tables import Table
from charm.tasks.sources import find_task
from charm.tasks.task import Task, task_from_json


class Evaluated(dict[str, Any]):
    """The scores of a run as `charm eval --json` prints them; a notebook shows them as tables."""

    def __init__(self, found: Mapping[str, Any], tables: tuple[Table, ...]) -> None:
        super().__init__(found)
        self.tables = tables

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.tables)


def load(model: str | Path | None = None, device: str = "auto", revision: str | None = None) -> CharmModel:
    """Load a trained model.

    Arguments:
        model: a run folder (its newest checkpoint), a saved model, "owner/name" on the Hugging Face hub, or None for
            the model that comes with CHARM.
        device: "cuda", "xpu", "mps", "cpu", or "auto" for the best available.
        revision: branch, tag or commit, for a model on the hub.
    """
    if model is not None and hub.is_hub_name(model):
        return CharmModel.from_pretrained(model, choose_device(device), revision)
    run = model_at(model)
    folder = newest_checkpoint(run)
    loaded = CharmModel.from_pretrained(folder, choose_device(device))
    if folder != run:
        loaded.trained_by = read_sealed(run / "config.json")
    return loaded


def solve(
    task: Task | Mapping[str, Any] | str | Path,
    model: CharmModel | str | Path | None = None,
    budget: float | None = None,
    device: str = "auto",
    **options: Any,
) -> Solution:
    """Answer the test inputs of a task within a time budget; test outputs are ignored.

    Arguments:
        task: a Task, the content of an ARC task file, the path of one, or the id of a public task.
        model: a loaded model, which is not changed, or anything that `load` accepts.
        budget: total time in seconds; None is 60, or 180 on a CPU.
        device: "cuda", "xpu", "mps", "cpu", or "auto" for the best available.
        options: other fields of `SolveOptions`, such as `views`, `steps`, `mode` or `seed`.
    """
    if isinstance(task, Mapping):
        task = task_from_json(dict(task), "task", "the task")
    elif not isinstance(task, Task):
        task = find_task(str(task))
    if budget is None:
        budget = CPU_BUDGET if choose_device(device).type == "cpu" else BUDGET
    if not is_number(budget) or budget <= 0:
        raise CharmError(f"budget must be a positive number of seconds, got {budget!r}")
    try:
        chosen = SolveOptions(budget, **options)
    except TypeError as error:
        raise CharmError(f"unknown option: {error}") from error
    found: list[Solution] = []

    def publish(answers: dict[str, Solution]) -> None:
        found.append(improved(found[-1] if found else None, *answers.values()))

    with tempfile.TemporaryDirectory() as folder, place(device) as here:
        solver = open_solver(_on_disk(model, Path(folder)), chosen, here)
        solver.work([task], Clock(budget), lambda used, text: None, publish)
    return found[-1]


def _on_disk(model: CharmModel | str | Path | None, folder: Path) -> Path:
    """The path of a model for solvers; a loaded one is saved to `folder` first, since solvers change their copy."""
    if isinstance(model, CharmModel):
        model.save(folder)
        return folder
    if model is not None and hub.is_hub_name(model):
        return hub.download(str(model))
    return model_at(model)


def preset(name: str) -> Any:
    """The configuration of a preset, to be changed with `dataclasses.replace` and given to `train`."""
    return domain_of_preset(name).configuration(name)


def train(
    config: Any,
    out: str | Path | None = None,
    resume: bool = False,
    say: Callable[[str], None] = print,
    **changes: Any,
) -> Path:
    """Train and return the run folder, which `load`, `solve` and `evaluate` accept.

    Arguments:
        config: the name of a preset, such as "quickstart", or a configuration (see `preset`).
        out: the run folder; by default "runs/NAME" for a preset.
        resume: continue from the newest intact checkpoint in the run folder.
        say: called with each line of progress.
        changes: fields of the configuration to change, such as `steps=100`.
    """
    if isinstance(config, str):
        out = Path("runs") / config if out is None else out
        config = preset(config)
    if not is_dataclass(config) or isinstance(config, type) or getattr(config, "domain", "") not in DOMAINS:
        raise CharmError(f"expected the name of a preset or a configuration, got {type(config).__name__}")
    if out is None:
        raise CharmError("name the run folder: train(config, out=...)")
    try:
        config = replace(config, **changes)
    except TypeError as error:
        raise CharmError(f"{type(config).__name__}: {error}") from error
    with place(config.device) as here:
        DOMAINS[config.domain].get("train")(config, Path(out), here, resume, say)
    return Path(out)


def evaluate(run: str | Path, device: str = "auto", **options: Any) -> Evaluated:
    """Score a run: make missing votes, rank all votes, write scores and a submission to the run folder.

    Arguments:
        run: a run folder.
        device: "cuda", "xpu", "mps", "cpu", or "auto" for the best available.
        options: the options of `charm eval`, such as `protocol="continual"`, `views=16`, `loops=(2,)`.
    """
    domain = domain_of(Path(run))
    try:
        chosen = domain.get("evaluate_options")(**options)
    except TypeError as error:
        raise CharmError(f"unknown option: {error}") from error
    with place(device) as here:
        found = domain.get("evaluate")(Path(run), chosen, here)
    if found is None:
        raise CharmError("scores are on the main process only")
    scores, *tables = found
    return Evaluated(scores, tuple(tables))
