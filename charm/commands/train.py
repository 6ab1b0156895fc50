"""`charm train`: run a preset, with any of its fields changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from charm.commands.presets import train_preset
from charm.commands.shared import Gpus, NewRun, Preset, Restart, Resume
from charm.config import read_run_config
from charm.domains import domain_of, domain_of_preset
from charm.errors import CharmError


def train(
    preset: Preset, *, out: NewRun = None, resume: Resume = False, restart: Restart = False, gpus: Gpus = None
) -> None:
    """Train a preset; any field of its configuration can be given, as in --optimizer.lr 2e-4.

    ARC's tasks: arc1, arc2, arc1-train, urm-arc1, trm-arc1, hrm-arc1 (also -arc2), varc-arc1, loopvit-arc1,
    loopvit-medium-arc1, loopvit-small-arc1, quickstart, speedrun, speedrun-public, writer, base. Cellular automata:
    car-single, car-all, car-small. Text: lm-d12, lm-d20, lm-tiny. The last two kinds may be followed by a memory:
    car-small-low-rank, lm-d12-cose-x5. `charm reproduce` has the variants of the paper's tables.

    Example: charm train arc1 --out runs/arc1 --batch 96

    Example: charm train --resume runs/arc1

    Args:
        preset: name of a preset.
    """
    raise CharmError(f"give the preset before its flags, as in `charm train {preset} --resume`")


def run_resume(run: Path, flags: Sequence[str]) -> None:
    """Run `charm train --resume RUN ...`: the run's own configuration decides the defaults of the flags."""
    if not run.is_dir():
        raise CharmError(f"{run}: no such run folder; name the folder of the run to resume")
    domain = domain_of(run)
    config = read_run_config(run, domain.config_type)
    train_preset("charm train --resume", str(run), config, flags, domain.get("train"), run)


def run_train(name: str, flags: Sequence[str]) -> None:
    """Run `charm train NAME ...`: the preset decides the defaults of all the flags that follow it."""
    domain = domain_of_preset(name)
    train_preset("charm train", name, domain.configuration(name), flags, domain.get("train"))
