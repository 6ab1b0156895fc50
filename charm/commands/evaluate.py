"""`charm eval`: votes, ranking, pass@k and a submission for a run."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Literal

from tyro.conf import Positional


def evaluate(
    run: Positional[Path],
    *,
    protocol: str = "standard",
    views: int | None = None,
    window: int | Literal["current", "half", "all"] | None = None,
    loops: tuple[int, ...] | None = None,
    half_life: float | None = None,
    tasks: tuple[str, ...] = (),
    batch: int = 512,
    device: str = "auto",
    rank_only: bool = False,
    blank_memory: bool = False,
    json: bool = False,
    data: Path | None = None,
) -> None:
    """Vote with the checkpoints of a run, rank, score, and write a submission.

    Votes already on disk are used as they are, so that another protocol over the same votes takes seconds.

    Example: charm eval runs/quickstart --protocol continual --views 32

    Args:
        run: a run folder.
        protocol: none, standard, extra, xrm, urm or continual.
        views: views of each puzzle that vote (default: the protocol's).
        window: checkpoints that vote (default: the protocol's).
        loops: refinement depths that vote (default: the protocol's).
        half_life: checkpoints after which a vote weighs half (default: the protocol's).
        tasks: only these task ids.
        batch: predictions made at once.
        device: cuda, xpu, mps, cpu, or the best there is.
        rank_only: make no new votes.
        blank_memory: answer without the task memory, for comparison; written as a protocol of its own.
        json: print JSON for a program to read.
        data: where downloaded and generated data lie (default: as in training).
    """
    from rich.console import Console

    from charm.devices import place
    from charm.evaluation.protocols import with_overrides
    from charm.evaluation.run import evaluate_run, scores_table
    from charm.report.folder import require_kind

    chosen = with_overrides(protocol, views, window, loops, half_life)
    require_kind(run, "arc")
    with place(device) as here:
        found = evaluate_run(run, protocol, chosen, here, tasks, batch, rank_only, blank_memory, data)
    if found is None:
        return  # not the main process
    if json:
        print(jsonlib.dumps(found, indent=2))
    else:
        Console().print(scores_table(found))
