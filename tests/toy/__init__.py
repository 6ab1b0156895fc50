"""A toy dataset and a toy run, small enough for tests that train."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from torch import Tensor

from charm.models.canvas.config import CanvasConfig
from charm.models.canvas.training import Slots, refine_slots
from charm.models.model import CharmModel
from charm.models.network import BatchSize
from charm.runs.settings import OptimizerConfig, TrainConfig
from charm.synthesis.rearc import package_file, package_sha256
from charm.tasks.dataset import DataConfig
from charm.tasks.keys import MemoryConfig
from charm.tasks.sampling import Draw, Stream

CANVAS = CanvasConfig(
    width=32,
    heads=2,
    layers=1,
    recurrences=2,
    horizon=1,
    prefix=1,
    inner_multiple=32,
    refinement_steps=3,
    compute_dtype="float32",
)


def write_toy_tasks(folder: Path, count: int = 3, seed: int = 0) -> Path:
    """Tasks whose rule is a flip or a turn of a small grid; three demonstrations and a test each."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    rules = (np.fliplr, np.flipud, np.rot90, np.transpose)
    for number in range(count):

        def pair(rule=rules[number % 4]) -> dict[str, list[list[int]]]:
            grid = rng.integers(0, 4, (3, 3))
            return {"input": grid.tolist(), "output": rule(grid).tolist()}

        task = {"train": [pair() for _ in range(3)], "test": [pair()]}
        (folder / f"toy{number}.json").write_text(json.dumps(task))
    return folder


def write_rearc_package(data: Path, generators: str, verifiers: str) -> Path:
    """A package of Re-ARC's shape in a data folder, under the name that its hash gives it."""
    sources = {"__init__.py": "", "generators.py": generators, "verifiers.py": verifiers}
    file = package_file(data, package_sha256(sources))
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(sources))
    return file


def refine(model: CharmModel, slots: Slots, size: BatchSize, step: int, seed: int) -> dict[str, Tensor]:
    """Refine slots once, the host's half included."""
    slots.prepare(step, seed)
    return refine_slots(model, slots, size)


def toy_config(folder: Path, **changes: object) -> TrainConfig:
    """A run of seconds on the toy tasks in `folder`."""
    config = TrainConfig(
        data=DataConfig(train=(), evaluate=(str(folder),), auxiliary=(), views=6, evaluate_repeats=1, canvas="fit"),
        reasoner=CANVAS,
        memory=MemoryConfig(rank=8),
        optimizer=OptimizerConfig(lr=3e-3, factor_lr=1e-2, warmup=5, ema=0.9),
        steps=12,
        batch=8,
        checkpoint_every=6,
        evaluate_every=0,
        evaluate_loops=(3,),
        log_every=4,
        device="cpu",
    )
    return replace(config, **changes)


def batch(stream: Stream, step: int) -> Draw:
    """What all slots meet when all are on the same turn."""
    return stream.draw(np.arange(stream.slots), np.full(stream.slots, step))


def write_wide_task(folder: Path) -> None:
    """One more toy task that needs the second canvas size."""
    grids = np.random.default_rng(3).integers(0, 4, (4, 12, 13))
    pairs = [{"input": grid.tolist(), "output": np.fliplr(grid).tolist()} for grid in grids]
    (folder / "wide.json").write_text(json.dumps({"train": pairs[:3], "test": pairs[3:]}))
