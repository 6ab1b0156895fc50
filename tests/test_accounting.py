from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.accounting import Size, account, drawn_size, gate_share
from charm.arc.presets import preset
from charm.arc.run import train
from charm.commands.params import params
from charm.devices import place
from charm.errors import CharmError
from charm.memory import CoSE
from charm.models.canvas.backbone import count_parameters
from charm.models.canvas.config import HRM, TRM, CanvasConfig
from charm.models.model import CharmModel, ModelConfig
from charm.tasks.augment import draw_views
from charm.tasks.dataset import DataConfig
from charm.tasks.instances import Instances
from charm.tasks.keys import ArcKey, MemoryConfig
from charm.tasks.sources import find_task
from tests.toy import toy_config, write_toy_tasks

DESIGNS = {
    "full table": MemoryConfig(design="table", rank=64),
    "low-rank table": MemoryConfig(design="table", rank=8),
    "composition": MemoryConfig(rank=0),
    "rank 8": MemoryConfig(rank=8),
    "full rank": MemoryConfig(rank=64),
    "gated": MemoryConfig(rank=8, gate=True),
    "narrow puzzles": MemoryConfig(rank=8, task_width=8),
    "slots": MemoryConfig(rank=8, dihedral="slots"),
    "keyed": MemoryConfig(rank=8, residual="keyed", gate=True),
    "separate": MemoryConfig(design="separate"),
    "separate, pooled": MemoryConfig(design="separate", color_pool=50),
    "hypernetwork": MemoryConfig(rank=8, composer="hypernetwork"),
    "film heads": MemoryConfig(rank=8, composer="film-heads"),
    "experts": MemoryConfig(rank=8, composer="experts"),
}


@pytest.mark.parametrize("reasoner", [CanvasConfig(), TRM, HRM], ids=lambda config: config.kind)
@pytest.mark.parametrize("memory", DESIGNS.values(), ids=DESIGNS.keys())
def test_the_components_sum_to_the_model(memory: MemoryConfig, reasoner: CanvasConfig) -> None:
    config = ModelConfig(replace(reasoner, width=64, heads=4, layers=1), memory)
    instances = Instances()
    for number, task in enumerate(("a", "b", "c")):
        instances.add(task, np.arange(5 + number, dtype=np.uint32))
    with torch.device("meta"):
        model = CharmModel(config.reasoner, config.memory, ArcKey(instances))
    assert model.reasoner.tokens.is_meta
    found = account(config, puzzles=3, rows=1 + 5 + 6 + 7)
    assert found.total == count_parameters(model)
    assert found.backbone == count_parameters(model.reasoner)
    assert found.reasoner == count_parameters(model.reasoner, initial_state=False)
    assert found.memory == count_parameters(model.memory)
    assert found.shared + found.private == found.memory


@pytest.mark.parametrize("gate", [False, True])
@pytest.mark.parametrize("rank", [32, 512])
def test_the_components_follow_the_paper_formulas(rank: int, gate: bool) -> None:
    puzzles, rows, width = 960, 876_705, 512
    found = account(ModelConfig(CanvasConfig(), MemoryConfig(rank=rank, gate=gate)), puzzles, rows)
    assert found.factors + found.composer == (puzzles + 9) * width + 2 * (2 * width**2 + width)
    assert found.table == rows * rank
    assert found.up_projection == (rank * width if rank < width else 0)
    assert found.gate == (width**2 + width if gate else 0)


def test_a_narrow_puzzle_vector_and_a_keyed_table_fall_into_their_components() -> None:
    narrow = account(ModelConfig(CanvasConfig(), MemoryConfig(rank=32, task_width=16)), 960, 1000)
    assert (narrow.puzzles, narrow.up_projection) == (960 * 16, 16 * 512 + 32 * 512)
    keyed = account(ModelConfig(CanvasConfig(), MemoryConfig(residual="keyed", rank=6)), 960, 1000)
    assert keyed.table == sum((1009, 1013, 1019, 1021, 1031, 1033))  # the primes from 1000 up, a column each
    assert (keyed.up_projection, keyed.gate) == (6 * 512, 6 * 512)


def test_drawn_size_counts_views_and_the_blank_row() -> None:
    tasks = ("007bbfb7", "00d62c1b")
    config = DataConfig(evaluate=(), auxiliary=(), tasks=tasks, views=20, synthetic=("rearc",))
    views = sum(len(draw_views(find_task(task), 20, seed=0)) for task in tasks)
    assert drawn_size(config) == Size(2, 1 + views)  # no generated pairs needed: they share the views


# The command


def test_params_of_a_preset(capsys: pytest.CaptureFixture[str]) -> None:
    params("arc1", json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["backbone"], found["backbone_without_initial_state"]) == (13_663_233, 13_662_721)
    assert (found["memory"], found["total"]) == (29_879_328, 43_542_561)
    assert (found["puzzles"], found["rows"]) == (960, 876_705)
    assert "ARC-AGI-1 + Re-ARC" in found["rows_from"]
    params("arc1")
    text = capsys.readouterr().out
    assert "43,542,561" in text
    assert "initial state (never trained)" in text


def test_params_of_data_that_the_paper_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    params("quickstart", json=True)
    found = json.loads(capsys.readouterr().out)
    params("quickstart", data_rows=True, json=True)
    assert json.loads(capsys.readouterr().out) == found
    assert found["rows"] == drawn_size(preset("quickstart").data).rows
    assert "drawn" in found["rows_from"]


def test_params_refuses_what_makes_no_sense() -> None:
    with pytest.raises(CharmError, match="no preset nonsense"):
        params("nonsense")
    with pytest.raises(CharmError, match="name one preset"):
        params()
    with pytest.raises(CharmError, match="name one preset"):
        params("arc1", paper=True)
    with pytest.raises(CharmError, match="needs a preset"):
        params(paper=True, data_rows=True)


def test_the_gate_of_a_run_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The paper's "only 48.92 % of the table is utilized"; by hand, row by row."""
    tasks = write_toy_tasks(tmp_path / "tasks", count=2)
    config = toy_config(tasks, memory=MemoryConfig(rank=8, gate=True), steps=4, checkpoint_every=2)
    with place("cpu") as here:
        train(config, tmp_path / "run", here, say=lambda text: None)
    params(gate=tmp_path / "run", json=True)
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["2", "4"]
    model = CharmModel.from_pretrained(tmp_path / "run" / "checkpoints" / "step_000000004")
    assert isinstance(model.memory, CoSE)
    with torch.no_grad():
        rows = [
            model.memory.open(model.memory.compose(model.key(torch.tensor([r]))))
            for r in range(1, len(model.instances))
        ]
    assert found["4"] == pytest.approx(float(torch.cat(rows).mean()), rel=1e-6)
    assert found["4"] == pytest.approx(gate_share(model, batch=3))
    assert 0.4 < found["4"] < 0.6
    assert found["4"] != 0.5  # it starts there
    params(gate=tmp_path / "run")
    assert "mean" in capsys.readouterr().out
    with pytest.raises(CharmError, match="--gate takes a run folder"):
        params("arc1", gate=tmp_path / "run")
    with pytest.raises(CharmError, match="has no checkpoint"):
        params(gate=tmp_path)


def test_a_memory_without_a_gate_is_refused(tmp_path: Path) -> None:
    tasks = write_toy_tasks(tmp_path / "tasks", count=1)
    with place("cpu") as here:
        train(toy_config(tasks, steps=2, checkpoint_every=2), tmp_path / "run", here, say=lambda text: None)
    with pytest.raises(CharmError, match="the model's memory has no gate"):
        params(gate=tmp_path / "run")
