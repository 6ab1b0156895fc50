"""Pages of runs that answer no ARC tasks: cellular automata and language models. One run, or several side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from charm.domains import PageWishes, domain_of
from charm.files import read_sealed
from charm.report import folder
from charm.report.curves import curves_svg
from charm.report.folder import JsonObject
from charm.report.html import (
    UNKNOWN,
    accounting_rows,
    document,
    legend,
    names_of,
    settings,
    table,
    title_of,
    write_page,
)
from charm.runs.metrics import curve, newest_scores, read_metrics

# Name in metrics.jsonl -> title, and whether it is a share.
CAR_CURVES = {
    "loss": ("Loss", False),
    "exact_accuracy": ("Exact accuracy", True),
    "evaluation/seen pass@2": ("Seen combinations, pass@2", True),
    "evaluation/unseen pass@2": ("Unseen combinations, pass@2", True),
}
LM_CURVES = {
    "loss": ("Loss, nats per token", False),
    "evaluation/bpb": ("Bits per byte", False),
    "tokens_per_second": ("Tokens per second", False),
}
PARTS = ("seen", "unseen")
SHARES = ("pass@1", "pass@2", "cells")  # whole grids in so many attempts; right cells of first answers


def write_car_page(runs: Sequence[Path], out: Path, wishes: PageWishes) -> Path:
    """Seen and unseen combinations along training, and at the end by horizon and family."""
    names = names_of(runs)
    newest = [max(folder.car_steps(run).values(), key=lambda one: one["step"], default=None) for run in runs]
    body = [
        *_car_headline(names, newest),
        *_learning(runs, names, CAR_CURVES),
        *_car_groups(names, newest),
        *_car_parameters(runs, names),
        *_settings(runs, names),
    ]
    return write_page(out, document(title_of(names), body))


def write_lm_page(runs: Sequence[Path], out: Path, wishes: PageWishes) -> Path:
    """Bits per byte along training."""
    names = names_of(runs)
    rows = []
    for name, run in zip(names, runs, strict=True):
        points = curve(read_metrics(run), "evaluation/bpb")
        ngram = read_sealed(run / "config.json").get("ngram", {})
        told = [str(ngram.get(field, UNKNOWN)) for field in ("variant", "rows", "width")]
        last = [f"{points[-1][0]:,}", f"{points[-1][1]:.5f}"] if points else ["not evaluated yet", UNKNOWN]
        rows.append([name, *told, *last])
    heads = ["run", "n-gram memory", "rows", "width", "step", "bits per byte"]
    body = [table(heads, rows), *_learning(runs, names, LM_CURVES), *_settings(runs, names)]
    return write_page(out, document(title_of(names), body))


def write_plain_page(runs: Sequence[Path], out: Path, wishes: PageWishes) -> Path:
    """Newest scores, curves and settings: the page of a domain that has none of its own."""
    names = names_of(runs)
    newest = [newest_scores(read_metrics(run)) for run in runs]
    scores = list(dict.fromkeys(score for one in newest if one is not None for score in one["scores"]))
    rows = [
        [
            name,
            UNKNOWN if found is None else f"{found['step']:,}",
            *(
                f"{found['scores'][one]:.4g}" if found and one in found["scores"] else UNKNOWN
                for one in scores
            ),
        ]
        for name, found in zip(names, newest, strict=True)
    ]
    curves = domain_of(runs[0]).get("curves") or {"loss": ("Loss", False)}
    body = [
        table(["run", "step", *scores], rows),
        *_learning(runs, names, curves),
        *_settings(runs, names),
    ]
    return write_page(out, document(title_of(names), body))


def _learning(
    runs: Sequence[Path], names: Sequence[str], wanted: Mapping[str, tuple[str, bool]]
) -> list[str]:
    lines = [read_metrics(run) for run in runs]
    curves = [
        curves_svg(title, [curve(one, name) for one in lines], is_share)
        for name, (title, is_share) in wanted.items()
    ]
    which = [legend(names)] if len(runs) > 1 else []
    return ["<h2>Learning</h2>", *which, '<div class="curves">', *curves, "</div>"]


def _car_headline(names: Sequence[str], newest: Sequence[JsonObject | None]) -> list[str]:
    lead = "Cellular automata: all checkpoints so far and all eight views vote; combinations are averaged."
    columns = [(part, share) for part in PARTS for share in SHARES]
    rows = []
    for name, found in zip(names, newest, strict=True):
        if found is None:
            rows.append([name, "not evaluated yet", *[UNKNOWN] * len(columns)])
        else:
            cells = [_share(found.get(part, {}).get("all", {}), share) for part, share in columns]
            rows.append([name, f"{found['step']:,}", *cells])
    heads = ["run", "step", *(f"{part} {share}" for part, share in columns)]
    return [f'<p class="soft">{escape(lead)}</p>', table(heads, rows)]


def _car_groups(names: Sequence[str], newest: Sequence[JsonObject | None]) -> list[str]:
    """Of one run all shares, of several pass@2, by horizon and by family."""
    parts = []
    for part in PARTS:
        groups = [(found or {}).get(part, {}) for found in newest]
        labels = list(dict.fromkeys(label for one in groups for label in one))
        if not labels:
            continue
        if len(names) == 1:
            heads = ["", "combinations", *SHARES]
            rows = [
                [
                    label,
                    f"{groups[0][label]['combinations']:,}",
                    *(_share(groups[0][label], one) for one in SHARES),
                ]
                for label in labels
            ]
        else:
            heads = ["pass@2", *labels]
            rows = [
                [name, *(_share(one.get(label, {}), "pass@2") for label in labels)]
                for name, one in zip(names, groups, strict=True)
            ]
        parts += [f"<section><h2>{part.capitalize()} combinations</h2>", table(heads, rows), "</section>"]
    return ['<div class="tables">', *parts, "</div>"] if parts else []


def _share(group: Mapping[str, float], name: str) -> str:
    return f"{group[name]:.2%}" if name in group else UNKNOWN


def _car_parameters(runs: Sequence[Path], names: Sequence[str]) -> list[str]:
    counted = [folder.car_accounting(run) for run in runs]
    wanted = ("backbone", "task memory", "everything")
    rows = []
    for name, found in zip(names, counted, strict=True):
        counts = dict(accounting_rows(found))
        rows.append([name, *(f"{counts[one]:,}" if one in counts else UNKNOWN for one in wanted)])
    return ["<h2>Parameters</h2>", table(["run", *wanted], rows)]


def _settings(runs: Sequence[Path], names: Sequence[str]) -> list[str]:
    parts = ["<h2>Settings</h2>"]
    for name, run in zip(names, runs, strict=True):
        shown = read_sealed(run / "config.json")
        # A place on somebody's disk, nothing that decides the run.
        if isinstance(shown.get("data"), dict):
            shown["data"]["data"] = None
        else:
            shown["data"] = None
        parts.append(settings(shown, f"configuration of {name}"))
    return parts
