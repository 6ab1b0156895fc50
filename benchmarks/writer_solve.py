"""Compare the two ways of a solve's votes and updates on a GPU, in one run, and add the ratios to a record.

python -m benchmarks.writer_solve benchmarks/results/speed_writer.json --parts votes --views 8
python -m benchmarks.writer_solve benchmarks/results/speed_writer.json --parts solve

The numbers are those of `charm bench votes` and `charm bench solve`. Other numbers of the record stay.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from charm.bench.solving import SolveBench, bench_solving
from charm.devices import Place
from charm.files import write_atomically

NAMES = {"votes": "votes", "solve": "solve learning"}  # of the numbers in the record


def merge_into(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record; numbers and runs that the file already has stay, unless the record has them too."""
    before = json.loads(path.read_text()) if path.exists() else {}
    both = {name: {**before.get(name, {}), **record[name]} for name in ("numbers", "runs")}
    others = {name: value for name, value in before.items() if name in ("what", "command", "size")}
    write_atomically(path, json.dumps({**record, **others, **both}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, help="file to write")
    parser.add_argument("--parts", nargs="+", choices=[*NAMES], default=[*NAMES])
    parser.add_argument("--tasks", type=int, default=SolveBench.tasks)
    parser.add_argument("--views", type=int, default=SolveBench.views)
    parser.add_argument("--repeats", type=int, default=SolveBench.repeats)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("this compares ways for NVIDIA GPUs, and torch sees none")
    place, began = Place(torch.device("cuda", torch.cuda.current_device())), time.monotonic()
    asked = SolveBench(tasks=options.tasks, views=options.views, repeats=options.repeats).sized(place)
    found, _, ceiling = bench_solving(options.parts, asked, place)
    print(json.dumps({part: found[part] for part in options.parts}, indent=1), ceiling, sep="\n")
    runs = {NAMES[part]: found[part] for part in options.parts}
    numbers: dict[str, float] = {}
    for name, run in runs.items():
        numbers[f"{name}: ratio"] = round(run["ratio"], 3)
        numbers[f"{name}: tokens/s"] = round(run["tokens/s"])
    record = {
        "what": "a writer's votes and updates in a solve: the ways in use (new) and the plain ones (old)",
        "command": "python -m benchmarks.writer_solve",
        "size": f"{asked.tasks} tasks, {asked.views} views, median of {asked.repeats}",
        "machine": found["machine"],
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "seeds": [],
        "numbers": numbers,
        "runs": {name: {**run, "tasks": asked.tasks, "views": asked.views} for name, run in runs.items()},
    }
    merge_into(options.record, record)
    print(f"{options.record} written after {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
