import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import tyro

from charm.automata.benchmark import HELD_OUT, BenchmarkConfig, read_benchmark
from charm.automata.dataset import Combination, answer_key, load_combinations
from charm.automata.presets import CAR_PRESETS, car_preset
from charm.automata.rules import evolve, parse_rule
from charm.automata.run import (
    CarConfig,
    CarEvaluation,
    Prediction,
    evaluate,
    grouped_scores,
    predictions,
    read_car_config,
    train_car,
)
from charm.commands import car
from charm.commands.evaluate import run_evaluate
from charm.commands.train import run_train
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.decode import collect
from charm.evaluation.protocols import Ballot
from charm.evaluation.ranking import rank
from charm.paper.counts import check_paper
from charm.tasks.pictures import marked_lines
from tests.toy.automata import MEMORIES, toy_config, write_toy_benchmark

HERE = Place(torch.device("cpu"))


def quiet(text: str) -> None:
    pass


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy_benchmark(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def run(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "toy"
    train_car(toy_config(home), out, HERE, say=quiet)
    return out


def scores(run: Path, options: CarEvaluation, place: Place) -> dict[str, Any]:
    found = evaluate(run, options, place)
    assert found is not None
    return found[0]


def test_a_run_is_scored_as_it_goes(run: Path, home: Path) -> None:
    assert read_car_config(run) == toy_config(home)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    headlines = [line for line in lines if "evaluation/unseen pass@2" in line]
    assert [line["step"] for line in headlines] == [3, 6]
    found = json.loads((run / "eval" / "step_000000006.json").read_text())
    assert found["checkpoints"] == 2
    assert found["seen"]["all"]["combinations"] == found["unseen"]["all"]["combinations"] == 6
    assert set(found["seen"]) == {"all", "T=1", "T=2", "life", "generations", "larger"}
    manifest = json.loads((run / "data.json").read_text())
    assert (manifest["rules"], manifest["trained_combinations"], manifest["asked_combinations"]) == (6, 6, 12)
    assert manifest["benchmark"]["sha256"] == read_benchmark(home / "car").manifest["sha256"]


def test_votes_on_disk_are_ranked_again_without_a_model(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    shutil.rmtree(copy / "checkpoints")
    found = scores(copy, CarEvaluation(), HERE)
    final = json.loads((run / "eval" / "step_000000006.json").read_text())
    assert found["seen"] == final["seen"]
    assert found["unseen"] == final["unseen"]
    assert json.loads((copy / "eval" / "car.json").read_text())["seen"] == found["seen"]
    newest = scores(copy, CarEvaluation(window="current"), HERE)
    assert newest["checkpoints"] == 1
    shutil.rmtree(copy / "votes")
    with pytest.raises(CharmError, match="no checkpoint has votes yet"):
        scores(copy, CarEvaluation(), HERE)


def test_missing_votes_are_made_from_checkpoints_and_equal_those_of_training(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    shutil.rmtree(copy / "votes")
    found = scores(copy, CarEvaluation(), HERE)
    assert found["seen"] == json.loads((run / "eval" / "step_000000006.json").read_text())["seen"]
    paths = [folder / "votes" / "step_6" / "loops_2" / "rank_0.npz" for folder in (run, copy)]
    with np.load(paths[0]) as before, np.load(paths[1]) as after:
        assert all(np.array_equal(before[name], after[name]) for name in before)


def test_interrupted_and_resumed_equals_uninterrupted(run: Path, home: Path, tmp_path: Path) -> None:
    train_car(toy_config(home, steps=3), tmp_path / "parts", HERE, say=quiet)
    train_car(toy_config(home), tmp_path / "parts", HERE, resume=True, say=quiet)
    whole, parts = (
        (folder / "checkpoints" / "step_000000006" / "model.safetensors").read_bytes()
        for folder in (run, tmp_path / "parts")
    )
    assert whole == parts


@pytest.mark.parametrize("memory", ["full table", "two-factor CoSE", "three-factor composition"])
def test_other_memories_train_and_are_scored(memory: str, home: Path, tmp_path: Path) -> None:
    config = toy_config(home, memory=MEMORIES[memory], steps=3)
    train_car(config, tmp_path, HERE, say=quiet)
    found = json.loads((tmp_path / "eval" / "step_000000003.json").read_text())
    assert ("unseen" in found) == (memory != "two-factor CoSE")


def test_scores_by_group_on_hand_made_votes(home: Path) -> None:
    """Two of four held-out pairs right in every combination of T=1, the second guess right for T=2.

    Wrong answers are wrong in every cell.
    """
    config = toy_config(home)
    benchmark, asked = load_combinations(config.data)
    answers = answer_key(benchmark, asked)
    questions = tuple(answers)
    horizon = {one.id: one.horizon for one in asked}

    def votes(grids: list[np.ndarray], count: int):
        tokens = torch.from_numpy(np.stack(grids)).flatten(1) + 2
        number = torch.arange(len(grids))
        views = torch.zeros_like(number)
        sure = torch.full((len(grids),), 0.5)
        return [collect(tokens, sure, number, views, number + k, 2) for k in range(count)]

    wrong = [1 - np.minimum(answer, 1) for answer in answers.values()]
    mixed = [
        answer if horizon[question.task_id] == 1 and question.test_index < 2 else wrong[n]
        for n, (question, answer) in enumerate(answers.items())
    ]
    right_at_2 = [
        answer if horizon[question.task_id] == 2 else wrong[n] for n, (question, answer) in enumerate(answers.items())
    ]
    ballots = [Ballot(one, 0) for one in (*votes(mixed, 2), *votes(right_at_2, 1))]
    found = grouped_scores(rank(ballots, questions), answers, asked)
    for part in ("seen", "unseen"):
        assert found[part]["T=1"] == {"combinations": 3, "pass@1": 0.5, "pass@2": 0.5, "cells": 0.5}
        assert found[part]["T=2"] == {"combinations": 3, "pass@1": 0.0, "pass@2": 1.0, "cells": 0.0}
        assert found[part]["all"] == {"combinations": 6, "pass@1": 0.25, "pass@2": 0.75, "cells": 0.25}
        assert sum(found[part][family]["combinations"] for family in ("life", "generations", "larger")) == 6


def test_a_run_shows_its_answers_with_wrong_cells_marked(run: Path, home: Path) -> None:
    benchmark, _ = load_combinations(read_car_config(run).data)
    rule = benchmark.rules[2]
    found = predictions(run, rule, 1, HERE)
    assert [one.combination.horizon for one in found] == [1, 2]
    assert sum(one.combination.trained for one in found) == 1
    for one in found:
        truth = evolve(one.input[None], rule, (one.combination.horizon,))[0, 0]
        assert np.array_equal(one.truth, truth)
        assert one.voters == 8
        assert ("never trained" in str(one)) != one.combination.trained
        assert f"{one.wrong} of {one.truth.size} cells wrong" in str(one)
        assert "".join(marked_lines(one.answer, one.truth)).count("!") == one.wrong
    with pytest.raises(CharmError, match=r"0\.\.3"):
        predictions(run, rule, HELD_OUT, HERE)


def test_marks_stand_at_wrong_cells() -> None:
    answer, truth = np.array([[0, 1], [2, 1]], np.uint8), np.array([[0, 1], [1, 1]], np.uint8)
    assert marked_lines(answer, truth) == ["0 1 ", "2!1 "]
    assert marked_lines(answer[:1, :1], truth) == ["0 ?!", "?!?!"]
    one = Prediction(Combination(parse_rule("B3/S23"), 1, True), truth, truth, answer, 1, 1)
    assert (one.wrong, one._replace(answer=answer[:1, :1]).wrong) == (1, 3)


def test_presets_are_the_papers() -> None:
    for name in CAR_PRESETS:
        config = CAR_PRESETS[name]()
        assert isinstance(config, CarConfig)
        assert (config.reasoner.width, config.reasoner.layers) == (256, 2)
        assert config.reasoner.refinement_steps == (1 if name.startswith("car-small") else 4)
    single = car_preset("car-single")
    assert single == car_preset("car-single-three-factor-cose")
    assert single.data.benchmark == BenchmarkConfig()
    assert (single.batch, single.steps, single.data.canvas) == (1536, 500_000, 30)
    assert (single.optimizer.lr, single.optimizer.factor_lr, single.optimizer.row_lr) == (1e-4, 1e-2, 1e-2)
    assert (single.optimizer.dense, single.optimizer.factors, single.optimizer.warmup) == (
        "adamw",
        "adamw",
        2000,
    )
    everything = car_preset("car-all-full-table")
    assert (everything.steps, everything.data.split) == (280_000, "all")
    with pytest.raises(CharmError, match="there is no preset car-large"):
        car_preset("car-large")
    # The paper's votes for a held-out pair at the end of a run: eight views of each evaluation.
    assert 8 * single.steps // single.evaluate_every == 200
    assert 8 * everything.steps // everything.evaluate_every == 112


def test_counts_of_the_paper_come_out() -> None:
    checks = [check for check in check_paper({}) if check.table.startswith("tab:car-")]
    assert len(checks) == 24
    assert all(check.agrees for check in checks)


def command(*args: str) -> None:
    if args[0] == "train":
        run_train(args[1], args[2:])
    elif args[0] == "eval":
        run_evaluate(Path(args[1]), args[2:])
    else:
        car.app.cli(prog="charm car", args=list(args), config=(tyro.conf.FlagCreatePairsOff,))


def test_commands(run: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = ("--rules", "1", "--examples", "4", "--side", "8", "--horizons", "1", "2", "--data", str(tmp_path))
    command("build", *size, "--json")
    built = json.loads(capsys.readouterr().out)
    assert built["bytes"] == 8 * 8 * (3 + 7 + 3)
    command("build", *size)
    assert built["sha256"]["life"] in capsys.readouterr().out  # found there and vouched for
    with pytest.raises(CharmError, match="contains another benchmark"):
        command("build", *size[2:])
    command("eval", str(run), "--window", "current", "--json")
    assert json.loads(capsys.readouterr().out)["checkpoints"] == 1
    command("eval", str(run))
    assert "unseen" in capsys.readouterr().out
    rule = str(read_benchmark(home / "car").rules[0])
    command("show", rule, "--run", str(run), "--steps", "2")
    assert "cells wrong" in capsys.readouterr().out
    command("show", "B2/S/C3", "--steps", "3", "--side", "6")
    shown = capsys.readouterr().out
    assert all(f"t={time}" in shown for time in range(4))
    with pytest.raises(CharmError, match="is not one of the 6 rules of"):
        command("show", "B3/S23", "--run", str(run))
    with pytest.raises(CharmError, match=r"500 rules each of life.* was requested"):
        command("train", "car-small", "--data.data", str(tmp_path), "--out", str(tmp_path / "r"))


def test_a_rollout_begins_with_its_input() -> None:
    start = np.zeros((8, 8), np.uint8)
    start[3, 2:5] = 1
    rule = parse_rule("B3/S23")
    assert np.array_equal(evolve(start[None], rule, range(1))[:, 0], start[None])
    grids = evolve(start[None], rule, range(3))[:, 0]
    assert np.array_equal(grids[0], start)
    assert np.array_equal(np.argwhere(grids[1]), [(2, 3), (3, 3), (4, 3)])
    assert np.array_equal(grids[2], start)
