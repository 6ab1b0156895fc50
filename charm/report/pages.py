"""Which page belongs to which runs, and the page of runs on ARC's tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from charm.devices import place
from charm.domains import PageWishes, domain_of
from charm.errors import CharmError
from charm.evaluation.protocols import protocol_named
from charm.report.comparison import write_comparison
from charm.report.film import make_films
from charm.report.page import ranked, write_report


def write_pages(runs: Sequence[Path], out: Path | None = None, wishes: PageWishes | None = None) -> Path:
    """The page of one run (by default RUN/report.html), or of several of a domain (comparison.html)."""
    if not runs:
        raise CharmError("name a run folder, or several")
    wishes = wishes or PageWishes()
    domains = {domain_of(run).name: run for run in reversed(runs)}
    if len(domains) > 1:
        told = ", ".join(f"{run} learned from {domain_of(run).learns_from}" for run in domains.values())
        raise CharmError(f"one page cannot show runs of different domains: {told}")
    domain = domain_of(runs[0])
    if wishes.films and (not domain.has_votes or len(runs) > 1):
        raise CharmError("films are made for one run on ARC's tasks at a time")
    if wishes.protocol is not None and not domain.has_votes:
        raise CharmError(
            f"a protocol ranks answers to ARC's tasks; {runs[0]} learned from {domain.learns_from}"
        )
    path = out or (runs[0] / "report.html" if len(runs) == 1 else Path("comparison.html"))
    written: Path = domain.get("page")(runs, path, wishes)
    return written


def write_arc_page(runs: Sequence[Path], path: Path, wishes: PageWishes) -> Path:
    """The page of a run on ARC's tasks, or of several side by side."""
    protocol = protocol_named(wishes.protocol) if wishes.protocol else None
    if len(runs) > 1:
        return write_comparison(runs, path, protocol, wishes.data)
    made = None
    if wishes.films:
        _, _, evaluation = ranked(runs[0], protocol, wishes.data)
        if evaluation is None:
            raise CharmError(f"{runs[0]}: films are chosen by outcome, and the run has no votes yet")
        with place(wishes.device) as here:
            made = make_films(runs[0], evaluation.scores, wishes.films, here.device, wishes.data)
    return write_report(runs[0], protocol, wishes.data, made, out=path)
