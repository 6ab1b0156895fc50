"""`charm eval`: votes, ranking, pass@k and a submission for a run."""

from __future__ import annotations

from typing import Annotated, Literal

from charm.commands.flags import Device, Json, Run, RunData, Switch, flag
from charm.commands.output import output


def evaluate(
    run: Run,
    *,
    protocol: str = "standard",
    views: Annotated[int | None, flag("INT", "the protocol's")] = None,
    window: Annotated[
        int | Literal["current", "half", "all"] | None, flag("WINDOW", "the protocol's")
    ] = None,
    loops: Annotated[tuple[int, ...] | None, flag("INT ...", "the protocol's")] = None,
    half_life: Annotated[float | None, flag("FLOAT", "the protocol's")] = None,
    tasks: Annotated[tuple[str, ...], flag("ID ...", "all of the run's")] = (),
    batch: int = 512,
    device: Device = "auto",
    rank_only: Switch = False,
    blank_memory: Switch = False,
    json: Json = False,
    data: RunData = None,
) -> None:
    """Vote with the checkpoints of a run, rank, score, and write a submission.

    Votes already on disk are used as they are, so that another protocol over the same votes takes seconds.

    Example: charm eval runs/quickstart --protocol continual --views 32

    Args:
        run: a run folder.
        protocol: none, standard, extra, xrm, urm or continual.
        views: views of each puzzle that vote.
        window: checkpoints that vote: how many, counted back from the newest, or current, half or all.
        loops: refinement depths that vote.
        half_life: checkpoints after which a vote weighs half.
        tasks: only these tasks.
        batch: predictions made at once.
        rank_only: make no new votes.
        blank_memory: answer without the task memory, for comparison; written as a protocol of its own.
    """
    from charm.devices import place
    from charm.evaluation.protocols import with_overrides
    from charm.evaluation.run import evaluate_run, scores_table
    from charm.report.folder import require_kind

    chosen = with_overrides(protocol, views, window, loops, half_life)
    require_kind(run, "arc")
    with place(device) as here:
        found = evaluate_run(run, protocol, chosen, here, tasks, batch, rank_only, blank_memory, data)
    if found is not None:  # on the main process
        output(json, found, scores_table(found))
