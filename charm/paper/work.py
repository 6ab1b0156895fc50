"""One run of a reproduction, in a separate process: train, evaluate, write the result.

    python -m charm.paper.work OUT SIZE GROUP.NAME SEED [--device D] [--data DIR] [--at-once N]

It resumes an earlier attempt, writes a checkpoint on SIGTERM, and stops when its parent dies.
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
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import torch

from charm.accounting import gate_share
from charm.config import read_run_config
from charm.continual.run import run_stream
from charm.devices import Place, place
from charm.errors import CharmError
from charm.language.config import LMConfig
from charm.language.gpt import components
from charm.models.model import CharmModel
from charm.paper.shelf import Result, Shelf, identity
from charm.paper.sizes import SizeName
from charm.paper.tables import EMERGED
from charm.paper.variants import Variant, variant_named
from charm.progress import say
from charm.runs.checkpoint import newest_checkpoint, steps_of
from charm.runs.metrics import curve, mean_around, read_metrics
from charm.signals import StoppedEarly, stop_early

STOPPED = 3  # exit code of an unfinished run that has a checkpoint
POINTS = 40  # number of points of a stored curve


def run_one(
    variant: Variant,
    seed: int,
    shelf: Shelf,
    here: Place,
    say: Callable[[str], None] = print,
    at_once: int = 1,
) -> bool:
    """Finish the training, evaluate, and write the result; return False if a signal stopped it.

    `at_once` is the number of runs that share the machine; it is recorded because it affects the speed.
    """
    began = time.monotonic()
    learn = _learn_stream if variant.base else _train_and_ask
    found = learn(variant, seed, shelf, here, say)
    if found is None:
        return False
    if here.is_main:
        out = shelf.run_folder(variant, seed)
        result: Result = {
            "variant": variant.home(shelf.size),
            "size": shelf.size,
            "seed": seed,
            **found,
            "seconds_of_last_attempt": round(time.monotonic() - began, 1),
            "at_once": at_once,
            "machine": here.describe(),
            "torch": torch.__version__,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "curve": _thinned(read_metrics(out)),
            "settings": identity(variant.at(shelf.size, seed)),
        }
        say(str(shelf.write(variant, seed, result)))
    return True


def _train_and_ask(
    variant: Variant, seed: int, shelf: Shelf, here: Place, say: Callable[[str], None]
) -> Result | None:
    config, out = shelf.config(variant, seed), shelf.run_folder(variant, seed)
    domain, size = variant.domain, variant.size(shelf.size)
    begun = (out / "config.json").is_file()
    if begun and identity(read_run_config(out, type(config))) != identity(config):
        raise CharmError(
            f"{out} is an unfinished run with other settings; delete it to start again, or use another --out"
        )
    engine = domain.get("train")(config, out, here, begun, say)
    if engine.step < config.steps:
        return None
    parameters = _parameters(config, engine.job)
    del engine  # its memory is needed for the votes
    gc.collect()
    if here.device.type == "cuda":
        torch.cuda.empty_cache()
    asked = time.monotonic()
    scores: dict[str, float] = {}
    tasks: dict[str, list[str]] = {}
    place_of_data = config.data if domain.name == "lm" else config.data.data
    for prefix, options in size.evaluations.items():
        given = domain.get("evaluate_options")(**options, data=place_of_data)
        found = domain.get("evaluate")(out, given, here)
        if found is None:
            continue
        scores |= {f"{prefix}{name}": value for name, value in SCORES[domain.name](found[0]).items()}
        if domain.name == "arc":
            tasks |= {f"{prefix}{name}": ids for name, ids in _answered(found[0]).items()}
    metrics = read_metrics(out)
    if domain.name == "arc" and metrics:
        scores["loss"] = round(mean_around(metrics, "token_loss", config.steps)[0], 5)
    if domain.name == "car" and (updates := emerged(metrics)) is not None:
        scores[EMERGED] = round(updates, 1)
    if domain.name == "arc" and config.memory.gate:
        scores["gate"] = round(
            100 * gate_share(CharmModel.from_pretrained(newest_checkpoint(out), here.device)), 4
        )
    seconds = {
        "training": _training_seconds(metrics, config.batch),
        "evaluation": round(time.monotonic() - asked, 1),
    }
    return {"scores": scores, "parameters": parameters, "seconds": seconds, "tasks": tasks}


def _learn_stream(
    variant: Variant, seed: int, shelf: Shelf, here: Place, say: Callable[[str], None]
) -> Result | None:
    base, out = variant.base, shelf.run_folder(variant, seed)
    assert base is not None
    trained = shelf.run_folder(base, 0)
    if not steps_of(trained):
        raise CharmError(
            f"{trained}: the base has no checkpoint; delete {shelf.result_path(base, 0)} to train it again"
        )
    try:
        summary = run_stream(trained, out, shelf.config(variant, seed), here, say)
    except KeyboardInterrupt:  # stopped by a signal, with a checkpoint
        return None
    names = [f"{when} pass@{k}" for when in ("zero-shot", "immediate", "final") for k in (1, 2)]
    scores = {
        name: round(100 * summary[name], 4)
        for name in (*names, "base before", "base after")
        if summary[name] is not None
    }
    scores["token loss"] = round(summary["token_loss"], 6)
    return {
        "scores": scores,
        "parameters": {"updated": summary["updated_parameters"]},
        "seconds": {"training": round(summary["seconds"], 1)},
        "summary": {**summary, "skipped": len(summary["skipped"]), "stream": Path(summary["stream"]).name},
    }


def _arc_scores(found: Mapping[str, Any]) -> dict[str, float]:
    return {
        name: round(100 * value, 4)
        for name, value in found["metrics"].items()
        if not name.endswith("/outputs")
    }


def _car_scores(found: Mapping[str, Any]) -> dict[str, float]:
    """Scores such as "seen pass@2" (all combinations) and "seen T=1 pass@2" (one horizon), and right cells."""
    return {
        f"{part} {'' if group == 'all' else f'{group} '}{name}": round(100 * one[name], 4)
        for part in ("seen", "unseen")
        for group, one in found.get(part, {}).items()
        for name in ("pass@1", "pass@2", "cells")
    }


def emerged(metrics: list[dict[str, Any]]) -> float | None:
    """Updates until unseen pass@2 is above 1 %, with straight lines between evaluations; None if it never is."""
    points = [(0.0, 0.0), *curve(metrics, "evaluation/unseen pass@2")]
    for (before, low), (after, high) in pairwise(points):
        if high > 0.01:
            return before + (after - before) * (0.01 - low) / (high - low)
    return None


# Domain -> function from the result of `charm eval` to scores by name; shares are in percent.
SCORES: dict[str, Callable[[Mapping[str, Any]], dict[str, float]]] = {
    "arc": _arc_scores,
    "car": _car_scores,
    "lm": lambda found: {"bits per byte": round(found["bpb"], 6)},
}


def _answered(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Tasks with all outputs among the first two candidates, and tasks with all outputs among any candidates."""
    ranks = {task["task_id"]: [output["rank"] for output in task["outputs"]] for task in found["tasks"]}
    return {
        "solved": sorted(
            one for one, places in ranks.items() if all(p is not None and p <= 2 for p in places)
        ),
        "proposed": sorted(one for one, places in ranks.items() if all(p is not None for p in places)),
    }


