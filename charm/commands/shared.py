"""What commands share: flags and how they read in `--help`, and output for programs or people.

A help text is one line of a docstring: tyro would break it where the docstring's line ends.
"""

from __future__ import annotations

import json as jsonlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

if TYPE_CHECKING:
    from rich.console import RenderableType

    from charm.tables import Table


def hint(default: str) -> str:
    """Return the default as help shows it; None and False are left out, since they add nothing to the text."""
    shown = {"None": "", "False": "", "True": "", "": "none", "''": "none"}.get(default, default)
    return f"(default: {shown})" if shown else ""


def flag(value: str | None = None, default: str | None = None, text: str | None = None) -> object:
    """Return the help of a flag: a word for its value, a default in words, and a text that commands share."""
    return arg(metavar=value, help=text, help_behavior_hint=hint if default is None else f"(default: {default})")


_DATA = "folder of downloaded and generated data."

Data = Annotated[Path | None, flag("DIR", "CHARM_DATA or the user's cache folder", _DATA)]
RunData = Annotated[Path | None, flag("DIR", "as in training", _DATA)]
Device = Annotated[str, flag(text="cuda, xpu, mps, cpu, or auto for the best available.")]
Json = Annotated[bool, flag(text="print JSON.")]
NewRun = Annotated[Path | None, flag("DIR", "runs/PRESET", "the run folder.")]
Gpus = Annotated[str | None, flag("N|all", "one", "train on this many GPUs of this machine: starts torchrun.")]
Preset = Annotated[Positional[str], flag("PRESET")]
Restart = Annotated[bool, flag(text="erase the run in the folder and start over.")]
Resume = Annotated[bool, flag(text="resume from the newest intact checkpoint in the run folder.")]
Run = Annotated[Positional[Path], flag("RUN")]
Seed = Annotated[int, flag(text="seed that determines every pair.")]
Switch = Annotated[bool, flag()]
Wheel = Annotated[Path | None, flag("FILE", "fetched with pip", "a reasoning-gym wheel on disk.")]
Workers = Annotated[int | None, flag("INT", "one per core", "number of processes.")]


def process_count(workers: int | None) -> int:
    """Return the number of processes that `--workers` asks for."""
    from charm.config import refuse_below

    refuse_below(1, {"--workers": workers})
    return workers or os.cpu_count() or 1


def output(json: bool, found: Any, *shown: Table | RenderableType) -> None:
    """Print `found` as JSON, or else the tables and lines in `shown`."""
    from charm.drawing.terminal import show

    if json:
        print(jsonlib.dumps(found, indent=2))
    else:
        show(*shown)
