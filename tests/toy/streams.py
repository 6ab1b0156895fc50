"""Streams of toy tasks: learned for real, or written by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from charm.continual.records import summarize
from charm.continual.results import write_json
from charm.continual.run import StreamOptions, run_stream
from charm.models.model import CharmModel
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.settings import read_config
from charm.tasks.dataset import Dataset, TaskSet, assemble, task_data
from charm.tasks.sources import load_source
from charm.training.adaptation import Recipe
from tests.toy.runs import HERE

RECIPE = Recipe(steps=3, batch=4, warmup=2, shared_lr=1e-2)


OPTIONS = StreamOptions("", recipe=RECIPE, tasks=3, evaluate_views=4, base_views=4, recheck_every=2)


def learn(base: Path, out: Path, unseen: Path, **changes: Any) -> dict[str, Any]:
    """Learn a stream of unseen toy tasks from the run `base`."""
    return run_stream(base, out, replace(OPTIONS, stream=str(unseen), **changes), HERE, lambda text: None)


def stages(out: Path) -> list[dict[str, Any]]:
    """Return the records of all stages, in order."""
    return [json.loads(path.read_text()) for path in sorted((out / "stages").glob("*.json"))]


def assert_same(one: Path, other: Path) -> None:
    """The same files; equal to the bit where they are weights, and but for the time where they are records."""

    def files_of(run: Path) -> list[Path]:
        files = (path.relative_to(run) for path in run.rglob("*") if path.is_file())
        return sorted(file for file in files if file.parts[0] not in ("checkpoints", "metrics.jsonl"))

    files = files_of(one)
    assert files == files_of(other)
    for file in files:
        if file.suffix == ".json":
            first, second = (json.loads((folder / file).read_text()) for folder in (one, other))
            if isinstance(first, dict):
                for record in (first, second):
                    for name in ("seconds", "seconds_per_task", "learning_seconds", "record_sha256"):
                        record.pop(name, None)
            assert first == second, file
        else:
            assert (one / file).read_bytes() == (other / file).read_bytes(), file


def prepared(base: Path, unseen: Path) -> tuple[CharmModel, Dataset]:
    """The base with room for the unseen tasks, and these."""
    model = CharmModel.from_pretrained(newest_checkpoint(base))
    instances = model.instances.copy()
    tasks = TaskSet(evaluate=load_source(unseen).tasks)
    data = assemble(tasks, task_data(read_config(base).data, 6), instances)
    model.grow(instances)
    return model, data


MEMORY = {"design": "cose", "rank": 32, "task_width": 0}


def write_stream_run(folder: Path, method: str, seed: int, passes: list[float], final: float, base: float) -> Path:
    """A finished run of `stages` stages, with 100 private and 1000 shared parameters."""
    options = {
        "method": method,
        "scope": "composition" if method == "naive" else "full",
        "stream": "some",
        "recheck_every": 2,
        "recipe": {"halt_weight": 0.0, "seed": seed},
    }
    learned_from: dict[str, Any] = {
        "order": [f"task{n}" for n in range(len(passes))],
        "skipped": {},
        "base": {"model": {"memory": MEMORY}},
    }
    write_json(folder / "config.json", options)
    write_json(folder / "data.json", learned_from)
    for number, value in enumerate(passes, start=1):
        stage = {
            "stage": number,
            "task": f"task{number - 1}",
            "token_loss": 0.5,
            "private_parameters": 100 + number,
            "shared_parameters": 0 if method == "memory-only" else 1000,
            "changed_values": 0 if method == "memory-only" else 7,
            "distance": 0.0,
            "kept_bytes": 0,
            "learning_seconds": 1.0,
            "seconds": 1.0,
            "pass@1": value,
            "pass@2": value,
        }
        write_json(folder / "stages" / f"{number:04d}.json", stage)
    checks = {0: (0.0, 0.8)} if method == "oracle" else {0: (0.0, 0.8), 2: (0.25, 0.7), len(passes): (final, base)}
    for stage, (stream, own) in checks.items():
        record = {
            "stage": stage,
            "stream": {"pass@1": stream / 2, "pass@2": stream},
            "base": {"pass@1": own, "pass@2": own},
            "accuracy": {
                "stream": {f"task{n}": stream for n in range(len(passes))},
                "base": {"one": own, "two": own},
            },
        }
        write_json(folder / "rechecks" / f"{stage:04d}.json", record)
    write_json(folder / "result.json", summarize(folder))
    return folder
