"""Baselines at equal minutes: every system trains as long on the same tasks, then adapts as long to the same new tasks.

    python benchmarks/baselines.py [--minutes 3] [--seconds 6] [--tasks 48] [--only NAME ...] [--rearc]

Each system learns ARC-AGI-1's training tasks (with Re-ARC's pairs, if asked for) for some minutes of updates. Nothing
of the evaluation set is trained on. Then all of its weights adapt to one evaluation task at a time, for some seconds
each, votes included, and are put back; CHARM's base, a writer, learns all tasks together in their total time. The tasks
are those of `charm solve arc1/evaluation --choose N`.

How many updates fit the minutes is measured first, since schedules depend on it. Interrupted, the same command
continues: with the system, the update or the task it was at. Results are in OUT/results.json, and a table is printed.

Systems: charm (preset `base`), varc, loopvit-small, urm, trm, hrm; and if asked for, loopvit, charm-paper (the paper's
reasoner), charm-small (the speedrun's shape) and charm-small-scaled (the same on enlarged grids). The recurrent ones
have rates for short runs: the published ones are for days. Size `tiny` takes seconds, to see that everything runs.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from charm.accounting import account
from charm.adaptation.options import SolveOptions
from charm.adaptation.solution import Clock, Solution
from charm.adaptation.solve import choose, open_solver
from charm.arc.presets import SHARED_WITH_EVALUATION, preset
from charm.arc.run import arc_job, train
from charm.devices import Place, place
from charm.evaluation.scoring import score_grids
from charm.files import write_atomically
from charm.reasoner.config import ReasonerConfig
from charm.runs.checkpoint import folder_of, steps_of
from charm.runs.metrics import read_metrics
from charm.runs.settings import TrainConfig
from charm.tasks.dataset import answers_of
from charm.tasks.instances import Instances
from charm.tasks.keys import INDEX_FILE
from charm.tasks.sequences import LONGEST
from charm.tasks.sources import load_source
from charm.tasks.task import Grid, Question, Task

WARM_UP = 0.1  # of the updates
PILOT = 10.0  # seconds in which the speed of updates is measured; the first half does not count
PILOT_UPDATES = 24  # of each half, at least: every size of canvas is met and recorded
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


def short(name: str, batch: int, **optimizer: Any) -> TrainConfig:
    """A preset for minutes on fit canvases: rates rise over the first tenth and fall over the last half."""
    config = preset(name)
    data = replace(config.data, views=256, canvas="fit", synthetic_view_count=16)
    settings = {"cooldown": 0.5, **optimizer}
    return replace(config, data=data, batch=batch, optimizer=replace(config.optimizer, **settings))


def charm_paper() -> TrainConfig:
    base, speedrun = short("arc1", 128), preset("speedrun")
    return replace(base, optimizer=replace(speedrun.optimizer, lr=1e-3))


def charm_small() -> TrainConfig:
    return replace(short("speedrun-public", 768), evaluate_loops=(4,))


def charm_small_scaled() -> TrainConfig:
    config = charm_small()
    return replace(config, data=replace(config.data, scales=0))


def family(name: str) -> Callable[[], TrainConfig]:
    return lambda: short(name, 128, lr=5e-4)


def vit(name: str) -> Callable[[], TrainConfig]:
    return lambda: replace(preset(name), batch=128)


SYSTEMS: dict[str, Callable[[], TrainConfig]] = {
    "charm": lambda: preset("base"),
    "varc": vit("varc-arc1"),
    "loopvit-small": vit("loopvit-small-arc1"),
    "urm": family("urm-arc1"),
    "trm": family("trm-arc1"),
    "hrm": family("hrm-arc1"),
    "charm-paper": charm_paper,
    "charm-small": charm_small,
    "charm-small-scaled": charm_small_scaled,
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
        tasks=TINY_TASKS if plan.tiny else (),
    )
    config = replace(config, data=data, seed=plan.seed, evaluate_every=0)
    if not plan.tiny:
        return config
    small = {"width": 32, "heads": 2, "layers": 1, "inner_multiple": 32, "compute_dtype": "float32"}
    rank = 32 if config.memory.rank == config.reasoner.width else min(8, config.memory.rank)
    return replace(
        config,
        reasoner=_cut(config.reasoner, small),
        memory=replace(config.memory, rank=rank),
        data=replace(data, views=4),
        batch=4,
        tokens=LONGEST,
    )


def _cut(reasoner: ReasonerConfig, small: dict[str, Any]) -> ReasonerConfig:
    few = {"vit": {"placements": 2}, "writer": {}}.get(reasoner.kind, {"refinement_steps": 2})
    return replace(reasoner, **small, **few)


def with_steps(config: TrainConfig, steps: int) -> TrainConfig:
    """The configuration of a run of this length; its warm-up is a share of it."""
    optimizer = replace(config.optimizer, warmup=max(1, round(WARM_UP * steps)))
    every, lines = max(1, steps // 4), max(1, steps // 50)
    return replace(
        config, steps=steps, optimizer=optimizer, checkpoint_every=every, keep_checkpoints=1, log_every=lines
    )


def updates_per_second(config: TrainConfig, here: Place, seconds: float, least: int) -> float:
    """The speed of training, after kernels are built and updates recorded."""
    job = arc_job(with_steps(config, 10**6), here, say=lambda text: None)
    job.compile()
    step = 0

    def run_for(seconds: float) -> tuple[int, float]:
        nonlocal step
        began, first = time.perf_counter(), step
        while time.perf_counter() - began < seconds or step < first + least:
            job.update(step)
            step += 1
            if here.device.type == "cuda" and step % 8 == 0:
                torch.cuda.synchronize()
        if here.device.type == "cuda":
            torch.cuda.synchronize()
        return step - first, time.perf_counter() - began

    run_for(seconds / 2)
    made, took = run_for(seconds / 2)
    job.close()
    return made / took


def learn(name: str, plan: Plan, out: Path, device: str) -> dict[str, Any]:
    """Train a system for its minutes, or what is left of them; returns how that went."""
    folder, record = out / "run", out / "training.json"
    if record.is_file():
        return json.loads(record.read_text())  # type: ignore[no-any-return]
    config, planned = configuration(name, plan), out / "steps.json"
    with place(device) as here:
        if not planned.is_file():
            rate = updates_per_second(config, here, *((0.2, 2) if plan.tiny else (PILOT, PILOT_UPDATES)))
            _free(here)
            steps = max(2, round(60 * plan.minutes * rate))
            write_atomically(planned, json.dumps({"steps": steps, "updates_per_second": rate}) + "\n")
        config = with_steps(config, json.loads(planned.read_text())["steps"])
        resume = bool(steps_of(folder))
        engine = train(config, folder, here, resume, say=lambda text: print(f"{name}: {text}"))
        if engine.step < config.steps:  # a signal came
            raise SystemExit(f"{name}: stopped in training; the same command continues")
        del engine
        machine = here.describe()
        _free(here)
    lines = [line for line in read_metrics(folder) if "loss" in line]
    # The first line also holds the time in which kernels are built.
    spans = [(b["step"] - a["step"], b["time"] - a["time"]) for a, b in pairwise(lines)]
    usual = sorted(seconds / steps for steps, seconds in spans)[len(spans) // 2] if spans else float("nan")
    instances = Instances.load(folder_of(folder, config.steps) / INDEX_FILE)
    counted = account(config.model, len(instances.puzzles), len(instances))
    found = {
        "updates": config.steps,
        "batch": config.tokens if config.reasoner.kind == "writer" else config.batch,
        "batch_of": "tokens" if config.reasoner.kind == "writer" else "examples",
        "training_seconds": usual * config.steps,
        "exact_accuracy": lines[-1]["exact_accuracy"],
        "parameters": counted.backbone,
        "parameters_with_memory": counted.total,
        "machine": f"{machine}, torch {torch.__version__}",
    }
    write_atomically(record, json.dumps(found, indent=2) + "\n")
    return found


def evaluation_tasks(count: int) -> list[Task]:
    """Tasks of the evaluation set by a hash of their ids, as `charm solve --choose` takes them."""
    return choose(load_source("arc1/evaluation").tasks, count)


def adapt(plan: Plan, out: Path, device: str, kind: str) -> list[dict[str, Any]]:
    """Adapt to one task after the other, or a writer to all at once; tasks that are in the record are not repeated."""
    record = out / "tasks.json"
    done: list[dict[str, Any]] = json.loads(record.read_text()) if record.is_file() else []
    asked = evaluation_tasks(plan.tasks)
    left = [task for task in asked if task.id not in {one["task"] for one in done}]
    if not left:
        return done
    # VARC's own number of views and examples; the others have those of `charm solve`.
    views, batch = (51, 8) if kind == "vit" else (128, 128)
    if plan.tiny:
        views, batch = 2, 4
    options = SolveOptions(plan.seconds, 2 if plan.tiny else 100_000, views, batch, "full", seed=plan.seed)
    if kind == "writer" and not plan.tiny:
        options = replace(options, steps=None)  # as many as the time allows
    best: dict[str, Solution] = {}
    with place(device) as here:
        solver = open_solver(out / "run", options, here)
        if kind != "writer":  # build kernels with a task that is not asked
            others = [task for task in load_source("arc1/evaluation").tasks if task not in asked]
            solver.work([(others or asked)[0].blind()], Clock(plan.seconds), _quiet, lambda found: None)
        for group in [left] if kind == "writer" else [[task] for task in left]:
            began = time.monotonic()
            blind = [task.blind() for task in group]
            solver.work(blind, Clock(plan.seconds * len(group)), _quiet, best.update)
            took = (time.monotonic() - began) / len(group)
            for task in group:
                print(f"{task.id}: {best[task.id]}", flush=True)
                done.append(recorded(task, best[task.id], took))
            write_atomically(record, json.dumps(done) + "\n")
        del solver
        _free(here)
    return done


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


def _quiet(used: float, text: str) -> None:
    pass


def judge(done: list[dict[str, Any]], tasks: int) -> dict[str, Any]:
    """Scores over all tasks, and what a task took."""
    asked = evaluation_tasks(tasks)
    ranked: dict[Question, list[Grid]] = {
        Question(one["task"], number): [torch.tensor(grid, dtype=torch.uint8).numpy() for grid in grids]
        for one in done
        for number, grids in enumerate(one["answers"])
    }
    metrics = score_grids(ranked, answers_of(asked)).metrics
    mean = {name: sum(one[name] for one in done) / len(done) for name in ("seconds", "updates", "views")}
    return {
        **{name: metrics[name] for name in ("pass@1", "pass@2", "pass@1/outputs", "pass@2/outputs")},
        "tasks": len(done),
        **{f"adaptation_{name}": value for name, value in mean.items()},
        "diverged": sum(one["diverged"] for one in done),
    }


def _free(here: Place) -> None:
    gc.collect()
    if here.device.type == "cuda":
        torch.cuda.empty_cache()


def table(found: list[dict[str, Any]]) -> str:
    lines = [
        "| system | parameters | with memory | updates | training | exact | adaptation | updates | pass@1 | pass@2 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {one['system']} | {one['parameters']:,} | {one['parameters_with_memory']:,} | "
        f"{one['updates']:,} x {one['batch']:,} {one['batch_of']} | {one['training_seconds']:.0f} s | "
        f"{one['exact_accuracy']:.1%} | {one['adaptation_seconds']:.1f} s | {one['adaptation_updates']:.0f} | "
        f"{one['pass@1']:.1%} | {one['pass@2']:.1%} |"
        for one in found
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=3.0, help="of training, for each system")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each new task, votes included")
    parser.add_argument("--tasks", type=int, default=48, help="of the evaluation set")
    parser.add_argument("--only", nargs="*", choices=sorted(SYSTEMS), default=list(SYSTEMS)[:6])
    parser.add_argument("--rearc", action="store_true", help="train on Re-ARC's pairs too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", choices=("gpu", "tiny"), default="gpu")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/baselines"))
    options = parser.parse_args()
    tiny = options.size == "tiny"
    plan = Plan(
        0.001 if tiny else options.minutes,
        options.seconds,
        1 if tiny else options.tasks,
        options.rearc,
        options.seed,
        tiny,
    )
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "plan.json"
    if kept.is_file() and json.loads(kept.read_text()) != asdict(plan):
        raise SystemExit(f"{kept}: these results are of another plan; name another --out")
    write_atomically(kept, json.dumps(asdict(plan), indent=2) + "\n")
    for name in options.only:
        out = options.out / name
        out.mkdir(exist_ok=True)
        training = learn(name, plan, out, options.device)
        done = adapt(plan, out, options.device, SYSTEMS[name]().reasoner.kind)
        found = {"system": name, **training, **judge(done, plan.tasks)}
        write_atomically(out / "result.json", json.dumps(found, indent=2) + "\n")
    every = [options.out / name / "result.json" for name in SYSTEMS]
    results = [json.loads(path.read_text()) for path in every if path.is_file()]
    write_atomically(
        options.out / "results.json", json.dumps({"plan": asdict(plan), "systems": results}, indent=2) + "\n"
    )
    print(table(results))


if __name__ == "__main__":
    main()
