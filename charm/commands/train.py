"""`charm train`: run a preset, with any of its fields changed."""

from __future__ import annotations

from collections.abc import Sequence

from charm.commands.flags import NewRun, Preset, Restart, Resume
from charm.commands.presets import refuse_flags_first, train_preset


def train(preset: Preset, *, out: NewRun = None, resume: Resume = False, restart: Restart = False) -> None:
    """Train a preset; any field of its configuration can be given, as in --optimizer.lr 2e-4.

    ARC's tasks: arc1, arc2, arc2-rearc, arc1-train, urm-arc1, trm-arc1, hrm-arc1, quickstart, speedrun(-public), the
    bases of continual learning (cl-cose-r0(-t32), cl-cose-r32(-t32), cl-cose-r512, cl-table-r32, cl-table-r512),
    writer-train, writer-public and points of the sweeps, such as isoflop-L24-U4 and horizon-U3-H6. Cellular automata:
    car-single, car-all, car-small. Text: lm-d12, lm-d20, lm-tiny. The last two kinds may be followed by a memory:
    car-small-low-rank, lm-d12-cose-x5.

    Example: charm train arc1 --out runs/arc1 --batch 96

    Args:
        preset: name of a preset.
    """
    refuse_flags_first("charm train", preset)


def run_train(name: str, flags: Sequence[str]) -> None:
    """`charm train NAME ...`: the preset decides the defaults of all the flags that follow it."""
    from charm.domains import domain_of_preset

    domain = domain_of_preset(name)
    train_preset("charm train", name, domain.configuration(name), flags, domain.get("train"))
