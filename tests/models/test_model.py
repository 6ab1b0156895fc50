import json
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.errors import CharmError
from charm.memory import COMPOSERS
from charm.memory.cose import CoSE
from charm.models.model import CharmModel
from charm.tasks.instances import Instances
from charm.tasks.keys import CORNERS, ArcKey, MemoryConfig
from charm.tasks.view import View
from tests.toy.models import REASONER, shake, some_instances

# Every row of the paper's tables cppool, lowrank-ablations, compo-ablations, cose-arc1training-ablations and
# full-cose-ablation, and the continual-learning bases, at reduced width.
DESIGNS = {
    "full table": MemoryConfig(design="table", rank=64),
    "low-rank table": MemoryConfig(design="table", rank=8),
    "three tables": MemoryConfig(design="separate"),
    "three tables, pooled": MemoryConfig(design="separate", color_pool=1000),
    "composition only": MemoryConfig(rank=0),
    "residual": MemoryConfig(rank=8),
    "gated residual": MemoryConfig(rank=8, gate=True),
    "full-rank residual": MemoryConfig(rank=64),
    "slots, gated": MemoryConfig(rank=8, gate=True, dihedral="slots"),
    "slots, keyed": MemoryConfig(rank=8, residual="keyed", dihedral="slots"),
    "narrow task": MemoryConfig(rank=8, task_width=4),
    "no colours in the key": MemoryConfig(rank=0, colors="free"),
    **{f"composer {name}": MemoryConfig(rank=0, composer=name) for name in COMPOSERS},
}


def outputs(model: CharmModel, rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
    tokens = torch.arange(len(rows) * 121).reshape(len(rows), 121).remainder(12)
    with torch.no_grad():
        return model(model.reasoner.initial_state(len(rows), 121), tokens, rows, 11)


@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_of_the_paper_runs_and_saves_bitwise(design: str, tmp_path: Path) -> None:
    model = shake(CharmModel(REASONER, DESIGNS[design], ArcKey(some_instances())))
    rows = torch.tensor([1, 5, 5, 30])
    model.save_pretrained(tmp_path / "model")
    again = CharmModel.from_pretrained(tmp_path / "model")
    assert again.config == model.config
    assert again.instances == model.instances
    for one, other in zip(outputs(model, rows), outputs(again, rows), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("design", ["full table", "gated residual", "composition only", "narrow task", "three tables"])
def test_growing_changes_nothing_that_was_there(design: str) -> None:
    instances = some_instances()
    model = shake(CharmModel(REASONER, DESIGNS[design], ArcKey(instances)))
    rows = torch.arange(1, len(instances))
    before = outputs(model, rows)
    grown = instances.copy()
    grown.add("new", np.arange(7, dtype=np.uint32))
    model.grow(grown)
    for one, other in zip(before, outputs(model, rows), strict=True):
        assert torch.equal(one, other)
    assert torch.isfinite(outputs(model, torch.tensor([len(grown) - 1]))[1]).all()


def test_a_new_puzzle_starts_from_zero() -> None:
    instances = some_instances()
    model = shake(CharmModel(REASONER, DESIGNS["residual"], ArcKey(instances)))
    grown = instances.copy()
    rows = torch.from_numpy(grown.add("new", np.arange(7, dtype=np.uint32))).long()
    model.grow(grown)
    assert isinstance(model.memory, CoSE)
    assert not model.memory.base(model.key(rows)).any()
    with pytest.raises(CharmError, match="must start with"):
        model.grow(some_instances(puzzles=2))


def test_keys_tell_puzzle_symmetry_and_recolouring() -> None:
    instances = Instances()
    view = View(3, (0, 2, 3, 1, 4, 5, 6, 7, 9, 8))
    instances.add("a", np.array([0], np.uint32))
    row = int(instances.add("b", np.array([view.code], np.uint32))[0])
    model = CharmModel(REASONER, MemoryConfig(rank=8), ArcKey(instances))
    key = model.key(torch.tensor([row]))
    assert key["puzzle"].tolist() == [1]
    assert key["dihedral"].tolist() == [3]
    assert key["colors"].tolist() == [[1, 2, 0, 3, 4, 5, 6, 8, 7]]
    assert key["corners"].tolist() == [CORNERS[3].tolist()] == [[2, 0, 3, 1]]  # a quarter turn clockwise
    assert key["row"].tolist() == [row]


def test_corner_permutations_are_eight_different_ones() -> None:
    assert len({tuple(corners) for corners in CORNERS.tolist()}) == 8


def test_seed_decides_the_start() -> None:
    instances = some_instances()
    one, same, other = (CharmModel(REASONER, MemoryConfig(), ArcKey(instances), seed) for seed in (0, 0, 1))
    weights = [torch.cat([p.flatten() for p in model.parameters()]) for model in (one, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_bad_models_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="not a saved model"):
        CharmModel.from_pretrained(tmp_path)
    model = CharmModel(REASONER, MemoryConfig(), ArcKey(some_instances()))
    model.save_pretrained(tmp_path / "m")
    (tmp_path / "m" / "checkpoint.json").unlink()  # its hashes would reveal all of this, with other messages
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    for change, complaint in (
        ({"reasoner": {**config["reasoner"], "horizn": 3}}, "no field 'horizn'"),
        ({"memory": {**config["memory"], "design": "tables"}}, "expected one of cose, table, separate"),
        ({"reasoner": {**config["reasoner"], "width": 32}}, "do not fit"),
        ({"reasoner": {**config["reasoner"], "layers": "2"}}, "expected int"),
    ):
        (tmp_path / "m" / "config.json").write_text(json.dumps({**config, **change}))
        with pytest.raises(CharmError, match=complaint):
            CharmModel.from_pretrained(tmp_path / "m")
    (tmp_path / "m" / "config.json").write_text(json.dumps(config))
    weights = tmp_path / "m" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(CharmError, match=r"model\.safetensors"):
        CharmModel.from_pretrained(tmp_path / "m")


def test_impossible_memories_are_refused() -> None:
    for fields, complaint in (
        ({"composer": "flim"}, "must be one of"),
        ({"design": "table", "rank": 0}, "needs rank >= 1"),
        ({"design": "table", "gate": True}, "cannot have a gate"),
        ({"rank": 0, "gate": True}, "rank must be >= 1"),
    ):
        with pytest.raises(CharmError, match=complaint):
            MemoryConfig(**fields)  # type: ignore[arg-type]
    many = Instances()
    many.add("p", np.arange(2000, dtype=np.uint32))
    with pytest.raises(CharmError, match="2000 recolourings"):
        CharmModel(REASONER, DESIGNS["three tables, pooled"], ArcKey(many))


def test_without_colours_a_key_is_the_puzzle_and_the_symmetry() -> None:
    instances = some_instances(puzzles=2, views=40)
    model = shake(CharmModel(REASONER, MemoryConfig(rank=0, colors="free"), ArcKey(instances)))
    rows = torch.arange(1, len(instances))
    vectors = model.task(rows)
    key = model.key(rows)
    group = key["puzzle"].long() * 8 + key["dihedral"].long()
    assert len(group.unique()) < len(rows), "the test needs two recolourings of one symmetry"
    same = group[:, None] == group
    close = torch.isclose(vectors[:, None], vectors).all(-1)
    assert torch.equal(same, close)
