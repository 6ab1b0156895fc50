import pytest

from charm.continual import methods


@pytest.fixture(autouse=True)
def few_fisher_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    assert methods.FISHER_BATCHES == 64  # the paper's; a toy needs fewer
    monkeypatch.setattr(methods, "FISHER_BATCHES", 3)
