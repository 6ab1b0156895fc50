"""Streams: tasks that a base model has never seen, in a seeded order. Malformed ones are left out, with the reason."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from charm.errors import CharmError
from charm.files import write_atomically
from charm.tasks.keyed import key_of
from charm.tasks.reading import read_tasks
from charm.tasks.sources import SOURCE_NAMES, Source, arc1_ids, load_source
from charm.tasks.task import Task, task_to_json

# The paper's streams: tasks of an ARC-AGI-2 split whose id is in neither split of ARC-AGI-1 (233 and 114).
STREAMS = {"arc2-training": "arc2/training", "arc2-evaluation": "arc2/evaluation"}


@dataclass(frozen=True)
class TaskStream:
    """Tasks in the order in which they come, and what was left out, with the reason."""

    name: str
    tasks: tuple[Task, ...]
    skipped: dict[str, str] = field(default_factory=dict)
    source_sha256: str = ""
    """Of all tasks to choose from, in no order: the same for every seed, number of tasks and base."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(task.id for task in self.tasks)

    def text(self) -> str:
        """Return the JSON file {id: task}, which can be a source: its order is the stream's."""
        return json.dumps({task.id: task_to_json(task) for task in self.tasks})

    def save(self, path: Path) -> None:
        write_atomically(path, self.text())


def load_stream(
    name: str, seed: int = 0, known: Container[str] = (), limit: int = 0, data: Path | None = None
) -> TaskStream:
    """Load the stream of that name, or the tasks of a source, a file or a folder, in the order that `seed` decides.

    Tasks whose id is `known` to the base are skipped. `limit` keeps only the first tasks; 0 keeps all.
    """
    if name in STREAMS:
        seen = arc1_ids()
        tasks = [task for task in load_source(STREAMS[name]).tasks if task.id not in seen]
        skipped: dict[str, str] = {}
    elif name in SOURCE_NAMES:
        tasks, skipped = list(load_source(name, data).tasks), {}
    else:
        if not Path(name).exists():
            names = ", ".join((*STREAMS, *SOURCE_NAMES))
            raise CharmError(f"there is no stream {name}: neither a file nor a folder, nor one of {names}")
        tasks, skipped = read_tasks([Path(name)])
    known_ids = [task.id for task in tasks if task.id in known]
    skipped |= dict.fromkeys(known_ids, "the base model already knows a task of this id")
    fresh = sorted((task for task in tasks if task.id not in known), key=lambda task: task.id)
    order = np.random.Generator(np.random.Philox(key_of("stream", seed))).permutation(len(fresh))
    chosen = tuple(fresh[number] for number in order.tolist())[: limit or None]
    if not chosen:
        reason = f"; {next(iter(skipped.values()))}" if skipped else ""
        raise CharmError(f"the stream {name} holds no task that the base model has not seen{reason}")
    return TaskStream(name, chosen, skipped, Source(name, "", tuple(tasks)).sha256)
