"""Make a record of a piece and its solves: what `python -m benchmarks.piece OUT` left in OUT, whole or in part.

python -m benchmarks.piece_record OUT benchmarks/results/flagship_large_2.json --name large-2
    --what "..." --command "..." --size "..." --machine "..."

A task's score is the share of its test outputs that are right in the first k answers. Parts of the set are those of
`benchmarks/flagship.py`; nothing was ever chosen on the untouched ones.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.flagship import EVALUATED, PARTS
from charm.files import write_atomically
from charm.solving.solver import choose
from charm.tasks.sources import load_source

UNTOUCHED = ("49-100", "251-400")
PLACES = (1, 2, 1000)

Ranks = dict[str, list[int | None]]  # task id -> rank of the answer of each test input


def read_ranks(path: Path) -> Ranks:
    tasks = json.loads(path.read_text())["tasks"]
    return {task["task_id"]: [one["rank"] for one in task["outputs"]] for task in tasks}


def pass_at(k: int, ranks: Ranks, tasks: Iterable[str]) -> float:
    """Return the mean score of tasks in percent."""
    return round(100 * mean(mean(rank is not None and rank <= k for rank in ranks[task]) for task in tasks), 2)


def best_of(several: Iterable[Ranks]) -> Ranks:
    """Return the best rank of each answer."""
    lists = list(several)
    found = {}
    for task in lists[0]:
        each = zip(*(ranks[task] for ranks in lists), strict=True)
        found[task] = [min((rank for rank in some if rank is not None), default=None) for some in each]
    return found


def scores(name: str, ranks: Ranks, parts: Mapping[str, set[str]]) -> dict[str, float]:
    """Return the numbers of one vote."""
    numbers = {f"{name}: pass@{k}": pass_at(k, ranks, ranks) for k in PLACES}
    if parts:
        numbers |= {f"{name}, {part}: pass@2": pass_at(2, ranks, chosen) for part, chosen in parts.items()}
        untouched = set().union(*(parts[part] for part in UNTOUCHED))
        numbers[f"{name}, untouched {len(untouched)}: pass@2"] = pass_at(2, ranks, untouched)
    complete = sum(all(rank is not None and rank <= 2 for rank in some) for some in ranks.values())
    return {**numbers, f"{name}: complete": complete}


def gather(out: Path, name: str, parts: Mapping[str, set[str]]) -> dict[str, Any]:
    """Return the numbers and runs of a folder, and the seeds of its solves."""
    numbers: dict[str, float] = {}
    runs: dict[str, Any] = {}
    if (path := out / "piece" / "record.json").exists():
        piece = json.loads(path.read_text())
        numbers |= {f"{name}: {what}": piece[what] for what in ("updates", "seconds")}
        last = piece["lines"][-1]
        for view in ("original view", "random view"):
            for what in ("exact", "loss", "rules at zero"):
                numbers[f"{name}, fresh pairs, {view}: {what}"] = last[f"{view}: {what}"]
        runs[name] = piece
    voted: dict[str, Ranks] = {}
    together: dict[str, Ranks] = {}
    for made in sorted(out.glob("solve-*/record.json")):
        folder, solve = made.parent, json.loads(made.read_text())
        plain = [{key: value for key, value in line.items() if not isinstance(value, list)} for line in solve["lines"]]
        runs[folder.name] = {**solve, "lines": plain}
        numbers[f"{folder.name}: updates"] = solve["updates"]
        for path in sorted(folder.glob("votes_*.json")):
            ranks, voters = read_ranks(path), json.loads(path.read_text())["folder"]
            (together if "+" in voters or "searched" in voters else voted)[voters] = ranks
    for voters, ranks in (voted | together).items():
        numbers |= scores(voters, ranks, parts)
        runs.setdefault(voters, {})["ranks of the answers"] = ranks
    if len(voted) > 1:
        every = [scores(one, ranks, parts) for one, ranks in voted.items()]
        for key in every[0]:
            if "pass@" in key:
                what = key.removeprefix(next(iter(voted)))
                each = [found[voters + what] for voters, found in zip(voted, every, strict=True)]
                numbers["mean" + what] = round(mean(each), 2)
        either = best_of(voted.values())
        numbers["either in its first two: pass@2"] = pass_at(2, either, either)
    seeds = sorted({run["seed"] for run in runs.values() if run.get("variant", "").startswith("solve")})
    return {"seeds": seeds, "numbers": numbers, "runs": runs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder of benchmarks.piece")
    parser.add_argument("record", type=Path, help="file to write")
    parser.add_argument("--name", required=True, help="of the piece in the record")
    for flag in ("what", "command", "size", "machine"):
        parser.add_argument(f"--{flag}", required=True, help="a line of the record")
    parser.add_argument("--date", default=time.strftime("%Y-%m-%d", time.gmtime()))
    options = parser.parse_args()
    tasks = load_source(EVALUATED).tasks
    parts = {name: {task.id for task in choose(tasks, count, skip=skip)} for name, (skip, count) in PARTS.items()}
    head = {flag: getattr(options, flag) for flag in ("what", "command", "size", "machine", "date")}
    record = {**head, **gather(options.out, options.name, parts)}
    write_atomically(options.record, json.dumps(record, indent=1) + "\n")
    print(json.dumps(record["numbers"], indent=1))


if __name__ == "__main__":
    main()
