from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch

from charm.accounting import account_car
from charm.automata.benchmark import HELD_OUT, BenchmarkConfig, build, write_benchmark
from charm.automata.dataset import (
    CarData,
    answer_key,
    assemble_car,
    combinations_of,
    load_benchmark,
)
from charm.automata.presets import CAR_MEMORIES
from charm.automata.rules import FAMILIES, evolve, parse_rule
from charm.errors import CharmError
from charm.models.canvas.backbone import count_parameters
from charm.models.canvas.config import CAR
from charm.models.model import CharmModel, ModelConfig
from charm.tasks.batch import view_tokens
from charm.tasks.canvas import place
from charm.tasks.view import View
from tests.toy import batch
from tests.toy.pairs import key_at

TINY = BenchmarkConfig(rules=8, examples=6)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_benchmark(folder / "car", build(TINY))
    return folder


def test_single_horizon_split_is_balanced(home: Path) -> None:
    single, everything = CarData(TINY, data=home), CarData(TINY, "all", data=home)
    benchmark = load_benchmark(single)
    every = combinations_of(benchmark, single)
    trained = [one for one in every if one.trained]
    assert len({one.id for one in every}) == len(every) == 4 * 24
    assert len({one.rule for one in trained}) == len(trained) == 24
    assert every[:24] == trained
    balance = Counter((one.rule.family, one.horizon) for one in trained)
    assert balance == {(family, horizon): 2 for family in FAMILIES for horizon in (1, 2, 4, 8)}
    assert combinations_of(benchmark, single) == every
    assert all(one.trained for one in combinations_of(benchmark, everything))
    assert len(combinations_of(benchmark, everything)) == 96
    two = combinations_of(benchmark, CarData(TINY, horizons=(2, 8), data=home))
    assert Counter((one.horizon, one.trained) for one in two) == {
        (horizon, trained): 12 for horizon in (2, 8) for trained in (True, False)
    }
    _, combinations = assemble_car(CarData(TINY, horizons=(2, 8), data=home))
    assert set(combinations.horizon_P.tolist()) == {0, 1}


@pytest.mark.parametrize("split", ["single", "all"])
def test_trained_pairs_are_the_benchmarks_and_nothing_held_out_is_among_them(split: str, home: Path) -> None:
    config = CarData(TINY, split, canvas=16, data=home)  # type: ignore[arg-type]
    data, combinations = assemble_car(config)
    count = 24 if split == "single" else 96
    assert len(data.bank) == count * 6
    assert len(data.mixtures[16]) == count * 6 * 8
    assert combinations.trained == count
    assert len(data.instances) == 1 + 8 * 96
    assert len(data.questions) == len(data.question_bank) == 96 * HELD_OUT
    held_out = {data.question_bank.pair(n).input.tobytes() for n in range(len(data.questions))}
    for block in data.mixtures[16].blocks:
        puzzle, view = key_at(data.instances, int(block.rows[3]))
        assert view == View(3)
        rule, _, horizon = puzzle.rpartition(" T")
        for number in block.pairs:
            pair = data.bank.pair(int(number))
            assert pair.output is not None
            after = evolve(pair.input[None], parse_rule(rule), (int(horizon),))[0, 0]
            assert np.array_equal(pair.output, after)
            assert pair.input.tobytes() not in held_out


def test_questions_have_answers_elsewhere(home: Path) -> None:
    config = CarData(TINY, data=home)
    data, _ = assemble_car(config)
    benchmark = load_benchmark(config)
    answers = answer_key(benchmark, combinations_of(benchmark, config))
    assert tuple(answers) == data.questions
    for number, (question, answer) in enumerate(answers.items()):
        pair = data.question_bank.pair(number)
        rule, _, horizon = question.task_id.rpartition(" T")
        assert pair.output is None
        assert np.array_equal(evolve(pair.input[None], parse_rule(rule), (int(horizon),))[0, 0], answer)


@pytest.mark.parametrize(("canvas", "moves"), [(16, False), (21, True), (30, True)])
def test_canvases(canvas: int, moves: bool, home: Path) -> None:
    """A canvas that the torus fills has no boundary and no room to move; a larger one has both."""
    data, _ = assemble_car(CarData(TINY, canvas=canvas, data=home))
    draw = batch(data.stream(canvas, 256), 0)
    assert bool(draw.top_N.any()) == moves
    assert (draw.top_N.max(), draw.left_N.max()) <= (canvas - 16, canvas - 16)
    columns = [torch.from_numpy(c).long() for c in (draw.pair_N, draw.row_N, draw.top_N, draw.left_N)]
    _, targets = view_tokens(data.bank, data.keys(), *columns, canvas)
    assert targets is not None
    for n in range(32):
        output = data.bank.pair(int(draw.pair_N[n])).output
        assert output is not None
        view = key_at(data.instances, int(draw.row_N[n]))[1]
        wanted = place(view.apply(output), canvas, int(draw.top_N[n]), int(draw.left_N[n]))
        assert np.array_equal(targets[n].numpy().reshape(canvas, canvas), wanted)


def test_a_missing_or_smaller_benchmark_is_told_with_the_command(home: Path, tmp_path: Path) -> None:
    with pytest.raises(CharmError, match=r"manifest.json is missing.*`charm car build --rules 8 --examples 6`"):
        assemble_car(CarData(TINY, data=tmp_path))
    with pytest.raises(CharmError, match=r"run `charm car build` to build it"):
        assemble_car(CarData(data=home))
    with pytest.raises(CharmError, match=r"run `charm car build --families life --horizons 1 2` to build it"):
        assemble_car(CarData(BenchmarkConfig(families=("life",), horizons=(1, 2)), data=home))
    with pytest.raises(CharmError, match=r"side must be in 16\.\.30, got 12"):
        CarData(TINY, canvas=12)
    with pytest.raises(CharmError, match="got 3"):
        CarData(TINY, horizons=(1, 3))


@pytest.mark.parametrize("split", ["single", "all"])
@pytest.mark.parametrize("memory", sorted(CAR_MEMORIES))
def test_sizes_told_beforehand_are_those_of_the_model(
    tmp_path: Path, split: Literal["single", "all"], memory: str
) -> None:
    """`charm params car-...` counts without the data what a model on the data has."""
    benchmark = BenchmarkConfig(families=("life", "generations"), rules=4, examples=1, side=5, horizons=(1, 2))
    write_benchmark(tmp_path / "car", build(benchmark))
    config = CarData(benchmark, split, canvas=5, data=tmp_path)
    design = CAR_MEMORIES[memory]
    model = ModelConfig(replace(CAR, width=32, heads=2), replace(design, rank=min(design.rank, 32)))
    _, schema = assemble_car(config)
    made = CharmModel(model.reasoner, model.memory, schema)
    told = account_car(model, config.sizes)
    assert told.total == count_parameters(made)
