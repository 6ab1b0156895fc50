"""One run of a reproduction: train, evaluate, write the result; and the folder of results.

    python -m charm.paper.work OUT SIZE GROUP.NAME SEED [--device D] [--data DIR] [--at-once N]

OUT/SIZE/results/GROUP.NAME.sSEED.json    scores, settings, seconds, curves: all that tables and figures need
OUT/SIZE/runs/GROUP.NAME/seed_SEED/       the run itself, with its checkpoints; log.txt is what it printed

Results are small files that can be copied anywhere. A run's process resumes an earlier attempt, writes a checkpoint on
SIGTERM, and stops when its parent dies.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from tyro.conf import Positional

from charm.accounting import gate_share
from charm.automata import benchmark
from charm.automata.run import CarConfig
from charm.config import from_json, read_run_config, to_json
from charm.continual.run import StreamOptions, run_stream
from charm.continual.streams import TaskStream
from charm.devices import Place, place
from charm.errors import CharmError
from charm.files import read_sealed
from charm.language.config import LMConfig
from charm.language.gpt import components
from charm.models.model import CharmModel
from charm.paper.runs import SMALL_STREAM, SizeName, Variant, hours, small_tasks, variant_named
from charm.paper.tables import EMERGED
from charm.paths import data_dir
from charm.progress import Echo, say
from charm.runs.checkpoint import newest_checkpoint, steps_of
from charm.runs.folder import write_result
from charm.runs.metrics import curve, mean_around, read_metrics
from charm.runs.settings import TrainConfig
from charm.signals import StoppedEarly, stop_early
from charm.tasks import pairs_file
from charm.tasks.sources import load_source
from charm.tasks.task import Pair

STOPPED = 3  # exit code of an unfinished run that has a checkpoint
POINTS = 40  # number of points of a stored curve
Result = dict[str, Any]
UNSEEN = "unseen"  # name of the stream of the smaller sizes, which is a file
PAIRS, LONGEST_PAIR = 100, 15  # a task's first synthetic pairs, without sides beyond the second number
# Fields of a configuration that change neither what is computed nor how it is judged.
PLACES = (*("device", "compile", "graphs", "accumulate", "device_rows"), *("log_to", "keep_checkpoints"))


@dataclass(frozen=True)
class Shelf:
    """The results of one size in one folder."""

    out: Path
    size: SizeName
    data: Path | None = None  # folder of downloaded and generated data; None is the presets' default

    def run(self, variant: Variant, seed: int) -> PaperRun:
        return PaperRun(self, variant, seed)

    def chooses_pairs(self, config: Any) -> bool:
        """Return whether a run learns from some of the synthetic pairs only."""
        return self.size == "small" and isinstance(config, TrainConfig) and config.data.partial

    def prepare(self, variants: Iterable[Variant]) -> None:
        """Write the files that runs of the smaller sizes read: their stream, benchmark and synthetic pairs."""
        for variant in variants:
            config, automata = variant.at(self.size), self.own_data / "car"
            if variant.base and config.stream == UNSEEN:
                tasks = {
                    one.id: one for split in ("training", "evaluation") for one in load_source(f"arc1/{split}").tasks
                }
                ids = variant.size(self.size).stream or small_tasks("training")[:SMALL_STREAM]
                TaskStream(UNSEEN, tuple(tasks[one] for one in ids)).save(self.stream_path)
            for provider in config.data.synthetic if self.chooses_pairs(config) else ():
                choose_pairs(data_dir(self.data) / provider, self.own_data / provider, config.data.tasks)
            made = (automata / benchmark.MANIFEST).is_file()
            if isinstance(config, CarConfig) and self.size != "full" and not made:
                benchmark.write_benchmark(automata, benchmark.build(config.data.benchmark))

    @property
    def stream_path(self) -> Path:
        return self.out / self.size / "stream" / f"{UNSEEN}.json"

    @property
    def own_data(self) -> Path:
        return self.out / self.size / "data"


@dataclass(frozen=True)
class PaperRun:
    """A run of the paper with its seed, and its files on a shelf."""

    shelf: Shelf
    variant: Variant
    seed: int

    def __str__(self) -> str:
        return f"{self.variant.key} seed {self.seed}"

    @property
    def base(self) -> PaperRun | None:
        """The run whose model this one starts from."""
        return PaperRun(self.shelf, self.variant.base, 0) if self.variant.base else None

    @property
    def config(self) -> Any:
        """The configuration, with the shelf's data folder."""
        shelf, config = self.shelf, self.variant.at(self.shelf.size, self.seed)
        if isinstance(config, StreamOptions):
            stream = str(shelf.stream_path) if config.stream == UNSEEN else config.stream
            return replace(config, stream=stream, data=shelf.data)
        if isinstance(config, LMConfig):
            return replace(config, data=data_dir(shelf.data) / self.variant.size(shelf.size).text)
        own = shelf.chooses_pairs(config) or (isinstance(config, CarConfig) and shelf.size != "full")
        place = shelf.own_data if own else shelf.data
        return config if place is None else replace(config, data=replace(config.data, data=place))

    @property
    def name(self) -> str:
        return self.variant.home(self.shelf.size)

    @property
    def hours(self) -> float:
        return hours(self.variant, self.shelf.size)

    @property
    def folder(self) -> Path:
        return self.shelf.out / self.shelf.size / "runs" / self.name / f"seed_{self.seed}"

    @property
    def result_path(self) -> Path:
        return self.shelf.out / self.shelf.size / "results" / f"{self.name}.s{self.seed}.json"

    def read(self) -> Result | None:
        """Return the result if it is finished, else None; raise if it was made with other settings."""
        if not self.result_path.is_file():
            return None
        found: Result = read_sealed(self.result_path)
        config = self.variant.at(self.shelf.size, self.seed)
        made, wanted = found.get("settings"), identity(config)
        with suppress(CharmError):  # fields that are newer than the result had their default value
            made = identity(from_json(type(config), made))
        if made != wanted:
            names = [name for name in wanted if not isinstance(made, dict) or made.get(name) != wanted[name]]
            problem = f"{self.result_path} was made with other settings ({', '.join(names) or 'more fields'})"
            raise CharmError(f"{problem}; delete it to run the variant again, or use another --out")
        return found


