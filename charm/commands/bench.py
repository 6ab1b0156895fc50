"""`charm bench`: what must be fast, measured on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from tyro.extras import SubcommandApp

from charm.commands.flags import Device, Json, flag
from charm.commands.output import output

app = SubcommandApp()


@app.command
def train(
    *,
    preset: str = "arc1",
    batch: Annotated[int, flag(default="192 on an accelerator, 16 on the CPU")] = 0,
    canvas: Literal["both", "full", "fit"] = "both",
    device: Device = "auto",
    seconds: float = 3.0,
    json: Json = False,
) -> None:
    """Samples per second of a preset, training and forward only, beside the machine's own ceiling.

    Example: charm bench train --preset arc1 --batch 192

    Args:
        preset: name of a preset; quickstart is small enough for a CPU.
        batch: examples refined at once.
        canvas: 30 x 30 always, the smallest of a few sizes that fits, or one after the other.
        seconds: how long each number is timed.
    """
    from dataclasses import asdict

    from charm.bench.training import measure_training, training_table
    from charm.devices import place
    from charm.errors import CharmError
    from charm.progress import status

    if batch < 0 or seconds <= 0:
        raise CharmError("the batch must not be negative and the seconds must be positive")
    canvases: tuple[Literal["full", "fit"], ...] = ("full", "fit") if canvas == "both" else (canvas,)
    with place(device) as here:
        if here.world > 1:
            raise CharmError("charm bench measures one process; start it without torchrun")
        size = batch or (16 if here.device.type == "cpu" else 192)
        found = []
        for one in canvases:
            with status(f"timing {preset} on {one} canvases"):
                found.append(measure_training(preset, size, one, here, seconds))
    output(json, [asdict(speed) for speed in found], *training_table(preset, size, found))


@app.command
def votes(*, json: Json = False) -> None:
    """The time from 385,460 predicted canvases to pass@k, stage by stage.

    Example: charm bench votes
    """
    from charm.bench.votes import measure, votes_table
    from charm.progress import status

    with status("counting and ranking 385,460 votes (about 20 s)"):
        found = measure()
    output(json, found, votes_table(found))


@app.command
def lm(
    *,
    presets: Annotated[tuple[str, ...], flag("PRESET ...")] = (
        "lm-d12",
        "lm-d12-engram-x5",
        "lm-d12-cose-x5",
    ),
    batch: Annotated[int, flag(default="the preset's")] = 0,
    device_rows: Annotated[int, flag(default="the preset's")] = 0,
    table_updates: Annotated[tuple[Literal["dense", "rows"], ...], flag("HOW ...")] = ("dense",),
    data: Annotated[Path | None, flag("DIR", "random tokens")] = None,
    device: Device = "auto",
    seconds: float = 5.0,
    json: Json = False,
) -> None:
    """Tokens per second of language models in training, and what their memories cost beside the first preset.

    Example: charm bench lm --presets lm-tiny lm-tiny-engram --device cpu

    Args:
        presets: names of presets; the costs of all are told over that of the first.
        batch: tokens in an update.
        device_rows: rows computed at once.
        table_updates: how tables are updated: dense, rows, or one after the other.
        data: prepared text.
        seconds: how long each number is timed.
    """
    from dataclasses import asdict

    from charm.bench.language import lm_table, measure_lm
    from charm.devices import place
    from charm.errors import CharmError
    from charm.progress import say, status

    if batch < 0 or device_rows < 0 or seconds <= 0 or not presets or not table_updates:
        raise CharmError(
            "batch and rows must not be negative, seconds must be positive, and something is to be timed"
        )
    with place(device) as here:
        if here.world > 1:
            raise CharmError("charm bench measures one process; start it without torchrun")
        with status(f"timing {', '.join(presets)}"):
            found = measure_lm(presets, here, batch, device_rows, table_updates, data, seconds, say)
    output(json, [asdict(speed) for speed in found], *lm_table(found))
