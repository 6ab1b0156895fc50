"""Solving a task nobody trained on: new memory rows learn its demonstrations, everything else stays as it is."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.predict import predict_votes
from charm.evaluation.protocols import Protocol
from charm.evaluation.ranking import Candidate
from charm.evaluation.run import evaluate_votes
from charm.memory import RowTable
from charm.memory.cose import CoSE
from charm.memory.factors import Lookup
from charm.model import CharmModel
from charm.tasks.dataset import Dataset, assemble
from charm.tasks.questions import Question
from charm.training.checkpoint import folder_of, steps_of
from charm.training.config import TrainConfig, read_config
from charm.training.loop import refine_slots
from charm.training.rows import RowAdamW, RowSignSGD
from charm.training.slots import Slots

WARMUP = 20  # updates, as in the paper's adaptation
VOTE_SHARE = 0.3  # of the budget is kept for voting


@dataclass(frozen=True)
class SolveOptions:
    """How to adapt and vote. The learning rates and the batch are the paper's for unseen tasks."""

    budget: float = 60.0
    """Seconds for everything."""
    steps: int = 1000
    """Updates at most."""
    views: int = 128
    """Views of the task that are learned and that vote."""
    batch: int = 128
    """Slots."""
    halt_weight: float = 0.0
    """Weight of the halting loss during adaptation."""
    task_lr: float = 1e-2
    """Learning rate of the task's own vector (row-local AdamW without decay)."""
    row_lr: float = 1e-2
    """Learning rate of its instance rows (row-local SignSGD, decay 0.1)."""
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Solution:
    """Ranked answers to every test input, and how they were come by."""

    answers: dict[Question, list[Candidate]]
    updates: int
    loss: float
    exact_accuracy: float
    seconds: float


def newest_checkpoint(run: Path) -> Path:
    """The newest checkpoint of a run, or the folder itself where it is a saved model."""
    if (run / "model.safetensors").is_file():
        return run
    steps = steps_of(run)
    if not steps:
        raise CharmError(f"{run} holds neither a saved model nor a run with a checkpoint")
    return folder_of(run, steps[-1])


def solve(
    task: Path,
    run: Path,
    options: SolveOptions,
    place: Place,
    say: Callable[[float, str], None] = lambda share, text: None,
) -> Solution:
    """Answer the test inputs of a task file with a trained model, within a budget of seconds.

    `say(share of the budget used, what is going on)` is told of progress.
    """
    began = time.monotonic()
    config = read_config(run) if (run / "config.json").is_file() and steps_of(run) else TrainConfig()
    model = CharmModel.from_pretrained(newest_checkpoint(run), place.device)
    data, config = prepare(model, task, config, options, place)
    updates, loss, exact = adapt(model, data, config, options, place, began, say)
    with tempfile.TemporaryDirectory() as scratch:
        loops = (config.reasoner.refinement_steps,)
        votes = Path(scratch)
        # Views vote a few at a time, so that there is an answer whenever the budget ends.
        for views in _doubling(options.views):
            predict_votes(model, data, votes, 0, loops, views, place, options.batch)
            used = (time.monotonic() - began) / options.budget
            say(used, f"{views} views have voted")
            if used > 1 - VOTE_SHARE / 3:
                break
        protocol = Protocol(views="all", window="current", loops=loops)
        ranking = evaluate_votes(votes, protocol, data.config).ranking
    answers = {question: ranking.top(number, 10) for number, question in enumerate(ranking.questions)}
    return Solution(answers, updates, loss, exact, time.monotonic() - began)


def prepare(
    model: CharmModel, task: Path, config: TrainConfig, options: SolveOptions, place: Place
) -> tuple[Dataset, TrainConfig]:
    """The task as a dataset of its own, and room for it in the model's memory."""
    wanted = replace(
        config.data,
        train=(),
        evaluate=(str(task),),
        auxiliary=(),
        synthetic=(),
        tasks=(),
        views=options.views,
        evaluate_repeats=1,
    )
    instances = model.instances.copy()
    data = assemble(wanted, instances)
    model.grow(instances)
    changed = replace(
        config,
        data=wanted,
        reasoner=model.config.reasoner,
        memory=model.config.memory,
        batch=options.batch,
        accumulate=1,
        halt_weight=options.halt_weight,
        seed=options.seed,
    )
    return data, changed


def adapt(
    model: CharmModel,
    data: Dataset,
    config: TrainConfig,
    options: SolveOptions,
    place: Place,
    began: float,
    say: Callable[[float, str], None],
) -> tuple[int, float, float]:
    """Train the task's own rows on its demonstrations; returns updates made, last loss and exact accuracy."""
    optimizers = private_optimizers(model, options)
    bank, keys = data.bank.to(place.device), data.keys().to(place.device)
    share = (0, options.batch)
    sides = sorted(data.mixtures)
    slots = [
        Slots(model, data.stream(side, options.batch, options.seed), bank, keys, share, place.device)
        for side in sides
    ]
    loss = exact = float("nan")
    update = 0
    while update < options.steps:
        used = (time.monotonic() - began) / options.budget
        if used > 1 - VOTE_SHARE:
            break
        metrics = refine_slots(model, slots[update % len(slots)], config, update)
        scale = min(1.0, (update + 1) / WARMUP)
        for optimizer, rate in optimizers:
            optimizer.param_groups[0]["lr"] = rate * scale
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        update += 1
        if update % 10 == 0 or update == options.steps:
            loss, exact = float(metrics["token_loss"]), float(metrics["exact_accuracy"])
            say(used, f"update {update}: loss {loss:.3f}, {exact:.0%} of the demonstrations exact")
    return update, loss, exact


def private_optimizers(model: CharmModel, options: SolveOptions) -> list[tuple[RowAdamW | RowSignSGD, float]]:
    """Freeze the model but for its tables, whose gradients are sparse: only rows that are read can move."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    optimizers: list[tuple[RowAdamW | RowSignSGD, float]] = []
    memory = model.memory
    if isinstance(memory, CoSE) and isinstance(memory.base, Lookup):
        memory.base.rows.sparse = True
        memory.base.rows.weight.requires_grad_(True)
        optimizers.append((RowAdamW([memory.base.rows.weight], options.task_lr), options.task_lr))
    if isinstance(memory.residual, RowTable):
        memory.residual.rows.weight.requires_grad_(True)
        table = [memory.residual.rows.weight]
        optimizers.append((RowSignSGD(table, options.row_lr, weight_decay=0.1), options.row_lr))
    if not optimizers:
        raise CharmError("this model's memory has no rows of its own for a new task")
    return optimizers


def _doubling(limit: int) -> list[int]:
    """8, 16, 32, ... and the limit itself."""
    counts = []
    count = 8
    while count < limit:
        counts.append(count)
        count *= 2
    return [*counts, limit]
