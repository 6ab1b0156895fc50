"""Curves and a table for the page of language models, as values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from charm.files import read_sealed
from charm.runs.metrics import curve, read_metrics
from charm.tables import UNKNOWN, Table

# Name in metrics.jsonl -> title, and whether it is a share.
LM_CURVES = {
    "loss": ("Loss, nats per token", False),
    "evaluation/bpb": ("Bits per byte", False),
    "tokens_per_second": ("Tokens per second", False),
}


def lm_tables(runs: Sequence[Path], names: Sequence[str]) -> list[Table]:
    """The memory of each run, and its newest bits per byte."""
    rows = []
    for name, run in zip(names, runs, strict=True):
        points = curve(read_metrics(run), "evaluation/bpb")
        ngram = read_sealed(run / "config.json").get("ngram", {})
        memory = [str(ngram.get(field, UNKNOWN)) for field in ("variant", "rows", "width")]
        last = [f"{points[-1][0]:,}", f"{points[-1][1]:.5f}"] if points else ["not evaluated yet", UNKNOWN]
        rows.append([name, *memory, *last])
    return [Table(["run", "n-gram memory", "rows", "width", "step", "bits per byte"], rows)]
