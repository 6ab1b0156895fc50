"""`charm train`: run a preset, with any of its fields changed."""

from __future__ import annotations

from collections.abc import Sequence

from charm.commands.flags import NewRun, Preset, Restart, Resume
from charm.commands.presets import refuse_flags_first, train_preset


def train(preset: Preset, *, out: NewRun = None, resume: Resume = False, restart: Restart = False) -> None:
    """Train a preset; any field of its configuration can be given, as in --optimizer.lr 2e-4.

    Points of the sweeps are presets too, such as isoflop-L24-U4 and horizon-U3-H6.

    Example: charm train arc1 --out runs/arc1 --batch 96

    Args:
        preset: arc1, arc2, arc2-rearc, arc1-train, urm-arc1, trm-arc1, hrm-arc1, quickstart or speedrun(-public).
    """
    refuse_flags_first("charm train", preset)


def run_train(name: str, flags: Sequence[str]) -> None:
    """`charm train NAME ...`: the preset decides the defaults of all the flags that follow it."""
    from charm.arc.run import train
    from charm.presets import preset

    train_preset("charm train", name, preset(name), flags, train)
