"""A toy run with everything in its folder, and ways to damage a file of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from charm.arc.run import train
from charm.runs.settings import TrainConfig
from tests.toy import toy_config, write_toy_tasks
from tests.toy.runs import HERE

LOOPS = ("--loops", "3", "--device", "cpu")  # the toy's refinement depth


def quiet(text: str) -> None:
    pass


def toy(folder: Path, **changes: object) -> TrainConfig:
    """A run that evaluates each of its two checkpoints."""
    tasks = write_toy_tasks(folder / "tasks")
    return toy_config(tasks, **({"evaluate_every": 6, "evaluate_views": 4} | changes))


def trained(folder: Path, **changes: object) -> Path:
    train(toy(folder, **changes), folder / "run", HERE, say=quiet)
    return folder / "run"


def flip(file: Path, byte: int = -1, bit: int = 0) -> None:
    """Flip one bit; by default in the middle of the file."""
    content = bytearray(file.read_bytes())
    content[byte if byte >= 0 else len(content) // 2] ^= 1 << bit
    file.write_bytes(content)


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def score(run: Path, name: str = "standard") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "eval" / f"{name}.json").read_text())
    return found
