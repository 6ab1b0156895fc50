import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.adaptation.solve import SolveOptions, adapt, newest_checkpoint, prepare, solve
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.submission import attempts
from charm.model import CharmModel, MemoryConfig
from charm.training.config import read_config
from charm.training.loop import train
from tests.toy import toy_config, write_toy_tasks

HERE = Place(torch.device("cpu"))
OPTIONS = SolveOptions(budget=20.0, steps=6, views=8, batch=8)


def trained(tmp_path: Path, memory: MemoryConfig) -> tuple[Path, Path]:
    """A toy run, and a task it has never seen."""
    config = toy_config(write_toy_tasks(tmp_path / "tasks"), memory=memory, steps=4, checkpoint_every=4)
    train(config, tmp_path / "run", HERE, say=lambda text: None)
    unseen = write_toy_tasks(tmp_path / "unseen", 1, seed=9) / "toy0.json"
    return tmp_path / "run", unseen.rename(unseen.with_name("new.json"))


@pytest.mark.parametrize(
    "memory", [MemoryConfig(rank=8, gate=True), MemoryConfig(rank=0), MemoryConfig(design="table", rank=8)]
)
def test_only_the_new_rows_move(tmp_path: Path, memory: MemoryConfig) -> None:
    """Every other weight, buffer and earlier row is bitwise what it was; the new rows are not."""
    run, task = trained(tmp_path, memory)
    model = CharmModel.from_pretrained(newest_checkpoint(run))
    puzzles, rows = len(model.instances.puzzles), len(model.instances)
    data, config = prepare(model, task, read_config(run), OPTIONS, HERE)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    updates, _, _ = adapt(model, data, config, OPTIONS, HERE, 1e18, lambda used, text: None)
    assert updates == OPTIONS.steps
    moved = set()
    for name, tensor in model.state_dict().items():
        old = {"memory.base.rows.weight": puzzles, "memory.residual.rows.weight": rows}.get(name)
        if old is None:
            assert torch.equal(tensor, before[name]), name
        else:
            assert torch.equal(tensor[:old], before[name][:old]), name
            if not torch.equal(tensor[old:], before[name][old:]):
                moved.add(name)
    expected = {"memory.base.rows.weight"} if memory.design == "cose" else set()
    assert moved == expected | ({"memory.residual.rows.weight"} if memory.rank else set())


def test_answers_are_ranked_and_fit_a_submission(tmp_path: Path) -> None:
    run, task = trained(tmp_path, MemoryConfig(rank=8))
    told: list[str] = []
    found = solve(task, run, OPTIONS, HERE, lambda used, text: told.append(text))
    assert found.updates == 6
    submission = attempts(found.answers)
    assert list(submission) == ["new"]
    assert set(submission["new"][0]) == {"attempt_1", "attempt_2"}
    assert any("views have voted" in text for text in told)


def test_test_outputs_are_not_looked_at(tmp_path: Path) -> None:
    """Blind, or with a false answer in the file, the answers are the same."""
    run, task = trained(tmp_path, MemoryConfig(rank=8))
    seen = attempts(solve(task, run, OPTIONS, HERE).answers)
    content = json.loads(task.read_text())
    content["test"][0]["output"] = [[9] * 30]
    task.write_text(json.dumps(content))
    assert attempts(solve(task, run, OPTIONS, HERE).answers) == seen
    del content["test"][0]["output"]
    task.write_text(json.dumps(content))
    assert attempts(solve(task, run, OPTIONS, HERE).answers) == seen


def test_a_short_budget_still_gives_an_answer(tmp_path: Path) -> None:
    run, task = trained(tmp_path, MemoryConfig(rank=8))
    found = solve(task, run, replace(OPTIONS, budget=0.001, steps=10_000), HERE)
    assert found.updates == 0
    assert len(found.answers) == 1


def test_learning_a_task_lowers_its_loss(tmp_path: Path) -> None:
    run, task = trained(tmp_path, MemoryConfig(rank=8))
    losses = []
    for steps in (10, 120):
        model = CharmModel.from_pretrained(newest_checkpoint(run))
        options = replace(OPTIONS, steps=steps)
        data, config = prepare(model, task, read_config(run), options, HERE)
        losses.append(adapt(model, data, config, options, HERE, 1e18, lambda used, text: None)[1])
    assert np.isfinite(losses).all()
    assert losses[1] < losses[0]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="holds neither a saved model nor a run"):
        newest_checkpoint(tmp_path)
