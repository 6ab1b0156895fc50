"""The page of several runs on ARC's tasks: scores and curves side by side, and tasks that only some of them solve."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from charm.evaluation.protocols import Protocol, protocol_text
from charm.evaluation.scoring import KS
from charm.report import folder, page
from charm.report.answers import JsonObject, run_entries, voting_steps
from charm.report.html import COMPARISON, document, names_of, table, title_of, write_page
from charm.tables import UNKNOWN, percent

METRICS = [*(f"pass@{k}" for k in KS), "pass@1/outputs", "pass@2/outputs"]
HEADS = ["run", *METRICS, "tasks", "solved", "step", "voting checkpoints"]
SHOWN = 2  # candidates of each run for each question
ABSENT = "not evaluated"  # outcome of a task that is not in a run's split


def write_comparison(
    runs: Sequence[Path], out: Path, protocol: Protocol | str | None = None, data: Path | None = None
) -> Path:
    """Write a page that compares runs on ARC's tasks, each ranked as `page.ranked` does; return its path."""
    names = names_of(runs)
    protocols: dict[str, None] = {}  # all different ones, in order
    scores: list[list[str]] = []
    shown: list[JsonObject] = []  # the runs that have voted
    entries: list[dict[str, JsonObject]] = []  # of each of these, by task id
    # One at a time, because a full evaluation has millions of votes.
    for name, run in zip(names, runs, strict=True):
        config, used, evaluation = page.ranked(run, protocol, data)
        cells = ["no votes yet" if config.data.evaluate else "no tasks to evaluate", *[UNKNOWN] * (len(HEADS) - 2)]
        if evaluation is not None:
            steps = voting_steps(evaluation.ranking)
            found = run_entries(config.data, evaluation, SHOWN, folder.instances(run))
            solved = sum(task["outcome"] == "solved" for task in found)
            cells = [percent(evaluation.scores.metrics, metric) for metric in METRICS]
            cells += [f"{number:,}" for number in (evaluation.scores.puzzles, solved, steps[0], len(steps))]
            shown.append({"name": name, "steps": steps, "sure": config.reasoner.sure})
            entries.append({task["id"]: task for task in found})
        protocols[protocol_text(used)] = None
        scores.append([name, *cells])
    tasks = merge(entries)
    lead = f"Protocol: {'; '.join(protocols)}. pass@k is the mean over tasks, pass@k/outputs over test outputs."
    body = [
        *(f'<p class="soft">{escape(lead)}</p>', table(HEADS, scores)),
        *page.learning(runs, names),
        *([page.TASKS] if tasks else []),
        *_parameters(runs, names),
    ]
    payload = {**page.drawing(), "runs": shown, "tasks": tasks}
    return write_page(out, document(title_of(names), body, COMPARISON, payload))


def merge(entries: Sequence[dict[str, JsonObject]]) -> list[JsonObject]:
    """Return every task of any run, once: its grids, and the outcome and tests of each run."""
    merged = []
    for task_id in dict.fromkeys(task_id for tasks in entries for task_id in tasks):
        found = [tasks.get(task_id) for tasks in entries]
        first = next(one for one in found if one is not None)
        merged.append(
            {
                "id": task_id,
                "outcomes": [one["outcome"] if one else ABSENT for one in found],
                "demos": first["demos"],
                "questions": [{"input": test["input"], "truth": test["truth"]} for test in first["tests"]],
                "runs": [one and one["tests"] for one in found],
            }
        )
    return merged


def _parameters(runs: Sequence[Path], names: Sequence[str]) -> list[str]:
    found = {name: folder.accounting(run) for name, run in zip(names, runs, strict=True)}
    counted = {name: one.lines() for name, one in found.items() if one is not None}
    rows = [
        [same[0][0].partition(" of ")[0], *(f"{count:,}" for _, count in same)]
        for same in zip(*counted.values(), strict=True)
        if any(count for _, count in same)
    ]
    return ["<h2>Parameters</h2>", table(["component", *counted], rows)] if rows else []
