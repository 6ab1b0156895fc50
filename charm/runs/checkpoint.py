"""Checkpoints: written whole or not at all, checked when read.

    step_N/ config.json, model.safetensors, instances.npz   the model to evaluate: averaged weights, current rows
            raw.safetensors                                  dense weights before averaging
            optimizers.safetensors                           moments and step counts
            slots_<rank>.safetensors                         carried states, current examples, data position
            checkpoint.json                                  step, unfinished metrics, size and hash of every file;
                                                             "stop" if a signal asked for it, not the schedule

There is no state of random generators to save: all randomness is keyed by seed and position.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import Optimizer

from charm.config import checked
from charm.devices import Place, require_finite
from charm.errors import CharmError, charm_errors
from charm.files import RECORD, check_files, fingerprint, read_sealed, readable_like_its_folder, remove, seal


def folder_of(run: Path, step: int) -> Path:
    return run / "checkpoints" / f"step_{step:09d}"


def by_step(folder: Path, ending: str = "", name: str = "step") -> dict[int, Path]:
    """List the files or folders named step_N and the ending, by N, lowest first."""
    form = re.compile(rf"{name}_(\d+){re.escape(ending)}")
    found = ((form.fullmatch(path.name), path) for path in folder.glob(f"{name}_*"))
    return dict(sorted((int(number[1]), path) for number, path in found if number))


def steps_of(run: Path) -> list[int]:
    """List the steps of all checkpoints, oldest first; half-written ones do not count."""
    if run.is_file():
        raise CharmError(f"{run} must be a run folder, got a file")
    return list(by_step(run / "checkpoints"))


def saved_model(run: Path) -> Path | None:
    """Find the newest checkpoint of a run, or the folder itself if it is a saved model; None if there is none yet."""
    if (run / "model.safetensors").is_file():
        return run
    steps = steps_of(run)
    return folder_of(run, steps[-1]) if steps else None


def run_of(run: Path) -> str:
    """Read the name (`run_name`) of the run that trained the newest checkpoint; empty if no readable one has it."""
    records = (_record(folder_of(run, step)) for step in reversed(steps_of(run)))
    return next((str(record.get("run", "")) for record in records if record), "")


def _record(folder: Path) -> dict[str, Any]:
    """Read the record of a checkpoint; an empty one if that is not readable."""
    with suppress(CharmError):
        return read_sealed(folder / RECORD)
    return {}


def newest_checkpoint(run: Path) -> Path:
    """Find the saved model of a run; raise if there is none."""
    found = saved_model(run)
    if found is None:
        why = "" if run.exists() else ": no such folder"
        raise CharmError(f"{run} is neither a saved model nor a run with a checkpoint{why}")
    return found


def storable(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors in the form that safetensors needs."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    require_finite(tensors)
    save_file(storable(tensors), path)
    readable_like_its_folder(path)


@contextmanager
def new_checkpoint(run: Path, step: int, place: Place, record: dict[str, Any]) -> Iterator[Path]:
    """Yield a temporary folder that becomes a checkpoint with this record once every process has written its files."""
    final = folder_of(run, step)
    path = final.with_name(final.name + ".tmp")
    if place.is_main:
        remove(path)
        with charm_errors(f"{path} cannot be created", OSError):
            path.mkdir(parents=True)  # fails if a link has appeared there: it could name any folder
    place.barrier()
    try:
        yield path
        place.barrier()
        if place.is_main:
            _commit(path, final, record)
    except (OSError, SafetensorError, CharmError) as error:
        shutil.rmtree(path, ignore_errors=True)
        problem = f"the checkpoint of step {step} could not be written ({error})"
        raise CharmError(f"{problem}; earlier ones are intact") from error


def _commit(path: Path, final: Path, record: dict[str, Any]) -> None:
    files = sorted(file for file in path.iterdir() if file.name != RECORD)
    record = seal({**record, "files": {file.name: fingerprint(file) for file in files}})
    (path / RECORD).write_text(json.dumps(record, indent=2) + "\n")
    for file in [*files, path / RECORD]:
        _sync(file)
    if final.exists():  # a run resumed from before this step writes it again
        _remove(final)
    os.replace(path, final)
    _sync(final.parent)
    _whole.add(final.resolve())


def last_good(run: Path, say: Callable[[str], None]) -> tuple[int, dict[str, Any]] | None:
    """Find the newest intact checkpoint and its record; damaged ones are reported and skipped."""
    for step in reversed(steps_of(run)):
        try:
            return step, verify(folder_of(run, step))
        except CharmError as error:
            say(f"skipped: {error}")
    return None


def verify(folder: Path) -> dict[str, Any]:
    """Read the record of a checkpoint after checking every file it lists."""
    _whole.discard(folder.resolve())
    with charm_errors(f"checkpoint {folder} has no readable {RECORD}", CharmError):
        record = read_sealed(folder / RECORD)
        step, listed = checked(int, record.get("step"), "step"), checked(dict[str, Any], record.get("files"), "files")
    if folder_of(folder.parents[1], step) != folder:
        raise CharmError(f"checkpoint {folder} is of step {step}, which does not match its name")
    check_files(folder, listed, listed)
    _whole.add(folder.resolve())
    return record


def read_tensors(path: Path, device: torch.device | str = "cpu") -> dict[str, Tensor]:
    with charm_errors(f"{path}: not readable", OSError, SafetensorError):
        return load_file(path, device=str(device))


def prune(run: Path, keep: int, step: int) -> None:
    """Keep the newest `keep` intact checkpoints up to `step`, which was just written; 0 keeps all.

    A damaged checkpoint does not count as one: it is renamed to step_N.damaged. Checkpoints later than `step` are
    damaged, or the run would have resumed from them. Nor does the checkpoint of a stop count: a later one replaces it,
    and its votes go with it, so that a run which was stopped and resumed has the votes of one that was not.
    """
    kept = 0
    for one in reversed(steps_of(run)):
        folder = folder_of(run, one)
        stop = bool(_record(folder).get("stop"))
        if stop and one < step:
            for votes in run.glob(f"votes*/step_{one}"):
                remove(votes)
            _remove(folder)
        elif one <= step and keep and kept == keep:
            _remove(folder)
        elif one > step or (keep and not _is_whole(folder)):
            aside = folder.with_name(f"{folder.name}.damaged")
            remove(aside)
            os.replace(folder, aside)
        elif not stop:
            kept += 1


def clean(run: Path) -> None:
    """Remove leftovers of checkpoints that were being written or removed when a process was killed."""
    for ending in ("tmp", "removed"):
        for folder in (run / "checkpoints").glob(f"step_*.{ending}"):
            remove(folder)


# Checkpoints that this process wrote or has verified: hashing hundreds of megabytes at every save would take seconds.
_whole: set[Path] = set()


def _is_whole(folder: Path) -> bool:
    if folder.resolve() not in _whole:
        with suppress(CharmError):
            verify(folder)
    return folder.resolve() in _whole


def _remove(folder: Path) -> None:
    """Rename first, so that a kill leaves no partial checkpoint under a checkpoint's name."""
    removed = folder.with_name(f"{folder.name}.removed")
    remove(removed)
    os.replace(folder, removed)
    remove(removed)
    _whole.discard(folder.resolve())


def optimizer_tensors(optimizers: list[Optimizer]) -> dict[str, Tensor]:
    """Return the state of optimizers as named tensors; learning rates are not state here, the step decides them."""
    tensors = {}
    for number, optimizer in enumerate(optimizers):
        for parameter, state in optimizer.state_dict()["state"].items():
            for name, value in state.items():
                tensors[f"{number}/{parameter}/{name}"] = torch.as_tensor(value)
    return tensors


def restore_optimizers(optimizers: list[Optimizer], tensors: dict[str, Tensor]) -> None:
    states: list[dict[int, dict[str, Tensor]]] = [{} for _ in optimizers]
    for key, tensor in tensors.items():
        number, parameter, name = key.split("/")
        states[int(number)].setdefault(int(parameter), {})[name] = tensor
    for optimizer, state in zip(optimizers, states, strict=True):
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def _sync(path: Path) -> None:
    """Flush to disk: after a power failure, a renamed checkpoint must be complete."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
