from pathlib import Path

import numpy as np
import pytest
import torch

from charm.automata.dataset import assemble_car
from charm.automata.keys import CarKey, CarMemory
from charm.errors import CharmError
from charm.memory import CoSE, Lookup, Sum
from charm.models.model import CharmModel
from charm.tasks.dataset import Dataset
from charm.tasks.instances import Instances
from charm.tasks.keys import ArcKey, MemoryConfig
from charm.tasks.view import View
from tests.toy.automata import MEMORIES, toy_config, write_toy_benchmark
from tests.toy.pairs import row_of


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy_benchmark(tmp_path_factory.mktemp("data"))


def loaded(home: Path, memory: str, untrained: bool = True) -> tuple[Dataset, CharmModel]:
    """A model with random values in place of the zeros that tables begin with."""
    config = toy_config(home, memory=MEMORIES[memory])
    data, schema = assemble_car(config.data, untrained)
    model = CharmModel(config.reasoner, config.memory, schema)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += torch.randn(parameter.shape, generator=generator)
    return data, model


def weights(lookup: torch.nn.Module) -> torch.Tensor:
    assert isinstance(lookup, Lookup)
    return lookup.rows.weight


def test_three_factor_cose_is_the_papers_equation(home: Path) -> None:
    """(1 + W D + b) * (R + H) + W' D + b', plus W z for trained combinations; spelled out in float64."""
    data, model = loaded(home, "three-factor CoSE")
    memory = model.memory
    assert isinstance(memory, CoSE)
    assert isinstance(memory.base, Sum)
    rule_table, horizon_table = (weights(part).double() for part in memory.base.factors)
    view_table = weights(memory.modifiers[0]).double()
    assert (rule_table.shape, horizon_table.shape) == ((6, 32), (2, 32))
    scale, shift = (part[0] for part in (memory.composer.scale, memory.composer.shift))  # type: ignore[union-attr, index]
    residual = memory.residual
    assert residual is not None
    assert residual.rows.weight.shape == (1 + 6 * 8, 4)  # type: ignore[union-attr]
    schema = model.schema
    assert isinstance(schema, CarKey)
    for number, puzzle in enumerate(data.instances.puzzles):
        for dihedral in range(8):
            row = row_of(data.instances, puzzle, View(dihedral))
            base = rule_table[schema.rule_P[number]] + horizon_table[schema.horizon_P[number]]
            context = view_table[dihedral]
            wanted = (1 + scale.weight.double() @ context + scale.bias.double()) * base
            wanted = wanted + shift.weight.double() @ context + shift.bias.double()
            if number < 6:
                wanted = wanted + residual.up.weight.double() @ residual.rows.weight.double()[row]  # type: ignore[union-attr]
            found = model.task(torch.tensor([row]))[0].double()
            assert torch.allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("memory", ["full table", "low-rank table"])
def test_a_table_knows_nothing_of_untrained_combinations(memory: str, home: Path) -> None:
    data, model = loaded(home, memory)
    vectors = model.task(torch.arange(len(data.instances)))
    trained = 1 + 6 * 8
    assert not vectors[0].any()
    assert vectors[1:trained].any(dim=1).all()
    assert not vectors[trained:].any()
    vectors.sum().backward()
    gradient = model.memory.residual.rows.weight.grad.to_dense()  # type: ignore[union-attr]
    assert not gradient[0].any()  # the blank row never learns


def test_rule_and_horizon_of_a_key_are_those_of_its_task(home: Path) -> None:
    data, model = loaded(home, "three-factor composition")
    for number, puzzle in enumerate(data.instances.puzzles):
        row = row_of(data.instances, puzzle, View(5))
        key = model.key(torch.tensor([row]))
        same_rule = [p for p in data.instances.puzzles if p.split(" T")[0] == puzzle.split(" T")[0]]
        others = [row_of(data.instances, p, View(5)) for p in same_rule]
        assert len(set(model.key(torch.tensor(others))["rule"].tolist())) == 1
        assert [1, 2][int(key["horizon"])] == int(puzzle.split(" T")[1])
        assert key["dihedral"].tolist() == [5]
        assert key["combination"].tolist() == [number]
        assert key["row"].tolist() == [row if number < 6 else 0]


@pytest.mark.parametrize("memory", MEMORIES)
def test_every_memory_saves_and_loads_bitwise(memory: str, home: Path, tmp_path: Path) -> None:
    data, model = loaded(home, memory, MEMORIES[memory].transfers)
    model.save_pretrained(tmp_path)
    again = CharmModel.from_pretrained(tmp_path)
    rows = torch.arange(len(data.instances))
    assert again.config == model.config
    assert torch.equal(again.task(rows), model.task(rows))


def test_one_factor_for_rule_and_horizon_has_no_entry_for_untrained_combinations(home: Path) -> None:
    data, model = loaded(home, "two-factor CoSE")
    with pytest.raises(CharmError, match=r"field 'combination' must be in 0\.\.5, got"):
        model.task(torch.tensor([len(data.instances) - 1]))
    assert not MEMORIES["two-factor CoSE"].transfers


def test_bad_combinations_and_memories_are_refused(home: Path, tmp_path: Path) -> None:
    data, model = loaded(home, "three-factor CoSE")
    with pytest.raises(CharmError, match=r"must be one of puzzle; got 'rule\+horizon'"):
        CharmModel(model.config.reasoner, model.config.memory, ArcKey(data.instances))
    with pytest.raises(CharmError, match=r"must be one of rule-horizon, rule\+horizon; got 'puzzle'"):
        CharmModel(model.config.reasoner, MemoryConfig(), model.schema)
    with pytest.raises(CharmError, match="expected 1 puzzles, one per combination; got 12"):
        CarKey(data.instances, np.zeros(1, np.int64), np.zeros(1, np.int64), 1).columns(CarMemory())
    mixed = Instances()
    mixed.add("a", np.arange(2, dtype=np.uint32))
    mixed.add("b", np.arange(2, dtype=np.uint32))
    mixed.add("a", np.arange(4, dtype=np.uint32))
    with pytest.raises(CharmError, match="in order"):
        CarKey(mixed, np.arange(2), np.arange(2), 1).columns(CarMemory())
    with pytest.raises(CharmError, match="cannot take new puzzles"):
        model.grow(data.instances)
    model.save_pretrained(tmp_path)
    (tmp_path / "combinations.json").write_text("{")
    with pytest.raises(CharmError, match=r"combinations\.json is truncated or damaged"):
        CharmModel.from_pretrained(tmp_path)
    (tmp_path / "checkpoint.json").unlink()  # as in earlier releases
    for text in ("{", '{"rule": [0], "horizon": [0], "trained": 1, "trained": 1}', "[" * 100_000):
        (tmp_path / "combinations.json").write_text(text)
        with pytest.raises(CharmError, match=r"combinations\.json: not a readable list"):
            CharmModel.from_pretrained(tmp_path)
