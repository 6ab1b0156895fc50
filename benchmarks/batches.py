"""How fast training batches are made, on the CPU or a GPU, and what preparing the data costs.

    python benchmarks/batches.py [--device cuda] [--concept-arc FOLDER]

Prepares ARC-AGI-1 (+ ConceptARC where it is there) with 1,000 views, then makes batches of full canvases, grid content
staying on the device. Prints the machine, seconds, peak memory, bytes on disk and examples per second.
"""

from __future__ import annotations

import argparse
import platform
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from charm.errors import CharmError
from charm.tasks.batch import view_tokens
from charm.tasks.canvas import FULL_SIDE
from charm.tasks.dataset import DataConfig, load_dataset
from charm.tasks.sources import load_source

REFERENCE_SECONDS, REFERENCE_GIB, REFERENCE_GB = 554, 14.8, 7.27  # the reference builder, 2 cores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--concept-arc", default="concept-arc", help="the source or a folder of its corpus")
    parser.add_argument("--batch", type=int, default=768)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()

    try:
        load_source(options.concept_arc, None)
        auxiliary: tuple[str, ...] = (options.concept_arc,)
    except CharmError as error:
        print(f"without ConceptARC: {error}")
        auxiliary = ()
    began = time.perf_counter()
    dataset = load_dataset(DataConfig(auxiliary=auxiliary))
    prepared = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    with tempfile.TemporaryDirectory() as folder:
        dataset.instances.save(Path(folder, "instances.npz"))
        stored = Path(folder, "instances.npz").stat().st_size / 1e6
    device = torch.device(options.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor()
    print(f"machine: {platform.machine()} {name}, {torch.get_num_threads()} threads, torch {torch.__version__}")
    print(
        f"prepare: {prepared:.1f} s ({REFERENCE_SECONDS / prepared:.0f}x the reference builder's speed), "
        f"{peak:.2f} GiB peak ({REFERENCE_GIB / peak:.0f}x less), {stored:.1f} MB on disk "
        f"({REFERENCE_GB * 1e3 / stored:.0f}x less), {len(dataset.instances):,} rows"
    )

    bank, keys = dataset.bank.to(device), dataset.keys().to(device)
    stream = dataset.stream(FULL_SIDE, options.batch)

    def make(step: int) -> torch.Tensor:
        draw = stream.draw(np.arange(stream.slots), np.full(stream.slots, step))
        chosen = (draw.pair_N, draw.row_N, draw.top_N, draw.left_N)
        moved = (torch.from_numpy(column).to(device, non_blocking=True).long() for column in chosen)
        return view_tokens(bank, keys, *moved, FULL_SIDE)[0]

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    for step in range(5):
        make(step)
    wait()
    steps, began = 0, time.perf_counter()
    while time.perf_counter() - began < options.seconds:
        make(steps)
        steps += 1
    wait()
    rate = steps * options.batch / (time.perf_counter() - began)
    print(f"batches: {rate:,.0f} examples/s (input and output canvases of 30 x 30, batch {options.batch})")


if __name__ == "__main__":
    main()