def _parameters(config: Any, job: Any) -> dict[str, int]:
    if isinstance(config, LMConfig):
        counts = components(config.gpt, config.ngram)
        return {"memory": counts["memory"], "total": counts["total"]}
    parts = {"memory": job.model.memory, "total": job.model}
    return {name: sum(one.numel() for one in part.parameters()) for name, part in parts.items()}


def _training_seconds(metrics: list[dict[str, Any]], batch: int) -> float:
    """Training time from the logged speeds, so that interruptions do not count."""
    total, last = 0.0, 0
    for line in metrics:
        rates = [value for name, value in line.items() if name.endswith("_per_second")]
        if rates and rates[0] > 0:
            total += (line["step"] - last) * batch / rates[0]
            last = line["step"]
    return round(total, 1)


def _thinned(metrics: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Evenly spaced lines of the metrics, including the last, and all lines with evaluations."""
    lines = [line for line in metrics if "loss" in line]
    step = max(1, -(-len(lines) // POINTS))
    kept = lines[::-1][::step][::-1]
    kept += [line for line in metrics if any(name.startswith("evaluation/") for name in line)]
    return [
        {name: float(f"{value:.5g}") for name, value in line.items() if name != "time"}
        for line in sorted(kept, key=lambda line: line["step"])
    ]


def _end_with_parent() -> None:
    """Ask for a checkpoint and stop when the parent has ended."""
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
        say(f"charm: {error}")
        sys.exit(2)
    except StoppedEarly as stop:
        say(f"charm: {stop}")
        sys.exit(STOPPED)
    sys.exit(0 if finished else STOPPED)


if __name__ == "__main__":
    main()
