"""Train a piece of a larger base on one GPU, let several seeds solve the evaluated tasks from it, and vote together.

python -m benchmarks.piece OUT --seconds 800 --rates 1 0.8 --start WEIGHTS --solve 115 --seeds 0 1
    [--heavy rules_00.jsonl.gz ...] [--pairs 500] [--pair-seed 11]

1. Pairs: of each rule that the base learns, fresh ones to measure with, and rules of ARC-Heavy; into the data folder.
2. The piece, into OUT/piece/weights; its rates go from the first to the second share of the full ones.
3. A solve with each seed, side by side, into OUT/solve-SEED.
4. Votes: each seed alone, and all of them together. Votes and judgements stay, to be ranked again.

A step whose result is there is not made again, so an interrupted command continues. Each step has a log in OUT.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.flagship import FRESH, FRESH_PAIRS, MORE_RULES
from benchmarks.more_rules import learned_tasks
from charm.paths import data_dir
from rearc2.workbench.packages import package_ids

FRESH_SEED = 99
START = 32  # seconds after which solves begin together: data and compiling


class Steps:
    """Commands that write one log each into a folder."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def begin(self, name: str, *command: object, data: Path | None = None) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", *map(str, command)]
        environment = os.environ if data is None else {**os.environ, "CHARM_DATA": str(data)}
        with (self.out / f"{name}.log").open("wb") as log:
            return subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env=environment)

    def finish(self, name: str, process: subprocess.Popen[bytes]) -> None:
        if process.wait():
            text = (self.out / f"{name}.log").read_text(errors="replace").strip()
            raise SystemExit(f"{name} failed:\n{text[-2000:]}")

    def run(self, name: str, *command: object, data: Path | None = None) -> None:
        began = time.monotonic()
        self.finish(name, self.begin(name, *command, data=data))
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


def make_pairs(steps: Steps, pairs: int, seed: int, workers: int, heavy: Sequence[Path], every: bool) -> None:
    """Build what a base learns from and is measured with, where it is missing: of every rule, or of `base`'s own."""
    own, folder = sorted({*package_ids()} if every else {*learned_tasks()} & {*package_ids()}), data_dir()
    for name, where, count, used in (
        ("pairs", folder, pairs, seed),
        ("fresh", folder / FRESH, FRESH_PAIRS, FRESH_SEED),
    ):
        flags = ("--pairs", count, "--seed", used, "--workers", workers)
        for provider, command in (("rearc", ("data", "rearc")), ("rearc2", ("rearc2", "build"))):
            if not (where / provider / "manifest.json").exists():
                tasks = ("--tasks", *own) if provider == "rearc2" else ()
                steps.run(f"{name}-{provider}", "charm", *command, *flags, *tasks, data=where)
    if heavy and not (folder / MORE_RULES / "manifest.json").exists():
        files = ("--heavy", *heavy, "--workers", workers)
        steps.run("heavy", "benchmarks.more_rules", folder / MORE_RULES, *files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--variant", default="large-flagged-more")
    parser.add_argument("--seconds", type=float, default=800, help="of training; 0 for none: solve from --start")
    parser.add_argument("--end", type=float, default=0.0, help="of training, in seconds since 1970; replaces --seconds")
    parser.add_argument("--rates", type=float, nargs=2, default=(1.0, 1.0))
    parser.add_argument("--start", type=Path, help="weights to continue from")
    parser.add_argument("--solve", type=float, default=115, help="seconds of the solves; 0 for none")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--views", type=int, default=32)
    parser.add_argument("--pairs", type=int, default=500, help="generated pairs of each rule")
    parser.add_argument("--pair-seed", type=int, default=11)
    parser.add_argument("--heavy", type=Path, nargs="*", default=[], help="files of ARC-Heavy")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 4))
    parser.add_argument("--count", type=int, default=0, help="tasks to solve; 0: all")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tokens", type=int, default=0)
    options = parser.parse_args()
    out, steps = options.out, Steps(options.out)
    out.mkdir(parents=True, exist_ok=True)
    there = ("--device", options.device, "--tokens", options.tokens)
    begin = options.start
    if options.seconds:
        begin = out / "piece" / "weights"
        if not (out / "piece" / "record.json").exists():
            every = "arc2" in options.variant
            make_pairs(steps, options.pairs, options.pair_seed, options.workers, options.heavy, every)
            start = ("--start", options.start) if options.start else ()
            rates = ("--rates", *options.rates, "--seconds", options.seconds, "--end", options.end)
            steps.run("piece", "benchmarks.flagship", options.variant, out / "piece", *rates, *start, *there)
    if begin is None:
        raise SystemExit("--seconds 0 needs --start: there is nothing to solve from")
    if options.solve:
        folders = [out / f"solve-{seed}" for seed in options.seeds]
        at, running = time.time() + (START if options.device == "cuda" else 0), []
        for seed, folder in zip(options.seeds, folders, strict=True):
            if not (folder / "record.json").exists():
                how = ("--start", begin, "--seed", seed, "--seconds", options.solve, "--at", at, *there)
                tasks = ("--count", options.count)
                running.append(
                    (folder.name, steps.begin(folder.name, "benchmarks.flagship", "solve", folder, *how, *tasks))
                )
        for name, process in running:
            steps.finish(name, process)
        others = ("--others", *folders[1:]) if folders[1:] else ()
        asked = ("--views", options.views, "--count", options.count, "--device", options.device)
        steps.run("votes", "benchmarks.flagship", "vote", folders[0], *asked, *others)
        print((out / "votes.log").read_text(), end="")


if __name__ == "__main__":
    main()
