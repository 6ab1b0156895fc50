"""`charm reproduce`: run any table of the paper, at its own size or a smaller one, and compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from charm.commands.shared import Data, Device, Json, Switch, flag, output
from charm.config import refuse_below
from charm.errors import CharmError

if TYPE_CHECKING:
    from charm.paper.plans import Reproduction


def reproduce(
    labels: Annotated[Positional[tuple[str, ...]], arg(metavar="[LABEL ...]", help_behavior_hint="")] = (),
    *,
    size: Literal["smoke", "cpu", "small", "full"] = "small",
    seeds: Annotated[int | None, flag("INT", "3; with --size full as many as the paper has")] = None,
    variants: Annotated[tuple[str, ...], flag("NAME ...", "all of the table")] = (),
    jobs: Annotated[int | None, flag("INT", "as many as fit")] = None,
    show: Switch = False,
    dry_run: Switch = False,
    slurm: Switch = False,
    slurm_settings: Annotated[tuple[str, ...], flag("KEY=VALUE ...", "none")] = (),
    device: Device = "auto",
    out: Annotated[Path, flag("DIR")] = Path("runs/reproduce"),
    json: Json = False,
    data: Data = None,
) -> None:
    """Make the runs of a table or figure of the paper that are not finished yet, and print it beside the paper's.

    Repeat the command to continue after a kill. Without a label it lists all tables and figures. Results are small
    JSON files in OUT/SIZE/results.

    Example: charm reproduce tab:cose-arc1training-ablations --size cpu --dry-run

    Example: charm reproduce tab:full-cose-ablation --size full --slurm --slurm-settings slurm_partition=gpu

    Args:
        labels: tables and figures by their label in the paper's source; several share their runs.
        size: smoke (seconds), cpu (minutes on two cores), small (minutes on one GPU) or full (the paper's).
        seeds: seeds of each variant, counted from 0.
        variants: only these lines of the tables.
        jobs: runs side by side, on all GPUs together.
        show: print what is finished and run nothing.
        dry_run: list commands and estimated hours, and run nothing.
        slurm: hand the runs to a cluster as an array job, with submitit.
        slurm_settings: settings of submitit's executor, such as slurm_partition=gpu or timeout_min=600.
        out: folder of results and runs.
    """
    from charm.paper.plans import Reproduction, catalogue
    from charm.report.measurements import draw_reproduced

    refuse_below(1, {"--jobs": jobs})
    if not labels:
        output(json, *catalogue())
        return
    plan = Reproduction.of(labels, size, seeds, variants, out, data)
    if dry_run:
        output(json, plan.to_json(), *plan.overview())
    elif slurm:
        print(plan.submit(device, jobs, slurm_settings))
    else:
        failed = [] if show else _run(plan, device, jobs, json)
        drawn = map(str, draw_reproduced(plan))
        output(json, [one.to_json() for one in plan.comparisons()], *plan.shown(), *drawn)
        if failed:
            raise CharmError(f"{len(failed)} runs failed, the first: {failed[0]}")
        if plan.missing_runs():
            raise CharmError(f"{plan.state()} without --show")


def _run(plan: Reproduction, device: str, jobs: int | None, json: bool) -> list[str]:
    """Run what is missing; a stop shows what is there before it is passed on."""
    from charm.drawing.terminal import show
    from charm.progress import say

    try:
        return plan.run(device, jobs, say)
    except KeyboardInterrupt:
        if not json:
            show(*plan.shown())
        say(plan.state())
        raise
