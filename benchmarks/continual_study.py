"""Continual learning at the field's size: all methods over their settings, then CoSE against a table of equal size.

    python -m benchmarks.continual_study sweep --jobs 16      # every method over its settings, on a validation stream
    python -m benchmarks.continual_study orders --jobs 16     # CoSE and the table: 5 orders x 2 bases x 110 tasks
    python -m benchmarks.continual_study must --jobs 16       # both
    python -m benchmarks.continual_study methods --jobs 16    # every method at its best setting, on the test stream
    python -m benchmarks.continual_study bases --jobs 16      # memory-only learning from 5 bases of each of 4 memories
    python -m benchmarks.continual_study report               # tables and figure from what is finished

Small tasks of ARC-AGI-1 (both sets) and ARC-AGI-2 (training) are divided by a hash of their ids: 110 are the test
stream, 24 the validation stream, the other 171 train the bases, each once with CoSE and once with a low-rank table
whose tasks cost no fewer parameters. `orders` and `methods` take the settings that were best on the validation stream,
or the recipe's own where `sweep` has not run. An order is a seed: of the stream's order and of the examples. `bases`
tries rates of its own for each memory, and takes another order for each base.

Memory-only streams learn all tasks side by side (`benchmarks.continual_together`), which is the same computation as one
task after the other, in less time; `--one-by-one` runs them as `charm adapt` does.

Interrupted, the same command resumes. `OUT/SIZE/results` has one small file for each finished run and is all that
`report` needs; `--size smoke` takes a minute on a CPU and shows only that everything runs.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin slow each other down on a shared CPU

import numpy as np
import torch

from benchmarks.continual_together import run_together
from benchmarks.intervals import over_tasks_and_seeds
from charm.arc.run import train
from charm.config import to_json
from charm.continual.records import memory_name
from charm.continual.results import short_count, write_json
from charm.continual.run import StreamOptions, run_stream
from charm.continual.streams import TaskStream, load_stream
from charm.devices import place
from charm.drawing import figures
from charm.drawing.figures import Point, Series
from charm.errors import CharmError
from charm.files import read_sealed
from charm.paper.comparison import Difference, paired_difference
from charm.paper.runs import SIZES, VARIANTS, SizeName
from charm.processes import process_pool
from charm.runs.checkpoint import steps_of
from charm.runs.settings import TrainConfig
from charm.tables import Table, spread_text
from charm.tasks.sources import load_source
from charm.tasks.task import Task
from charm.training.adaptation import Recipe, Scope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST = 10  # side of the largest visible grid


BASES = {
    "cose": "bases.cose-r32",
    "table": "bases.table-r32",
    "cose-r0": "bases.cose-r0",
    "table-full": "bases.table-r512",
}
PAIRS = (("cose", "table"), ("cose", "table-full"), ("cose", "cose-r0"), ("cose-r0", "table"))  # that `bases` compares
VALIDATED = ("sweep", "rates")  # parts on the validation stream


@dataclass(frozen=True)
class Study:
    size: SizeName
    """Of bases and streams in `charm reproduce`."""
    updates: int
    """Of a base."""
    stage: int
    """Updates of a stage."""
    batch: int
    """Examples of such an update."""
    test: int
    validation: int
    pretraining: int | None = None
    """Tasks that train the bases; None is all others."""
    orders: int = 5
    bases: int = 2
    many_bases: int = 5
    """Of each memory, in the part `bases`."""
    settings: int | None = None
    """Rates and strengths of a method that are tried; None is all."""


# The sizes of `charm reproduce`, with other tasks.
STUDIES = {
    "small": Study("small", 4000, 100, 64, 110, 24),
    "smoke": Study("smoke", 2, 2, 8, 3, 2, pretraining=6, orders=2, bases=1, many_bases=2, settings=1),
}


@dataclass(frozen=True)
class Trial:
    """One stream run."""

    part: str
    """sweep, orders, methods, rates or bases."""
    memory: str
    method: str
    scope: Scope
    rate: float = 1.0
    """Of the recipe's own: of rows where only they move, else of shared weights."""
    strength: float | None = None
    order: int = 0
    base: int = 0

    @property
    def name(self) -> str:
        own = "" if self.strength is None else f"-w{self.strength:g}"
        return f"{self.part}-{self.memory}-{self.method}-{self.scope}-x{self.rate:g}{own}-o{self.order}-b{self.base}"

    def recipe(self, start: Recipe) -> Recipe:
        rates = ("task_lr", "row_lr") if self.scope == "rows" else ("shared_lr",)
        changed = {name: self.rate * getattr(start, name) for name in rates}
        return replace(start, seed=self.order, **changed)  # type: ignore[arg-type]


