"""Choose and write the page for one run or several; the page of runs on ARC's tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from charm.devices import place
from charm.domains import PageOptions, domain_of
from charm.errors import CharmError
from charm.report.comparison import write_comparison
from charm.report.film import make_films
from charm.report.page import ranked, write_report


def write_pages(runs: Sequence[Path], out: Path | None = None, options: PageOptions | None = None) -> Path:
    """Write the page of one run (by default RUN/report.html) or of several of one domain (comparison.html)."""
    if not runs:
        raise CharmError("name at least one run folder")
    options = options or PageOptions()
    domains = {domain_of(run).name: run for run in reversed(runs)}
    if len(domains) > 1:
        found = ", ".join(f"{run} learned from {domain_of(run).learns_from}" for run in domains.values())
        raise CharmError(f"one page cannot show runs of different domains: {found}")
    domain = domain_of(runs[0])
    if options.films and (not domain.has_votes or len(runs) > 1):
        raise CharmError("films are made for one run on ARC's tasks at a time")
    if options.protocol is not None and not domain.has_votes:
        raise CharmError(
            f"a protocol ranks answers to ARC's tasks; {runs[0]} learned from {domain.learns_from}"
        )
    path = out or (runs[0] / "report.html" if len(runs) == 1 else Path("comparison.html"))
    written: Path = domain.get("page")(runs, path, options)
    return written


def write_arc_page(runs: Sequence[Path], path: Path, options: PageOptions) -> Path:
    """Write the page of a run on ARC's tasks, or of several side by side."""
    protocol = options.protocol
    if len(runs) > 1:
        return write_comparison(runs, path, protocol, options.data)
    made = None
    if options.films:
        _, _, evaluation = ranked(runs[0], protocol, options.data)
        if evaluation is None:
            raise CharmError(f"{runs[0]}: films are chosen by outcome, and the run has no votes yet")
        with place(options.device) as here:
            made = make_films(runs[0], evaluation.scores, options.films, here.device, options.data)
    return write_report(runs[0], protocol, options.data, made, out=path)
