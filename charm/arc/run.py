"""Training on ARC's tasks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from charm.devices import Place
from charm.evaluation.examiner import Voting
from charm.evaluation.run import score_checkpoint
from charm.model import CharmModel
from charm.tasks.dataset import Dataset, load_dataset
from charm.tasks.keys import ArcKey
from charm.training import engine
from charm.training.config import TrainConfig
from charm.training.engine import Engine
from charm.training.job import ReasonerJob
from charm.training.writer_job import WriterJob


def arc_job(
    config: TrainConfig, place: Place, say: Callable[[str], None] = print, data: Dataset | None = None
) -> ReasonerJob:
    """Data and model as the configuration says, and votes on the tasks under evaluation; `data` are other ones."""
    data = load_dataset(config.data) if data is None else data
    model = CharmModel(config.reasoner, config.memory, ArcKey(data.instances), config.seed)
    examiner = Voting(config.evaluate_loops, config.evaluate_views, score_checkpoint)
    job = WriterJob if config.reasoner.kind == "writer" else ReasonerJob
    return job(config, place, data, model, examiner, say)


def train(
    config: TrainConfig,
    out: Path,
    place: Place,
    resume: bool = False,
    say: Callable[[str], None] = print,
    data: Dataset | None = None,
) -> Engine[ReasonerJob]:
    """A whole run in the folder `out`; see `charm.training.engine.train`."""
    return engine.train(config, partial(arc_job, config, place, say, data), out, place, resume, say)
