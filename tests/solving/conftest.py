from pathlib import Path

import pytest

from charm.arc.run import train
from tests.toy.runs import HERE
from tests.toy.solves import ToySolve
from tests.toy.writer import writer_config


@pytest.fixture
def toy(base: Path, unseen: Path, tmp_path: Path) -> ToySolve:
    return ToySolve(base, unseen, tmp_path)


@pytest.fixture(scope="session")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy writer, trained once for all tests that only read it."""
    folder = tmp_path_factory.mktemp("writer")
    train(writer_config(folder, steps=30, checkpoint_every=30), folder / "run", HERE, say=lambda text: None)
    return folder / "run"
