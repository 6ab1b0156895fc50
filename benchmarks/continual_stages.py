"""What a stage of a stream costs, and that it does not grow with the stage: 10, 100 and 1,000 stages of toy updates.

    python benchmarks/continual_stages.py [--stages 10 100 1000] [--out runs/continual-stages]

A toy base (flips and turns of small grids) learns streams of other toys by memory alone, two updates each, and is asked
about the whole stream at the start and at the end only: that evaluation grows with the stream and is scheduled apart.
For every stage: seconds of processor time, and bytes written (rows, record and checkpoint). Writes stages.json and
stages.png, and fails if a stage in the last fifth of the longest stream takes 1.5 times as long as one in its first
fifth, or writes more.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import torch

from charm.arc.presets import quickstart
from charm.arc.run import train
from charm.continual.results import write_json
from charm.continual.run import StreamOptions, run_stream
from charm.continual.streams import TaskStream
from charm.devices import place
from charm.drawing import figures
from charm.drawing.figures import Point, Series
from charm.runs.checkpoint import folder_of, steps_of
from charm.tasks.keys import MemoryConfig
from charm.tasks.task import Pair, Task
from charm.training.adaptation import Recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RULES = (np.fliplr, np.flipud, np.rot90, np.transpose)


def toys(count: int, first: str, seed: int) -> TaskStream:
    """Make tasks whose rule turns or flips a grid of 3 x 3."""
    rng = np.random.default_rng(seed)

    def pair(number: int) -> Pair:
        grid = rng.integers(0, 4, (3, 3)).astype(np.uint8)
        return Pair(grid, np.ascontiguousarray(RULES[number % 4](grid)))

    return TaskStream(
        first,
        tuple(
            Task(f"{first}{number:04d}", tuple(pair(number) for _ in range(3)), (pair(number),))
            for number in range(count)
        ),
    )


def stage_bytes(run: Path, stage: int) -> int:
    """Count the bytes of the rows and the record of a stage, and of the newest checkpoint."""
    steps = steps_of(run)
    files = [run / "rows" / f"{stage:04d}.safetensors", run / "stages" / f"{stage:04d}.json"]
    files += folder_of(run, steps[-1]).iterdir() if steps else ()
    return sum(file.stat().st_size for file in files)


def measure(base: Path, tasks: Path, stages: int, out: Path) -> dict[str, list[float]]:
    """Measure processor seconds and bytes of each stage but the first, which also warms up."""
    shutil.rmtree(out, ignore_errors=True)
    found: dict[str, list[float]] = {"seconds": [], "bytes": []}
    began = 0.0

    def say(text: str) -> None:
        nonlocal began
        if not text.startswith("stage "):
            return
        number = int(text.split()[1].rstrip(","))
        if number > 1:
            found["seconds"].append(time.process_time() - began)
            found["bytes"].append(stage_bytes(out, number))
        began = time.process_time()

    options = StreamOptions(
        str(tasks),
        recipe=Recipe(steps=2, batch=8),
        tasks=stages,
        views=8,
        evaluate_views=2,
        base_views=2,
        recheck_every=10**9,
    )
    with place("cpu") as here:
        run_stream(base, out, options, here, say)
    return found


def smoothed(values: list[float], parts: int = 20) -> list[Point]:
    """Return medians of as many runs of stages: (middle of the run, median)."""
    size = max(1, len(values) // parts)
    chunks = [values[first : first + size] for first in range(0, len(values), size)]
    return [Point(size * n + 1.5 + len(one) / 2, (median(one),)) for n, one in enumerate(chunks)]


def costs_figure(panels: Mapping[str, Series]) -> Figure:
    """Draw the cost of each stage in streams of several lengths, one panel for each kind of cost."""
    figure, axes = figures.new_figure(len(panels))
    for one, (title, series) in zip(axes, panels.items(), strict=True):
        figures.draw_bands(one, series, list(series))
        one.set(xscale="log", xlabel="stage", ylabel=title)
        one.set_ylim(0, 1.4 * one.get_ylim()[1])
    return figures.with_legend(figure, next(iter(panels.values())), axes[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--out", type=Path, default=Path("runs/continual-stages"))
    options = parser.parse_args()
    out: Path = options.out
    torch.set_num_threads(1)
    toys(8, "base", 0).save(out / "base.json")
    toys(max(options.stages), "new", 1).save(out / "stream.json")
    small = quickstart()
    config = replace(
        small,
        data=replace(small.data, evaluate=(str(out / "base.json"),), tasks=(), views=8),
        reasoner=replace(small.reasoner, width=32),
        memory=MemoryConfig(rank=8),
        steps=4,
        batch=8,
        checkpoint_every=4,
        device="cpu",
    )
    if not steps_of(out / "base"):
        with place("cpu") as here:
            train(config, out / "base", here)
    found = {n: measure(out / "base", out / "stream.json", n, out / f"stream-{n}") for n in options.stages}
    write_json(out / "stages.json", {str(n): one for n, one in found.items()})
    panels = {
        title: {f"{n:,} stages": smoothed(one[name]) for n, one in found.items()}
        for name, title in (("seconds", "processor seconds per stage"), ("bytes", "bytes per stage"))
    }
    figures.save(costs_figure(panels), out / "stages.png")
    for n, one in found.items():
        seconds, size = (f"{median(one[name]):.4g}" for name in ("seconds", "bytes"))
        print(f"{n:,} stages: median {seconds} s and {size} bytes per stage")
    longest = found[max(found)]
    fifth = max(1, len(longest["seconds"]) // 5)
    for name, most in (("seconds", 1.5), ("bytes", 1.01)):
        first, last = median(longest[name][:fifth]), median(longest[name][-fifth:])
        print(f"{name}: first fifth {first:.4g}, last fifth {last:.4g}")
        assert last < most * first, f"{name} per stage grow with the stage"


if __name__ == "__main__":
    main()