def choose_pairs(source: Path, target: Path, tasks: Iterable[str]) -> None:
    """Write a folder with the first pairs of some tasks that have no long side, unless it is there."""
    if (target / pairs_file.MANIFEST).is_file():
        return
    found = pairs_file.read_manifest(source)
    chosen = pairs_file.Manifest(replace(found.plan, pairs=PAIRS))
    for task, block in pairs_file.load_pairs(source, set(tasks) & set(found.tasks)).items():
        numbers = np.flatnonzero(block.shapes[:PAIRS].max(axis=1) <= LONGEST_PAIR).tolist()
        if numbers:
            kept = pairs_file.pack_pairs([Pair(*block.pair(n)) for n in numbers], block.index[numbers].tolist())
            pairs_file.write_block(target, task, kept)
            why = f"pairs with sides beyond {LONGEST_PAIR} are left out"
            chosen.tasks[task] = pairs_file.TaskRecord(len(kept), PAIRS, {}, kept.content(), why)
    pairs_file.write_manifest(target, chosen)


def identity(config: Any) -> dict[str, Any]:
    """Return the settings that identify a result."""
    found = {name: value for name, value in to_json(config).items() if name not in PLACES}
    data = found.pop("data")
    if isinstance(data, dict):
        found["data"] = {name: value for name, value in data.items() if name != "data"}
    return found


# A run


