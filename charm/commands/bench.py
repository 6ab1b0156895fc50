"""`charm bench`: what must be fast, measured on this machine."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated, Literal

from tyro.extras import SubcommandApp

from charm.commands.flags import Device, Json, flag

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

    from rich.console import Console
    from rich.table import Table

    from charm.bench.training import measure_training
    from charm.devices import place
    from charm.errors import CharmError

    if batch < 0 or seconds <= 0:
        raise CharmError("the batch must not be negative and the seconds must be positive")
    canvases: tuple[Literal["full", "fit"], ...] = ("full", "fit") if canvas == "both" else (canvas,)
    with place(device) as here:
        if here.world > 1:
            raise CharmError("charm bench measures one process; start it without torchrun")
        size = batch or (16 if here.device.type == "cpu" else 192)
        found = []
        for one in canvases:
            with Console(stderr=True).status(f"timing {preset} on {one} canvases"):
                found.append(measure_training(preset, size, one, here, seconds))
    if json:
        print(jsonlib.dumps([asdict(speed) for speed in found], indent=2))
        return
    table = Table(title=f"{preset}, batch {size}, {found[0].kernels} kernels", title_justify="left")
    for heading in ("canvas", "share", "training /s", "TFLOP/s", "forward /s", "TFLOP/s", "of ceiling"):
        table.add_column(heading, justify="left" if heading == "canvas" else "right")
    for speed in found:
        for side in speed.sides:
            row = (f"{side.training:,.0f}", f"{side.training_tflops:.3g}", f"{side.forward:,.0f}")
            table.add_row(
                f"{side.side} x {side.side}", f"{side.share:.0%}", *row, f"{side.forward_tflops:.3g}", ""
            )
        part = f"{speed.training_share:.0%} / {speed.forward_share:.0%}"
        rates = (f"[bold]{speed.training:,.0f}", "", f"[bold]{speed.forward:,.0f}", "", part)
        table.add_row(f"[bold]{speed.canvas}", "", *rates, end_section=True)
    console = Console()
    console.print(table)
    peak = max((speed.peak_gib for speed in found if speed.peak_gib is not None), default=None)
    memory = "" if peak is None else f" Peak memory {peak:.1f} GiB."
    console.print(
        f"{found[0].machine}. Ceiling, a large matrix product: {found[0].ceiling_tflops:,.3g} TFLOP/s.{memory}",
        highlight=False,
        soft_wrap=True,
    )


@app.command
def votes(*, json: Json = False) -> None:
    """The time from 385,460 predicted canvases to pass@k, stage by stage.

    Example: charm bench votes
    """
    from rich.console import Console
    from rich.table import Table

    from charm.bench.votes import measure

    with Console(stderr=True).status("counting and ranking 385,460 votes (about 20 s)"):
        found = measure()
    if json:
        print(jsonlib.dumps(found, indent=2))
        return
    table = Table("measure", "value", title="Votes of one ARC-AGI-1 checkpoint", title_justify="left")
    for name, value in found.items():
        table.add_row(name.replace("_", " "), f"{value:,.4g}" if isinstance(value, float) else f"{value:,}")
    Console().print(table)


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

    from rich.console import Console
    from rich.table import Table

    from charm.bench.language import measure_lm
    from charm.devices import place
    from charm.errors import CharmError

    if batch < 0 or device_rows < 0 or seconds <= 0 or not presets or not table_updates:
        raise CharmError(
            "batch and rows must not be negative, seconds must be positive, and something is to be timed"
        )
    with place(device) as here:
        if here.world > 1:
            raise CharmError("charm bench measures one process; start it without torchrun")
        messages = Console(stderr=True, highlight=False)
        with messages.status(f"timing {', '.join(presets)}"):
            found = measure_lm(
                presets, here, batch, device_rows, table_updates, data, seconds, messages.print
            )
    if json:
        print(jsonlib.dumps([asdict(speed) for speed in found], indent=2))
        return
    table = Table(title="Training updates", title_justify="left")
    for heading in ("preset", "tables", "tokens/s", "update", "cost", "TFLOP/s", "of ceiling", "memory"):
        left = heading in ("preset", "tables")
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading == "preset")
    for speed in found:
        memory = "" if speed.peak_gib is None else f"{speed.peak_gib:.1f} GiB"
        times = (
            f"{speed.tokens_per_second:,.0f}",
            f"{speed.update_seconds * 1000:,.0f} ms",
            f"{speed.cost:.3f}",
        )
        table.add_row(
            speed.preset, speed.table_update, *times, f"{speed.tflops:.3g}", f"{speed.share:.0%}", memory
        )
    console = Console()
    console.print(table)
    console.print(
        f"{found[0].machine}. Ceiling, a large matrix product: {found[0].ceiling_tflops:,.3g} TFLOP/s.",
        highlight=False,
        soft_wrap=True,
    )
