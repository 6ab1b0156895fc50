"""The page of runs of any domain: tables, curves, parameters and settings."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from charm.domains import PageOptions, domain_of
from charm.files import read_sealed
from charm.report.curves import curves_svg
from charm.report.html import document, legend, names_of, settings, table, title_of, write_page
from charm.runs.metrics import curve, newest_scores, read_metrics
from charm.tables import UNKNOWN, Table


def write_plain_page(runs: Sequence[Path], out: Path, options: PageOptions) -> Path:
    names, domain = names_of(runs), domain_of(runs[0])
    headline, *others = (domain.get("tables") or newest_tables)(runs, names)
    lead = [f'<p class="soft">{escape(headline.caption)}</p>'] if headline.caption else []
    lines = [read_metrics(run) for run in runs]
    curves = [
        curves_svg(title, [curve(one, name) for one in lines], is_share)
        for name, (title, is_share) in (domain.get("curves") or {"loss": ("Loss", False)}).items()
    ]
    sections = [
        f"<section><h2>{escape(one.title)}</h2>{table(one.columns, one.rows)}</section>" for one in others
    ]
    body = [
        *(*lead, table(headline.columns, headline.rows)),
        *("<h2>Learning</h2>", legend(names) if len(runs) > 1 else ""),
        *('<div class="curves">', *curves, "</div>"),
        *(['<div class="tables">', *sections, "</div>"] if sections else []),
    ]
    if count := domain.get("account"):
        wanted = ("backbone", "task memory", "everything")
        counts = [dict(count(run).lines()) for run in runs]
        counted = zip(names, counts, strict=True)
        rows = [[name, *(f"{found[one]:,}" for one in wanted)] for name, found in counted]
        body += ["<h2>Parameters</h2>", table(["run", *wanted], rows)]
    return write_page(out, document(title_of(names), [*body, *_settings(runs, names)]))


def newest_tables(runs: Sequence[Path], names: Sequence[str]) -> list[Table]:
    """The newest scores of each run, for a domain that defines no tables."""
    newest = [newest_scores(read_metrics(run)) for run in runs]
    scores = list(dict.fromkeys(score for one in newest if one is not None for score in one["scores"]))
    rows = []
    for name, found in zip(names, newest, strict=True):
        values = found["scores"] if found else {}
        cells = [f"{values[one]:.4g}" if one in values else UNKNOWN for one in scores]
        rows.append([name, f"{found['step']:,}" if found else UNKNOWN, *cells])
    return [Table(["run", "step", *scores], rows)]


def _settings(runs: Sequence[Path], names: Sequence[str]) -> list[str]:
    parts = ["<h2>Settings</h2>"]
    for name, run in zip(names, runs, strict=True):
        shown = read_sealed(run / "config.json")
        # A local path that does not affect the result.
        if isinstance(shown.get("data"), dict):
            shown["data"]["data"] = None
        else:
            shown["data"] = None
        parts.append(settings(shown, f"configuration of {name}"))
    return parts
