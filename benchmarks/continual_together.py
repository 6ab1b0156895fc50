"""A memory-only stream in one piece: the rows of all tasks learn side by side in large batches.

Where rows alone move, no task's learning touches what another task reads, so a stream one task after the other and all
of its tasks at once are the same computation. Every task keeps its own slots, examples, random numbers and scale of the
loss, so rows come out equal but for rounding (`tests/continual/test_study.py` compares them). A GPU is then busy with
one large batch and not with a hundred short stages.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from charm.config import to_json
from charm.continual.drift import changed_values
from charm.continual.measures import Matrix, Stages, measures
from charm.continual.records import memory_name
from charm.continual.run import StreamBase, StreamJob, StreamOptions, score_votes
from charm.devices import Place, to_device
from charm.errors import CharmError
from charm.evaluation.scoring import Scores
from charm.models.canvas.training import HostCopy, Slots
from charm.models.model import CharmModel
from charm.tasks import keyed
from charm.tasks.dataset import Dataset
from charm.tasks.sampling import Draw, Mixture, Stream
from charm.training.adaptation import Adaptation, private_rows, updated_parameters

GROUP = 28  # tasks that learn at once: more would need more memory and gain little


class TaskStreams:
    """The streams of several tasks as one: slot n belongs to task n // slots_each."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        first = streams[0]
        self.streams, self.each = streams, first.slots
        self.side, self.scales, self.slots = first.side, first.scales, len(streams) * first.slots
        self.mixture = Mixture(block for one in streams for block in one.mixture.blocks)

    def draw(self, slot_N: np.ndarray[Any, Any], turn_N: np.ndarray[Any, Any]) -> Draw:
        task_N, own_N = np.divmod(slot_N, self.each)
        order = np.argsort(task_N, kind="stable")
        tasks, starts = np.unique(task_N[order], return_index=True)
        parts = [
            self.streams[task].draw(own_N[chosen], turn_N[chosen])
            for task, chosen in zip(tasks, np.split(order, starts[1:]), strict=True)
        ]
        back = np.argsort(order, kind="stable")
        names = ("pair_N", "row_N", "top_N", "left_N", "scale_N")
        return Draw(*(np.concatenate([getattr(part, name) for part in parts])[back] for name in names))


class TaskSlots(Slots):
    """Slots of several tasks, each with the random numbers that it has alone."""

    def __init__(self, model: CharmModel, data: Dataset, each: int, seeds: Mapping[int, int]) -> None:
        """`seeds`: number of a block of the data, which is a task -> the seed of its examples."""
        ((side, whole),) = data.mixtures.items()
        shapes, dihedrals = data.bank.shape.numpy(), data.keys().dihedral.numpy()
        streams = [
            Stream(Mixture([whole.blocks[n]]), shapes, dihedrals, side, each, seed, data.config.scales)
            for n, seed in seeds.items()
        ]
        self.exploration_keys = [keyed.key_of("exploration", seed, side) for seed in seeds.values()]
        network: Any = model.reasoner
        device = network.tokens.device
        joined: Any = TaskStreams(streams)
        super().__init__(network, joined, data.bank.to(device), data.keys().to(device), (0, joined.slots))
        self.each = each

    def prepare(self, step: int, seed: int) -> TaskSlots:
        halted = HostCopy(self.halted_B)
        self._replace_taken()
        self._taken = halted
        counters = 2 * (step * self.each + np.arange(self.each))
        drawn = [
            np.stack([keyed.uniform(key, counters), keyed.uniform(key, counters + 1)], axis=1)
            for key in self.exploration_keys
        ]
        self.exploration_B2.copy_(to_device(np.concatenate(drawn).astype(np.float32), self.exploration_B2.device))
        return self


def learn_together(job: StreamJob) -> float:
    """Learn the rows of all tasks of a stream; returns the mean token loss."""
    data, tasks, recipe = job.stream_data, job.stream.tasks, job.options.recipe
    if len(data.mixtures) > 1 or len(data.blocks) != len(tasks):
        raise CharmError("tasks learn together only if all of them have the same canvas")
    seeds = [(n, keyed.key_of("adaptation", recipe.seed, keyed.key_of(task.id))) for n, task in enumerate(tasks)]
    losses = []
    for some in (seeds[first : first + GROUP] for first in range(0, len(seeds), GROUP)):
        adaptation = Adaptation(job.model, data, recipe, "rows", job.place)
        slots = TaskSlots(job.model, data, recipe.batch, dict(some))
        adaptation.examples.groups = {slots.side: slots}
        for _ in range(recipe.steps):
            adaptation.update()
        losses += len(some) * [adaptation.progress()[0]]
        adaptation.close()
    return mean(losses)


def run_together(
    base: Path, folder: Path, options: StreamOptions, place: Place, batch: int = 2048
) -> tuple[dict[str, Any], dict[str, float]]:
    """Learn a memory-only stream; returns a summary as of `run_stream`, and the accuracy on each task in the end."""
    began = time.monotonic()
    start = StreamBase(base, options, place)
    options = replace(options, views=options.views or start.config.data.views)
    job = StreamJob(start, folder, options, place, say=lambda text: None)

    def ask() -> tuple[Scores, Scores]:
        asked = (
            (job.stream_data, job.stream_answers, options.evaluate_views),
            (job.base_data, job.base_answers, options.base_views),
        )
        stream, own = (score_votes(job.model, *one, place, batch) for one in asked)
        return stream, own

    zero, old = ask()
    now = time.monotonic()
    loss = learn_together(job)
    learning = time.monotonic() - now
    ids = job.stream.ids
    changed = sum(changed_values(job.model, job.before, private_rows(job.model, ids)).values())
    final, new = ask()
    count, own = len(ids), list(old.accuracy())
    r = _matrix(zero, final, ids, np.arange(1, count + 1))
    parameters = mean(updated_parameters(job.model, "rows", task)[0] for task in ids)
    summary: dict[str, Any] = {
        "method": options.method,
        "scope": "rows",
        "memory": memory_name(to_json(job.model.config)["memory"]),
        "halt_weight": options.recipe.halt_weight,
        "seed": options.recipe.seed,
        "tasks": count,
        "updated_parameters": parameters,
        "bytes_per_task": 4 * parameters,
        "token_loss": loss,
        "changed_values": changed,
        "seconds": round(time.monotonic() - began, 3),
        "seconds_per_task": learning / count,
        "together": True,
        "base before": old.metrics.get("pass@2"),
        "base after": new.metrics.get("pass@2"),
        **measures(r, np.arange(1, count + 1)),
    }
    of_base = measures(_matrix(old, new, own, np.ones(len(own), np.int64)), np.zeros(len(own), np.int64))
    summary |= {f"base {name}": value for name, value in of_base.items()}
    for k in ("pass@1", "pass@2"):
        summary[f"zero-shot {k}"] = zero.metrics.get(k)
        summary[f"immediate {k}"] = summary[f"final {k}"] = final.metrics.get(k)
    return summary, dict(zip(ids, r[-1].tolist(), strict=True))


def _matrix(before: Scores, after: Scores, tasks: Sequence[str], learned: Stages) -> Matrix:
    """Return R: a task has its accuracy before the stream until it is learned, and that at the end from then on."""
    first, last = (np.array([one.accuracy()[task] for task in tasks], float) for one in (before, after))
    return np.where(np.arange(learned.max() + 1)[:, None] < learned, first, last)
