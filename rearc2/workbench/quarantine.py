"""The checks that also apply to Re-ARC, and the list of its tasks that fail them.

Re-ARC's pairs come from the folder that `charm data rearc` builds, so only the verification is repeated. A pair that
its verifier rejects never reaches the folder; the report is about generators that make such pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from charm.errors import CharmError
from charm.processes import process_pool
from charm.progress import track
from charm.synthesis.build import ILLEGAL, OVERTIME
from charm.synthesis.rearc import RawGrid, ReArc
from charm.tasks.pairs_file import TaskRecord, read_block, read_manifest
from charm.tasks.sources import load_source
from charm.tasks.task import Grid, Pair, Task
from rearc2.workbench.coverage import simple_rules
from rearc2.workbench.packages import GENERATOR_FAILED, MISMATCH, VERIFIER_FAILED

FAULTS = (MISMATCH, VERIFIER_FAILED, GENERATOR_FAILED, ILLEGAL, OVERTIME)


def quarantine(
    folder: Path, package: Path, workers: int = 1, tasks: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the reasons for failing by task, for all tasks in the folder of pairs (or the given ones).

    `package` is Re-ARC's unpacked sub-package, from `fetch_package`.
    """
    manifest = read_manifest(folder)
    rearc = ReArc(package, manifest.plan.seed)
    official = {task.id: task for task in load_source("arc1/training").tasks}
    chosen = list(tasks) or sorted(manifest.tasks)
    if unknown := [task for task in chosen if task not in manifest.tasks or task not in official]:
        raise CharmError(f"{folder}: task {unknown[0]} has no pairs or is not in ARC-AGI-1's training set")
    jobs = [(rearc, folder, official[task], manifest.tasks[task]) for task in chosen]
    with process_pool(workers) as pool:
        found = track(pool.map(_reasons, jobs), "Re-ARC", len(jobs))
        return {task: reasons for task, reasons in zip(chosen, found, strict=True) if reasons}


def _reasons(job: tuple[ReArc, Path, Task, TaskRecord]) -> list[str]:
    rearc, folder, task, record = job
    official = {name: _problem(rearc, task.id, pair) for name, pair in task.named_pairs().items()}
    found = [f"1. {name} (numbered as in ARC-AGI-1): {text}" for name, text in official.items() if text]
    if record.shortfall:
        found.append(f"2. {record.shortfall}")
    counts = {fault: record.rejects[fault] for fault in FAULTS if fault in record.rejects}
    found += [f"2. {fault} in {count:,} of {record.attempts:,} attempts" for fault, count in counts.items()]
    generated = read_block(folder, task.id, record.sha256).pairs()
    if refuted := sum(_problem(rearc, task.id, pair) is not None for pair in generated):
        found.append(f"2. {refuted:,} stored pairs are not verified in a fresh process")
    return found + [f"6. {text}" for text in simple_rules(task.pairs, generated).values()]


def _problem(rearc: ReArc, task: str, pair: Pair) -> str | None:
    assert pair.output is not None
    try:
        found = rearc.verify(task, _raw(pair.input))
    except Exception as error:
        return f"the verifier fails ({type(error).__name__})"
    return None if found == _raw(pair.output) else "the verifier gives another output"


def _raw(grid: Grid) -> RawGrid:
    return tuple(map(tuple, grid.tolist()))


def quarantine_page(found: dict[str, list[str]], checked: int) -> str:
    lines = [
        "# Re-ARC tasks that fail our checks",
        "",
        f"{len(found)} of {checked} Re-ARC tasks fail a criterion of [rearc2.md](rearc2.md) that applies to them:",
        "",
        "- 1: the verifier reproduces every official pair;",
        "- 2: enough unique, legal, verified pairs, and no pair that the task's own verifier rejects;",
        "- 6: no simple wrong rule explains the pairs.",
        "",
        "The builder drops every rejected pair, so all stored pairs are verified. A mismatch still means that the",
        "generator and the verifier do not agree on the rule. This page is written by `charm rearc2 quarantine`.",
    ]
    begin, end = f"2. {MISMATCH} in ", " attempts"
    mismatches = {
        task: reasons[0].removeprefix(begin).removesuffix(end)
        for task, reasons in sorted(found.items())
        if len(reasons) == 1 and reasons[0].startswith(begin)
    }
    if mismatches:
        named = ", ".join(f"{task} ({count})" for task, count in mismatches.items())
        lines += ["", f"**Only a {MISMATCH}** (in how many of all attempts): {named}.", "", "**The others:**"]
    lines += ["", "| task | reasons |", "|---|---|"]
    lines += [f"| {task} | {'; '.join(found[task])} |" for task in sorted(found.keys() - mismatches.keys())]
    return "\n".join(lines) + "\n"
