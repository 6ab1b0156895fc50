"""Choose and write the page of runs or of a solve; the page of runs of any domain: tables, curves, settings."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from charm.devices import place
from charm.domains import PageOptions, domain_of
from charm.errors import CharmError
from charm.files import read_sealed, require_ending
from charm.report.comparison import write_comparison
from charm.report.film import make_films
from charm.report.html import document, names_of, settings, table, title_of, write_page
from charm.report.page import learning, ranked, write_report
from charm.report.solved import write_solve_page
from charm.runs.metrics import newest_scores, read_metrics
from charm.tables import UNKNOWN, Table
from charm.tasks.sources import load_available, load_source


def write_pages(runs: Sequence[Path], out: Path | None = None, options: PageOptions | None = None) -> Path:
    """Write the page of one run (by default RUN/report.html), of several of one domain (comparison.html) or of a solve.

    A solve is named by its submission, which may be followed by files of its tasks; its page is next to it by default.
    """
    if not runs:
        raise CharmError("name at least one run folder")
    options = options or PageOptions()
    if out is not None:
        require_ending(out, "a page", ".html")
    if runs[0].is_file():
        if options.films or options.protocol is not None:
            raise CharmError("--films and --protocol are for pages of runs, not of a submission")
        sources = [*map(load_source, runs[1:]), *load_available(options.data)]
        return write_solve_page(runs[0], out or runs[0].with_suffix(".html"), sources)
    domains = {domain_of(run).name: run for run in reversed(runs)}
    if len(domains) > 1:
        found = ", ".join(f"{run} learned from {domain_of(run).learns_from}" for run in domains.values())
        raise CharmError(f"one page cannot show runs of different domains: {found}")
    domain = domain_of(runs[0])
    if options.films and (not domain.solves_tasks or len(runs) > 1):
        raise CharmError("films are made for one run on ARC's tasks at a time")
    if options.protocol is not None and not domain.solves_tasks:
        raise CharmError(f"a protocol ranks answers to ARC's tasks; {runs[0]} learned from {domain.learns_from}")
    path = out or (runs[0] / "report.html" if len(runs) == 1 else Path("comparison.html"))
    written: Path = domain.get("page")(runs, path, options)
    return written


def write_arc_page(runs: Sequence[Path], path: Path, options: PageOptions) -> Path:
    """Write the page of a run on ARC's tasks, or of several side by side."""
    protocol = options.protocol
    if len(runs) > 1:
        return write_comparison(runs, path, protocol, options.data)
    films = None
    if options.films:
        _, _, evaluation = ranked(runs[0], protocol, options.data)
        if evaluation is None:
            raise CharmError(f"{runs[0]}: films are chosen by outcome, and the run has no votes yet")
        with place(options.device) as here:
            films = make_films(runs[0], evaluation.scores, options.films, here.device, options.data)
    return write_report(runs[0], protocol, options.data, films, out=path)


# Other domains


def write_plain_page(runs: Sequence[Path], out: Path, options: PageOptions) -> Path:
    """Write the page of runs of a domain without votes."""
    names, domain = names_of(runs), domain_of(runs[0])
    headline, *others = domain.get("tables")(runs, names)
    lead = [f'<p class="soft">{escape(headline.caption)}</p>'] if headline.caption else []
    sections = [f"<section><h2>{escape(one.title)}</h2>{table(one.columns, one.rows)}</section>" for one in others]
    body = [
        *(*lead, table(headline.columns, headline.rows)),
        *learning(runs, names),
        *(['<div class="tables">', *sections, "</div>"] if sections else []),
    ]
    if count := domain.get("account"):
        wanted = ("backbone", "task memory", "everything")
        counts = [dict(count(run).lines()) for run in runs]
        rows = [[name, *(f"{found[one]:,}" for one in wanted)] for name, found in zip(names, counts, strict=True)]
        body += ["<h2>Parameters</h2>", table(["run", *wanted], rows)]
    body.append("<h2>Settings</h2>")
    for name, run in zip(names, runs, strict=True):
        body.append(settings(read_sealed(run / "config.json"), f"configuration of {name}"))
    return write_page(out, document(title_of(names), body))


def newest_tables(runs: Sequence[Path], names: Sequence[str]) -> list[Table]:
    """Return the newest scores of each run, for a domain that defines no tables."""
    newest = [newest_scores(read_metrics(run)) for run in runs]
    scores = list(dict.fromkeys(score for one in newest if one is not None for score in one["scores"]))
    rows = []
    for name, found in zip(names, newest, strict=True):
        values = found["scores"] if found else {}
        cells = [f"{values[one]:.4g}" if one in values else UNKNOWN for one in scores]
        rows.append([name, f"{found['step']:,}" if found else UNKNOWN, *cells])
    return [Table(["run", "step", *scores], rows)]
