"""A vit learns a stream, as the other networks do."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from charm.arc.run import train
from charm.continual.run import StreamOptions, run_stream
from charm.errors import CharmError
from charm.models.model import CharmModel
from charm.runs.checkpoint import newest_checkpoint
from charm.training.adaptation import Recipe, shared_parameters
from tests.toy.runs import HERE, write_unseen
from tests.toy.vit import vit_config

ROWS = "memory.residual.rows.weight"


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vit")
    train(vit_config(folder, steps=2), folder / "run", HERE, say=lambda text: None)
    return folder / "run"


def learn(base: Path, folder: Path, method: str, **recipe: Any) -> dict[str, Any]:
    options = StreamOptions(
        *(str(write_unseen(folder / "unseen")), method),
        recipe=Recipe(steps=2, batch=4, warmup=0, **recipe),
        **{"tasks": 1, "views": 2, "evaluate_views": 1, "base_views": 1, "base_tasks": 1},
    )
    return run_stream(base, folder / "out", options, HERE, lambda text: None)


@pytest.mark.parametrize("method", ["memory-only", "lora"])
def test_a_vit_learns_a_stream(vit: Path, tmp_path: Path, method: str) -> None:
    found = learn(vit, tmp_path, method)
    old = load_file(newest_checkpoint(vit) / "model.safetensors")
    new = load_file(tmp_path / "out" / "model" / "model.safetensors")
    moved = {name for name, value in old.items() if not torch.equal(new[name][: len(value)], value)}
    matrices = shared_parameters(CharmModel.from_pretrained(newest_checkpoint(vit)), "matrices")
    assert moved == (set(matrices) if method == "lora" else set())
    assert new[ROWS][len(old[ROWS]) :].any()
    assert found["base after"] is not None


def test_what_a_vit_does_not_have_is_refused(vit: Path, tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="a vit has no layers that the scope feed-forward could name"):
        learn(vit, tmp_path, "sparse")
    with pytest.raises(CharmError, match=r"a vit does not use halt_weight: it must stay 0\.0, got 0\.5"):
        learn(vit, tmp_path / "halting", "memory-only", halt_weight=0.5)
