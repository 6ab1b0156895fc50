"""Continual learning from the released base, which knows its tasks well and so has much to lose.

    python -m benchmarks.continual_released run --jobs 10     # every method, on one order of the stream
    python -m benchmarks.continual_released run --orders 3    # on three
    python -m benchmarks.continual_released run --stream concept-arc    # another stream, once it is fetched
    python -m benchmarks.continual_released report            # the table from what is finished

The base is a writer, which `charm adapt` does not take: it has no canvas. Here it learns 24 unseen tasks one stage
after the other, and is asked along the way about them and about 48 of its own tasks, all chosen by a hash among those
with small grids. Its own tasks' test pairs were among its training data, so what is measured there is
what it remembers.

memory-only   the new task's vector learns; the base stays the same to the bit. Starts at the mean of the known vectors
naive         that vector and the reasoner learn
rehearsal     as naive; half of the updates draw from the base's tasks as well
replay        as naive; half of the updates draw from the earlier tasks of the stream as well
oracle        as naive, from the base for each task: what there is to learn

The vectors of other tasks and of the symmetries never change.
Nothing is chosen: all rates are in the table. Interrupted, the same command resumes after the finished trials.
`OUT/SIZE-STREAM/results` has one small file for each and is all that `report` needs. `--size smoke` runs on a CPU.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, Literal

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin slow each other down on a shared CPU

import numpy as np
import torch

from benchmarks.continual_study import attempt
from charm.continual.drift import changed_values, snapshot
from charm.continual.measures import Matrix, measures
from charm.continual.results import short_count
from charm.devices import Place, place
from charm.errors import CharmError
from charm.evaluation.scoring import score_grids
from charm.files import write_atomically
from charm.models.model import CharmModel
from charm.models.writer.packs import Packs
from charm.paths import released_model
from charm.processes import process_pool
from charm.solving.options import SolveOptions, WriterRecipe
from charm.solving.solution import vote
from charm.solving.solver import choose
from charm.solving.writer import ASKED_AT_ONCE, WriterAdaptation, WriterSolver
from charm.tables import spread_text
from charm.tasks.dataset import Dataset, answers_of
from charm.tasks.keyed import key_of
from charm.tasks.sampling import Mixture
from charm.tasks.sources import load_source
from charm.tasks.task import Task

LONGEST = 10  # side of the largest visible grid
VECTORS = "memory.base.rows.weight"  # the tasks' own vectors, a row each
SHARED_RATE, VECTOR_RATE = WriterRecipe().lr, WriterRecipe().task_lr  # of `charm solve`

Method = Literal["memory-only", "naive", "rehearsal", "replay", "oracle"]


@dataclass(frozen=True)
class Size:
    stream: int
    """Tasks of the stream."""
    own: int
    """Tasks of the base that are asked."""
    updates: int
    """Of a stage."""
    tokens: int
    """Of an update."""
    views: int
    """Of each task that are learned."""
    voters: int
    """Views that vote."""
    recheck: int
    """Stages between questions about all tasks."""


SIZES = {
    "gpu": Size(24, 48, 150, 4096, 256, 8, 4),
    "smoke": Size(2, 2, 2, 2048, 8, 1, 1),
}


@dataclass(frozen=True)
class Trial:
    method: Method
    rate: float = 1.0
    """Of `charm solve`'s own: of the vector where it alone moves, else of shared weights."""
    order: int = 0

    @property
    def label(self) -> str:
        return f"{self.method} x{self.rate:g}"

    @property
    def name(self) -> str:
        return f"{self.method}-x{self.rate:g}-o{self.order}"

    def options(self, size: Size) -> SolveOptions:
        frozen = self.method == "memory-only"
        recipe = WriterRecipe(
            lr=SHARED_RATE * (1.0 if frozen else self.rate),
            task_lr=VECTOR_RATE * (self.rate if frozen else 1.0),
            task_weight_decay=0.0,  # which would move the vectors of tasks that an update does not read
            rehearse=0.5 if self.method in ("rehearsal", "replay") else 0.0,
            views=size.views,
        )
        mode: Literal["memory", "full"] = "memory" if frozen else "full"
        return SolveOptions(mode=mode, seed=self.order, writer=recipe)


# The first ones matter most.
TRIALS = (
    Trial("memory-only"),
    Trial("naive"),
    Trial("rehearsal"),
    Trial("naive", 0.1),
    Trial("rehearsal", 0.1),
    Trial("memory-only", 3.0),
    Trial("replay", 0.1),
    Trial("naive", 0.01),
    Trial("oracle"),
)


