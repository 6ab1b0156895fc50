from pathlib import Path

import pytest

from tests.toy.solves import ToySolve


@pytest.fixture
def toy(base: Path, unseen: Path, tmp_path: Path) -> ToySolve:
    return ToySolve(base, unseen, tmp_path)