# Methods with the rates and strengths that they are tried at.
FAST = (0.02, 0.1, 0.5, 2.0)
ROWS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # times the recipe's rates, in the part `rates`
SWEEP: list[tuple[str, Scope, tuple[float, ...], tuple[float | None, ...]]] = [
    ("memory-only", "rows", (0.125, 0.25, 0.5, 1.0, 2.0, 4.0), (None,)),
    ("naive", "composition", FAST, (None,)),
    ("naive", "full", FAST, (None,)),
    ("l2sp", "composition", (0.5, 2.0), (0.01, 0.1, 1.0)),
    ("ewc", "composition", (0.5, 2.0), (1.0, 100.0, 10_000.0)),
    ("rehearsal", "composition", FAST, (None,)),
    ("replay", "composition", FAST, (None,)),
    ("lora", "matrices", FAST, (None,)),
    ("sparse", "feed-forward", FAST, (None,)),
]


def pool() -> list[Task]:
    """Return all small tasks in an arbitrary order."""
    found = {task.id: task for source in ("arc1/training", "arc1/evaluation") for task in load_source(source).tasks}
    found |= {task.id: task for task in load_stream("arc2-training").tasks}
    small = [
        task
        for task in found.values()
        if max(max(grid.shape) for pair in task.blind().pairs for grid in pair.grids()) <= LONGEST
    ]
    return sorted(small, key=lambda task: hashlib.sha256(task.id.encode()).hexdigest())


def write_tasks(study: Study, out: Path) -> None:
    tasks = pool()
    validation, base = study.test, study.test + study.validation
    last = None if study.pretraining is None else base + study.pretraining
    parts = {"test": tasks[:validation], "validation": tasks[validation:base], "base": tasks[base:last]}
    for name, chosen in parts.items():
        TaskStream(name, tuple(chosen)).save(out / f"{name}.json")


def base_config(study: Study, out: Path, memory: str, seed: int) -> TrainConfig:
    config = VARIANTS[BASES[memory]].at(study.size)
    data = replace(config.data, evaluate=(str(out / "base.json"),), tasks=())
    return replace(config, data=data, steps=study.updates, checkpoint_every=study.updates, seed=seed)


def train_base(size: str, device: str, out: Path, which: tuple[str, int]) -> None:
    """Train the base, unless it is there already."""
    config = base_config(STUDIES[size], out, *which)
    folder = out / "bases" / "{}-{}".format(*which)
    done = steps_of(folder)
    if not done or done[-1] < config.steps:
        with place(device) as here:
            train(config, folder, here, resume=bool(done), say=lambda text: None)
        print(f"base {folder.name} is trained", flush=True)


