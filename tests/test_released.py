"""The model that comes with CHARM: whole, what it says it is, and able to answer."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from charm.arc.presets import preset
from charm.cli import main
from charm.model import CharmModel
from charm.paper.records import read_record
from charm.paths import released_model
from charm.runs.checkpoint import folder_of, steps_of
from charm.training.config import read_config

SOLVED = ("3c9b0459", "25ff71a9", "68b16354", "a416b8f3", "c8f0f002", "d037b0a7")  # with 256 views


def test_it_is_a_run_of_the_preset() -> None:
    config = read_config(released_model())
    assert config == preset("speedrun")
    assert steps_of(released_model()) == [config.steps]


def test_its_weights_are_those_that_training_wrote() -> None:
    folder = folder_of(released_model(), preset("speedrun").steps)
    written = json.loads((folder / "checkpoint.json").read_text())["files"]
    for name in ("model.safetensors", "instances.npz", "config.json"):
        found = (folder / name).read_bytes()
        assert {"bytes": len(found), "sha256": hashlib.sha256(found).hexdigest()} == written[name]
    assert written["model.safetensors"]["bytes"] <= 16 * 2**20
    assert CharmModel.from_pretrained(folder).config == preset("speedrun").model


def test_it_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Held-out test inputs of tasks whose demonstrations it learned, by a few of its views."""
    shutil.copytree(released_model(), tmp_path / "run")
    arguments = ["--protocol", "continual", "--views", "8", "--loops", "4", "--json", "--device", "cpu"]
    main(["eval", str(tmp_path / "run"), *arguments, "--tasks", *SOLVED])
    found = json.loads(capsys.readouterr().out)
    assert {task["task_id"] for task in found["tasks"] if task["outcome"] == "solved"} == set(SOLVED)


def test_its_record_tells_the_same_size() -> None:
    record = read_record(Path(__file__).parents[1] / "benchmarks" / "results" / "speedrun.json")
    assert f"{preset('speedrun').steps:,} updates of {preset('speedrun').batch}" in record.size
