"""One run of a reproduction in a process of its own: train, evaluate, write the result.

    python -m charm.paper.work OUT SIZE GROUP.NAME SEED [--device D] [--data DIR] [--at-once N]

It resumes where an earlier attempt stopped, ends with a checkpoint on SIGTERM, and stops when its parent dies.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from charm.devices import Place, place
from charm.errors import CharmError
from charm.paper.shelf import Result, Shelf, identity
from charm.paper.variants import SizeName, Variant, variant_named
from charm.runs.metrics import read_metrics
from charm.signals import StoppedEarly, stop_early

STOPPED = 3  # exit code of a run that has a checkpoint and is not finished
POINTS = 40  # of a curve that is kept


def run_one(
    variant: Variant,
    seed: int,
    shelf: Shelf,
    here: Place,
    say: Callable[[str], None] = print,
    at_once: int = 1,
) -> bool:
    """Train what is missing, evaluate, and write the result; False if a signal came before the end.

    `at_once` is how many runs share the machine, which its seconds depend on.
    """
    import torch  # after CUDA_VISIBLE_DEVICES and the number of threads are set

    config, out = shelf.config(variant, seed), shelf.run_folder(variant, seed)
    domain, size = variant.domain, variant.size(shelf.size)
    began = time.monotonic()
    try:
        engine = domain.get("train")(config, out, here, (out / "config.json").is_file(), say)
    except CharmError as error:
        if "resume with the same settings" in str(error):
            raise CharmError(
                f"{out} is half-finished with other settings; delete it to begin again, or use another --out"
            ) from error
        raise
    if engine.step < config.steps:
        return False
    parameters = _parameters(engine.job)
    del engine  # its memory is needed for the votes
    gc.collect()
    if here.device.type == "cuda":
        torch.cuda.empty_cache()
    asked = time.monotonic()
    scores: dict[str, float] = {}
    tasks: dict[str, list[str]] = {}
    for prefix, options in size.evaluations.items():
        kind = domain.get("evaluate_options")
        given = {**options, **({"data": shelf.data} if shelf.data and domain.name != "lm" else {})}
        found = domain.get("evaluate")(out, kind(**given), here)
        if found is None:
            continue
        scores |= {f"{prefix}{name}": value for name, value in SCORES[domain.name](found[0]).items()}
        if domain.name == "arc":
            tasks |= {f"{prefix}{name}": ids for name, ids in _answered(found[0]).items()}
    if here.is_main:
        now = time.monotonic()
        metrics = read_metrics(out)
        result: Result = {
            "variant": variant.home(shelf.size),
            "size": shelf.size,
            "seed": seed,
            "scores": scores,
            "parameters": parameters,
            "seconds": {
                "training": _training_seconds(metrics, config.batch),
                "evaluation": round(now - asked, 1),
                "last attempt": round(now - began, 1),
            },
            "at_once": at_once,
            "machine": here.describe(),
            "torch": torch.__version__,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "curve": _thinned(metrics),
            "tasks": tasks,
            "settings": identity(config),
        }
        say(str(shelf.write(variant, seed, result)))
    return True


def _arc_scores(found: Mapping[str, Any]) -> dict[str, float]:
    return {
        name: round(100 * value, 4)
        for name, value in found["metrics"].items()
        if not name.endswith("/outputs")
    }


# Domain -> what `charm eval` found -> scores by name, in percent where they are shares.
SCORES: dict[str, Callable[[Mapping[str, Any]], dict[str, float]]] = {"arc": _arc_scores}


def _answered(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Tasks whose outputs are all among the first two candidates, and those whose outputs are all among any."""
    ranks = {task["task_id"]: [output["rank"] for output in task["outputs"]] for task in found["tasks"]}
    return {
        "solved": sorted(
            one for one, places in ranks.items() if all(p is not None and p <= 2 for p in places)
        ),
        "proposed": sorted(one for one, places in ranks.items() if all(p is not None for p in places)),
    }


def _parameters(job: Any) -> dict[str, int]:
    model = job.model
    memory = getattr(model, "memory", None)
    counts = {"total": sum(parameter.numel() for parameter in model.parameters())}
    if memory is not None:
        counts["memory"] = sum(parameter.numel() for parameter in memory.parameters())
    return counts


def _training_seconds(metrics: list[dict[str, Any]], batch: int) -> float:
    """By the speeds along the way, so that interruptions do not count."""
    total, last = 0.0, 0
    for line in metrics:
        rates = [value for name, value in line.items() if name.endswith("_per_second")]
        if rates and rates[0] > 0:
            total += (line["step"] - last) * batch / rates[0]
            last = line["step"]
    return round(total, 1)


def _thinned(metrics: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Some lines of the metrics, evenly spread, the last among them; evaluations are all kept."""
    lines = [line for line in metrics if "loss" in line]
    step = max(1, -(-len(lines) // POINTS))
    kept = lines[::-1][::step][::-1]
    kept += [line for line in metrics if any(name.startswith("evaluation/") for name in line)]
    return [
        {name: float(f"{value:.5g}") for name, value in line.items() if name != "time"}
        for line in sorted(kept, key=lambda line: line["step"])
    ]


def _end_with_parent() -> None:
    """Ask for a checkpoint and an end once the parent is gone."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("size", choices=get_args(SizeName))
    parser.add_argument("variant")
    parser.add_argument("seed", type=int)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--at-once", type=int, default=1)
    options = parser.parse_args()
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        _end_with_parent()
    try:
        with stop_early():
            variant = variant_named(options.variant)
            shelf = Shelf(options.out, options.size, options.data)
            with place(options.device) as here:
                finished = run_one(variant, options.seed, shelf, here, at_once=options.at_once)
    except CharmError as error:
        print(f"charm: {error}", file=sys.stderr)
        sys.exit(2)
    except StoppedEarly as stop:
        print(f"charm: {stop}", file=sys.stderr)
        sys.exit(STOPPED)
    sys.exit(0 if finished else STOPPED)


if __name__ == "__main__":
    main()
