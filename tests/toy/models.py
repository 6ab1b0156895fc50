"""Small models on canvases and rows for them."""

import numpy as np
import torch

from charm.models.canvas.config import CanvasConfig
from charm.models.model import CharmModel
from charm.tasks.augment import color_pool
from charm.tasks.instances import Instances
from charm.tasks.view import encode

REASONER = CanvasConfig(
    width=64,
    heads=4,
    layers=1,
    recurrences=2,
    horizon=1,
    prefix=2,
    inner_multiple=32,
    compute_dtype="float32",
)


def some_instances(puzzles: int = 3, views: int = 10) -> Instances:
    rng = np.random.default_rng(0)
    pool = color_pool(1000, 0)
    instances = Instances()
    for number in range(puzzles):
        codes = encode(rng.integers(0, 8, views), pool[rng.choice(1000, views, replace=False)])
        instances.add(f"p{number}", np.unique(codes))
    return instances


def shake(model: CharmModel, seed: int = 0) -> CharmModel:
    """Random values in place of the zeros that factors and rows begin with."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    return model
