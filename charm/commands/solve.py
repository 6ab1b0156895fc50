"""`charm solve`: answer a task file that nobody trained on."""

from __future__ import annotations

import json as jsonlib
import re
from pathlib import Path

from tyro.conf import Positional


def solve(
    task: Positional[Path],
    *,
    checkpoint: Path,
    budget: str = "60s",
    steps: int = 1000,
    views: int = 128,
    batch: int = 128,
    seed: int = 0,
    device: str = "auto",
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Answer a task file: grow the memory by its rows, learn its demonstrations with them alone, vote over views.

    Example: charm solve task.json --checkpoint runs/quickstart --budget 2m

    Args:
        task: a JSON file with one ARC task; test outputs, if there are any, are not looked at.
        checkpoint: a run folder or a saved model.
        budget: time for everything, such as 90s or 5m.
        steps: updates at most.
        views: views of the task that are learned and that vote.
        batch: examples in an update.
        seed: decides the views and the order of examples.
        device: cuda, xpu, mps, cpu, or the best there is.
        out: where the submission goes (default: TASK.submission.json).
        json: print the submission instead of pictures.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from charm.adaptation.solve import SolveOptions
    from charm.adaptation.solve import solve as run
    from charm.devices import place
    from charm.evaluation.submission import attempts, write_submission
    from charm.report.draw import grid_text

    options = SolveOptions(seconds_of(budget), steps, views, batch, seed=seed)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with place(device) as here, Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("preparing", total=1.0)
        found = run(
            task,
            checkpoint,
            options,
            here,
            lambda used, text: progress.update(bar, completed=min(used, 1.0), description=text),
        )
    submission = attempts(found.answers)
    path = out or Path(f"{task.stem}.submission.json")
    write_submission(path, submission)
    if json:
        print(jsonlib.dumps(submission))
        return
    console = Console()
    console.print(
        f"{found.updates} updates, {found.exact_accuracy:.0%} of the last demonstrations exact, "
        f"{found.seconds:.0f} s; submission in {path}"
    )
    for question, candidates in found.answers.items():
        for number, candidate in enumerate(candidates[:2], start=1):
            console.print(
                f"\n[bold]{question}, attempt {number}[/]: {candidate.votes} votes, "
                f"confidence {candidate.confidence:.2f}"
            )
            console.print(grid_text(candidate.grid))
        if not candidates:
            console.print(f"\n[bold]{question}[/]: no answer")


def seconds_of(text: str) -> float:
    """Seconds in "90", "90s", "5m" or "1.5h"."""
    from charm.errors import CharmError

    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|)", text.strip())
    if not match or float(match[1]) <= 0:
        raise CharmError(f"{text!r} is not a time such as 90s, 5m or 1h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
