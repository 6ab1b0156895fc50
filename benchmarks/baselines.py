"""Baselines at equal minutes: every system trains as long on the same tasks, then adapts as long to the same new tasks.

    python benchmarks/baselines.py [--minutes 3] [--seconds 6] [--tasks 48] [--only NAME ...] [--rearc]

Each system learns ARC-AGI-1's training tasks (with Re-ARC's pairs, if asked for) for some minutes. Nothing of the
evaluation set is trained on. Then all of its weights adapt to the demonstrations of evaluation tasks, for some seconds
a task, votes included. Vision transformers adapt to one task at a time, each from the trained weights; the others,
which were published with all tasks in one model, learn the tasks together in their total time. The tasks are those of
`charm solve arc1/evaluation --choose N`.

Training follows the clock: learning rates depend on the share of the time that has passed. Before it starts, kernels
are built by updates with rates of zero. Interrupted, the same command continues: with the system or the task it was at.
Results are in OUT/results.json, and a table is printed.

Systems: charm (preset `base`), varc, loopvit-small, urm, trm, hrm; and if asked for, loopvit and charm-paper (the
paper's reasoner). The recurrent ones have rates and numbers of views for short runs: the published ones are for days.
No system averages its weights, since rates fall to zero. Size `tiny` takes seconds, to see that everything runs.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from charm.accounting import account
from charm.arc.presets import SHARED_WITH_EVALUATION, preset
from charm.arc.run import arc_job
from charm.config import to_json
from charm.devices import Place, place
from charm.errors import CharmError
from charm.evaluation.predict import Request, predict
from charm.evaluation.ranking import Candidate
from charm.evaluation.scoring import score_grids
from charm.files import whole_folder, write_atomically
from charm.models.canvas.training import HostCopy
from charm.runs.settings import TrainConfig
from charm.solving.group import Solver
from charm.solving.options import SolveOptions
from charm.solving.solution import Clock, Solution, ranked_answers
from charm.solving.solver import choose
from charm.solving.starts import VOTE_SHARE, NewRows
from charm.tasks.dataset import Dataset, answers_of
from charm.tasks.keyed import key_of
from charm.tasks.sequences import LONGEST
from charm.tasks.sources import load_source
from charm.tasks.task import Grid, Question, Task
from charm.training.adaptation import Adaptation, Recipe, recipe_for
from charm.training.graphs import WARM_UP
from charm.training.job import ReasonerJob

TICKS = 10**6  # of the training time: what an update's number is, so that schedules follow the clock
RISE = 0.1  # of the training time, in which rates rise
LAST = 0.1  # of the updates, whose exact answers are reported
TRAIN_VIEWS = 8  # of generated pairs, and of all pairs of recurrent baselines, whose views have a vector each
VIEWS = 16  # of each new task that they learn and ask
VIT_BATCH = 32  # of vision transformers: more updates in a few minutes than with the published 256
MEASURED_VIEWS = 2  # that measure what votes cost
VOTE_MARGIN = 1.15  # times what votes are expected to take is kept for them
VOTE_BATCH = 512  # predictions that a GPU makes at once
SHARED_LR = 3e-4  # of all weights but the tasks' own vectors, as VARC has it
TINY_TASKS = ("25ff71a9", "3c9b0459")


@dataclass(frozen=True)
class Plan:
    """What is the same for all systems."""

    minutes: float
    seconds: float
    tasks: int
    rearc: bool
    seed: int
    tiny: bool


def short(name: str, batch: int, views: int = 256, **optimizer: Any) -> TrainConfig:
    """Return a preset for minutes on fit canvases: rates fall over the last half."""
    config = preset(name)
    data = replace(config.data, views=views, canvas="fit", synthetic_view_count=min(views, 16))
    settings = {"cooldown": 0.5, **optimizer}
    return replace(config, data=data, batch=batch, optimizer=replace(config.optimizer, **settings))


def charm() -> TrainConfig:
    config = preset("base")
    return replace(config, data=replace(config.data, synthetic_view_count=TRAIN_VIEWS))


def charm_paper() -> TrainConfig:
    base, speedrun = short("arc1", 128), preset("speedrun")
    return replace(base, optimizer=replace(speedrun.optimizer, lr=1e-3))


def family(name: str) -> Callable[[], TrainConfig]:
    return lambda: short(name, 128, TRAIN_VIEWS, lr=5e-4)


def vit(name: str) -> Callable[[], TrainConfig]:
    return lambda: replace(preset(name), batch=VIT_BATCH)


SYSTEMS: dict[str, Callable[[], TrainConfig]] = {
    "charm": charm,
    "varc": vit("varc-arc1"),
    "loopvit-small": vit("loopvit-small-arc1"),
    "urm": family("urm-arc1"),
    "trm": family("trm-arc1"),
    "hrm": family("hrm-arc1"),
    "charm-paper": charm_paper,
    "loopvit": vit("loopvit-arc1"),
}


def configuration(name: str, plan: Plan) -> TrainConfig:
    config = SYSTEMS[name]()
    data = replace(
        config.data,
        train=("arc1/training",),
        evaluate=(),
        auxiliary=(),
        without=SHARED_WITH_EVALUATION,
        synthetic=("rearc",) if plan.rearc else (),
        partial=True,  # in minutes, few of a thousand pairs per task are read
        tasks=TINY_TASKS if plan.tiny else (),
    )
    optimizer = replace(config.optimizer, warmup=round(RISE * TICKS), ema=0.0)
    config = replace(config, data=data, seed=plan.seed, steps=TICKS, optimizer=optimizer, evaluate_every=0)
    if not plan.tiny:
        return config
    small = {"width": 32, "heads": 2, "layers": 1, "inner_multiple": 32, "compute_dtype": "float32"}
    rank = 32 if config.memory.rank == config.reasoner.width else min(8, config.memory.rank)
    tiny = replace(
        config,
        reasoner=_cut(config.reasoner, small),
        memory=replace(config.memory, rank=rank),
        data=replace(data, views=4),
    )
    return tiny.sized(batch=2 if config.reasoner.kind == "vit" else 4, tokens=LONGEST)  # dropping attention is slow


def _cut(reasoner: Any, small: dict[str, Any]) -> Any:
    few = {"vit": {"placements": 2, "heads": 1}, "writer": {}}.get(reasoner.kind, {"refinement_steps": 2})
    return replace(reasoner, **{**small, **few})


class Pace:
    """Keeps the host at most one update ahead of the device, so that the clock counts updates that were made."""

    def __init__(self) -> None:
        self.measured: list[tuple[float, float]] = []
        """Loss and share of exact answers of every update but the newest."""
        self._newest: HostCopy | None = None

    def add(self, metrics: dict[str, Tensor]) -> None:
        newest = HostCopy(torch.stack([metrics["loss"], metrics["exact_accuracy"]]))
        self.finish()
        self._newest = newest

    def finish(self) -> None:
        """Wait for the newest update."""
        if self._newest is not None:
            loss, exact = self._newest.array().tolist()
            self.measured.append((loss, exact))
            self._newest = None


def build(job: ReasonerJob) -> None:
    """Build kernels and record updates of every canvas size, with rates of zero: no weight changes."""
    job.compile()
    for _ in range(WARM_UP + 2):
        for shape in job.learner.examples.workloads(job.model):
            job.learner.updates = TICKS
            job.learner.learn(shape.prepare(TICKS))
    wait(job.place)


def train_for(job: ReasonerJob, seconds: float) -> tuple[Pace, float]:
    """Train for these seconds, and return what was measured and the seconds it took."""
    pace, began = Pace(), time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds:
        pace.add(job.update(int(TICKS * spent / seconds)))
    pace.finish()
    wait(job.place)
    return pace, time.perf_counter() - began


def learn(name: str, plan: Plan, out: Path, device: str) -> dict[str, Any]:
    """Train a system for its minutes; returns how that went. An interrupted training begins again."""
    record = out / "training.json"
    if record.is_file():
        return json.loads(record.read_text())  # type: ignore[no-any-return]
    config = configuration(name, plan)
    with place(device) as here:
        clear(here)
        with said(f"{name}: data, weights and kernels"):
            job = arc_job(config, here)
            build(job)
        with said(f"{name}: training"):
            pace, seconds = train_for(job, 60 * plan.minutes)
        updates = len(pace.measured)
        loss, exact = torch.tensor(pace.measured[-max(1, round(LAST * updates)) :]).mean(0).tolist()
        if not math.isfinite(loss):
            raise CharmError(f"{name}: the loss is {loss} after {updates} updates")
        counted = account(config.model, len(job.data.instances.puzzles), len(job.data.instances))
        batch, unit = job.work
        found = {
            "updates": updates,
            "batch": batch,
            "batch_of": "examples" if unit == "samples" else unit,
            "training_seconds": seconds,
            "loss": loss,
            "exact_accuracy": exact,
            "parameters": counted.backbone,
            "parameters_with_memory": counted.total,
            "generated_pairs": job.data.manifest["synthetic_pairs"],
            "peak_gib": torch.cuda.max_memory_allocated() / 2**30 if here.device.type == "cuda" else None,
            "machine": f"{here.describe()}, torch {torch.__version__}",
        }
        job.model.trained_by = {"domain": config.domain, **to_json(config)}
        shutil.rmtree(out / "model", ignore_errors=True)  # of a run that was stopped here
        with whole_folder(out / "model") as part:
            job.model.save(part)
        job.close()
    write_atomically(record, json.dumps(found, indent=2) + "\n")
    return found


def evaluation_tasks(count: int) -> list[Task]:
    """Return tasks of the evaluation set by a hash of their ids, as `charm solve --choose` takes them."""
    return choose(load_source("arc1/evaluation").tasks, count)


def adapt(plan: Plan, out: Path, device: str, kind: str) -> list[dict[str, Any]]:
    """Adapt to one task after the other, or to all at once; tasks that are in the record are not repeated."""
    record = out / "tasks.json"
    done: list[dict[str, Any]] = json.loads(record.read_text()) if record.is_file() else []
    asked = evaluation_tasks(plan.tasks)
    left = [task.blind() for task in asked if task.id not in {one["task"] for one in done}]
    if not left:
        return done
    with place(device) as here:
        clear(here)
        answer: Callable[[Sequence[Task], float], dict[str, Solution]]
        with said(f"{out.name}: weights and kernels"):
            if kind == "writer":
                options = SolveOptions(plan.seconds, 2 if plan.tiny else None, seed=plan.seed)
                answer = partial(together, Solver(out / "model", options, here))
            else:
                student = Student(out / "model", kind == "vit", plan, here)
                others = [task for task in load_source("arc1/evaluation").tasks if task not in asked]
                student.rehearse(left, others[0].blind())
                answer = student.answer
        gc.collect()
        gc.freeze()  # what there is now stays: the collections before recordings have less to look at
        with said(f"{out.name}: adaptation"):
            for group in [[task] for task in left] if kind == "vit" else [left]:
                began = time.monotonic()
                found = answer(group, plan.seconds * len(group))
                took = (time.monotonic() - began) / len(group)
                done += [recorded(task, found[task.id], took) for task in group]
                write_atomically(record, json.dumps(done) + "\n")
    return done


def together(solver: Solver, tasks: Sequence[Task], seconds: float) -> dict[str, Solution]:
    """Return a writer's answers, as `charm solve` gives them."""
    best: dict[str, Solution] = {}
    solver.work(tasks, Clock(seconds), lambda used, text: None, best.update)
    return best


