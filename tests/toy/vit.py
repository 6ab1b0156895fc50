"""Small vits, canvases for them, and a run that trains one."""

from dataclasses import replace
from pathlib import Path

import torch
import torch.nn.functional as F

from charm.arc.presets import preset
from charm.models.vit.config import VARC, VitConfig
from charm.runs.settings import TrainConfig
from charm.tasks.canvas import LARGE_SIDE
from charm.tasks.keys import MemoryConfig
from tests.toy import toy_config, write_toy_tasks

TINY = {"width": 16, "heads": 2, "inner_multiple": 8, "layers": 2, "compute_dtype": "float32"}


def canvases(count: int = 2) -> torch.Tensor:
    """Inputs of different sizes at different places, background around them."""
    tokens = torch.zeros(count, LARGE_SIDE, LARGE_SIDE, dtype=torch.uint8)
    generator = torch.Generator().manual_seed(0)
    for n in range(count):
        top, left, height, width = 3 + 4 * n, 5 + 2 * n, 7 + 6 * n, 12
        cells = torch.randint(2, 12, (height, width), generator=generator)
        tokens[n, top : top + height, left : left + width] = cells.to(torch.uint8)
    return tokens.flatten(1)


def seen_by_varc(symbols: torch.Tensor) -> torch.Tensor:
    """The task, and patches with a symbol other than background (10), by torch's own pooling."""
    image = (symbols != 10).view(-1, 1, LARGE_SIDE, LARGE_SIDE).float()
    return F.pad(F.max_pool2d(image, 2).flatten(1) > 0, (1, 0), value=True)


def vit_config(folder: Path, base_reasoner: VitConfig | None = None, **changes: object) -> TrainConfig:
    """`varc-arc1` on toy tasks, trained on their demonstrations, with a tiny model."""
    base, published = toy_config(write_toy_tasks(folder / "tasks", 2)), preset("varc-arc1")
    data = replace(base.data, augment="pseudo-tasks", views=51, canvas="large", scales=0)
    return replace(
        published,
        data=data,
        reasoner=replace(base_reasoner or VARC, **{**TINY, "layers": 1, "inner_multiple": 16}),
        memory=MemoryConfig(design="table", rank=16),
        optimizer=replace(published.optimizer, lr=1e-2, row_lr=1e-2, warmup=2),
        **{
            "device": "cpu",
            "evaluate_every": 0,
            "steps": 4,
            "batch": 4,
            "checkpoint_every": 2,
            "log_every": 2,
            **changes,
        },
    )
