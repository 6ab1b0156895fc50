"""Two runs on the same tasks, written with the code that writes real ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from charm.tasks.dataset import load_dataset
from tests.toy.hand import cast, grid, predict
from tests.toy.pages import OTHER, PREDICTIONS, QUESTIONS, TESTS, write_config, write_tasks


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_tasks(tmp_path / "tasks.json", TESTS)
    run = tmp_path / "<b>run & co"
    config = write_config(run, tmp_path / "tasks.json")
    (run / "data.json").write_text(json.dumps(load_dataset(replace(config.data, views=2)).manifest))
    for step, predictions in PREDICTIONS.items():
        votes = predict([(q, grid(cells), view, row, sure) for q, cells, view, row, sure in predictions])
        cast(run, step, QUESTIONS, votes)
    lines = [{"step": 10 * n, "loss": 3 / n, "exact_accuracy": n / 20, "refinement_steps": 4} for n in range(1, 21)]
    lines.append({"step": 200, "evaluation/pass@1": 0.25, "evaluation/pass@2": 0.375})
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run


@pytest.fixture
def other(run: Path) -> Path:
    made = run.parent / "other"
    write_config(made, run.parent / "tasks.json")
    votes = predict([(q, grid(cells), view, row, sure) for q, cells, view, row, sure in OTHER])
    cast(made, 50, QUESTIONS, votes)
    return made
