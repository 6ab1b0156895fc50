from pathlib import Path

import pytest

from charm.paths import data_dir


def test_override_then_environment_then_user_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/fast/cache")
    monkeypatch.setenv("CHARM_DATA", "~/arc")
    assert data_dir(Path("here")) == Path("here")
    assert data_dir() == Path("/home/ann/arc")
    monkeypatch.delenv("CHARM_DATA")
    assert data_dir() == Path("/fast/cache/charm")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_dir() == Path("/home/ann/.cache/charm")
    monkeypatch.setattr("sys.platform", "darwin")
    assert data_dir() == Path("/home/ann/Library/Caches/charm")
