"""Which page belongs to which runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from charm.devices import place
from charm.errors import CharmError
from charm.evaluation.protocols import Protocol
from charm.report.comparison import write_comparison
from charm.report.film import make_films
from charm.report.folder import kind_of
from charm.report.other_runs import write_car_page, write_lm_page
from charm.report.page import ranked, write_report

KINDS = {"arc": "ARC's tasks", "car": "cellular automata", "lm": "text"}


def write_pages(
    runs: Sequence[Path],
    out: Path | None = None,
    protocol: Protocol | None = None,
    data: Path | None = None,
    films: int = 0,
    device: str = "auto",
) -> Path:
    """The page of one run (by default RUN/report.html), or of several of a kind (comparison.html)."""
    if not runs:
        raise CharmError("name a run folder, or several")
    kinds = {kind_of(run): run for run in reversed(runs)}
    if len(kinds) > 1:
        told = ", ".join(f"{run} learned from {KINDS[kind]}" for kind, run in kinds.items())
        raise CharmError(f"runs of different kinds do not fit on one page: {told}")
    (kind,) = kinds
    if films and (kind != "arc" or len(runs) > 1):
        raise CharmError("films are made for one run on ARC's tasks at a time")
    if protocol is not None and kind != "arc":
        raise CharmError(f"a protocol ranks answers to ARC's tasks; {runs[0]} learned from {KINDS[kind]}")
    path = out or (runs[0] / "report.html" if len(runs) == 1 else Path("comparison.html"))
    if kind == "car":
        return write_car_page(runs, path)
    if kind == "lm":
        return write_lm_page(runs, path)
    if len(runs) > 1:
        return write_comparison(runs, path, protocol, data)
    made = None
    if films:
        _, _, evaluation = ranked(runs[0], protocol, data)
        if evaluation is None:
            raise CharmError(f"{runs[0]}: films are chosen by outcome, and the run has no votes yet")
        with place(device) as here:
            made = make_films(runs[0], evaluation.scores, films, here.device, data)
    return write_report(runs[0], protocol, data, made, out=path)
