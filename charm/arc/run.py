"""Training and evaluating on ARC's tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.examiner import Voting
from charm.evaluation.protocols import with_overrides
from charm.evaluation.run import evaluate_run, score_checkpoint, scores_table
from charm.memory import RowTable
from charm.memory.sharding import shard_rows
from charm.model import CharmModel
from charm.runs.settings import TrainConfig
from charm.tables import Table
from charm.tasks.dataset import Dataset, load_dataset
from charm.tasks.keys import ArcKey
from charm.training import engine
from charm.training.engine import Engine
from charm.training.job import ReasonerJob
from charm.training.writer_job import WriterJob


def arc_job(
    config: TrainConfig, place: Place, say: Callable[[str], None] = print, data: Dataset | None = None
) -> ReasonerJob:
    """Data and model as the configuration says, and votes on the tasks under evaluation; `data` are other ones."""
    data = load_dataset(config.data) if data is None else data
    model = CharmModel(config.reasoner, config.memory, ArcKey(data.instances), config.seed)
    if config.shard_tables:
        table = model.memory.residual
        if not isinstance(table, RowTable):
            raise CharmError("--shard-tables needs a memory with instance rows; this one has none")
        shard_rows([table.rows], place.rank, place.world)
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


@dataclass(frozen=True)
class ArcEvaluation:
    """Vote with the checkpoints of a run, rank, score, and write a submission.

    Votes already on disk are reused, so another protocol over the same votes takes seconds.
    """

    protocol: str = "standard"
    """none, standard, extra, xrm, urm or continual."""
    views: int | None = None
    """Views of each puzzle that vote; the protocol's if not given."""
    window: int | Literal["current", "half", "all"] | None = None
    """Checkpoints that vote: how many, counted back from the newest, or current, half or all."""
    loops: tuple[int, ...] | None = None
    """Refinement depths that vote; the protocol's if not given."""
    half_life: float | None = None
    """Checkpoints after which a vote weighs half."""
    order: Literal["votes", "likelihood"] | None = None
    """What puts a candidate first; by default a writer's likelihood, and the votes of all others."""
    tasks: tuple[str, ...] = ()
    """Only these tasks."""
    batch: int = 512
    """Predictions made at once."""
    rank_only: bool = False
    """Make no new votes."""
    blank_memory: bool = False
    """Answer without the task memory, for comparison; written as a separate protocol."""
    data: Path | None = None
    """Folder of downloaded and generated data; by default as in training."""


def evaluate(run: Path, options: ArcEvaluation, place: Place) -> tuple[dict[str, Any], Table] | None:
    """`charm eval` of a run on ARC's tasks."""
    chosen = with_overrides(
        options.protocol, options.views, options.window, options.loops, options.half_life, options.order
    )
    found = evaluate_run(
        run,
        options.protocol,
        chosen,
        place,
        *(options.tasks, options.batch, options.rank_only, options.blank_memory, options.data),
    )
    return None if found is None else (found, scores_table(found))
