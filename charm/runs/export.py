"""Export a run's newest weights as a small folder that can be shared and loaded anywhere."""

from pathlib import Path

import torch
from safetensors import SafetensorError

from charm.config import to_json
from charm.errors import CharmError, charm_errors
from charm.files import read_sealed, whole_folder
from charm.models.model import CharmModel
from charm.models.vit.published import read_published
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.settings import TrainConfig
from charm.tasks.instances import Instances
from charm.tasks.keys import ArcKey


def export_model(run: Path, out: Path, dtype: torch.dtype = torch.bfloat16) -> int:
    """Write the model of a run to the new folder `out`, its weights as `dtype`; return its size in bytes.

    A memory without instance rows keeps one view of each puzzle in its index: the other views are not needed.
    """
    folder = newest_checkpoint(run)
    model = CharmModel.from_pretrained(folder)
    if folder != run:  # the model's own record of how it was trained: adaptation draws views alike
        model.trained_by = read_sealed(run / "config.json")
    if isinstance(model.schema, ArcKey) and model.memory.residual is None:
        instances = Instances()
        for puzzle in model.instances.puzzles:
            instances.add(puzzle, model.instances.codes(puzzle)[:1])
        model._bind(ArcKey(instances))
    return write_model(model, out, dtype)


def published_model(path: Path, config: TrainConfig, names: Path | None) -> CharmModel:
    """Return a model with the weights that VARC or LoopViT published in a file. Its memory knows no task yet."""
    weights = read_published(path, names, config.reasoner)
    model = CharmModel(config.reasoner, config.memory, ArcKey(Instances()))
    model.reasoner.load_state_dict(weights)
    model.trained_by = {"domain": config.domain, **to_json(config)}
    return model


def write_model(model: CharmModel, out: Path, dtype: torch.dtype) -> int:
    """Write a model with its card to the new folder `out`, its weights as `dtype`; return its size in bytes."""
    if out.exists():
        raise CharmError(f"{out} exists already; name a new folder")
    with charm_errors(f"{out}: cannot be written", OSError, SafetensorError), whole_folder(out) as part:
        model.save(part, dtype=dtype)
        (part / "README.md").write_text(model.card(out.name), "utf-8")
    return sum(file.stat().st_size for file in out.iterdir())
