"""Pieces of a long training in 8 bits."""

from pathlib import Path

from benchmarks.pieces import STEPS, pack, unpack
from charm.models.model import CharmModel
from charm.tasks.keys import ArcKey, MemoryConfig
from tests.toy.models import shake, some_instances
from tests.toy.writer import SMALL


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
