"""Toy runs and unseen tasks, as fixtures for every test."""

from pathlib import Path

import pytest
import torch

from charm.arc.run import train
from charm.devices import Place
from charm.tasks.keys import MemoryConfig
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
