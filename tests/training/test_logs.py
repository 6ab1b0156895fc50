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
from charm.config import from_json, to_json
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
    train(replace(config, log_to=("tensorboard",)), tmp_path / "run", HERE)
    events = reader.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    expected = lines(tmp_path / "run")
    assert [line["step"] for line in expected] == [2, 4]
    for name in expected[0].keys() - {"step", "time"}:
        found = [(event.step, event.value) for event in events.Scalars(name)]
        assert found == [(line["step"], pytest.approx(line[name], rel=1e-6)) for line in expected]


@pytest.mark.parametrize("service", ["wandb", "trackio"])
def test_a_service_is_given_the_same_numbers(
    service: str, config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The packages themselves want an account or a service process; here a stand-in has their name."""
    given: list[tuple[int, dict[str, float]]] = []
    opened: list[dict[str, Any]] = []

    def init(**settings: Any) -> SimpleNamespace:
        opened.append(settings)
        return SimpleNamespace(log=lambda values, step: given.append((step, values)), finish="finish")

    ended: list[str] = []
    monkeypatch.setattr("charm.training.engine.atexit", SimpleNamespace(register=ended.append))
    monkeypatch.setitem(sys.modules, service, SimpleNamespace(init=init))
    train(replace(config, log_to=(f"{service}:toy",)), tmp_path / "run", HERE)
    assert ended == ["finish"]
    assert [(one["project"], one["name"], one["config"]["steps"]) for one in opened] == [("toy", "run", 4)]
    assert ("dir" in opened[0]) == (service == "wandb")  # Trackio has no such argument
    expected = lines(tmp_path / "run")
    assert given == [(line["step"], {k: v for k, v in line.items() if k not in ("step", "time")}) for line in expected]


@pytest.mark.parametrize(
    ("setting", "module"),
    [("tensorboard", "torch.utils.tensorboard"), ("wandb", "wandb"), ("trackio", "trackio")],
)
def test_a_missing_package_is_one_sentence(
    setting: str, module: str, config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    wanted = setting if setting == "tensorboard" else f"{setting}:toy"
    with pytest.raises(CharmError, match=rf"is not installed: pip install 'charm-arc\[{setting}\]'"):
        train(replace(config, log_to=(wanted,)), tmp_path / "run", HERE)


def test_other_places_for_logs_are_refused(config: TrainConfig) -> None:
    for wanted in ("wandb", "trackio:", "mlflow:toy"):
        with pytest.raises(CharmError, match=rf"trackio:PROJECT; got '{wanted}'"):
            replace(config, log_to=(wanted,))
    assert from_json(TrainConfig, {**to_json(config), "tensorboard": False, "wandb": ""}) == config
