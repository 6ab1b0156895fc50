"""The notebook for Kaggle answers a toy file of challenges, also when the command fails at first."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from charm.arc.run import train
from charm.devices import place
from charm.runs.export import export_model
from tests.docs.pages import ROOT, cells, run_cell
from tests.toy import write_toy_tasks
from tests.toy.writer import writer_config

SETTINGS = ["--steps", "2", "--views", "2", "--device", "cpu"]


@pytest.fixture
def kaggle(tmp_path: Path) -> Path:
    """Kaggle's folders: the challenges, without answers, and the attached model."""
    with place("cpu") as here:
        train(writer_config(tmp_path / "base"), tmp_path / "run", here, say=lambda text: None)
    export_model(tmp_path / "run", tmp_path / "input" / "charm" / "model")
    challenges = {}
    for path in sorted(write_toy_tasks(tmp_path / "tasks", 3, seed=5).glob("*.json")):
        task = json.loads(path.read_text())
        challenges[f"new{path.stem}"] = {
            "train": task["train"],
            "test": [{"input": pair["input"]} for pair in task["test"]],
        }
    competition = tmp_path / "input" / "competitions" / "arc-prize-2026"
    competition.mkdir(parents=True)
    (competition / "arc-agi_test_challenges.json").write_text(json.dumps(challenges))
    (tmp_path / "input" / "charm" / "wheels").mkdir()
    return tmp_path


def run(folder: Path, failing: str = "") -> dict[str, Any]:
    """Run the notebook in Kaggle's place; `failing` is a program that stands for Python in the command."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells(ROOT / "notebooks" / "kaggle.ipynb", "code")):
        text = "".join(cell["source"])
        if number == 0:
            assert 'Path("/kaggle/input")' in text
            text = text.replace("/kaggle/input", str(folder / "input"))
            text += f"""
OUT, HOURS, SETTINGS = Path({str(folder / "submission.json")!r}), 0.5, {SETTINGS}
"""
        if failing:
            text = text.replace("command = [sys.executable", f"command = [{failing!r}")
        run_cell(text, f"kaggle.ipynb, cell {number}", names)
    return names


def test_it_writes_a_valid_submission(kaggle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    names = run(kaggle)
    assert names["attempt"] == 1
    assert set(names["submission"]) == {"newtoy0", "newtoy1", "newtoy2"}
    # A command that is killed at first is started again.
    (kaggle / "submission.json").unlink()
    program = kaggle / "python"
    once = kaggle / "once"
    first = f"if [ ! -e {once} ]; then touch {once}; kill -9 $$; fi"
    program.write_text(f'#!/bin/sh\n{first}\nexec {sys.executable} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    names = run(kaggle, str(program))
    assert names["attempt"] == 2
    assert set(names["submission"]) == {"newtoy0", "newtoy1", "newtoy2"}
