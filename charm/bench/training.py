"""How fast a preset trains and answers on this machine: `charm bench NAME`.

What is timed is the trainer's own update on real tasks: refill, forward, backward, all optimizers, moving average.
Floating-point operations are counted from the shapes: matrix products and attention, the backward pass twice the
forward one, nothing that is computed again. They are set against a large matrix product timed in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch

from charm.arc.presets import preset
from charm.arc.run import arc_job
from charm.automata.presets import car_preset
from charm.automata.run import car_job
from charm.devices import Place
from charm.errors import CharmError
from charm.models.network import Workload
from charm.progress import status
from charm.runs.settings import RunConfig
from charm.tables import Table
from charm.training import graphs
from charm.training.job import ReasonerJob
from charm.training.learner import Learner

WARM_UP = 3  # updates and answers before the clock runs: kernels are built, memory is taken
RECORDED = graphs.WARM_UP + 1  # updates, after which they are replayed
Canvas = Literal["full", "fit", "large"]
CPU_TOKENS = 2048  # of a writer's update, at most
VIEWS = 10  # views of each puzzle; the number of memory rows does not matter to the speed
SpeedRecord = dict[str, Any]  # of a preset on one kind of canvas, as `charm bench --json` prints it


def measure_training(name: str, batch: int, canvas: Canvas, place: Place, seconds: float = 3.0) -> SpeedRecord:
    """Time a preset's training updates and forward passes at this batch on canvases of the ARC tasks at hand."""
    config = preset(name)
    data = replace(config.data, auxiliary=(), synthetic=(), views=min(VIEWS, config.data.views))
    if "data.canvas" not in config.unused:
        data = replace(data, canvas=canvas)
    config = replace(config, data=data).sized(batch=batch, accumulate=1)
    if place.device.type == "cpu":
        config = config.sized(tokens=min(config.tokens, CPU_TOKENS))
    return measure_job(name, canvas, config, arc_job, place, seconds)


def measure_job(
    name: str, canvas: str, config: RunConfig, make: Callable[..., ReasonerJob], place: Place, seconds: float
) -> SpeedRecord:
    """Time the updates and forward passes of the job of a configuration on each of its canvas sizes."""
    about = machine_and_ceiling(place, config.reasoner.compute_dtype)
    try:
        with status(f"timing {name} on {canvas} canvases"):
            job = make(config, place, lambda text: None)
            job.compile()
            sides = [_measure(job.learner, work, seconds) for work in job.learner.examples.workloads(job.model)]
            job.close()
    except torch.OutOfMemoryError as error:
        raise CharmError(f"a batch of {config.batch} does not fit in the memory of {place.describe()}") from error
    batch, unit = job.work
    found = {"preset": name, "canvas": canvas if sides[0]["side"] else "none", "batch": batch, "unit": unit}
    found["kernels"] = job.model.reasoner.kernels_in_use()
    for part in ("training", "forward"):  # over all canvas sizes, each as often as training meets it
        found[part] = 1 / sum(one["share"] / one[part] for one in sides)
        tflops = found[part] * sum(one["share"] * one[f"{part}_tflops"] / one[part] for one in sides)
        found[f"{part}_share"] = tflops / about["ceiling_tflops"]
    return {**found, "peak_gib": peak_gib(place.device), **about, "sides": sides}


def _measure(learner: Learner, work: Workload, seconds: float) -> SpeedRecord:
    """Time the updates and forward passes of one canvas size; samples and operations are those of the last batch.

    A sample is one refinement step of one example; of a writer, which has no canvas and the side 0, a whole example.
    """
    update_seconds = seconds_each(lambda: learner.learn(work.prepare(learner.updates)), seconds, warm_up=RECORDED)
    forward_seconds = seconds_each(work.forward, seconds)
    samples, forward, training = work.size()
    found = {"side": work.side, "share": work.share}  # of the training index
    for part, each, operations in (("training", update_seconds, training), ("forward", forward_seconds, forward)):
        found |= {part: samples / each, f"{part}_tflops": operations / each / 1e12}
    return found


def seconds_each(work: Callable[[], object], seconds: float, warm_up: int = WARM_UP) -> float:
    """Return the mean time of one call, measured for about `seconds` seconds after a warm-up."""

    def timed(repeats: int) -> float:
        began = time.perf_counter()
        for _ in range(repeats):
            work()
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()
        return time.perf_counter() - began

    timed(warm_up)
    repeats = max(1, round(seconds / timed(1)))
    return timed(repeats) / repeats


def peak_gib(device: torch.device) -> float | None:
    """Return the most memory in use since the ceiling was measured; None on the CPU."""
    return torch.cuda.max_memory_allocated(device) / 2**30 if device.type == "cuda" else None


