"""The models that come with CHARM: whole, what they say they are, and able to answer."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.records import read_record
from charm.arc.presets import preset
from charm.cli import main
from charm.models.model import CARD, CharmModel
from charm.models.writer.network import Writer
from charm.paths import RELEASED, released_model
from charm.runs.checkpoint import folder_of, steps_of
from charm.runs.settings import read_config
from charm.solving.options import SolveOptions
from charm.solving.solver import solve
from charm.tasks.batch import PairBank
from charm.tasks.canvas import FIRST_COLOR
from charm.tasks.dataset import load_tasks
from charm.tasks.keys import Keys
from charm.tasks.sequences import pack_pairs, sequence_lengths
from charm.tasks.sources import load_source

SPEEDRUN = RELEASED / "speedrun"
SOLVED = ("3c9b0459", "25ff71a9", "68b16354", "a416b8f3", "c8f0f002", "d037b0a7")  # with 256 views


def test_it_is_a_run_of_the_preset() -> None:
    config = read_config(SPEEDRUN)
    assert config == preset("speedrun")
    assert steps_of(SPEEDRUN) == [config.steps]


@pytest.mark.parametrize("name", ["base", "speedrun"])
def test_its_card_begins_as_that_of_an_export(name: str) -> None:
    """The hub reads license, library and tags there."""
    front = CARD.read_text().partition("# {name}")[0]
    assert front.startswith("---\n")
    assert (RELEASED / name / "README.md").read_text().startswith(front)


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


def test_the_base_computes_what_it_did_when_it_was_released() -> None:
    """Some logits of the answer's first, 21st and 61st token, without a task's vector and with it: colours 0 to 3."""
    model = CharmModel.from_pretrained(released_model()).eval()
    assert isinstance(model.reasoner, Writer)
    task = next(one for one in load_source("arc1/training").tasks if one.id == "007bbfb7")
    bank, row_N = PairBank.of(task.test), torch.tensor([int(model.instances.rows(task.id)[0])])
    length = int(sequence_lengths(bank.shape.numpy(), np.zeros(1, bool))[0])
    pack = pack_pairs(bank, Keys.of(model.instances), torch.tensor([0]), row_N, torch.tensor([length]), length)
    plain = [
        [1.6305, -1.8442, -0.0016, -1.3518],
        [3.0815, -0.3631, -1.503, -1.7987],
        [1.7295, -0.2136, -1.6397, -1.5255],
    ]
    known = [
        [3.5667, -2.1583, -3.1384, -2.1864],
        [0.6791, -1.1262, -3.116, -0.881],
        [-1.3088, -2.0935, -1.7362, -1.412],
    ]
    with torch.no_grad():
        vector_ND = model.task(row_N)
        for task_ND, likely, logits in ((0 * vector_ND, -217.863, plain), (vector_ND, -0.0002, known)):
            found = model.reasoner._follow(pack, task_ND)
            assert float(-found.nll.sum()) == pytest.approx(likely, rel=1e-3, abs=1e-3)
            answer = found.logits[found.wanted]
            np.testing.assert_allclose(answer[[0, 20, 60], FIRST_COLOR : FIRST_COLOR + 4], logits, atol=0.02)


def test_the_base_learns_an_unseen_task() -> None:
    """The example's rule, mirror a grid, in few updates on a CPU."""
    task = load_source(Path(__file__).parents[1] / "examples" / "task.json").tasks[0]
    found = solve([task], released_model(), SolveOptions(600.0, steps=50, views=4), ["cpu"])[task.id]
    grid = next(iter(found.answers.values()))[0].grid
    assert grid.tolist() == [[9, 0, 4], [1, 1, 0], [0, 0, 6]]