class Student:
    """A trained model of canvases that learns new tasks and then votes, within seconds."""

    def __init__(self, model: Path, is_vit: bool, plan: Plan, here: Place) -> None:
        self.is_vit, self.plan = is_vit, plan
        self.views, batch = (51, 8) if is_vit else (VIEWS, 128)  # VARC's own, or ours
        if plan.tiny:
            self.views, batch = 2, 4
        options = SolveOptions(plan.seconds, views=self.views, batch=batch, mode="full", seed=plan.seed)
        self.solver = Solver(model, options, here)
        assert isinstance(self.solver.start, NewRows)
        self.start = self.solver.start
        if is_vit:
            self.solver.compile()
        recipe = Recipe(batch=batch, warmup=5, shared_lr=SHARED_LR, decay="cosine", seed=plan.seed)
        self.recipe = recipe_for(self.solver.reasoner, recipe, "full")
        self.vote_seconds = 0.0  # of a test input under one view

    def rehearse(self, asked: Sequence[Task], other: Task) -> None:
        """Build all kernels, and measure what votes cost; nothing of it is kept."""
        tasks, views = ([other], self.views) if self.is_vit else (asked, min(MEASURED_VIEWS, self.views))
        data = self.start.prepare(tasks)
        for _ in range(2):  # the first builds kernels
            began = time.monotonic()
            self._vote(data, views)
            self.vote_seconds = (time.monotonic() - began) / (views * len(data.questions))
        self.answer([other], max(self.plan.seconds, 1.0))

    def answer(self, tasks: Sequence[Task], seconds: float) -> dict[str, Solution]:
        """Learn these tasks together, from the trained weights, until only the time to vote is left."""
        clock, place = Clock(seconds), self.solver.place
        data = self.start.prepare(tasks)
        cost = VOTE_MARGIN * self.vote_seconds * len(data.questions)
        views = max(1, min(self.views, int(VOTE_SHARE * seconds / cost)))
        keep = cost * views
        seed = key_of(*(task.id for task in tasks))
        learning = Adaptation(self.solver.model, data, self.recipe, "full", place, seed=seed)
        pace = Pace()
        while clock.left > keep and not (self.plan.tiny and learning.updates == 2):
            pace.add(learning.update(min(1.0, clock.spent / (seconds - keep))))
        pace.finish()
        learning.close()
        loss, exact = pace.measured[-1] if pace.measured else (math.nan, math.nan)
        diverged = bool(pace.measured) and not math.isfinite(loss)
        answers = {} if diverged else self._vote(data, views)
        how = (learning.updates, views, loss, exact, clock.spent, diverged)
        return {
            task.id: Solution({q: ranked for q, ranked in answers.items() if q.task_id == task.id}, *how)
            for task in tasks
        }

    def _vote(self, data: Dataset, views: int) -> dict[Question, list[Candidate]]:
        batch = VOTE_BATCH if self.solver.place.device.type == "cuda" else self.recipe.batch
        filled = self.solver.how.filled if self.solver.model.reasoner.compiled else 0
        model, depths = self.solver.model, self.solver.reasoner.voting_steps
        request = Request(model, data, depths, views, filled or batch, fill=filled > 0)
        return ranked_answers(model, data, predict(request, self.solver.place))


