"""A published checkpoint of VARC or LoopViT as a model of CHARM."""

from __future__ import annotations

from pathlib import Path

from charm.arc.presets import preset
from charm.config import to_json
from charm.models.model import CharmModel
from charm.models.vit.published import read_published
from charm.tasks.instances import Instances
from charm.tasks.keys import ArcKey


def published_model(path: Path, name: str, names: Path | None) -> CharmModel:
    """Return a model of the preset `name` with the weights of a file. Its memory knows no task yet."""
    config = preset(name)
    weights = read_published(path, names, config.reasoner)
    model = CharmModel(config.reasoner, config.memory, ArcKey(Instances()))
    model.reasoner.load_state_dict(weights)
    model.trained_by = {"domain": config.domain, **to_json(config)}
    return model
