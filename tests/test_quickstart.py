import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from charm.arc.run import train
from charm.devices import Place
from charm.errors import CharmError
from charm.quickstart import run_quickstart
from charm.runs.checkpoint import steps_of
from charm.runs.settings import TrainConfig
from charm.training.job import ReasonerJob
from tests.toy import toy_config, write_toy_tasks

HERE = Place(torch.device("cpu"))


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return toy_config(write_toy_tasks(tmp_path / "tasks"), evaluate_views=2)


def test_a_folder_of_something_else_is_left_alone(config: TrainConfig, tmp_path: Path) -> None:
    notes = tmp_path / "notes" / "thesis.txt"
    notes.parent.mkdir()
    notes.write_text("years of work")
    with pytest.raises(CharmError, match="is not a quickstart run"):
        run_quickstart(notes.parent, 0, print, config)
    assert notes.read_text() == "years of work"
    run = tmp_path / "run"
    train(replace(config, batch=4), run, HERE, say=lambda text: None)
    with pytest.raises(CharmError, match="is not a quickstart run"):
        run_quickstart(run, 0, print, config)
    assert steps_of(run) == [6, 12]


def test_a_signal_ends_the_quickstart_and_the_same_command_continues(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = ReasonerJob.update

    def stop_in_update_3(job: ReasonerJob, step: int) -> dict[str, torch.Tensor]:
        if step == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return update(job, step)

    said: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(ReasonerJob, "update", stop_in_update_3)
        with pytest.raises(KeyboardInterrupt):
            run_quickstart(tmp_path / "run", 0, said.append, config)
    assert steps_of(tmp_path / "run") == [3]
    assert said[-1] == "stopped at step 3; run the same command again to continue"
    assert not list((tmp_path / "run").glob("eval/*"))
    whole = run_quickstart(tmp_path / "whole", 0, print, config)
    found = run_quickstart(tmp_path / "run", 0, print, config)
    assert found["tasks"] == whole["tasks"]


def test_a_quickstart_is_never_erased(config: TrainConfig, tmp_path: Path) -> None:
    """Killed while voting it votes on, a finished one is shown again, and one with other settings is refused."""
    run = tmp_path / "run"
    whole = run_quickstart(run, 0, print, config)
    (run / "notes.txt").write_text("years of work")
    weights = {path: path.stat().st_mtime_ns for path in run.rglob("*.safetensors")}
    shutil.rmtree(run / "eval")
    shutil.rmtree(run / "votes_blank")
    found = run_quickstart(run, 0, print, config)
    assert found["tasks"] == whole["tasks"]
    for seed, other in ((1, config), (0, replace(config, steps=50_000))):
        with pytest.raises(CharmError, match="is not a quickstart run with these settings"):
            run_quickstart(run, seed, print, other)
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*.safetensors")} == weights
    assert (run / "notes.txt").read_text() == "years of work"