def recorded(task: Task, solution: Solution, seconds: float) -> dict[str, Any]:
    answers = [solution.answers.get(Question(task.id, number), [])[:2] for number in range(len(task.test))]
    return {
        "task": task.id,
        "seconds": seconds,
        "updates": solution.updates,
        "views": solution.views,
        "exact_accuracy": solution.exact_accuracy,
        "diverged": solution.diverged,
        "answers": [[one.grid.tolist() for one in some] for some in answers],
    }


def judge(done: list[dict[str, Any]], tasks: int) -> dict[str, Any]:
    """Score all tasks, and say what a task took."""
    asked = evaluation_tasks(tasks)
    ranked: dict[Question, list[Grid]] = {
        Question(one["task"], number): [torch.tensor(grid, dtype=torch.uint8).numpy() for grid in grids]
        for one in done
        for number, grids in enumerate(one["answers"])
    }
    metrics = score_grids(ranked, answers_of(asked)).metrics
    averaged = ("seconds", "updates", "views", "exact_accuracy")
    mean = {name: sum(one[name] for one in done) / len(done) for name in averaged}
    return {
        **{name: metrics[name] for name in ("pass@1", "pass@2", "pass@1/outputs", "pass@2/outputs")},
        "tasks": len(done),
        **{f"adaptation_{name}": value for name, value in mean.items()},
        "diverged": sum(one["diverged"] for one in done),
    }