def run_trial(size: str, device: str, out: Path, one_by_one: bool, trial: Trial) -> None:
    """Make one stream run and its small file of results, unless that is there already."""
    path, study = out / "results" / f"{trial.name}.json", STUDIES[size]
    if path.is_file():
        return
    start = SIZES["stream1"][study.size].shrink(StreamOptions("", trial.method, trial.scope))
    options = replace(
        start,
        stream=str(out / f"{_stream_of(trial.part)}.json"),
        recipe=trial.recipe(replace(start.recipe, steps=study.stage, batch=study.batch)),
        strength=trial.strength,
        # Where rows alone move, nothing changes between the start and the end.
        recheck_every=10**6 if trial.scope == "rows" else max(1, study.test // 5),
    )
    base, folder = out / "bases" / f"{trial.memory}-{trial.base}", out / "runs" / trial.name
    with place(device) as here:
        if trial.scope == "rows" and not one_by_one:
            summary, final = run_together(base, folder, options, here)
        else:
            summary = run_stream(base, folder, options, here, say=lambda text: None)
            if not (folder / "result.json").is_file():
                return  # stopped
            stream = read_sealed(folder / "R.json")["stream"]
            last = stream["R"].get(str(len(stream["tasks"])), ())
            final = dict(zip(stream["tasks"], last, strict=bool(last)))
    made = {"machine": here.describe(), "date": datetime.now(UTC).strftime("%Y-%m-%d")}
    write_json(path, {"trial": asdict(trial), "summary": summary, "final": final, **made})
    print(f"{trial.name}: ACC {_percent(summary['ACC'])}", flush=True)


def attempt(work: Callable[[Any], None], item: Any) -> None:
    """Run one of many pieces of work; a failure is reported and the others continue."""
    try:
        work(item)
    except (CharmError, RuntimeError, OSError) as error:
        print(f"{item} failed: {error}", flush=True)
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()  # processes share the GPU


def sweep_trials(study: Study) -> list[Trial]:
    trials = [
        Trial("sweep", "cose", method, scope, rate, strength)
        for method, scope, rates, strengths in SWEEP
        for rate in rates[: study.settings]
        for strength in strengths[: study.settings]
    ]
    rows = [one for one in trials if one.method == "memory-only"]
    # Short ones last, so that no process waits long for another.
    return [one for one in trials if one not in rows] + rows + [replace(one, memory="table") for one in rows]


def best(results: Sequence[dict[str, Any]], part: str = "sweep") -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return for each memory, method and scope the settings with the best mean of new and old tasks at the end."""

    def quality(one: dict[str, Any]) -> tuple[float, float]:
        found = one["summary"]
        return (found["ACC"] + found["base ACC"]) / 2, found["immediate pass@2"]

    chosen: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in (one for one in results if one["trial"]["part"] == part):
        key = tuple(one["trial"][name] for name in ("memory", "method", "scope"))
        if key not in chosen or quality(one) > quality(chosen[key]):
            chosen[key] = one  # type: ignore[index]
    return {key: one["trial"] for key, one in chosen.items()}


def trials_for(part: str, study: Study, results: Sequence[dict[str, Any]]) -> list[Trial]:
    found = best(results, "rates" if part == "bases" else "sweep")

    def tuned(memory: str, method: str, scope: Scope) -> Trial:
        chosen = found.get((memory, method, scope), {})
        return Trial(part, memory, method, scope, chosen.get("rate", 1.0), chosen.get("strength"))

    if part == "orders":
        return [
            replace(tuned(memory, "memory-only", "rows"), order=order, base=base)
            for base in range(study.bases)
            for order in range(study.orders)
            for memory in ("cose", "table")
        ]
    if part == "bases":
        each = [tuned(memory, "memory-only", "rows") for memory in BASES]
        return [replace(one, order=base, base=base) for base in range(study.many_bases) for one in each]
    once = [tuned("cose", method, scope) for method, scope, *_ in SWEEP if method != "memory-only"]
    return [replace(one, order=order) for one in once for order in range(min(2, study.orders))]


def trials_of(part: str, study: Study, out: Path) -> list[Trial]:
    if part == "sweep of rows":
        return [one for one in sweep_trials(study) if one.method == "memory-only"]
    if part == "rates":
        rates = ROWS[: study.settings]
        return [Trial("rates", memory, "memory-only", "rows", rate) for rate in rates for memory in BASES]
    return sweep_trials(study) if part == "sweep" else trials_for(part, study, read_results(out))


def read_results(out: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((out / "results").glob("*.json"))]


# Tables


def learning_forgetting(results: Sequence[dict[str, Any]]) -> dict[str, Series]:
    """Return a curve for each method over its settings: learned against forgotten, of the stream and of the base."""
    panels: dict[str, dict[str, list[Point]]] = {"the stream": {}, "the base's tasks": {}}
    for one in (one for one in results if one["trial"]["part"] == "sweep"):
        trial, found = one["trial"], one["summary"]
        scope = f", {trial['scope']}" if trial["method"] == "naive" else ""
        label = f"{found['memory'].split(' ')[0]} {trial['method']}{scope}"
        for (title, curves), name in zip(panels.items(), ("forgetting", "base forgetting"), strict=True):
            if found[name] is not None:
                learned = (100 * found["immediate pass@2"],)
                curves.setdefault(label, []).append(Point(100 * found[name], learned))
                panels[title] = curves
    return dict(panels)


def learning_forgetting_figure(panels: Mapping[str, Series]) -> Figure:
    """Draw accuracy right after learning against forgetting, one curve for each method over its settings.

    The x of a point is the accuracy forgotten, in points.
    """
    figure, axes = figures.new_figure(len(panels))
    labels = list(dict.fromkeys(label for series in panels.values() for label in series))
    for one, (title, series) in zip(axes, panels.items(), strict=True):
        figures.draw_points(one, {label: series.get(label, ()) for label in labels}, joined=True)
        one.set(xlabel=f"forgetting of {title} (points)", ylabel="learned: pass@2 right after a task (%)")
        figures.start_at_zero(one)
    return figures.with_legend(figure, panels[next(iter(panels))], axes[0])


def trials_table(part: str, results: Sequence[dict[str, Any]]) -> Table:
    """Return a line for each method and setting, means over orders and bases."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in (one for one in results if one["trial"]["part"] == part):
        key = tuple(one["trial"][name] for name in ("memory", "method", "scope", "rate", "strength"))
        groups.setdefault(key, []).append(one["summary"])
    names = (
        "immediate pass@2",
        "ACC",
        "BWT",
        "forgetting",
        "WC-ACC",
        "base before",
        "base ACC",
        "base forgetting",
    )
    rows = []
    for (_, method, scope, rate, strength), runs in groups.items():
        own = "" if strength is None else f", {strength:g}"
        values = [[100 * run[name] for run in runs if run[name] is not None] for name in names]
        rows.append(
            [
                *(runs[0]["memory"], f"{method} {scope}", f"{rate:g}{own}"),
                short_count(float(np.mean([run["updated_parameters"] for run in runs]))),
                short_count(float(np.mean([run["bytes_per_task"] for run in runs]))),
                f"{np.mean([run['seconds_per_task'] for run in runs]):.2f}",
                *(spread_text(one, ".1f") for one in values),
                str(len(runs)),
            ]
        )
    heads = ("Learned", "ACC", "BWT", "Forgetting", "WC-ACC", "Base before", "Base ACC", "Base forgetting")
    columns = ["Memory", "Method", "Rate", "Params", "Bytes", "s/task", *heads, "Runs"]
    return Table(columns, rows, f"{part}: pass@2 in percent", narrow=True)


def advantage(results: Sequence[dict[str, Any]]) -> tuple[Difference | None, tuple[float, float] | None]:
    """Compare ACC of CoSE and of the table, in points: over runs by Student's t, over tasks by the bootstrap."""
    runs = [one for one in results if one["trial"]["part"] == "orders"]
    acc: dict[str, dict[int, float]] = {"cose": {}, "table": {}}
    tasks: dict[str, dict[str, list[float]]] = {"cose": {}, "table": {}}
    for one in runs:
        trial = one["trial"]
        acc[trial["memory"]][1000 * trial["base"] + trial["order"]] = 100 * one["summary"]["ACC"]
        for task, value in one["final"].items():
            tasks[trial["memory"]].setdefault(task, []).append(100 * value)
    difference = paired_difference(acc["cose"], acc["table"])
    if difference is None:
        return None, None
    common = sorted(tasks["cose"].keys() & tasks["table"].keys())
    by_task = np.array([np.mean(tasks["cose"][one]) - np.mean(tasks["table"][one]) for one in common])
    drawn = np.random.default_rng(0).integers(len(by_task), size=(10_000, len(by_task)))
    low, high = np.quantile(by_task[drawn].mean(1), (0.025, 0.975))
    return difference, (float(low), float(high))


def record(results: Sequence[dict[str, Any]], size: str) -> dict[str, Any]:
    """Return the study as a record for the reproduction page; its seeds are 10 x base + order."""
    runs: dict[str, dict[int, dict[str, Any]]] = {"cose": {}, "table": {}}
    for one in (one for one in results if one["trial"]["part"] == "orders"):
        runs[one["trial"]["memory"]][10 * one["trial"]["base"] + one["trial"]["order"]] = one["summary"]
    seeds = sorted(runs["cose"].keys() & runs["table"].keys())
    if not seeds:
        raise SystemExit("no order is finished by both memories")
    study = STUDIES[size]
    names = {
        "ACC": "memory-only",
        "zero-shot pass@2": "zero-shot",
        "base before": "base",
        "base after": "base after",
    }
    numbers = {
        f"{title} {name}": [100 * runs[memory][seed][measure] for seed in seeds]
        for memory, title in (("cose", "CoSE"), ("table", "table"))
        for measure, name in names.items()
    }
    for memory, title in (("cose", "CoSE"), ("table", "table")):
        numbers[f"{title} parameters"] = [runs[memory][seed]["updated_parameters"] for seed in seeds]
    return {
        "what": "continual learning at the field's size: CoSE against a table of equal size, and all methods",
        "command": "python -m benchmarks.continual_study must",
        "size": f"{study.test} unseen tasks of ARC-AGI-1 and ARC-AGI-2 on grids up to {LONGEST} x {LONGEST}, "
        f"{study.stage} updates of {study.batch} each; bases of width 128 that learned 171 others, {study.updates:,} "
        f"updates; {len(seeds)} pairs of runs, up to {study.orders} orders for each of {study.bases} bases; rates "
        f"chosen on {study.validation} other tasks",
        "machine": ", ".join(sorted({one["machine"] for one in results})),
        "date": max(one["date"] for one in results),
        "seeds": seeds,
        "numbers": numbers,
        "runs": [
            {**one["trial"], **one["summary"], "stream": _stream_of(one["trial"]["part"]), "final": one["final"]}
            for one in results
        ],
    }


def bases_record(results: Sequence[dict[str, Any]], size: str) -> dict[str, Any]:
    """Return what was learned from several bases of each memory as a record; its seeds are the bases."""
    study, runs = STUDIES[size], {memory: dict[int, dict[str, Any]]() for memory in BASES}
    for one in (one for one in results if one["trial"]["part"] == "bases"):
        runs[one["trial"]["memory"]][one["trial"]["base"]] = one
    seeds = sorted(set.intersection(*map(set, runs.values())))
    if not seeds:
        raise SystemExit("no base is finished for all memories")
    numbers: dict[str, Any] = {}
    for memory, found in runs.items():
        for measure in ("ACC", "base before"):
            numbers[f"{memory}: {measure}"] = [100 * found[seed]["summary"][measure] for seed in seeds]
        numbers[f"{memory}: parameters"] = [found[seed]["summary"]["updated_parameters"] for seed in seeds]
        numbers[f"{memory}: rate"] = [found[seed]["trial"]["rate"] for seed in seeds]
    for first, second in PAIRS:
        tasks = sorted(runs[first][seeds[0]]["final"])
        difference_ST = 100 * np.array(
            [[runs[first][seed]["final"][task] - runs[second][seed]["final"][task] for task in tasks] for seed in seeds]
        )
        found = over_tasks_and_seeds(difference_ST)
        numbers |= {f"{first} - {second}: {name}": value for name, value in found._asdict().items()}
    kept = [one for one in results if one["trial"]["part"] in ("rates", "bases")]
    return {
        "what": "continual learning from several bases: CoSE with and without rows, a table of its size, a full table",
        "command": "python -m benchmarks.continual_study bases",
        "size": f"{study.test} unseen tasks on grids up to {LONGEST} x {LONGEST}, {study.stage} updates of "
        f"{study.batch} each; {len(seeds)} bases of width 128 for each memory, {study.updates:,} updates on 171 other "
        f"tasks; rates chosen on {study.validation} others; 95 % intervals over tasks and bases (bootstrap)",
        "machine": ", ".join(sorted({one["machine"] for one in kept})),
        "date": max(one["date"] for one in kept),
        "seeds": seeds,
        "numbers": numbers,
        "runs": [
            {**one["trial"], **one["summary"], "stream": _stream_of(one["trial"]["part"]), "final": one["final"]}
            for one in kept
        ],
    }


def report(out: Path, size: str, folder: Path | None = None) -> None:
    """Print tables, draw the figure of all results so far, and write records of what there is."""
    results = read_results(out)
    made = {one["trial"]["part"] for one in results}
    if folder is not None:
        if "orders" in made or "bases" not in made:
            write_json(folder / "continual_study.json", record(results, size))
        if "bases" in made:
            write_json(folder / "continual_bases.json", bases_record(results, size))
    written = {}
    for part in ("sweep", "methods", "orders", "rates", "bases"):
        table = trials_table(part, results)
        if table.rows:
            text = [table.columns, ["---"] * len(table.columns), *table.rows]
            print(f"\n{table.title}\n")
            print("".join(f"| {' | '.join(cells)} |\n" for cells in text))
            written[part] = {"columns": table.columns, "rows": table.rows}
    panels = learning_forgetting(results)
    if any(panels.values()):
        figures.save(learning_forgetting_figure(panels), out / "learning_forgetting.png")
    difference, by_tasks = advantage(results)
    frozen = [one["summary"] for one in results if one["trial"]["scope"] == "rows"]
    changed = sum(one["changed_values"] for one in frozen)
    print(f"{len(frozen)} memory-only runs changed {changed} values of their bases")
    if difference is not None and by_tasks is not None:
        low, high = difference.interval
        print(
            f"CoSE minus the table, ACC in points: {difference.mean:.2f}, 95 % interval {low:.2f} to {high:.2f} over "
            f"{difference.seeds} pairs of runs (Student's t), {by_tasks[0]:.2f} to {by_tasks[1]:.2f} over tasks "
            f"(bootstrap)"
        )
        written["advantage"] = {
            "mean": difference.mean,
            "runs": difference.seeds,
            "interval": [low, high],
            "interval over tasks": list(by_tasks),
        }
    write_json(out / "study.json", {**written, "changed_values": changed})
    assert changed == 0, "memory-only learning changed something"


def _stream_of(part: str) -> str:
    return "validation" if part in VALIDATED else "test"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("sweep", "orders", "must", "methods", "bases", "report"))
    parser.add_argument("--size", choices=sorted(STUDIES), default="small")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--one-by-one", action="store_true", help="also where tasks could learn side by side")
    parser.add_argument("--out", type=Path, default=Path("runs/continual-study"))
    parser.add_argument("--record", type=Path, help="with report: folder of records, such as benchmarks/results")
    options = parser.parse_args()
    out, study = options.out / options.size, STUDIES[options.size]
    if options.part == "report":
        report(out, options.size, options.record)
        return
    began = time.monotonic()
    write_tasks(study, out)
    # The rates of the two that are compared come first, and the other methods last.
    several = {"must": ("sweep of rows", "orders", "sweep"), "bases": ("rates", "bases")}
    parts = several.get(options.part, (options.part,))
    work = (options.size, options.device, out)
    with process_pool(options.jobs) as children:
        bases = sorted({(trial.memory, trial.base) for part in parts for trial in trials_of(part, study, out)})
        for memory, base in bases:
            config = base_config(study, out, memory, base)
            print(f"base {memory}-{base}: {memory_name(to_json(config.memory))}", flush=True)
        list(children.map(partial(attempt, partial(train_base, *work)), bases))
        for part in parts:
            trials, run = trials_of(part, study, out), partial(run_trial, *work, options.one_by_one)
            for _ in range(2):  # what ran out of memory while others ran is tried again
                list(children.map(partial(attempt, run), trials))
            print(f"{part}: {(time.monotonic() - began) / 60:.1f} minutes so far", flush=True)
    with place(options.device) as here:
        print(f"{here.describe()}, {options.jobs} jobs, {(time.monotonic() - began) / 60:.1f} minutes")
    report(out, options.size)


if __name__ == "__main__":
    main()