class Stage(WriterAdaptation):
    """Learning one task; old tasks are drawn from until the end."""

    def focused(self, passed: float) -> bool:
        return super().focused(0.0)


@dataclass(frozen=True, eq=False)
class Plan:
    """What all trials have in common."""

    base: Path
    stream: tuple[Task, ...]
    own: tuple[Task, ...]
    size: Size
    source: str = "arc1/evaluation"
    """Of the stream."""


def plan_for(size: Size, source: str = Plan.source) -> Plan:
    """The released base, tasks that it has not seen, and some of its own."""
    base = released_model()
    known = CharmModel.from_pretrained(base).instances
    own = [task for task in load_source("arc1/training").tasks if task.id in known]
    stream = [task for task in load_source(source).tasks if task.id not in known]
    chosen = (choose(stream, size.stream, LONGEST), choose(own, size.own, LONGEST))
    return Plan(base, tuple(chosen[0]), tuple(chosen[1]), size, source)


class StreamRun:
    """One trial: the model as it learns the stream, and R as far as it is measured."""

    def __init__(self, plan: Plan, trial: Trial, here: Place) -> None:
        self.plan, self.trial, self.here = plan, trial, here
        order = np.random.default_rng(trial.order).permutation(len(plan.stream))
        self.tasks = [plan.stream[number] for number in order]
        self.solver = WriterSolver(plan.base, trial.options(plan.size), here)
        if trial.method == "replay":  # which rehearses no task of the base
            self.solver.recipe = replace(self.solver.recipe, rehearse=0.0)
        self.data = self.solver.dataset([*plan.stream, *plan.own])
        self.model = self.solver.started(self.data)
        self.instances = self.data.instances
        self.vectors = dict(self.model.named_parameters())[VECTORS]
        for parameter in self.model.memory.parameters():
            parameter.requires_grad_(parameter is self.vectors)
        self.frozen = trial.method == "memory-only"
        stages = len(self.tasks) + 1
        self.r = np.full((stages, len(self.tasks)), np.nan)
        self.r_own = np.full((stages, len(plan.own)), np.nan)
        self.seconds: list[float] = []

    def learn(self) -> int:
        """Learn the stream, measuring R; returns how many values of the base have changed."""
        start = snapshot(self.model)
        self._ask(0, everything=True)
        for stage, task in enumerate(self.tasks, start=1):
            if self.trial.method == "oracle":
                self._restore(start)
            began = time.monotonic()
            self._learn(stage, task)
            self.seconds.append(time.monotonic() - began)
            if self.frozen:  # nothing else has changed, so neither have the other answers
                self.r[stage], self.r_own[stage] = self.r[stage - 1], self.r_own[stage - 1]
            self._ask(stage, stage % self.plan.size.recheck == 0 or stage == len(self.tasks))
        learned = [self.instances.number(task.id) for task in self.tasks]
        rows = {VECTORS: torch.tensor(learned, device=self.here.device)}
        return sum(changed_values(self.model, start, rows).values())

    @torch.no_grad()
    def _restore(self, start: dict[str, torch.Tensor]) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.copy_(start[name])

    def _learn(self, stage: int, task: Task) -> None:
        """The updates of a stage, by optimizers of its own."""
        updates, before = self.plan.size.updates, snapshot(self.model)
        seed = key_of("adaptation", self.trial.order, task.id) >> 1
        packs = Packs(self._stage_data(stage), self.plan.size.tokens, seed, self.here.device)
        recipe = self.trial.options(self.plan.size).writer
        learning = Stage(self.model, packs, recipe, seed, self.here)
        own = torch.tensor([self.instances.number(task.id)], device=self.here.device)
        moves = torch.zeros_like(self.vectors[:, :1]).index_fill(0, own, 1.0)
        hook = self.vectors.register_hook(lambda gradient: gradient * moves)
        try:
            for update in range(updates):
                learning.update(update / updates)
            if not math.isfinite(learning.progress()[0]):
                raise CharmError(f"{self.trial.name}: learning diverged at {task.id}")
        finally:
            hook.remove()
            learning.close()
            if self.here.device.type == "cuda":
                torch.cuda.empty_cache()  # what updates needed, votes may
        changed = changed_values(self.model, before, {VECTORS: own})
        if wrong := sum(changed[name] for name in changed if self.frozen or name.startswith("memory.")):
            raise CharmError(f"{self.trial.name}: learning {task.id} changed {wrong} values that must stay")

    def _stage_data(self, stage: int) -> Dataset:
        """What a stage draws from; its questions are those of the task that it learns."""
        task, earlier = self.tasks[stage - 1], self.tasks[: stage - 1]
        unseen = {one.id for one in self.tasks} - {task.id}
        if self.trial.method == "rehearsal":
            drawn = set(self.instances.puzzles) - unseen
        else:
            drawn = {task.id, *(one.id for one in earlier if self.trial.method == "replay")}
        numbers = {self.instances.number(one) for one in drawn}
        table = self.instances.table()[0]
        mixtures = {
            side: [block for block in mixture.blocks if int(table[block.rows[0]]) in numbers]
            for side, mixture in self.data.mixtures.items()
        }
        questions = tuple(one for one in self.data.questions if one.task_id == task.id)
        chosen = {side: Mixture(blocks) for side, blocks in mixtures.items() if blocks}
        return replace(self.data, mixtures=chosen, questions=questions)

    def _ask(self, stage: int, everything: bool) -> None:
        """Measure row `stage` of R: all tasks, or the one just learned and the next one."""
        everything = everything and (stage == 0 or not (self.frozen or self.trial.method == "oracle"))
        # What comes next has been measured where it cannot have changed.
        until = stage if self.frozen or self.trial.method == "oracle" else stage + 1
        asked = [*self.tasks, *self.plan.own] if everything else self.tasks[stage - 1 : until]
        ids = {task.id for task in asked}
        only = {number for number, one in enumerate(self.data.questions) if one.task_id in ids}
        batch = 128 if self.here.device.type == "cpu" else ASKED_AT_ONCE
        found = vote(self.model, self.data, {}, self.plan.size.voters, batch, self.here, only=only)
        grids = {question: [one.grid for one in ranked] for question, ranked in found.items()}
        accuracy = score_grids(grids, answers_of(asked)).accuracy()
        for row, tasks in ((self.r[stage], self.tasks), (self.r_own[stage], self.plan.own)):
            for column, task in enumerate(tasks):
                if task.id in ids:
                    row[column] = accuracy[task.id]

    def parameters(self) -> int:
        """Values that a stage updates: those of one vector, and all shared weights that learn."""
        learning = [p for p in self.model.parameters() if p.requires_grad and p is not self.vectors]
        return self.vectors.shape[1] + sum(p.numel() for p in learning)

    def summary(self, changed: int) -> dict[str, Any]:
        return {
            "updated_parameters": self.parameters(),
            "seconds_per_task": round(mean(self.seconds), 3),
            "changed_values": changed,
            "source": self.plan.source,
            "R": _rows(self.r),
            "R of the base's tasks": _rows(self.r_own),
            "tasks": [task.id for task in self.tasks],
            "base's tasks": [task.id for task in self.plan.own],
        }