def wait(here: Place) -> None:
    if here.device.type == "cuda":
        torch.cuda.synchronize()


@contextmanager
def said(what: str) -> Iterator[None]:
    """Print what took how long."""
    began = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)


def clear(here: Place) -> None:
    """Free what the system before has left behind."""
    gc.unfreeze()
    gc.collect()
    if here.device.type == "cuda":
        torch._dynamo.reset()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def table(found: list[dict[str, Any]]) -> str:
    lines = [
        "| system | parameters | training | updates | exact | a task | updates | exact | pass@1 | pass@2 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {one['system']} | {one['parameters']:,} | {one['training_seconds']:.1f} s | "
        f"{one['updates']:,} x {one['batch']:,} {one['batch_of']} | {one['exact_accuracy']:.1%} | "
        f"{one['adaptation_seconds']:.2f} s | {one['adaptation_updates']:,.0f} | "
        f"{one['adaptation_exact_accuracy']:.1%} | {one['pass@1']:.1%} | {one['pass@2']:.1%} |"
        for one in found
    ]
    return "\n".join(lines)


def gather(out: Path, plan: Plan) -> list[dict[str, Any]]:
    """Return the results of all finished systems, and write them to one file."""
    every = [out / name / "result.json" for name in SYSTEMS]
    results = [json.loads(path.read_text()) for path in every if path.is_file()]
    content = {"plan": asdict(plan), "systems": results}
    write_atomically(out / "results.json", json.dumps(content, indent=2) + "\n")
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0, help="of training, for each system")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each new task, votes included")
    parser.add_argument("--tasks", type=int, default=48, help="of the evaluation set")
    parser.add_argument("--only", nargs="*", choices=sorted(SYSTEMS), default=list(SYSTEMS)[:6])
    parser.add_argument("--rearc", action="store_true", help="train on Re-ARC's pairs too, as many as there are")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", choices=("gpu", "tiny"), default="gpu")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/baselines"))
    options = parser.parse_args()
    tiny = options.size == "tiny"
    plan = Plan(
        0.001 if tiny else options.minutes,
        options.seconds,
        2 if tiny else options.tasks,
        options.rearc,
        options.seed,
        tiny,
    )
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "plan.json"
    if kept.is_file() and json.loads(kept.read_text()) != asdict(plan):
        raise SystemExit(f"{kept}: these results are of another plan; name another --out")
    write_atomically(kept, json.dumps(asdict(plan), indent=2) + "\n")
    failed, results = [], gather(options.out, plan)
    for name in options.only:
        out = options.out / name
        out.mkdir(exist_ok=True)
        try:
            training = learn(name, plan, out, options.device)
            done = adapt(plan, out, options.device, SYSTEMS[name]().reasoner.kind)
        except (CharmError, RuntimeError) as error:
            # It costs this system alone; the same command tries it again.
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
            failed.append(name)
            continue
        found = {"system": name, **training, **judge(done, plan.tasks)}
        write_atomically(out / "result.json", json.dumps(found, indent=2) + "\n")
        results = gather(options.out, plan)
    print(table(results))
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
