"""Pieces of a long training in 8 bits."""

from pathlib import Path

import torch

from benchmarks.pieces import STEPS, pack, unpack
from charm.models.model import CharmModel
from charm.tasks.keys import ArcKey, MemoryConfig
from tests.toy.models import shake, some_instances
from tests.toy.writer import SMALL

MILESTONE = Path(__file__).parents[2] / "benchmarks" / "weights" / "large-1"


def test_an_unpacked_model_is_the_packed_one_but_for_half_a_step(tmp_path: Path) -> None:
    model = shake(CharmModel(SMALL, MemoryConfig(rank=0, colors="free", composer="add"), ArcKey(some_instances())))
    model.trained_by = {"domain": "arc", "steps": 3}
    model.save(tmp_path / "model")
    pack(tmp_path / "model", tmp_path / "packed")
    unpack(tmp_path / "packed", tmp_path / "back")
    found = CharmModel.from_pretrained(tmp_path / "back")
    assert found.trained_by == model.trained_by
    assert found.config == model.config
    assert found.instances == model.instances
    for name, weight in model.state_dict().items():
        step = weight.abs().amax(-1, keepdim=True) / STEPS
        bfloat16 = weight.abs() / 2**8
        assert bool(((found.state_dict()[name] - weight).abs() <= 0.51 * step + bfloat16).all()), name


def test_the_milestone_can_be_continued_from(tmp_path: Path) -> None:
    unpack(MILESTONE, tmp_path / "large")
    model = CharmModel.from_pretrained(tmp_path / "large")
    assert (model.config.reasoner.width, len(model.instances.puzzles)) == (512, 4631)
    assert all(bool(weight.isfinite().all()) for weight in model.state_dict().values())
    assert model.trained_by is not None
    assert torch.linalg.vector_norm(model.memory.base.rows.weight) > 0