def _rows(r: Matrix) -> dict[str, list[float | None]]:
    """The measured rows of R by stage."""
    return {
        str(stage): [None if math.isnan(value) else value for value in row.tolist()]
        for stage, row in enumerate(r)
        if not np.isnan(row).all()
    }


def _matrix(rows: dict[str, list[float | None]], stages: int) -> Matrix:
    r = np.full((stages + 1, len(next(iter(rows.values())))), np.nan)
    for stage, row in rows.items():
        r[int(stage)] = [math.nan if value is None else value for value in row]
    return r


def measured(result: dict[str, Any]) -> dict[str, float | None]:
    """All measures of a trial's result, computed from its R."""
    count = len(result["tasks"])
    r, r_own = (_matrix(result[name], count) for name in ("R", "R of the base's tasks"))
    found = measures(r, np.arange(1, count + 1))
    own = measures(r_own, np.zeros(r_own.shape[1], np.int64))
    if found["ACC"] is None:  # an oracle has no model of all stages
        found["AIA"] = None
    return {
        "Learned": float(np.diagonal(r[1:]).mean()),
        "zero-shot": float(r[0].mean()),
        **found,
        "base before": float(r_own[0].mean()),
        **{f"base {name}": value for name, value in own.items()},
    }


def run_trial(plan: Plan, device: str, out: Path, trial: Trial) -> None:
    """One trial, and its small file of results, unless that is there already."""
    path = out / "results" / f"{trial.name}.json"
    if path.is_file():
        return
    began = time.monotonic()
    with place(device) as here:
        stream = StreamRun(plan, trial, here)
        result = stream.summary(stream.learn())
        made = {"machine": here.describe(), "date": datetime.now(UTC).strftime("%Y-%m-%d")}
    seconds = round(time.monotonic() - began, 1)
    write_atomically(path, json.dumps({"trial": asdict(trial), **result, **made, "seconds": seconds}) + "\n")
    found = measured(result)
    print(f"{trial.name}: learned {found['Learned']:.1%}, {seconds:.0f} s", flush=True)


