"""The quickstart: everything CHARM does, on a scale of minutes on two CPU cores."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from charm.arc.presets import quickstart as preset
from charm.arc.run import train
from charm.devices import place
from charm.errors import CharmError
from charm.evaluation.evaluate import Evaluation, VoteOptions, evaluate_run, evaluate_votes
from charm.evaluation.protocols import Protocol, settings_text
from charm.evaluation.scoring import Scores
from charm.report.film import make_films
from charm.report.page import write_report
from charm.runs.settings import TrainConfig, read_config
from charm.tables import Table
from charm.tasks.task import Question

FILMS = 6  # tasks whose refinement steps the page shows
AGAIN = "run the same command again to continue"  # there is no --resume


def run_quickstart(
    out: Path, seed: int, say: Callable[[str], None], config: TrainConfig | None = None
) -> dict[str, Any]:
    """Train, vote with and without the memory, and write the page; return the values of the table.

    A signal while training makes a checkpoint and raises KeyboardInterrupt; the same call continues.
    """
    config = replace(config or preset(), seed=seed)
    began = time.monotonic()
    with place("cpu") as here:
        resume = _resumes(out, config)
        say(f"training {len(config.data.tasks)} tasks for {config.steps} updates on {here.describe()}")
        engine = train(config, out, here, resume, lambda text: say(text.replace(config.resume_hint, AGAIN)))
        if engine.step < config.steps:  # half a training has no scores worth waiting for
            raise engine.interrupt
        trained = time.monotonic() - began
        protocol = Protocol(views=config.evaluate_views, window="current", loops=config.evaluate_loops)
        for options in (VoteOptions(), VoteOptions(blank_memory=True)):
            evaluate_run(out, "quickstart", protocol, here, options)
        found, blank = (evaluate_votes(out / name, protocol, config.data) for name in ("votes", "votes_blank"))
        films = make_films(out, found.scores, FILMS, here.device)
    report = write_report(out, protocol, films=films)
    return {
        "tasks": _task_rows(found, blank.scores, config.evaluate_views),
        "pass@1": found.scores.metrics["pass@1"],
        "pass@2": found.scores.metrics["pass@2"],
        "protocol": settings_text(protocol),
        "pass@2 without memory": blank.scores.metrics["pass@2"],
        "training_seconds": round(trained, 1),
        "seconds": round(time.monotonic() - began, 1),
        "report": str(report),
    }


def _task_rows(found: Evaluation, blank: Scores, voters: int) -> list[dict[str, Any]]:
    """Return what the table shows of each task: its scores, and its outcome with and without the memory."""
    number = {question: q for q, question in enumerate(found.ranking.questions)}
    without = {task.task_id: task.outcome for task in blank.tasks}
    rows = []
    for task in found.scores.tasks:
        best = [found.ranking.top(number[Question(task.task_id, one.test_index)], 1) for one in task.outputs]
        passed = {f"pass@{k}": sum(one.rank is not None and one.rank <= k for one in task.outputs) for k in (1, 2)}
        votes = [top[0].votes if top else 0 for top in best]
        outcomes = {"outcome": task.outcome, "without_memory": without[task.task_id]}
        rows.append({"task": task.task_id, "tests": len(best), **passed, "votes": votes, "voters": voters, **outcomes})
    return rows


def _resumes(out: Path, config: TrainConfig) -> bool:
    """Return whether the folder contains this run, finished or not; refuse anything else."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return False
    if not (out / "config.json").is_file() or read_config(out) != config:
        raise CharmError(
            f"{out} exists and is not a quickstart run with these settings; remove it or choose another --out"
        )
    return True


def results_table(found: dict[str, Any]) -> Table:
    """Make the table that is printed at the end."""
    # Short headings: the table must fit 80 columns.
    columns = ["task", "pass@1", "pass@2", "votes, first answer", "with memory", "without"]
    rows = []
    for one in found["tasks"]:
        passed = [f"{one[name]}/{one['tests']}" for name in ("pass@1", "pass@2")]
        votes = ", ".join(f"{count} of {one['voters']}" for count in one["votes"])
        rows.append([one["task"], *passed, votes, one["outcome"], one["without_memory"]])
    caption = (
        f"pass@1 {found['pass@1']:.1%}, pass@2 {found['pass@2']:.1%}; with the memory zeroed "
        f"{found['pass@2 without memory']:.1%}; {found['protocol']}; {found['seconds']:.0f} s"
    )
    return Table(columns, rows, "Held-out test inputs, answered by voting over views", caption)
