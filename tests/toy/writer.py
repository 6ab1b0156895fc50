"""Small writers, sequences for them, and a run that trains one."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from charm.models.model import CharmModel
from charm.models.writer.config import WriterConfig
from charm.models.writer.network import Writer
from charm.runs.settings import OptimizerConfig, TrainConfig
from charm.tasks.batch import PairBank
from charm.tasks.dataset import DataConfig, Dataset, load_dataset
from charm.tasks.instances import Instances
from charm.tasks.keys import ArcKey, Keys, MemoryConfig
from charm.tasks.sequences import LONGEST, Pack, pack_pairs
from charm.tasks.task import Pair
from tests.toy import toy_config, write_toy_tasks

SMALL = WriterConfig(
    width=32,
    heads=2,
    layers=2,
    recurrences=2,
    inner_multiple=16,
    rope_base=100.0,
    compute_dtype="float32",
)


def make_pack(seed: int = 0, asked: bool = False, count: int = 5, spare: int = 7, largest: int = 4) -> Pack:
    rng = np.random.default_rng(seed)

    def grid() -> np.ndarray:
        return rng.integers(0, 10, rng.integers(1, largest + 1, 2)).astype(np.uint8)

    pairs = [Pair(grid(), None if asked else grid()) for _ in range(count)]
    instances = Instances()
    instances.add("t", np.zeros(1, np.uint32))
    lengths = [
        2
        + p.input.shape[0] * (p.input.shape[1] + 1)
        + (0 if p.output is None else 1 + p.output.shape[0] * (p.output.shape[1] + 1))
        for p in pairs
    ]
    ends = torch.tensor(np.cumsum(lengths))
    row = torch.full((count,), 1)
    return pack_pairs(PairBank.of(pairs), Keys.of(instances), torch.arange(count), row, ends, int(ends[-1]) + spare)


def trained_like(seed: int = 0, **changes: object) -> Writer:
    """A writer whose head is not zero, so that its answers differ."""
    writer = Writer(replace(SMALL, **changes), seed)
    torch.nn.init.normal_(writer.head.weight, std=0.5, generator=torch.Generator().manual_seed(seed))
    return writer.eval()


def asked_writer(folder: Path, questions: int = 2, views: int = 7) -> tuple[CharmModel, Dataset]:
    """Return a model whose answers differ, and questions of one task."""
    tests = [{"input": [[3, 4, 0], [5, 6, number]]} for number in range(questions)]
    task = {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": tests}
    (folder / "a.json").write_text(json.dumps(task))
    data = load_dataset(DataConfig(train=(), evaluate=(str(folder),), auxiliary=(), views=views))
    model = CharmModel(SMALL, MemoryConfig(rank=0, colors="free"), ArcKey(data.instances)).eval()
    assert isinstance(model.reasoner, Writer)
    torch.nn.init.normal_(model.reasoner.head.weight, std=0.5, generator=torch.Generator().manual_seed(1))
    return model, data


def writer_config(folder: Path, **changes: object) -> TrainConfig:
    """Return a run of seconds that trains a tiny writer on toy tasks."""
    base = toy_config(write_toy_tasks(folder / "tasks", 2))
    return replace(
        base,
        data=replace(base.data, canvas="full"),
        batch=TrainConfig.batch,  # which a writer does not use
        reasoner=WriterConfig(
            width=32,
            heads=2,
            layers=1,
            recurrences=1,
            inner_multiple=16,
            rope_base=100.0,
            dropout=0.1,
            compute_dtype="float32",
        ),
        memory=MemoryConfig(rank=0, colors="free", composer="add"),
        optimizer=OptimizerConfig(lr=3e-3, factors="adamw", factor_lr=1e-2, warmup=2, ema=0.9),
        evaluate_loops=(1,),
        **{"tokens": LONGEST, "steps": 6, "checkpoint_every": 3, "log_every": 3, **changes},
    )


def count_judged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that collects the number of sequences in each judged pack."""
    counts: list[int] = []
    likelihood = Writer.log_likelihood

    def counted(self: Writer, pack: Pack, task_ND: Tensor) -> Tensor:
        counts.append(len(task_ND))
        return likelihood(self, pack, task_ND)

    monkeypatch.setattr(Writer, "log_likelihood", counted)
    return counts
