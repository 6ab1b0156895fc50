"""Recorded updates against launched ones, which needs a GPU; what happens where recording fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from charm.devices import place
from charm.model import MemoryConfig
from charm.presets import quickstart
from charm.reasoner.config import ReasonerConfig
from charm.training import graphs
from charm.training.config import TrainConfig
from charm.training.loop import Trainer
from charm.training.slots import Slots

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA graphs need an NVIDIA GPU")


def small() -> TrainConfig:
    """Two canvas sizes, both optimizers of tables, bfloat16."""
    config = quickstart()
    tasks = ("25ff71a9", "3c9b0459", "d037b0a7", "007bbfb7", "00d62c1b")
    return replace(
        config,
        data=replace(config.data, tasks=tasks, views=8),
        reasoner=replace(config.reasoner, compute_dtype="bfloat16"),
        batch=32,
        compile="off",
    )


def weights_after(
    updates: int, config: TrainConfig, out: Path
) -> tuple[list[float], dict[str, torch.Tensor], int]:
    with place("cuda") as here:
        trainer = Trainer(config, out, here, pytest.fail)
        losses = []
        for _ in range(updates):
            metrics = trainer.update(trainer.slots[trainer.side_of(trainer.step)])
            trainer.step += 1
            losses.append(float(metrics["loss"]))
        assert trainer.graphs is not None
        weights = {name: weight.detach().clone() for name, weight in trainer.model.named_parameters()}
        return losses, weights, len(trainer.graphs.graphs)


@needs_gpu
@pytest.mark.parametrize(
    "memory", [MemoryConfig(rank=8, gate=True), MemoryConfig(design="table", rank=64)], ids=["cose", "table"]
)
def test_recorded_updates_are_the_launched_ones(
    memory: MemoryConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the last bits, in which two launched runs differ as well."""
    config = replace(small(), memory=memory)
    losses, weights, recorded = weights_after(40, config, tmp_path / "recorded")
    assert recorded == 2
    monkeypatch.setattr(graphs, "WARM_UP", 1000)
    launched_losses, launched, none = weights_after(40, config, tmp_path / "launched")
    assert none == 0
    assert losses == pytest.approx(launched_losses, rel=2e-3)
    moved = 3e-3 * 40  # the most that a sign could move a row: one bit more or less can turn a sign
    for name in weights:
        assert (weights[name] - launched[name]).abs().max() < moved, name


@needs_gpu
def test_the_plain_path_can_be_recorded_too(tmp_path: Path) -> None:
    config = small()
    config = replace(config, reasoner=ReasonerConfig(**{**vars(config.reasoner), "kernels": "plain"}))
    losses, _, recorded = weights_after(40, config, tmp_path)
    assert recorded == 2
    assert losses[-1] < losses[0]


def test_a_failed_recording_leaves_no_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the recording fails, updates are launched, and begin without what was recorded."""
    model, said = torch.nn.Linear(1, 1, bias=False), []

    def update(slots: Slots) -> dict[str, torch.Tensor]:
        model(torch.ones(1)).backward()
        gradient = model.weight.grad
        assert gradient is not None
        found = {"gradient": gradient.clone()}
        if not recording:
            model.zero_grad(set_to_none=True)
        return found

    @contextmanager
    def record(graph: object, pool: object) -> Iterator[None]:
        recording.append(True)
        yield
        recording.clear()
        raise RuntimeError("operation not permitted\nwhen capturing")

    recording: list[bool] = []
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 0))
    monkeypatch.setattr(torch.cuda, "CUDAGraph", object)
    monkeypatch.setattr(torch.cuda, "graph", record)
    graphed = graphs.UpdateGraphs(update, model, said.append)
    slots: Any = SimpleNamespace()
    assert [float(graphed(slots)["gradient"]) for _ in range(graphs.WARM_UP + 2)] == [1.0] * (
        graphs.WARM_UP + 2
    )
    assert len(said) == 1
    assert "(operation not permitted)" in said[0]
