"""Where metrics go in addition to metrics.jsonl; tested if the packages that write there are installed."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from charm.arc.run import train
from charm.devices import Place
from charm.errors import CharmError
from charm.runs.settings import TrainConfig
from tests.toy import toy_config, write_toy_tasks

HERE = Place(torch.device("cpu"))


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return replace(toy_config(write_toy_tasks(tmp_path / "tasks")), steps=4, log_every=2)


def lines(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_tensorboard_reads_the_same_numbers(config: TrainConfig, tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    train(replace(config, tensorboard=True), tmp_path / "run", HERE)
    events = reader.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    expected = lines(tmp_path / "run")
    assert [line["step"] for line in expected] == [2, 4]
    for name in expected[0].keys() - {"step", "time"}:
        found = [(event.step, event.value) for event in events.Scalars(name)]
        assert found == [(line["step"], pytest.approx(line[name], rel=1e-6)) for line in expected]


def test_weights_and_biases_is_given_the_same_numbers(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package itself wants an account or a service process; here somebody else answers to its name."""
    given: list[tuple[int, dict[str, float]]] = []
    opened: list[dict[str, Any]] = []

    def init(**settings: Any) -> SimpleNamespace:
        opened.append(settings)
        return SimpleNamespace(log=lambda values, step: given.append((step, values)))

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    train(replace(config, wandb="toy"), tmp_path / "run", HERE)
    assert [(one["project"], one["name"], one["config"]["steps"]) for one in opened] == [("toy", "run", 4)]
    expected = lines(tmp_path / "run")
    assert given == [
        (line["step"], {k: v for k, v in line.items() if k not in ("step", "time")}) for line in expected
    ]


@pytest.mark.parametrize(
    ("setting", "module"), [("tensorboard", "torch.utils.tensorboard"), ("wandb", "wandb")]
)
def test_a_missing_package_is_one_sentence(
    setting: str, module: str, config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    wanted = {"tensorboard": True} if setting == "tensorboard" else {"wandb": "toy"}
    with pytest.raises(CharmError, match=rf"is not installed: pip install 'charm-arc\[{setting}\]'"):
        train(replace(config, **wanted), tmp_path / "run", HERE)  # type: ignore[arg-type]
