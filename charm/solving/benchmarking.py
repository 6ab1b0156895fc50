"""A solve in the folder format of ARC Prize's arc-agi-benchmarking: one file for each task, with both attempts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from charm.evaluation.ranking import ATTEMPTS, JsonGrid
from charm.files import write_atomically
from charm.solving.vote_log import TaskCourse
from charm.tasks.task import Question, Task


def write_benchmarking(
    folder: Path,
    tasks: Sequence[Task],
    answers: Mapping[Question, Sequence[JsonGrid]],
    courses: Mapping[str, TaskCourse],
    model: str,
    dollars: float | None,
) -> None:
    """Write TASK_ID.json for each task: a list with both attempts at each test input, null where there is no answer.

    `correct` is there where the output is known, times where the log has them, `cost` if there are `dollars` for all
    tasks: all attempts cost the same, because tasks are learned together.
    """
    cost = {} if dollars is None else {"cost": {"total_cost": dollars / max(len(ATTEMPTS) * len(answers), 1)}}
    for task in tasks:
        entries = []
        for number, pair in enumerate(task.test):
            about = {
                "model": model,
                "provider": "charm",
                **_times(courses.get(task.id)),
                **cost,
                "task_id": task.id,
                "pair_index": number,
                "task_sha256": task.content(),
            }
            given = answers.get(Question(task.id, number))
            entry: dict[str, Any] = dict.fromkeys(ATTEMPTS)
            for name, grid in zip(ATTEMPTS, given or (), strict=False):
                known = {} if pair.output is None else {"correct": grid == pair.output.tolist()}
                entry[name] = {"answer": grid, **known, "metadata": about}
            entries.append(entry)
        name = re.sub(r"[/:\x00-\x1f]", "-", task.id)
        write_atomically(folder / f"{name}.json", json.dumps(entries, indent=1))


def _times(course: TaskCourse | None) -> dict[str, Any]:
    """Return when a task's clock started, when its newest line was written, and its seconds up to the last vote."""
    if course is None or not course.rounds or course.changed is None:
        return {}
    first, last = course.rounds[0], course.rounds[-1]
    began, ended = (
        datetime.fromtimestamp(one, UTC).isoformat() for one in (first["time"] - first["seconds"], course.changed)
    )
    return {"start_timestamp": began, "end_timestamp": ended, "seconds": last["seconds"]}