def machine_and_ceiling(place: Place, dtype: str) -> dict[str, Any]:
    """Return the name of this machine, and the speed of a large matrix product as a ceiling for everything else."""
    machine = f"{place.describe()}, torch {torch.__version__}"
    return {"machine": machine, "ceiling_tflops": product_tflops(place.device, dtype)}


def ceiling_line(found: Mapping[str, Any]) -> str:
    return "{machine}. Ceiling, a large matrix product: {ceiling_tflops:,.3g} TFLOP/s.".format_map(found)


def product_tflops(device: torch.device, dtype: str) -> float:
    """Time a large square matrix product of random numbers, in TFLOP/s."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    size = 8192 if device.type != "cpu" else 1024
    generator = torch.Generator(device).manual_seed(0)
    drawn = [torch.randn(size, size, device=device, generator=generator) for _ in "ab"]
    a, b = (one.to(getattr(torch, dtype)) for one in drawn)
    return 2 * size**3 / seconds_each(lambda: torch.mm(a, b), 0.3) / 1e12


@dataclass(frozen=True)
class BenchOptions:
    """What all reasoners have."""

    batch: int = 0
    """Examples refined at once; 0 is 192 on an accelerator and 16 on the CPU."""
    seconds: float = 3.0
    """How long each number is timed."""

    def __post_init__(self) -> None:
        if self.batch < 0 or self.seconds <= 0:
            raise CharmError(f"batch must be >= 0 and seconds must be positive; got {self.batch} and {self.seconds}")

    def batch_on(self, place: Place) -> int:
        return self.batch or (16 if place.device.type == "cpu" else 192)


@dataclass(frozen=True)
class ArcBench(BenchOptions):
    """Samples per second of a preset, training and forward only, compared with the machine's peak."""

    canvas: Literal["both", "full", "fit"] = "both"
    """30 x 30 always, the smallest of a few sizes that fits, or one after the other; a vit has one canvas only, a
    writer none."""


@dataclass(frozen=True)
class CarBench(BenchOptions):
    """Samples per second of a preset on cellular automata, training and forward only, next to the machine's peak."""

    data: Path | None = None
    """Folder of the benchmark; by default CHARM_DATA or the user's cache folder."""


def bench_arc(names: Sequence[str], options: ArcBench, place: Place) -> tuple[Any, ...]:
    timed = partial(measure_training, batch=options.batch_on(place), place=place, seconds=options.seconds)
    return _results([timed(name, canvas=canvas) for canvas in _canvases(name, options)] for name in names)


def _canvases(name: str, options: ArcBench) -> tuple[Canvas, ...]:
    config = preset(name)
    if config.reasoner.canvas == "large":
        return ("large",)
    if "data.canvas" in config.unused:
        return ("full",)
    return ("full", "fit") if options.canvas == "both" else (options.canvas,)


def bench_car(names: Sequence[str], options: CarBench, place: Place) -> tuple[Any, ...]:
    found = []
    for name in names:
        base = car_preset(name)
        data = replace(base.data, data=options.data or base.data.data)
        config = replace(base, data=data, batch=options.batch_on(place), accumulate=1)
        label = f"{data.canvas} x {data.canvas}"
        found.append([measure_job(name, label, config, car_job, place, options.seconds)])
    return _results(found)


def _results(found: Iterable[Sequence[SpeedRecord]]) -> tuple[Any, ...]:
    """Return all speeds, then the table and the line of each preset."""
    every = list(found)
    return [speed for speeds in every for speed in speeds], *(part for one in every for part in training_table(one))


def training_table(found: Sequence[SpeedRecord]) -> tuple[Table, str]:
    """Return the table of a preset on its kinds of canvases, and a line on the machine."""
    rows: list[tuple[str, ...]] = []
    totals = []
    for speed in found:
        for side in speed["sides"]:
            label = "{side} x {side}".format_map(side) if side["side"] else "packs"
            numbers = "{share:.0%} {training:,.0f} {training_tflops:.3g} {forward:,.0f} {forward_tflops:.3g}"
            rows.append((label, *numbers.format_map(side).split()))
        totals.append(len(rows))
        shares = "{training_share:.0%} / {forward_share:.0%}".format_map(speed)
        rows.append((speed["canvas"], "", f"{speed['training']:,.0f}", "", f"{speed['forward']:,.0f}", "", shares))
    columns = ("canvas", "share", "training /s", "TFLOP/s", "forward /s", "TFLOP/s", "of ceiling")
    title = "{preset}, batch {batch} {unit}, {kernels} kernels".format_map(found[0])
    peaks = [speed["peak_gib"] for speed in found if speed["peak_gib"] is not None]
    memory = f" Peak memory {max(peaks):.1f} GiB." if peaks else ""
    return Table(columns, rows, title, totals=totals), ceiling_line(found[0]) + memory
