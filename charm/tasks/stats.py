"""Counts of the data, compared with the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from charm.errors import CharmError
from charm.paths import data_dir
from charm.tables import Table
from charm.tasks.canvas import FULL_SIDE
from charm.tasks.dataset import DataConfig, load_dataset
from charm.tasks.pairs_file import MADE_BY, WHOLE_TASKS, read_manifest
from charm.tasks.sources import CONCEPT_ARC, load_available

PAPER_ROWS = {"arc1": 875_617, "arc2": 1_190_624}  # with ConceptARC, one blank row included


def data_stats(data: Path | None = None, views: int = 1000) -> dict[str, Any]:
    """Count the available sources, the datasets built from them (with ConceptARC if present) and generated pairs."""
    sources = load_available(data)
    auxiliary = tuple(source.name for source in sources if source.name == CONCEPT_ARC)
    missing = [] if auxiliary else [f"ConceptARC: {MADE_BY[CONCEPT_ARC]}"]
    datasets = []
    for name, paper in PAPER_ROWS.items():
        # On fit canvases, where every pair has the size it needs; all other counts are the same on full ones.
        config = DataConfig(
            (f"{name}/training",), (f"{name}/evaluation",), auxiliary, views=views, canvas="fit", data=data
        )
        made = load_dataset(config)
        index = sum(map(len, made.mixtures.values()))
        cells = sum(len(mixture) * side**2 for side, mixture in made.mixtures.items())
        counts = {counted: made.manifest[counted] for counted in ("tasks", "pairs", "rows", "questions")}
        counts |= {"index": index, "predictions": sum(len(made.question_rows(one)) for one in made.questions)}
        counts |= {"fit_cells": cells / index / FULL_SIDE**2}
        counts |= {"paper_rows": paper if auxiliary and views == 1000 else None}
        datasets.append({"name": " + ".join((name, *auxiliary)), **counts})
    synthetic = []
    for provider in WHOLE_TASKS:
        try:
            manifest = read_manifest(data_dir(data) / provider)
        except CharmError:
            missing.append(f"{provider}: {MADE_BY[provider]}")
            continue
        pairs = sum(record.pairs for record in manifest.tasks.values())
        left = len(manifest.unfinished)
        synthetic.append({"name": provider, "tasks": len(manifest.tasks), "pairs": pairs, "unfinished": left})
        if left:
            missing.append(f"{provider}, {left} tasks of it: {MADE_BY[provider]}")
    summaries = [source.summary() for source in sources]
    return {"views": views, "sources": summaries, "datasets": datasets, "synthetic": synthetic, "missing": missing}


_MEASURES = {
    "tasks": "tasks",
    "pairs": "pairs trained on",
    "rows": "memory rows ({views:,} views)",
    "index": "(pair, view) combinations",
    "questions": "questions",
    "predictions": "predictions of an evaluation",
}


def stats_tables(found: dict[str, Any]) -> list[Table | str]:
    """Return the tables that `charm data stats` prints."""
    sources, datasets = found["sources"], found["datasets"]
    columns = ["source", "version, content hash", "tasks", "demos", "tests"]
    row = "{name}|{version}, {sha256:.8}|{tasks:,}|{demonstrations:,}|{test_inputs:,}"
    rows = [row.format_map(one).split("|") for one in sources]
    tables: list[Table | str] = [Table(columns, rows, "Sources")]

    rows = []
    papers = [(one["rows"], one["paper_rows"]) for one in datasets]
    for key, label in _MEASURES.items():
        rows.append([label.format_map(found), *(f"{one[key]:,}" for one in datasets)])
        if key == "rows" and any(paper for _, paper in papers):
            rows.append(["  the paper's", *(f"{paper:,}" if paper else "" for _, paper in papers)])
            shares = (f"{(ours - paper) / paper:+.4%}" if paper else "" for ours, paper in papers)
            rows.append(["  difference", *shares])
    rows.append(["cells on fit canvases", *(f"{one['fit_cells']:.0%}" for one in datasets)])
    columns = ["", *(one["name"].replace(" + ", "\n+ ") for one in datasets)]
    tables.append(Table(columns, rows, "Datasets: training and evaluation tasks together"))
    if made := found["synthetic"]:
        rows = [[one["name"], f"{one['tasks']:,}", f"{one['pairs']:,}"] for one in made]
        tables.append(Table(["set", "tasks", "pairs"], rows, "Generated pairs"))
    return tables + [f"not here: {line}" for line in found["missing"]]
