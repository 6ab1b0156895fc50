"""`charm train`: run a preset, with any of its fields changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import tyro
from tyro.conf import Positional


def train(preset: Positional[str], *, out: Path | None = None, resume: bool = False) -> None:
    """Train a preset; any field of its configuration can be given, as in --optimizer.lr 2e-4.

    Example: charm train arc1 --out runs/arc1 --batch 96

    Args:
        preset: arc1, arc2, arc1-train, urm-arc1, trm-arc1, hrm-arc1, quickstart, speedrun, speedrun-public,
            or a point of the sweeps.
        out: the run folder (default: runs/PRESET).
        resume: go on from the newest whole checkpoint in the run folder.
    """
    raise AssertionError("the command line sends `charm train` to run_train, which knows the preset's fields")


def run_train(args: Sequence[str]) -> None:
    """Parse `charm train PRESET ...`: the preset decides the defaults of all the flags that follow it."""
    if not args or args[0].startswith("-"):
        tyro.cli(train, prog="charm train", args=list(args), config=(tyro.conf.FlagCreatePairsOff,))
        return
    from charm.presets import preset
    from charm.training.config import RunOptions

    name = args[0]
    options = tyro.cli(
        RunOptions,
        prog=f"charm train {name}",
        args=list(args[1:]),
        default=RunOptions(preset(name), Path("runs") / name),
        config=(tyro.conf.FlagCreatePairsOff,),
    )
    from charm.devices import place
    from charm.training.loop import train as run

    with place(options.config.device) as here:
        if here.is_main:
            print(f"{name} -> {options.out} on {here.describe()}")
        say = print if here.is_main else lambda text: None
        run(options.config, options.out, here, options.resume, say)
