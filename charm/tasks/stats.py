"""What there is to learn from, in numbers, beside the numbers of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from charm.errors import CharmError
from charm.paths import data_dir
from charm.synthesis.pairs_file import read_manifest
from charm.tasks.canvas import FULL_SIDE
from charm.tasks.dataset import DataConfig, assemble
from charm.tasks.sources import CONCEPT_ARC, load_available

PAPER_ROWS = {"arc1": 875_617, "arc2": 1_190_624}  # with ConceptARC, one blank row included


def data_stats(data: Path | None = None, views: int = 1000) -> dict[str, Any]:
    """Counts of the sources that are here, of the datasets they make, and of generated pairs."""
    sources = load_available(data)
    has_concept = any(source.name == CONCEPT_ARC for source in sources)
    datasets = []
    for name in ("arc1", "arc2"):
        for auxiliary in ((), (CONCEPT_ARC,)) if has_concept else ((),):
            datasets.append(_dataset(name, auxiliary, data, views))
    missing = []
    if not has_concept:
        missing.append("ConceptARC (160 tasks): charm data fetch concept-arc")
    synthetic = []
    for provider, command in (("rearc", "charm data rearc"),):
        try:
            manifest = read_manifest(data_dir(data) / provider)
        except CharmError:
            missing.append(f"{provider}: {command}")
            continue
        pairs = sum(record.pairs for record in manifest.tasks.values())
        unfinished = len(manifest.unfinished)
        synthetic.append(
            {"name": provider, "tasks": len(manifest.tasks), "pairs": pairs, "unfinished": unfinished}
        )
        if unfinished:
            missing.append(f"{provider}, {unfinished} tasks of it: {command}")
    return {
        "sources": [source.summary() for source in sources],
        "datasets": datasets,
        "synthetic": synthetic,
        "missing": missing,
    }


def _dataset(name: str, auxiliary: tuple[str, ...], data: Path | None, views: int) -> dict[str, Any]:
    config = DataConfig((f"{name}/training",), (f"{name}/evaluation",), auxiliary, views=views, data=data)
    made = assemble(config)
    paper = PAPER_ROWS[name] if auxiliary and views == 1000 else None
    fit = assemble(DataConfig(**{**vars(config), "canvas": "fit"}), made.instances)
    entries = {side: len(mixture) for side, mixture in fit.mixtures.items()}
    cells = sum(count * side**2 for side, count in entries.items()) / FULL_SIDE**2
    return {
        "name": f"{name} + ConceptARC" if auxiliary else name,
        "tasks": made.manifest["tasks"],
        "pairs": made.manifest["pairs"],
        "questions": len(made.questions),
        "rows": len(made.instances),
        "paper_rows": paper,
        "index": sum(len(mixture) for mixture in made.mixtures.values()),
        "predictions": int(np.sum([len(made.question_rows(question)) for question in made.questions])),
        "fit_cells": cells / sum(entries.values()),
    }


def stats_tables(found: dict[str, Any]) -> list[Table | str]:
    """The numbers of `data_stats` as tables to look at."""
    sources = Table(title="Sources")
    for column in ("source", "version", "sha256"):
        sources.add_column(column)
    for column in ("tasks", "demonstrations", "test inputs"):
        sources.add_column(column, justify="right")
    for one in found["sources"]:
        counts = (f"{one[key]:,}" for key in ("tasks", "demonstrations", "test_inputs"))
        sources.add_row(one["name"], one["version"], one["sha256"][:12], *counts)

    datasets = Table(title="Datasets: training and evaluation tasks, up to 1,000 views of each puzzle")
    datasets.add_column("dataset")
    for column in ("tasks", "pairs", "rows", "paper's rows", "index", "questions", "votes", "fit cells"):
        datasets.add_column(column, justify="right")
    for one in found["datasets"]:
        paper = one["paper_rows"]
        datasets.add_row(
            one["name"],
            *(f"{one[key]:,}" for key in ("tasks", "pairs", "rows")),
            f"{paper:,} ({(one['rows'] - paper) / paper:+.4%})" if paper else "",
            *(f"{one[key]:,}" for key in ("index", "questions", "predictions")),
            f"{one['fit_cells']:.2f}",
        )
    tables: list[Table | str] = [sources, datasets]
    if found["synthetic"]:
        synthetic = Table(title="Generated pairs")
        synthetic.add_column("set")
        synthetic.add_column("tasks", justify="right")
        synthetic.add_column("pairs", justify="right")
        for one in found["synthetic"]:
            synthetic.add_row(one["name"], f"{one['tasks']:,}", f"{one['pairs']:,}")
        tables.append(synthetic)
    return tables + [f"not here: {line}" for line in found["missing"]]
