"""Toy runs and unseen tasks, as fixtures for every test."""

from pathlib import Path

import pytest
import torch

from charm.arc.run import train
from charm.devices import Place
from charm.runs import checkpoint
from charm.tasks.keys import MemoryConfig
from charm.training.engine import Engine
from charm.training.job import ReasonerJob
from tests.toy import toy_config, write_toy_tasks

HERE = Place(torch.device("cpu"))


def toy_run(folder: Path, memory: MemoryConfig) -> Path:
    config = toy_config(write_toy_tasks(folder / "tasks"), memory=memory, steps=4, checkpoint_every=4)
    train(config, folder / "run", HERE, say=lambda text: None)
    return folder / "run"


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy run, trained once for all tests that only read it."""
    return toy_run(tmp_path_factory.mktemp("base"), MemoryConfig(rank=8, gate=True))


def write_unseen(folder: Path) -> Path:
    """Four tasks that the toy run has never seen."""
    write_toy_tasks(folder, 4, seed=9)
    for number in range(4):
        (folder / f"toy{number}.json").rename(folder / f"new{number}.json")
    return folder


@pytest.fixture
def unseen(tmp_path: Path) -> Path:
    return write_unseen(tmp_path / "unseen")


def same_everything(first: Engine[ReasonerJob], second: Engine[ReasonerJob]) -> bool:
    """Compare weights, averages, moments and examples of two runs to the bit."""
    one, other = first.job, second.job
    state, again = one.model.state_dict(), other.model.state_dict()
    moments = [checkpoint.optimizer_tensors(trainer.optimizers.all) for trainer in (one, other)]
    slots = [t.learner.examples.state() for t in (one, other)]
    return (
        all(torch.equal(state[name], again[name]) for name in state)
        and all(torch.equal(a, b) for a, b in zip(one.average.average, other.average.average, strict=True))
        and moments[0].keys() == moments[1].keys()
        and all(torch.equal(moments[0][name], moments[1][name]) for name in moments[0])
        and all(torch.equal(slots[0][name], slots[1][name]) for name in slots[0])
    )
