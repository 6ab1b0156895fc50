from pathlib import Path

import pytest

from tests.toy.language import prepare_toy


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of prepared toy text, made once."""
    pytest.importorskip("tokenizers")
    return prepare_toy(tmp_path_factory.mktemp("language"))