def run_one(run: PaperRun, here: Place, say: Echo = print, at_once: int = 1) -> bool:
    """Finish the training, evaluate, and write the result; return False if a signal stopped it.

    The number of runs that share the machine is recorded, because it affects the speed.
    """
    began = time.monotonic()
    found = _learn_stream(run, run.base, here, say) if run.base else _train(run, here, say)
    if found is None:
        return False
    if here.is_main:
        result = {"variant": run.name, "size": run.shelf.size, "seed": run.seed, **found}
        result |= {"seconds_of_last_attempt": round(time.monotonic() - began, 1), "at_once": at_once}
        result |= {"machine": here.describe(), "torch": torch.__version__, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
        result["curve"] = _thin_out(read_metrics(run.folder))
        result["settings"] = identity(run.variant.at(run.shelf.size, run.seed))
        write_result(run.result_path, result, run.folder)
        say(str(run.result_path))
    return True


def _train(run: PaperRun, here: Place, say: Echo) -> Result | None:
    config, out, domain = run.config, run.folder, run.variant.domain
    begun = (out / "config.json").is_file()
    if begun and identity(read_run_config(out, type(config))) != identity(config):
        remedy = "delete it to start again, or use another --out"
        raise CharmError(f"{out} is an unfinished run with other settings; {remedy}")
    engine = domain.get("train")(config, out, here, begun, say)
    if engine.step < config.steps:
        return None
    parameters = _parameters(config, engine.job)
    del engine  # its memory is needed for the votes
    gc.collect()
    if here.device.type == "cuda":
        torch.cuda.empty_cache()
    trained, metrics = time.monotonic(), read_metrics(out)
    scores: dict[str, float] = {}
    tasks: dict[str, list[str]] = {}
    place_of_data = config.data if domain.name == "lm" else config.data.data
    for prefix, options in run.variant.size(run.shelf.size).evaluations.items():
        given = from_json(domain.get("evaluate_options"), {**options, "data": place_of_data})
        if found := domain.get("evaluate")(out, given, here):
            scores |= {f"{prefix}{name}": value for name, value in SCORES[domain.name](found[0]).items()}
            if domain.name == "arc":
                tasks |= {f"{prefix}{name}": ids for name, ids in _solved_and_proposed(found[0]).items()}
    if domain.name == "arc" and metrics:
        scores["loss"] = round(mean_around(metrics, "token_loss", config.steps)[0], 5)
    if domain.name == "arc" and config.memory.gate:
        scores["gate"] = round(100 * gate_share(CharmModel.from_pretrained(newest_checkpoint(out), here.device)), 4)
    if domain.name == "car" and (updates := updates_until_unseen(metrics)) is not None:
        scores[EMERGED] = round(updates, 1)
    seconds = {"training": _training_seconds(metrics, config.batch), "evaluation": round(time.monotonic() - trained, 1)}
    return {"scores": scores, "parameters": parameters, "seconds": seconds, "tasks": tasks}


def _learn_stream(run: PaperRun, base: PaperRun, here: Place, say: Echo) -> Result | None:
    if not steps_of(base.folder):
        raise CharmError(f"{base.folder}: the base has no checkpoint; delete {base.result_path} to train it again")
    try:
        summary = run_stream(base.folder, run.folder, run.config, here, say)
    except KeyboardInterrupt:  # stopped by a signal, with a checkpoint
        return None
    names = [f"{when} pass@{k}" for when in ("zero-shot", "immediate", "final") for k in (1, 2)]
    names += ["base before", "base after"]
    scores = {name: round(100 * summary[name], 4) for name in names if summary[name] is not None}
    scores["token loss"] = round(summary["token_loss"], 6)
    counts, seconds = {"updated": summary["updated_parameters"]}, {"training": round(summary["seconds"], 1)}
    summary |= {"skipped": len(summary["skipped"]), "stream": Path(summary["stream"]).name}
    return {"scores": scores, "parameters": counts, "seconds": seconds, "summary": summary}


def _car_scores(found: Mapping[str, Any]) -> dict[str, float]:
    """Return scores such as "seen pass@2" (all combinations) and "seen T=1 pass@2" (one horizon), and right cells."""
    groups = [(part, group, one) for part in ("seen", "unseen") for group, one in found.get(part, {}).items()]
    prefixed = [(f"{part} " if group == "all" else f"{part} {group} ", one) for part, group, one in groups]
    return {f"{to}{name}": round(100 * one[name], 4) for to, one in prefixed for name in ("pass@1", "pass@2", "cells")}


def updates_until_unseen(metrics: list[dict[str, Any]]) -> float | None:
    """Return the updates until unseen pass@2 is above 1 %, interpolated between evaluations; None if it never is."""
    points = [(0.0, 0.0), *curve(metrics, "evaluation/unseen pass@2")]
    for (before, low), (after, high) in pairwise(points):
        if high > 0.01:
            return before + (after - before) * (0.01 - low) / (high - low)
    return None


# Domain -> function from the result of `charm eval` to scores by name; shares are in percent.
SCORES: dict[str, Callable[[Mapping[str, Any]], dict[str, float]]] = {
    "arc": lambda found: {
        name: round(100 * value, 4) for name, value in found["metrics"].items() if not name.endswith("/outputs")
    },
    "car": _car_scores,
    "lm": lambda found: {"bits per byte": round(found["bpb"], 6)},
}


def _solved_and_proposed(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the tasks with all outputs among the first two candidates, and those with all among any candidates."""
    ranks = {task["task_id"]: [output["rank"] for output in task["outputs"]] for task in found["tasks"]}
    return {
        "solved": sorted(one for one, places in ranks.items() if all(p is not None and p <= 2 for p in places)),
        "proposed": sorted(one for one, places in ranks.items() if all(p is not None for p in places)),
    }


def _parameters(config: Any, job: Any) -> dict[str, int]:
    if isinstance(config, LMConfig):
        counts = components(config.gpt, config.ngram)
        return {"memory": counts["memory"], "total": counts["total"]}
    parts = {"memory": job.model.memory, "total": job.model}
    return {name: sum(one.numel() for one in part.parameters()) for name, part in parts.items()}


def _training_seconds(metrics: list[dict[str, Any]], batch: int) -> float:
    """Return the training time by the logged speeds, so that interruptions do not count."""
    total, last = 0.0, 0
    for line in metrics:
        rates = [value for name, value in line.items() if name.endswith("_per_second")]
        if rates and rates[0] > 0:
            total += (line["step"] - last) * batch / rates[0]
            last = line["step"]
    return round(total, 1)


def _thin_out(metrics: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Return evenly spaced lines of the metrics, including the last, and all lines with evaluations."""
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


def main(
    out: Positional[Path],
    size: Positional[SizeName],
    variant: Positional[str],
    seed: Positional[int],
    device: str = "auto",
    data: Path | None = None,
    at_once: int = 1,
) -> None:
    """Make one run of a reproduction."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        _end_with_parent()
    try:
        with stop_early(), place(device) as here:
            finished = run_one(Shelf(out, size, data).run(variant_named(variant), seed), here, at_once=at_once)
    except CharmError as error:
        say(f"charm: {error}")
        sys.exit(2)
    except StoppedEarly as stop:
        say(f"charm: {stop}")
        sys.exit(STOPPED)
    sys.exit(0 if finished else STOPPED)


if __name__ == "__main__":
    tyro.cli(main)
