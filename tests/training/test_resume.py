"""What a resumed run starts from: the same examples, the same rows, and nothing of what came later."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from charm.arc.run import train
from charm.devices import Place
from charm.errors import CharmError
from charm.files import read_sealed, write_sealed
from charm.runs import checkpoint
from charm.runs.settings import TrainConfig
from charm.tasks.dataset import load_dataset
from tests.toy import toy_config, write_toy_tasks, write_wide_task
from tests.toy.runs import same_everything

HERE = Place(torch.device("cpu"))


def quiet(text: str) -> None:
    pass


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return toy_config(write_toy_tasks(tmp_path / "tasks"))


def test_two_sizes_resumed_after_any_update_equal_an_uninterrupted_run(config: TrainConfig, tmp_path: Path) -> None:
    """Slots wait for their next examples after some updates and not after others."""
    write_wide_task(tmp_path / "tasks")
    config = replace(config, steps=10, batch=4)
    whole = train(config, tmp_path / "whole", HERE, say=quiet)
    for cut in (1, 2, 4):
        train(replace(config, steps=cut), tmp_path / f"{cut}", HERE, say=quiet)
        assert same_everything(whole, train(config, tmp_path / f"{cut}", HERE, resume=True, say=quiet))


def test_a_run_does_not_go_on_with_rows_of_other_views_or_tasks(config: TrainConfig, tmp_path: Path) -> None:
    """Neither the settings nor the pairs distinguish these, only the owners of the rows."""
    run = tmp_path / "run"
    train(replace(config, steps=6), run, HERE, say=quiet)
    renamed = write_toy_tasks(tmp_path / "renamed")
    (renamed / "toy2.json").rename(renamed / "toy9.json")
    for other in (replace(config.data, seed=1), replace(config.data, evaluate=(str(renamed),))):
        data = load_dataset(other)
        assert data.bank.sha256() == load_dataset(config.data).bank.sha256()
        with pytest.raises(CharmError, match=r"trained on different data.*other tasks or views"):
            train(config, run, HERE, resume=True, say=quiet, data=data)
    assert train(config, run, HERE, resume=True, say=quiet, data=load_dataset(config.data)).step == 12


def test_nothing_of_later_steps_stays_after_a_resume(config: TrainConfig, tmp_path: Path) -> None:
    """Votes and metrics of steps that a run lost would else count for the steps that it makes now."""
    run = tmp_path / "run"
    config = replace(config, steps=18, evaluate_every=6, keep_checkpoints=0, log_every=3)
    train(config, run, HERE, say=quiet)
    assert {path.name for path in (run / "votes").iterdir()} >= {"step_6", "step_12", "step_18"}
    kept = [*sorted((run / "votes" / "step_6").rglob("*.npz")), run / "eval" / "step_000000006.json"]
    before = [path.read_bytes() for path in kept]
    for step in (12, 18):
        shutil.rmtree(checkpoint.folder_of(run, step))
    train(replace(config, steps=8), run, HERE, resume=True, say=quiet)
    assert {path.name for path in (run / "votes").glob("step_*")} == {
        "step_6",
        "step_8",
    }  # the last step votes
    assert [path.read_bytes() for path in kept] == before
    assert {path.name.split(".")[0] for path in (run / "eval").glob("step_*")} == {
        "step_000000006",
        "step_000000008",
    }
    steps = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert steps == sorted(steps)
    assert set(steps) == {3, 6, 8}


def test_what_is_computed_may_not_change_when_a_run_resumes(config: TrainConfig, tmp_path: Path) -> None:
    """Duration, hardware and what is written may."""
    run = tmp_path / "run"
    train(replace(config, steps=4, checkpoint_every=4), run, HERE, say=quiet)
    for changed in (
        replace(config, seed=1),
        replace(config, batch=4),
        replace(config, halt_weight=0.1),
        replace(config, data=replace(config.data, seed=1)),
        replace(config, data=replace(config.data, views=5)),
        replace(config, optimizer=replace(config.optimizer, lr=1e-3)),
        replace(config, optimizer=replace(config.optimizer, ema=0.5)),
        replace(config, memory=replace(config.memory, rank=4)),
        replace(config, reasoner=replace(config.reasoner, refinement_steps=4)),
    ):
        with pytest.raises(CharmError, match="was started with different settings"):
            train(changed, run, HERE, resume=True, say=quiet)
    free = replace(config, steps=6, checkpoint_every=2, keep_checkpoints=1, accumulate=2, log_every=1)
    assert train(free, run, HERE, resume=True, say=quiet).step == 6


def test_a_run_of_an_earlier_version_resumes_unless_it_used_what_is_gone(config: TrainConfig, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(replace(config, steps=4), run, HERE, say=quiet)
    written = read_sealed(run / "config.json")
    write_sealed(run / "config.json", written | {"focus": 0.4})
    with pytest.raises(CharmError, match=r"config\.json: TrainConfig has no field 'focus'$"):
        train(config, run, HERE, resume=True, say=quiet)
    write_sealed(run / "config.json", written | {"focus": 0.0})
    assert train(config, run, HERE, resume=True, say=quiet).step == 12
