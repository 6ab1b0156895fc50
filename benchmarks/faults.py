"""Attacks on a run: damaged files, kills, hostile inputs; counts of how every command took them.

    python benchmarks/faults.py [--damages 1200] [--forged 1500] [--kills 40] [--settings 300] [--seed 0]

A toy run with votes, evaluations and a learned stream is copied; one file of the copy is damaged (a flipped bit, cut,
emptied, removed) and one command runs on it: eval, its ranking alone, eval without the memory, solve, adapt, report, a
resumed training, the viewer. Commands that write are killed at a random moment and started again. The outcome must be
the right result to the bit, or one sentence and a non-zero exit; a traceback, or another result in silence, ends this
with exit status 1. In JSON, one value is replaced by a hostile one (a number of 400 digits, deep nesting, another type)
under a seal that fits; there, only a traceback is a fault. `tests/faults/test_attacks.py` runs a small selection.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from tests.faults.attack import Target, call, forgeries, hostile_settings, hostile_tasks, plan

KILL_SECONDS = 1.0  # after a command's first sign of work
Case = tuple[str, str, str, str]  # kind of attack, command, outcome, what happened


def damages(target: Target, count: int, rng: random.Random) -> Iterator[Case]:
    """Try files, damages and commands in a random order, all of them before any twice, `count` in total."""
    done = 0
    while done < count:
        cases = list(plan(target))
        rng.shuffle(cases)
        for file, damage, command in cases[: count - done]:
            outcome, text = target.attack(file, damage, command, rng)
            yield damage, command, outcome, f"{file}: {text}"
        done += len(cases)


def forged(target: Target, count: int, rng: random.Random) -> Iterator[Case]:
    """Replace one value in a JSON file of the run, or in a file of an interrupted solve."""
    cases = forgeries(target)
    for number in range(count):
        if number % 4 == 0:
            yield "forged value", "solve --resume", *target.forge_solve(rng)
        else:
            file, command = rng.choice(cases)
            outcome, text = target.forge(file, command, rng)
            yield "forged value", command, outcome, f"{file}: {text}"


def kills(target: Target, count: int, rng: random.Random) -> Iterator[Case]:
    for number in range(count):
        command = ("train", "eval", "adapt", "solve")[number % 4]
        outcome, text = target.kill(command, rng, KILL_SECONDS)
        yield "kill", command, outcome, text


def hostile(target: Target, count: int, rng: random.Random) -> Iterator[Case]:
    """Give commands files that are no tasks, and settings of the wrong type or size."""
    for name, content in hostile_tasks().items():
        file = target.folder / "hostile.json"
        file.write_bytes(content)
        out = target.folder / "out.json"
        answer = call(["solve", file, "--checkpoint", target.run, "--out", out, "--device", "cpu"])
        yield "hostile task", "solve", *_told(target.judge("solve", answer), name)
    settings = list(hostile_settings(json.loads(target.settings.read_text())))
    for name, changed in rng.sample(settings, min(count, len(settings))):
        run = target.copy()
        (run / "config.json").write_text(json.dumps(changed))
        outcome, text = target.judge("rank", target.rank(run))
        # An unsealed configuration is believed, and another one may rank otherwise.
        yield "hostile settings", "rank", *_told(("right" if outcome == "wrong" else outcome, text), name)


def _told(judged: tuple[str, str], name: str) -> tuple[str, str]:
    return judged[0], f"{name}: {judged[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--damages", type=int, default=1200)
    parser.add_argument("--forged", type=int, default=1500)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--settings", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, began = random.Random(options.seed), time.monotonic()
    counts: Counter[tuple[str, str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        target = Target(Path(folder))
        for attacks in (
            damages(target, options.damages, rng),
            forged(target, options.forged, rng),
            kills(target, options.kills, rng),
            hostile(target, options.settings, rng),
        ):
            for kind, command, outcome, text in attacks:
                counts[kind, command, outcome] += 1
                if outcome in ("traceback", "wrong") or (kind, outcome) == ("kill", "refused"):
                    print(f"{outcome}: {kind}, {command}, {text}", flush=True)
    outcomes = ("right", "refused", "traceback", "wrong")
    print(f"| attack | command | {' | '.join(outcomes)} |\n|---|---|---:|---:|---:|---:|")
    for kind, command in sorted({key[:2] for key in counts}):
        print(f"| {kind} | {command} | {' | '.join(str(counts[kind, command, one]) for one in outcomes)} |")
    total = {one: sum(n for key, n in counts.items() if key[2] == one) for one in outcomes}
    print(f"| all | | {' | '.join(map(str, total.values()))} |")
    print(f"{os.cpu_count()} CPU cores, {time.strftime('%Y-%m-%d')}, {time.monotonic() - began:.0f} s")
    sys.exit(1 if total["traceback"] or total["wrong"] else 0)


if __name__ == "__main__":
    main()
