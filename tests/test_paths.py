"""Where compiled code is kept."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from charm.devices import Place
from charm.paths import keep_compiled_code
from charm.training.engine import compiles

NAME = "TORCHINDUCTOR_CACHE_DIR"


def test_compiled_code_is_kept_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARM_DATA", str(tmp_path / "data"))
    monkeypatch.delenv(NAME, raising=False)
    seen = []
    cpu, network = Place(torch.device("cpu")), SimpleNamespace(compile_parts=list)
    assert compiles(network, lambda: seen.append(os.environ[NAME]), "on", cpu, print)
    assert seen == [str(tmp_path / "data" / "compiled")]
    assert (tmp_path / "data" / "compiled").is_dir()


def test_a_folder_of_the_users_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv(NAME, "/elsewhere")
    keep_compiled_code()
    assert os.environ[NAME] == "/elsewhere"
    assert not (tmp_path / "data").exists()


def test_without_a_data_folder_torch_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv(NAME, raising=False)
    for folder in ("file", "file/below"):
        monkeypatch.setenv("CHARM_DATA", str(tmp_path / folder))
        keep_compiled_code()
        assert NAME not in os.environ
