"""Training and evaluating on ARC's tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from charm.config import to_json
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.evaluate import VoteOptions, Voting, evaluate_run, own_protocol, score_checkpoint, scores_table
from charm.memory import RowTable
from charm.memory.sharding import shard_rows
from charm.models.model import CharmModel
from charm.paths import model_at
from charm.progress import Echo
from charm.runs.checkpoint import newest_checkpoint, steps_of
from charm.runs.folder import differences_text
from charm.runs.settings import TrainConfig, read_config
from charm.tables import Table
from charm.tasks.dataset import Dataset, load_dataset
from charm.tasks.keys import ArcKey, MemoryConfig
from charm.training import engine
from charm.training.adaptation import private_tables
from charm.training.engine import Engine
from charm.training.job import ReasonerJob


def arc_job(config: TrainConfig, place: Place, say: Echo = print, data: Dataset | None = None) -> ReasonerJob:
    """Prepare data and model as the configuration says, and votes on the evaluated tasks; `data` are other data."""
    data = load_dataset(config.data) if data is None else data
    model = CharmModel(config.reasoner, config.memory, ArcKey(data.instances), config.seed)
    if config.start:
        start_from(model, CharmModel.from_pretrained(newest_checkpoint(model_at(config.start))))
    if config.shard_tables:
        table = model.memory.residual
        if not isinstance(table, RowTable):
            raise CharmError("--shard-tables needs a memory with instance rows; this one has none")
        shard_rows([table.rows], place.rank, place.world)
    score = partial(score_checkpoint, config, data.config)
    examiner = Voting(config.evaluate_loops, config.evaluate_views, score, data.asked)
    return ReasonerJob(config, place, data, model, examiner, say)


def train(
    config: TrainConfig, out: Path, place: Place, resume: bool = False, say: Echo = print, data: Dataset | None = None
) -> Engine[ReasonerJob]:
    """Train a run in the folder `out`; see `charm.training.engine.train`."""
    # A run that continues from its own checkpoint no longer needs the model that it started from.
    begins = replace(config, start="") if resume and steps_of(out) else config
    return engine.train(config, partial(arc_job, begins, place, say, data), out, place, resume, say)


@torch.no_grad()
def start_from(model: CharmModel, other: CharmModel) -> None:
    """Take over another model's shared weights, its vectors of puzzles and its rows of views that both have.

    Vectors of other puzzles start where `CharmModel.grow` lets new ones start.
    """
    memory, own, given = model.config.memory, model.config.reasoner, other.config.reasoner
    if type(own) is not type(given):
        raise CharmError(f"--start needs a network of this run's kind, {own.kind}; that model is of kind {given.kind}")
    if memory != other.config.memory:
        differences = differences_text(to_json(other.config.memory), to_json(memory), "memory")
        raise CharmError(f"--start needs a model with this run's memory; that model has another ({differences})")
    if isinstance(memory, MemoryConfig) and memory.color_pool:
        raise CharmError(f"--start needs --memory.color-pool 0, got {memory.color_pool}")
    instances, others = model.instances, other.instances
    puzzles, rows = [], [(0, 0)]  # places in the model's and in the other's tables; row 0 is the blank one
    for puzzle in instances.puzzles:
        if puzzle in others:
            puzzles.append((instances.number(puzzle), others.number(puzzle)))
            _, here, there = np.intersect1d(instances.codes(puzzle), others.codes(puzzle), return_indices=True)
            rows += zip(instances.rows(puzzle)[here], others.rows(puzzle)[there], strict=True)
    places = {"memory.base.rows.weight": puzzles, "memory.residual.rows.weight": rows}
    tables = private_tables(model)
    weights = other.state_dict()
    for name, tensor in model.state_dict().items():
        if name in tables:
            if name == "memory.base.rows.weight" and model.config.reasoner.starts_from_mean:
                tensor.copy_(weights[name].mean(0).expand_as(tensor))
            if places[name]:
                here, there = torch.tensor(places[name]).T
                tensor[here] = weights[name][there]
        elif name in weights and weights[name].shape == tensor.shape:
            tensor.copy_(weights[name])
        else:
            raise CharmError(f"start: the model to start from has another shape ({name})")


@dataclass(frozen=True)
class ArcEvaluation(VoteOptions):
    """Vote with the checkpoints of a run, rank, score, and write a submission.

    Votes already on disk are reused, so another protocol over the same votes takes seconds.
    """

    protocol: str = "standard"
    """none, standard, extra, xrm, urm or continual."""
    views: int | None = None
    """Maximum number of views of each puzzle that vote; the protocol's if not given."""
    window: int | Literal["current", "half", "all"] | None = None
    """Checkpoints that vote: how many, counted back from the newest, or current, half or all."""
    loops: tuple[int, ...] | None = None
    """Refinement depths that vote; by default the run's own, the first or all as the protocol says."""
    half_life: float | None = None
    """Checkpoints after which a vote weighs half."""
    order: str | None = None
    """What puts a candidate first: votes, or likelihood (votes x likelihood), which is the default for writers."""


def evaluate(run: Path, options: ArcEvaluation, place: Place) -> tuple[dict[str, Any], Table] | None:
    """Evaluate a run on ARC's tasks, as `charm eval` does."""
    fields = ("views", "window", "loops", "half_life", "order")
    config = read_config(run, options.data)
    chosen = own_protocol(config, options.protocol, **{field: getattr(options, field) for field in fields})
    found = evaluate_run(run, options.protocol, chosen, place, options)
    if found is None:
        return None
    table = scores_table(found)
    answers = f"answers in {run / 'eval' / found['protocol']['name']}.submission.json"
    return found, replace(table, caption="; ".join(filter(None, (table.caption, answers))))
