"""`charm params`: parameter counts of presets, and every count in the paper compared with ours."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from charm.commands.shared import Data, Json, Switch, flag, output
from charm.domains import domain_of_preset
from charm.errors import CharmError
from charm.progress import say, track


def params(
    preset: Annotated[Positional[str], flag("[PRESET]")] = "",
    *,
    paper: Switch = False,
    data_rows: Switch = False,
    gate: Annotated[Path | None, flag("RUN", "none")] = None,
    json: Json = False,
    data: Data = None,
) -> None:
    """Count the parameters of a preset's model exactly, or compare every count in the paper with ours.

    Example: charm params arc1

    Example: charm params lm-d12-cose-x5

    Example: charm params --gate runs/arc1

    Args:
        preset: name of a preset; not used with --paper.
        paper: compare all counts in the paper; exits with 1 if one differs beyond rounding (0.2 % with our views).
        data_rows: use the views that we draw for the preset's data instead of the paper's row counts.
        gate: measure how much of its residual rows a trained run's gate lets through, at every checkpoint.
    """
    if gate is not None:
        if preset or paper or data_rows:
            raise CharmError("--gate takes a run folder and goes with --json only")
        from charm.accounting import gate_shares

        output(json, *gate_shares(gate))
        return
    if bool(preset) == paper:
        raise CharmError("name one preset, as in `charm params arc1`, or give --paper alone")
    if paper and data_rows:
        raise CharmError("--data-rows needs a preset; --paper always counts everything")
    if paper:
        _compare_with_paper(json, data)
        return
    domain = domain_of_preset(preset)
    config = domain.configuration(preset)
    if domain.count is None:
        raise CharmError(f"charm params cannot count the parameters of models on {domain.learns_from}")
    output(json, *domain.get("count")(preset, config, data_rows, data))


def _compare_with_paper(json: bool, data: Path | None) -> None:
    from charm.paper.counts import DRAWN, check_paper, drawn_sizes, paper_tables, tally

    sizes, missing = drawn_sizes(track(DRAWN, "drawing views (about 20 s)", len(DRAWN)), data)
    checks = check_paper(sizes)
    failed = [check for check in checks if not check.passed]
    summary = {**tally(checks), "failed": len(failed)}
    off = [abs(check.difference) for check in checks if check.difference is not None]
    output(
        json,
        {**summary, "left_out": missing, "checks": [check.to_json() for check in checks]},
        *paper_tables(checks),
        *(f"With our views, {line}" for line in missing),
        "{agree} of {counts} counts agree with the paper's printed digits; {given} more are its numbers of rows, which "
        "the others are computed from. ".format_map(summary)
        + f"With our own views {len(off)} of them were made again; they differ by at most {max(off, default=0.0):.3%}.",
    )
    if failed:
        first = failed[0]
        drawn = "" if first.drawn is None else f", {float(first.drawn):,.0f} with our views"
        say(
            f"charm: {len(failed)} of {len(checks)} counts differ, the first in {first.table}, {first.claim.data}, "
            f"{first.claim.label}: the paper prints {first.claim.printed}, ours is {first.ours}{drawn}"
        )
        sys.exit(1)