def read_results(out: Path) -> list[dict[str, Any]]:
    """Results in the order of the trials."""
    found = [json.loads(path.read_text()) for path in (out / "results").glob("*.json")]
    kinds = [replace(trial, order=0) for trial in TRIALS]
    return sorted(
        found, key=lambda one: (kinds.index(Trial(**{**one["trial"], "order": 0})), one["trial"]["order"])
    )


COLUMNS = (
    "Learned",
    "ACC",
    "AIA",
    "BWT",
    "FWT",
    "forgetting",
    "WC-ACC",
    "base before",
    "base ACC",
    "base forgetting",
)


def table(results: Iterable[dict[str, Any]]) -> str:
    """A line for each method and rate in Markdown, means over orders; pass@2 in percent."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for one in results:
        groups.setdefault(Trial(**one["trial"]).label, []).append(one)
    lines = [["method", "parameters", "s/task", *COLUMNS, "runs"]]
    lines.append(["---"] * len(lines[0]))
    for label, runs in groups.items():
        every = [measured(one) for one in runs]
        values = [[100 * value for found in every if (value := found[name]) is not None] for name in COLUMNS]
        lines.append(
            [
                label,
                short_count(runs[0]["updated_parameters"]),
                f"{mean(one['seconds_per_task'] for one in runs):.2f}",
                *(spread_text(some, ".1f") if some else "-" for some in values),
                str(len(runs)),
            ]
        )
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def record(results: Sequence[dict[str, Any]], size: Size) -> dict[str, Any]:
    """A record of the orders that all trials have which ran at all; its seeds are the orders."""
    by_label: dict[str, dict[int, dict[str, Any]]] = {}
    for one in results:
        by_label.setdefault(Trial(**one["trial"]).label, {})[one["trial"]["order"]] = one
    seeds = sorted(set.intersection(*(set(some) for some in by_label.values()))) if by_label else []
    if not seeds:
        raise SystemExit("no order is finished by all trials")
    numbers = {}
    for label, some in by_label.items():
        every = [measured(some[seed]) for seed in seeds]
        for name in COLUMNS:
            values = [100 * value for found in every if (value := found[name]) is not None]
            if len(values) == len(seeds):
                numbers[f"{label}: {name}"] = values
    return {
        "what": "continual learning from the released base: a stream of unseen tasks, and what is left of its own",
        "command": f"python -m benchmarks.continual_released run --stream {results[0]['source']} --orders {len(seeds)}",
        "size": f"{size.stream} tasks of {results[0]['source']} on grids up to {LONGEST} x {LONGEST}, {size.updates} "
        f"updates of {size.tokens:,} tokens each; {size.own} of the base's tasks; {size.voters} views vote",
        "machine": ", ".join(sorted({one["machine"] for one in results})),
        "date": max(one["date"] for one in results),
        "seeds": seeds,
        "numbers": numbers,
        "runs": results,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("run", "report"))
    parser.add_argument("--size", choices=sorted(SIZES), default="gpu")
    methods = sorted({trial.method for trial in TRIALS})
    parser.add_argument("--methods", nargs="+", choices=methods, default=methods)
    parser.add_argument("--stream", default=Plan.source, help="source of the unseen tasks")
    parser.add_argument("--orders", type=int, default=1, help="of the stream")
    parser.add_argument("--jobs", type=int, default=1, help="trials side by side")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/continual-released"))
    parser.add_argument(
        "--record", type=Path, help="with report: folder of records, such as benchmarks/results"
    )
    options = parser.parse_args()
    size = SIZES[options.size]
    out = options.out / f"{options.size}-{options.stream.replace('/', '-')}"
    if options.part == "run":
        began, plan = time.monotonic(), plan_for(size, options.stream)
        chosen = [trial for trial in TRIALS if trial.method in options.methods]
        trials = [replace(trial, order=order) for order in range(options.orders) for trial in chosen]
        work = partial(attempt, partial(run_trial, plan, options.device, out))
        with process_pool(options.jobs) as children:
            for _ in range(2):  # what ran out of memory beside others is tried again
                list(children.map(work, trials))
        print(f"{options.jobs} jobs, {(time.monotonic() - began) / 60:.1f} minutes")
    results = read_results(out)
    print(table(results))
    if options.record is not None:
        write_atomically(options.record / "continual_released.json", json.dumps(record(results, size)) + "\n")


if __name__ == "__main__":
    main()
