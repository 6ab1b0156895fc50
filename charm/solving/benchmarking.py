"""A solve in the folder format of ARC Prize's arc-agi-benchmarking: one file for each task, with both attempts.

An attempt has every field that the schema there demands, filled with what is true of CHARM: no provider counts or bills
tokens, so `usage` is 0, and the only cost is that of the device. What the schema has no field for is in `kwargs`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from charm.errors import CharmError
from charm.evaluation.ranking import ATTEMPTS, JsonGrid
from charm.files import read_json, write_atomically
from charm.solving.vote_log import TaskCourse, VoteLine
from charm.tasks.task import Question, Task

NO_TOKENS = {"reasoning_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "completion_tokens_details": NO_TOKENS}


def write_benchmarking(
    folder: Path,
    tasks: Sequence[Task],
    answers: Mapping[Question, Sequence[JsonGrid]],
    courses: Mapping[str, TaskCourse],
    about: VoteLine,
    dollars: float = 0.0,
) -> None:
    """Write TASK_ID.json for each task: a list with both attempts at each test input, null where there is no answer.

    `correct` is null where the output is not known. `about` is the first line of the log. The `dollars` for all tasks
    are divided evenly among the attempts, because tasks are learned together.
    """
    each = dollars / max(len(ATTEMPTS) * len(answers), 1)
    for task in tasks:
        times, seconds = _times(courses.get(task.id))
        settings = {**about["settings"], "budget": about["budget"], "charm": about["charm"]}
        entries = []
        for number, pair in enumerate(task.test):
            entry: dict[str, Any] = dict.fromkeys(ATTEMPTS)
            for name, grid in zip(ATTEMPTS, answers.get(Question(task.id, number)) or (), strict=False):
                entry[name] = {
                    "answer": grid,
                    "correct": None if pair.output is None else grid == pair.output.tolist(),
                    "metadata": {
                        "model": about["model"],
                        "provider": "charm",
                        **times,
                        "choices": [{"index": 0, "message": {"role": "assistant", "content": json.dumps(grid)}}],
                        "kwargs": {**settings, "seconds": seconds, "task_sha256": task.content()},
                        "usage": USAGE,
                        "cost": {"prompt_cost": 0.0, "completion_cost": each, "total_cost": each},
                        "task_id": task.id,
                        "pair_index": number,
                        "test_id": folder.name,
                    },
                }
            entries.append(entry)
        write_atomically(_file_of(folder, task), json.dumps(entries, indent=1))


def require_free(folder: Path, tasks: Sequence[Task]) -> None:
    """Refuse a folder where files of others, such as the tasks themselves, would be overwritten."""
    written: dict[Path, str] = {}
    for task in tasks:
        file = _file_of(folder, task)
        if file in written:
            raise CharmError(f"tasks {written[file]} and {task.id} would both be written to {file}")
        written[file] = task.id
        if file.exists() and not isinstance(read_json(file), list):
            raise CharmError(f"{file} exists and has no attempts at a task; choose another --out")


def _file_of(folder: Path, task: Task) -> Path:
    name = re.sub(r"[/:\x00-\x1f]", "-", task.id)
    return folder / f"{name}.json"


def _times(course: TaskCourse | None) -> tuple[dict[str, str], float | None]:
    """Return when a task's clock started and when its newest line was written, and its seconds up to the last vote.

    The log of an earlier solve may be missing: then both times are now, and the seconds are not known.
    """
    began = ended = time.time()
    seconds = None
    if course is not None and course.rounds and course.changed is not None:
        first, seconds = course.rounds[0], course.rounds[-1]["seconds"]
        began, ended = first["time"] - first["seconds"], course.changed
    stamps = {"start_timestamp": began, "end_timestamp": ended}
    return {name: datetime.fromtimestamp(one, UTC).isoformat() for name, one in stamps.items()}, seconds
