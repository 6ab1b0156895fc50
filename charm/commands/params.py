"""`charm params`: what a model is made of, and every count of the paper beside ours."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from charm.commands.flags import Data, Json, Switch, flag
from charm.commands.output import output


def params(
    preset: Annotated[Positional[str], flag("[PRESET]")] = "",
    *,
    paper: Switch = False,
    data_rows: Switch = False,
    json: Json = False,
    data: Data = None,
) -> None:
    """Exact parameter accounting of a preset's model, or of every count that the paper prints.

    Example: charm params arc1

    Args:
        preset: name of a preset; none with --paper.
        paper: all counts of the paper beside ours; exits with 1 if one differs beyond rounding (0.2 % with our views).
        data_rows: count with the views that we draw for the preset's data, not the paper's rows.
    """
    from charm.errors import CharmError

    if bool(preset) == paper:
        raise CharmError("name one preset, as in `charm params arc1`, or give --paper alone")
    if paper and data_rows:
        raise CharmError("--data-rows belongs to a preset; --paper draws the views anyway")
    if paper:
        _paper(json, data)
    else:
        _preset(preset, data_rows, json, data)


def _preset(name: str, data_rows: bool, json: bool, data: Path | None) -> None:
    from dataclasses import replace

    from charm.accounting import account, accounting_table, drawn_size
    from charm.paper.counts import PAPER_SIZES, paper_dataset
    from charm.presets import preset
    from charm.progress import status

    if name.startswith("car-"):
        _car_preset(name, json)
        return
    config = preset(name)
    known = paper_dataset(config.data)
    if known is None or data_rows:
        with status("drawing the views of every puzzle"):
            size = drawn_size(config.data if data is None else replace(config.data, data=data))
        origin = "the views drawn here"
    else:
        size = PAPER_SIZES[known]
        origin = f"the paper's {known} (--data-rows draws our own)"
    found = account(config.model, *size)
    caption = f"{size.puzzles:,} puzzles and {size.rows:,} rows, the blank one included: {origin}."
    table = accounting_table(f"Parameters of {name}", caption, found)
    output(json, {"preset": name, "rows_from": origin, **found.to_json()}, table)


def _car_preset(name: str, json: bool) -> None:
    from charm.accounting import account_car, accounting_table
    from charm.presets import car_preset

    config = car_preset(name)
    sizes = config.data.sizes
    found = account_car(config.model, sizes)
    caption = (
        f"{sizes.rules:,} rules and {sizes.horizons} horizons, {sizes.combinations:,} combinations trained, "
        f"{sizes.rows:,} rows, the blank one included."
    )
    table = accounting_table(f"Parameters of {name}", caption, found)
    output(json, {"preset": name, **sizes._asdict(), **found.to_json()}, table)


def _paper(json: bool, data: Path | None) -> None:
    from charm.paper.counts import DATASETS, STREAMS, check_paper, drawn_sizes, paper_tables
    from charm.progress import track

    names = (*DATASETS, *STREAMS)
    sizes, missing = drawn_sizes(track(names, "drawing views (about 20 s)", len(names)), data)
    checks = check_paper(sizes)
    failed = [check for check in checks if not check.passed]
    summary = {"counts": len(checks), "failed": len(failed), "left_out": missing}
    off = max((abs(check.difference) for check in checks if check.difference is not None), default=0.0)
    output(
        json,
        {**summary, "checks": [check.to_json() for check in checks]},
        *paper_tables(checks),
        *(f"With our views, {line}" for line in missing),
        f"{len(checks) - len(failed)} of {len(checks)} counts agree with the paper's printed digits; "
        f"with our own views they differ by at most {off:.3%}.",
    )
    if failed:
        first = failed[0]
        drawn = "" if first.drawn is None else f", {float(first.drawn):,.0f} with our views"
        print(
            f"charm: {len(failed)} of {len(checks)} counts differ, the first in {first.table}, {first.claim.data}, "
            f"{first.claim.label}: the paper prints {first.claim.printed}, ours is {first.ours}{drawn}",
            file=sys.stderr,
        )
        sys.exit(1)
