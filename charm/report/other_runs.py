"""Pages of runs that answer no ARC tasks: cellular automata and language models. One run, or several side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from charm.report import folder
from charm.report.curves import curves_svg
from charm.report.folder import Json
from charm.report.html import (
    UNKNOWN,
    accounting_rows,
    card,
    document,
    legend,
    names_of,
    settings,
    table,
    write_page,
)

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


def write_car_page(runs: Sequence[Path], out: Path) -> Path:
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
    return write_page(out, document(" · ".join(names), body))


def write_lm_page(runs: Sequence[Path], out: Path) -> Path:
    """Bits per byte along training."""
    names = names_of(runs)
    rows = []
    for name, run in zip(names, runs, strict=True):
        points = folder.curve(folder.metrics(run), "evaluation/bpb")
        ngram = folder.read_json(run / "config.json").get("ngram", {})
        told = [str(ngram.get(field, UNKNOWN)) for field in ("variant", "rows", "width")]
        last = [f"{points[-1][0]:,}", f"{points[-1][1]:.5f}"] if points else ["not evaluated yet", UNKNOWN]
        rows.append([name, *told, *last])
    heads = ["run", "n-gram memory", "rows", "width", "step", "bits per byte"]
    body = [table(heads, rows), *_learning(runs, names, LM_CURVES), *_settings(runs, names)]
    return write_page(out, document(" · ".join(names), body))


def _learning(
    runs: Sequence[Path], names: Sequence[str], wanted: Mapping[str, tuple[str, bool]]
) -> list[str]:
    lines = [folder.metrics(run) for run in runs]
    curves = [
        curves_svg(title, [folder.curve(one, name) for one in lines], is_share)
        for name, (title, is_share) in wanted.items()
    ]
    which = [legend(names)] if len(runs) > 1 else []
    return ["<h2>Learning</h2>", *which, '<div class="curves">', *curves, "</div>"]


def _car_headline(names: Sequence[str], newest: Sequence[Json | None]) -> list[str]:
    cards = []
    for name, found in zip(names, newest, strict=True):
        if found is None:
            cards.append(card(name, UNKNOWN, "not evaluated yet"))
            continue
        for part in PARTS:
            if found.get(part):
                one = found[part]["all"]
                detail = f"{one['combinations']:,} combinations; pass@1 {one['pass@1']:.2%}"
                title = f"{part} pass@2" if len(names) == 1 else f"{name}: {part} pass@2"
                cards.append(card(title, f"{one['pass@2']:.2%}", detail))
    steps = dict.fromkeys(one["step"] for one in newest if one is not None)
    told = f"Step {', '.join(f'{step:,}' for step in steps)}; " if steps else ""
    lead = f"{told}cellular automata; all checkpoints so far and all eight views vote, combinations are averaged."
    return [f'<p class="soft">{escape(lead)}</p>', '<div class="cards">', *cards, "</div>"]


def _car_groups(names: Sequence[str], newest: Sequence[Json | None]) -> list[str]:
    parts = []
    for part in PARTS:
        rows = []
        for name, found in zip(names, newest, strict=True):
            for group, one in (found or {}).get(part, {}).items():
                shares = [
                    f"{one[share]:.2%}" if share in one else UNKNOWN
                    for share in ("pass@1", "pass@2", "cells")
                ]
                rows.append([name, group, f"{one['combinations']:,}", *shares])
        if rows:
            heads = ["run", "group", "combinations", "pass@1", "pass@2", "right cells"]
            kept = slice(0 if len(names) > 1 else 1, None)
            title = f"<section><h2>{part.capitalize()} combinations</h2>"
            parts += [title, table(heads[kept], [row[kept] for row in rows]), "</section>"]
    return ['<div class="tables">', *parts, "</div>"] if parts else []


def _car_parameters(runs: Sequence[Path], names: Sequence[str]) -> list[str]:
    counted = [folder.accounting(run) for run in runs]
    wanted = ("backbone", "task memory", "everything")
    rows = []
    for name, found in zip(names, counted, strict=True):
        counts = dict(accounting_rows(found)) if found is not None else {}
        rows.append([name, *(f"{counts[one]:,}" if one in counts else UNKNOWN for one in wanted)])
    return ["<h2>Parameters</h2>", table(["run", *wanted], rows)]


def _settings(runs: Sequence[Path], names: Sequence[str]) -> list[str]:
    parts = ["<h2>Settings</h2>"]
    for name, run in zip(names, runs, strict=True):
        shown = folder.read_json(run / "config.json")
        # A place on somebody's disk, nothing that decides the run.
        if isinstance(shown.get("data"), dict):
            shown["data"]["data"] = None
        else:
            shown["data"] = None
        parts.append(settings(shown, f"configuration of {name}"))
    return parts
