"""The folder of a run: what may be started or resumed there, and who may write to it."""

import hashlib
import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from charm.config import read_run_config, read_settings, to_json
from charm.devices import Place
from charm.errors import CharmError, charm_errors
from charm.files import lock_folder, read_sealed, sweep, write_sealed
from charm.progress import say
from charm.runs.checkpoint import clean, steps_of
from charm.runs.config import EngineConfig
from charm.version import __version__

# Folders of results of a run's models.
RESULTS = ("votes", "votes_blank", "votes_tasks", "votes_blank_tasks", "eval")


def check_run(out: Path, config: EngineConfig, resume: bool) -> None:
    """Refuse to start in a folder with a run, and to resume without one or with different settings.

    `config.free` names fields that may change, such as "steps" or "data.data".
    """
    existing = steps_of(out)
    require_run(out)
    if existing and not resume:
        raise CharmError(f"{out} already contains a run at step {existing[-1]}; use --resume to continue it")
    results = [name for name in RESULTS if _written(out / name)]
    if results and not existing:
        raise CharmError(
            f"{out} has {' and '.join(results)} of an earlier run but no checkpoint; use another folder, or --restart, "
            f"which erases that run"
        )
    if not resume:
        return
    if not (out / "config.json").is_file():
        raise CharmError(f"{out} contains no run to resume")
    if existing and existing[-1] > config.steps:
        raise CharmError(f"{out} is at step {existing[-1]}; steps must be >= that, got {config.steps}")
    before, after = (_without(one, config.free) for one in (read_run_config(out, type(config)), config))
    if changes := differences_text(before, after):
        raise CharmError(f"{out} was started with different settings ({changes}); use the same ones")


def require_run(out: Path) -> None:
    """Refuse a folder with files that no run has written: they could be overwritten."""
    if not out.is_dir():
        return
    # `charm reproduce` begins with a log, and another process of this run may be writing its settings just now.
    own = {".lock", "log.txt"}
    foreign = [path for path in out.iterdir() if path.name not in own and path.suffix != ".tmp"]
    settings: dict[str, Any] = {}
    with suppress(CharmError):
        settings = read_settings(out)
    if foreign and not {"steps", "seed"} <= settings.keys():
        raise CharmError(f"{out} is not empty and has no config.json of a run; choose another folder")


def run_name(config: EngineConfig, data: str) -> str:
    """Name a run: a hash of its settings, except `free` ones, and of its data."""
    text = json.dumps([_without(config, config.free), data], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def clear_run(out: Path, place: Place, say: Callable[[str], None]) -> None:
    """Erase the run in a folder, so that another can start there.

    The settings stay, which show that the folder is a run's, and so do the results of `charm adapt` and the files of
    others.
    """
    require_run(out)
    if place.is_main and (out / "config.json").is_file():
        erased = [path for name in ("checkpoints", *RESULTS) for path in _written(out / name)]
        erased += [out / name for name in ("data.json", "metrics.jsonl", "films.json", "report.html")]
        with lock_folder(out, "training run"), charm_errors(f"{out} cannot be erased", OSError):
            for path in erased:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
        say(f"erased the run in {out}: checkpoints, metrics, votes and evaluations")
    place.barrier()


def _written(folder: Path) -> list[Path]:
    """List what a run has written to its folder of checkpoints or results; anything else is a file of others."""
    return [*folder.glob("step_*"), *(folder.glob("*.json") if folder.name == "eval" else ())]


def _without(config: Any, free: Collection[str]) -> dict[str, Any]:
    found: dict[str, Any] = to_json(config)
    for name in free:
        part, _, field = name.rpartition(".")
        (found[part] if part else found).pop(field, None)
    return found


def differences_text(old: Any, new: Any, name: str = "") -> str:
    """Say by their flags which settings differ, as in "--steps 100, now 200"; "" if none does."""
    found = ((flag.removeprefix("recipe."), was, now) for flag, was, now in differences(old, new, name))
    return "; ".join(dict.fromkeys(f"--{flag.replace('_', '-')} {was}, now {now}" for flag, was, now in found))


def differences(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the fields that differ, as in ("recipe.steps", 100, 200); None is a field that is not there."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from differences(old.get(key), new.get(key), f"{name}.{key}" if name else key)
    elif old != new:
        yield name, old, new


@contextmanager
def occupy(out: Path, place: Place, config: EngineConfig, manifest: Mapping[str, Any]) -> Iterator[None]:
    """Prepare and lock the folder of a training run: write its settings and the record of its data."""
    if not place.is_main:
        place.barrier()
        yield
        return
    with charm_errors(f"{out} cannot be created", OSError):
        out.mkdir(parents=True, exist_ok=True)
    with lock_folder(out, "training run"):
        clean(out)
        sweep(out)
        write_sealed(out / "config.json", {"domain": config.domain, **to_json(config)})
        write_sealed(out / "data.json", manifest)
        place.barrier()  # no process reads the folder before this
        yield


def write_result(
    path: Path, found: Mapping[str, Any], run: Path, data: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write a result of a run with the versions of CHARM and of its data, or of the record `data`; return it all."""
    learned = run / "data.json"
    if data is None and learned.is_file():
        data = read_sealed(learned)
    elif data is None:
        say(f"{learned} is missing: the result does not name the data of its run")
    result = {**found, "charm": __version__, "data": _versions(data or {})}
    write_sealed(path, result)
    return result


def _versions(record: Any) -> Any:
    """Keep the names, versions and hashes in a record of data."""
    if isinstance(record, list):
        return [kept for one in record if (kept := _versions(one))]
    if not isinstance(record, dict):
        return None
    stays = {"name", "version", "pairs_sha256", "tasks_sha256", "sha256"}
    parts = {name: value if name in stays else _versions(value) for name, value in record.items()}
    return {name: value for name, value in parts.items() if value}
