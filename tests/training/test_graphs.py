"""Recorded updates against launched ones. They need a GPU."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from charm.devices import place
from charm.model import MemoryConfig
from charm.presets import quickstart
from charm.reasoner.config import ReasonerConfig
from charm.training import graphs
from charm.training.config import TrainConfig
from charm.training.loop import Trainer

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA graphs need an NVIDIA GPU")


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


def test_the_plain_path_can_be_recorded_too(tmp_path: Path) -> None:
    config = small()
    config = replace(config, reasoner=ReasonerConfig(**{**vars(config.reasoner), "kernels": "plain"}))
    losses, _, recorded = weights_after(40, config, tmp_path)
    assert recorded == 2
    assert losses[-1] < losses[0]
