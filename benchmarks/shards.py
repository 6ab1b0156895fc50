"""Make the runs of a record side by side, in parts, and after an interruption; every run has one thread of the CPU.

What a record already has is not repeated, and each run is written as soon as it ends.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from charm.files import write_atomically
from charm.processes import as_finished, process_pool

Run = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """How the runs of one kind of record become its numbers."""

    kind: str  # the entry of a run that holds its name, such as "recipe"
    seeds: tuple[int, ...]
    means: Mapping[str, int]  # a number of each run -> its digits
    constants: Mapping[str, int]  # the same for all seeds
    head: Mapping[str, str]  # what, command, size


def add_flags(parser: argparse.ArgumentParser, seeds: Sequence[int]) -> None:
    parser.add_argument("out", type=Path, help="the record; runs that it has are not repeated")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time, each one thread (default 1)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="make these runs alone")
    parser.add_argument("--seed", type=int, nargs="+", choices=seeds, default=list(seeds))
    parser.add_argument(
        "--gather", type=Path, nargs="+", metavar="RECORD", help="add the runs of other records, and make none"
    )


def complete(options: argparse.Namespace, shape: Shape, names: Sequence[str], make: Callable[[str, int], Run]) -> None:
    """Make the runs that the record does not have yet, or gather those of other records."""
    unknown = [name for name in options.only or () if name not in names]
    if unknown and not options.gather:
        raise SystemExit(f"no run is called {unknown[0]!r}; there are {', '.join(map(repr, names))}")
    runs: dict[tuple[str, int], Run] = {}
    for path in (*([options.out] if options.out.is_file() else []), *(options.gather or [])):
        found = json.loads(path.read_text())
        for run in found["runs"]:
            runs.setdefault((run[shape.kind], run["seed"]), {**run, "machine": run.get("machine", found["machine"])})
    if options.gather:
        save(options.out, shape, names, runs)
        return
    wanted = [(name, seed) for seed in options.seed for name in options.only or names if (name, seed) not in runs]
    if not wanted:
        return
    failed = 0
    with process_pool(min(options.workers, len(wanted))) as pool:
        jobs = {pool.submit(_timed, make, name, seed): (name, seed) for name, seed in wanted}
        for job in as_finished(jobs):
            name, seed = jobs[job]
            if error := job.exception():
                failed += 1
                print(f"{name}, seed {seed}: {error!r}", file=sys.stderr, flush=True)
                continue
            runs[name, seed] = {shape.kind: name, "seed": seed, **job.result()}
            print({key: value for key, value in runs[name, seed].items() if not isinstance(value, list)}, flush=True)
            save(options.out, shape, names, runs)
    if failed:
        raise SystemExit(f"{failed} of {len(wanted)} runs failed")


def _timed(make: Callable[[str, int], Run], name: str, seed: int) -> Run:
    torch.set_num_threads(1)
    began = time.monotonic()
    made = make(name, seed)
    return {"seconds": round(time.monotonic() - began, 1), "machine": _cpu(), **made}


def _cpu() -> str:
    cores = Path("/proc/cpuinfo")
    named = [line.split(":")[1].strip() for line in cores.read_text().splitlines() if line.startswith("model name")]
    return f"one thread for each run on a shared CPU of {os.cpu_count()} cores ({(named or [platform.machine()])[0]})"


def save(out: Path, shape: Shape, names: Sequence[str], runs: Mapping[tuple[str, int], Run]) -> None:
    """Write the record; a name has numbers once it has as many seeds as any other."""
    place = {name: number for number, name in enumerate(names)}
    lines = sorted(runs.values(), key=lambda run: (run["seed"], place.get(run[shape.kind], len(place))))
    seeds = sorted({run["seed"] for run in lines})
    numbers: dict[str, Any] = {}
    for name in dict.fromkeys(run[shape.kind] for run in lines):
        its = [run for run in lines if run[shape.kind] == name]
        if len(its) < len(seeds):
            continue
        for what, digits in shape.means.items():
            each = [round(run[what], digits) for run in its]
            numbers |= {f"{name}: {what}": each, f"{name}: {what}, mean": round(mean(each), digits)}
        numbers |= {f"{name}: {what}": round(its[0][what], digits) for what, digits in shape.constants.items()}
    record = {
        **shape.head,
        "machine": "; ".join(dict.fromkeys(run["machine"] for run in lines)),
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "seeds": seeds,
        "numbers": numbers,
        "runs": lines,
    }
    write_atomically(out, json.dumps(record, indent=1) + "\n")
