"""How flags read in `--help`, and the flags that several commands share.

A help text is one line of a docstring: tyro would break it where the docstring's line ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg


def hint(default: str) -> str:
    """What is told of a default; None and False say nothing that a flag's text does not."""
    told = {"None": "", "False": "", "True": "on", "": "none", "''": "none"}.get(default, default)
    return f"(default: {told})" if told else ""


def flag(value: str | None = None, default: str | None = None, text: str | None = None) -> object:
    """A word for the value; the default in words, where it is worked out; the text, where commands share it."""
    return arg(
        metavar=value, help=text, help_behavior_hint=hint if default is None else f"(default: {default})"
    )


_DATA = "where downloaded and generated data lie."

Data = Annotated[Path | None, flag("DIR", "CHARM_DATA or the user's cache folder", _DATA)]
RunData = Annotated[Path | None, flag("DIR", "as in training", _DATA)]
Device = Annotated[str, flag(text="cuda, xpu, mps, cpu, or the best there is.")]
Json = Annotated[bool, flag(text="print JSON for a program to read.")]
NewRun = Annotated[Path | None, flag("DIR", "runs/PRESET", "the run folder.")]
Preset = Annotated[Positional[str], flag("PRESET")]
Restart = Annotated[bool, flag(text="erase the run in the folder and begin again from step 0.")]
Resume = Annotated[bool, flag(text="go on from the newest whole checkpoint in the run folder.")]
Run = Annotated[Positional[Path], flag("RUN")]
Switch = Annotated[bool, flag()]
Wheel = Annotated[Path | None, flag("FILE", "fetched with pip", "a reasoning-gym wheel on disk.")]
Workers = Annotated[int | None, flag("INT", "one for each core", "processes.")]
