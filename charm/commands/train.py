"""`charm train`: run a preset, with any of its fields changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tyro.conf import Positional

from charm.commands.presets import refuse_flags_first, train_preset


def train(preset: Positional[str], *, out: Path | None = None, resume: bool = False) -> None:
    """Train a preset; any field of its configuration can be given, as in --optimizer.lr 2e-4.

    Example: charm train arc1 --out runs/arc1 --batch 96

    Args:
        preset: arc1, arc2, arc1-train, urm-arc1, trm-arc1, hrm-arc1, quickstart, speedrun, speedrun-public,
            or a point of the sweeps.
        out: the run folder (default: runs/PRESET).
        resume: go on from the newest whole checkpoint in the run folder.
    """
    refuse_flags_first("charm train", preset)


def run_train(name: str, flags: Sequence[str]) -> None:
    """`charm train NAME ...`: the preset decides the defaults of all the flags that follow it."""
    from charm.presets import preset
    from charm.training.loop import train

    train_preset("charm train", name, preset(name), flags, train)
