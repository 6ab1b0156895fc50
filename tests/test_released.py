"""The models that come with CHARM: whole, what they say they are, and able to answer."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from charm.arc.presets import preset
from charm.cli import main
from charm.models.model import CharmModel
from charm.paper.records import read_record
from charm.paths import RELEASED, released_model
from charm.runs.checkpoint import folder_of, steps_of
from charm.runs.settings import read_config
from charm.solving.options import SolveOptions
from charm.solving.solver import solve
from charm.tasks.dataset import load_tasks
from charm.tasks.sources import load_source

SPEEDRUN = RELEASED / "speedrun"
SOLVED = ("3c9b0459", "25ff71a9", "68b16354", "a416b8f3", "c8f0f002", "d037b0a7")  # with 256 views


def test_it_is_a_run_of_the_preset() -> None:
    config = read_config(SPEEDRUN)
    assert config == preset("speedrun")
    assert steps_of(SPEEDRUN) == [config.steps]


def test_its_weights_are_those_that_training_wrote() -> None:
    folder = folder_of(SPEEDRUN, preset("speedrun").steps)
    written = json.loads((folder / "checkpoint.json").read_text())["files"]
    for name in ("model.safetensors", "instances.npz", "config.json"):
        found = (folder / name).read_bytes()
        assert {"bytes": len(found), "sha256": hashlib.sha256(found).hexdigest()} == written[name]
    assert written["model.safetensors"]["bytes"] <= 16 * 2**20
    assert CharmModel.from_pretrained(folder).config == preset("speedrun").model


def test_it_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Held-out test inputs of tasks whose demonstrations it learned, by a few of its views."""
    shutil.copytree(SPEEDRUN, tmp_path / "run")
    arguments = ["--protocol", "continual", "--views", "8", "--loops", "4", "--json", "--device", "cpu"]
    main(["eval", str(tmp_path / "run"), *arguments, "--tasks", *SOLVED])
    found = json.loads(capsys.readouterr().out)
    assert {task["task_id"] for task in found["tasks"] if task["outcome"] == "solved"} == set(SOLVED)


def test_its_record_tells_the_same_size() -> None:
    record = read_record(Path(__file__).parents[1] / "benchmarks" / "results" / "speedrun.json")
    assert f"{preset('speedrun').steps:,} updates of {preset('speedrun').batch}" in record.size


def test_the_base_is_the_preset_in_half_of_the_bytes() -> None:
    """Loading compares the files with their hashes."""
    model = CharmModel.from_pretrained(released_model())
    assert model.config == preset("base").model
    parameters = sum(parameter.numel() for parameter in model.parameters())
    assert (released_model() / "model.safetensors").stat().st_size < 2.01 * parameters
    known = set(model.instances.puzzles)
    learned = load_tasks(replace(preset("base").data, synthetic=()))
    assert known == {task.id for task in (*learned.train, *learned.auxiliary)}
    assert f"{parameters / 1e6:.2f} million parameters" in (released_model() / "README.md").read_text()


def test_the_base_learns_an_unseen_task() -> None:
    """The example's rule, mirror a grid, in few updates on a CPU."""
    task = load_source(Path(__file__).parents[1] / "examples" / "task.json").tasks[0]
    found = solve([task], released_model(), SolveOptions(600.0, steps=50, views=4), ["cpu"])[task.id]
    grid = next(iter(found.answers.values()))[0].grid
    assert grid.tolist() == [[9, 0, 4], [1, 1, 0], [0, 0, 6]]
