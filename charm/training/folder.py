"""The folder of a run: what may begin or go on there, and who may write into it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from charm.config import read_run_config, to_json
from charm.devices import Place
from charm.errors import CharmError
from charm.files import locked, write_sealed
from charm.training.checkpoint import steps_of


def check_run(out: Path, config: Any, resume: bool, free: Collection[str]) -> None:
    """Refuses to begin where a run is, and to resume what is none or began with other settings than `free` ones.

    `free` names fields of the configuration that may change, such as "steps" or "data.data".
    """
    existing = steps_of(out)
    if existing and not resume:
        raise CharmError(f"{out} already holds a run at step {existing[-1]}; --resume goes on with it")
    if not resume:
        return
    if not (out / "config.json").is_file():
        raise CharmError(f"{out} holds no run to resume")
    before, after = (_without(one, free) for one in (read_run_config(out, type(config)), config))
    for name, value in before.items():
        if value != after[name]:
            raise CharmError(f"{out} was started with another {name}; resume with the same settings")


def _without(config: Any, free: Collection[str]) -> dict[str, Any]:
    found: dict[str, Any] = to_json(config)
    for name in free:
        part, _, field = name.rpartition(".")
        (found[part] if part else found).pop(field, None)
    return found


@contextmanager
def occupied(out: Path, place: Place, config: Any, manifest: Mapping[str, Any]) -> Iterator[None]:
    """The folder while a run trains: it tells what the run is and learns from, and takes no second training."""
    if not place.is_main:
        place.barrier()
        yield
        return
    out.mkdir(parents=True, exist_ok=True)
    with locked(out, "training"):
        write_sealed(out / "config.json", to_json(config))
        write_sealed(out / "data.json", manifest)
        place.barrier()  # nobody looks at the folder before
        yield
