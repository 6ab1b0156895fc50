"""The page of several runs on ARC's tasks: scores and curves side by side, and tasks that only some of them solve."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from charm.evaluation.protocols import Protocol
from charm.evaluation.scoring import KS, OUTCOMES
from charm.report import folder
from charm.report.answers import JsonObject, task_entries, voting_steps
from charm.report.assets import COMPARISON
from charm.report.html import UNKNOWN, class_of, document, names_of, percent, table, title_of, write_page
from charm.report.page import NEVER, drawing, learning, protocol_text, ranked

ABSENT = "not evaluated"  # outcome of a task that is not in a run's split


def write_comparison(
    runs: Sequence[Path], out: Path, protocol: Protocol | None = None, data: Path | None = None, top: int = 2
) -> Path:
    """Write a page that compares runs on ARC's tasks, and return its path.

    Every run is ranked by the protocol, by default the standard one at the run's own refinement depths. The page shows
    the `top` candidates of each run for each question.
    """
    names = names_of(runs)
    headlines: list[JsonObject] = []
    entries: list[dict[str, JsonObject]] = []  # of each run, by task id
    for run in runs:  # one at a time, because a full evaluation has millions of votes
        config, used, evaluation = ranked(run, protocol, data)
        steps: list[int] = []
        tasks: list[JsonObject] = []
        if evaluation is not None:
            steps = voting_steps(evaluation.ranking)
            tasks = task_entries(config.data, evaluation, {}, top, folder.instances(run))
        headlines.append(
            {
                "protocol": protocol_text(used),
                "steps": steps,
                "metrics": evaluation.scores.metrics if evaluation else {},
                "puzzles": evaluation.scores.puzzles if evaluation else 0,
                "solved": sum(task["outcome"] == "solved" for task in tasks),
            }
        )
        entries.append({task["id"]: task for task in tasks})
    tasks = merge(entries)
    body = [
        *_headline(names, headlines),
        *learning(runs, names),
        *_versus(names, tasks),
        *_task_list(names, tasks),
        *_parameters(runs, names),
    ]
    shown = [{"name": name, "steps": one["steps"]} for name, one in zip(names, headlines, strict=True)]
    payload = {**drawing(), "runs": shown, "tasks": tasks}
    return write_page(out, document(title_of(names), body, COMPARISON, payload))


def merge(entries: Sequence[dict[str, JsonObject]]) -> list[JsonObject]:
    """Every task of any run, once: its grids, and the outcome and tests of each run."""
    merged = []
    for task_id in dict.fromkeys(task_id for tasks in entries for task_id in tasks):
        found = [tasks.get(task_id) for tasks in entries]
        first = next(one for one in found if one is not None)
        merged.append(
            {
                "id": task_id,
                "outcomes": [ABSENT if one is None else one["outcome"] for one in found],
                "demos": first["demos"],
                "questions": [{"input": test["input"], "truth": test["truth"]} for test in first["tests"]],
                "runs": [
                    one
                    and [
                        {name: test.get(name) for name in ("outcome", "rank", "candidates", "views")}
                        for test in one["tests"]
                    ]
                    for one in found
                ],
            }
        )
    return merged


def solved_and_never(tasks: Sequence[JsonObject], solver: int, other: int) -> list[str]:
    """Tasks that one run solves and for which the other never proposes the right answer."""
    asked = [(task["id"], task["outcomes"]) for task in tasks]
    return [one for one, found in asked if found[solver] == "solved" and found[other] in NEVER]


def _headline(names: Sequence[str], headlines: Sequence[JsonObject]) -> list[str]:
    metric_names = [*(f"pass@{k}" for k in KS), "pass@1/outputs", "pass@2/outputs"]
    heads = ["run", *metric_names, "puzzles", "solved", "step", "voting checkpoints"]
    rows = []
    for name, one in zip(names, headlines, strict=True):
        if not one["steps"]:
            rows.append([name, "no votes yet", *[UNKNOWN] * (len(heads) - 2)])
            continue
        scores = [percent(one["metrics"], metric) for metric in metric_names]
        counts = [f"{one['puzzles']:,}", f"{one['solved']:,}", f"{one['steps'][0]:,}", str(len(one["steps"]))]
        rows.append([name, *scores, *counts])
    protocols = dict.fromkeys(one["protocol"] for one in headlines)
    lead = f"Protocol: {'; '.join(protocols)}. pass@k is the mean over puzzles, pass@k/outputs over test outputs."
    return [f'<p class="soft">{escape(lead)}</p>', table(heads, rows)]


def _versus(names: Sequence[str], tasks: Sequence[JsonObject]) -> list[str]:
    """A table of the numbers of puzzles that a row's run solves and a column's run never proposes; each is a filter."""
    if not tasks:
        return []
    heads = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = []
    for a, name in enumerate(names):
        cells = []
        for b in range(len(names)):
            count = len(solved_and_never(tasks, a, b))
            button = f'<button data-filter="{a}&gt;{b}" aria-pressed="false">{count}</button>'
            cells.append(f"<td>{UNKNOWN if a == b else button}</td>")
        lines.append(f"<tr><td>{escape(name)}</td>{''.join(cells)}</tr>")
    return [
        "<h2>Solved by one, never proposed by another</h2>",
        '<p class="soft">The number of puzzles that the run in the row solves and for which the run in the column has '
        "no right candidate. Click a number to list the puzzles below.</p>",
        f'<div class="wide"><table><thead><tr><th>solved by</th>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>",
    ]


def _task_list(names: Sequence[str], tasks: Sequence[JsonObject]) -> list[str]:
    if not tasks:
        return []
    differ = sum(len(set(task["outcomes"])) > 1 for task in tasks)
    heads = "".join(f"<span>{escape(name)}</span>" for name in names)
    rows = []
    for number, task in enumerate(tasks):
        cells = "".join(
            f'<span class="outcome {class_of(outcome) if outcome in OUTCOMES else "blind"}">{outcome}</span>'
            for outcome in task["outcomes"]
        )
        title = f"<summary><b>{escape(task['id'])}</b>{cells}</summary>"
        rows.append(f'<details class="task versus" data-n="{number}">{title}</details>')
    return [
        "<h2>Tasks</h2>",
        "<noscript><p>The grids and the buttons need JavaScript.</p></noscript>",
        '<div class="tools">',
        f'<button data-filter="all" aria-pressed="true">all {len(tasks)}</button>',
        f'<button data-filter="differ" aria-pressed="false">outcomes differ {differ}</button>',
        '<input id="find" type="search" placeholder="find a task" aria-label="find a task"></div>',
        f'<p class="soft" id="shown">{len(tasks)} of {len(tasks)} tasks</p>',
        f'<div class="versus columns"><b>task</b>{heads}</div><div id="tasks">',
        *rows,
        "</div>",
    ]


def _parameters(runs: Sequence[Path], names: Sequence[str]) -> list[str]:
    found = {name: folder.accounting(run) for name, run in zip(names, runs, strict=True)}
    counted = {name: one.lines() for name, one in found.items() if one is not None}
    rows = [
        [same[0][0].partition(" of ")[0], *(f"{count:,}" for _, count in same)]
        for same in zip(*counted.values(), strict=True)
    ]
    return ["<h2>Parameters</h2>", table(["component", *counted], rows)] if rows else []
