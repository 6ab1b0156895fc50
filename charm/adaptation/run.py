"""A stream run: stage after stage, each measured, written at once, and gone on with after a kill.

OUT/ adapt.json                  the settings, the order of the stream, and what was left out of it
     stream.json                 the tasks, in order
     stages/NNNN.json            a finished stage: immediate accuracy, loss, parameters moved, drift
     rechecks/NNNN.json          the whole stream and the base's own puzzles, after so many stages
     rows/NNNN.safetensors       the rows that a stage learned
     shared/NNNN.safetensors     shared weights after the newest stage, where the method moves any
     model/                      the model in the end, where the method keeps one
     result.json                 the summary
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from charm.adaptation.drift import changed_values, distance, snapshot
from charm.adaptation.loop import (
    Adaptation,
    Recipe,
    Scope,
    private_rows,
    private_tables,
    shared_parameters,
    updated_parameters,
)
from charm.adaptation.methods import Base, method_named
from charm.adaptation.results import summarize
from charm.adaptation.streams import left_out, load_stream
from charm.config import to_json
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.ballots import ballots_of
from charm.evaluation.predict import Request, predict
from charm.evaluation.protocols import protocol_named
from charm.evaluation.ranking import rank
from charm.evaluation.scoring import AnswerKey, Scores, score
from charm.files import check_files, fingerprint, locked, read_sealed, sweep, write_atomically, write_sealed
from charm.model import CharmModel
from charm.runs.checkpoint import newest_checkpoint, read_tensors, storable
from charm.tasks import keyed
from charm.tasks.dataset import (
    DataConfig,
    Dataset,
    TaskSet,
    answer_key,
    answers_of,
    assemble,
    load_task_set,
    load_tasks,
)
from charm.tasks.task import Task
from charm.training.config import read_config


@dataclass(frozen=True)
class StreamOptions:
    """What is learned, how, and how it is measured. The defaults are the paper's."""

    stream: str
    """arc2-training, arc2-evaluation, a source, a file or a folder of tasks."""
    method: str = "memory-only"
    scope: Scope | None = None
    recipe: Recipe = field(default_factory=Recipe)
    tasks: int = 0
    """Only the first so many tasks of the stream; 0 is all."""
    views: int = 0
    """Views of each task that are learned; 0 is as many as the base had."""
    evaluate_views: int = 128
    """Views that vote on tasks of the stream."""
    base_views: int = 64
    """Views that vote on the base's own puzzles."""
    base_tasks: int = 60
    """How many of the base's own puzzles tell whether it forgets."""
    recheck_every: int = 15
    """Stages between evaluations of the whole stream and of the base's own puzzles."""
    data: Path | None = None
    """Where downloaded and generated data lie; as in training if not given."""

    def __post_init__(self) -> None:
        for name in ("evaluate_views", "base_views", "base_tasks", "recheck_every"):
            if getattr(self, name) < 1:
                raise CharmError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.tasks < 0 or self.views < 0:
            raise CharmError("the number of tasks or views must not be negative; 0 is all of them")
        if self.recipe.steps < 1:
            raise CharmError("a stage needs at least 1 update")
        method_named(self.method, self.scope)


Progressed = Callable[[int, int, str], None]


def task_data(config: DataConfig, views: int) -> DataConfig:
    """For tasks in memory, to be learned from their demonstrations: views are drawn as the base's were."""
    return replace(
        config,
        train=(),
        evaluate=(),
        auxiliary=(),
        synthetic=(),
        tasks=(),
        views=views,
        evaluate_repeats=1,
    )


def score_votes(
    model: CharmModel, data: Dataset, answers: AnswerKey, views: int, place: Place, batch: int
) -> Scores:
    """The model's votes on all questions of the data, ranked and scored; nothing is kept on disk."""
    loops = (model.config.reasoner.refinement_steps,)
    votes = predict(Request(model, data, loops, views, batch), place)
    ballots = ballots_of(votes, replace(protocol_named("continual"), loops=loops))
    return score(rank(ballots, data.questions), answers)


def run_stream(
    run: Path,
    out: Path,
    options: StreamOptions,
    place: Place,
    say: Callable[[str], None] = print,
    advance: Progressed = lambda done, total, text: None,
) -> dict[str, Any]:
    """Learn a stream from a trained base and return the summary; started again, it goes on where it stopped."""
    if place.world > 1:
        raise CharmError(
            "a stream is learned by one process; run several methods or seeds side by side instead"
        )
    stream = StreamRun(run, out, options, place, say, advance)
    with locked(out, "stream"):
        sweep(out)
        stream.go()
    return summarize(out)


class StreamRun:
    """A stream run in progress. `stage` counts finished stages."""

    def __init__(
        self,
        run: Path,
        out: Path,
        options: StreamOptions,
        place: Place,
        say: Callable[[str], None],
        advance: Progressed,
    ) -> None:
        self.out, self.options, self.place, self.say, self.advance = out, options, place, say, advance
        self.method, self.scope = method_named(options.method, options.scope)
        config = read_config(run)
        self.config = replace(config, data=replace(config.data, data=options.data or config.data.data))
        checkpoint = newest_checkpoint(run)
        self.model = CharmModel.from_pretrained(checkpoint, place.device)
        self.model.require_canvas()
        known = self.model.instances
        self.stream = load_stream(
            options.stream, options.recipe.seed, known, options.tasks, self.config.data.data
        )
        views = options.views or self.config.data.views
        self._open(checkpoint, views)
        # All rows of the stream are there from the start, at zero: a task not learned yet can be asked, too.
        self.data_config = task_data(self.config.data, views)
        instances = known.copy()
        self.stream_data = assemble(TaskSet(evaluate=self.stream.tasks), self.data_config, instances)
        self.stream_answers = answers_of(self.stream.tasks)
        self.model.grow(instances)
        base_config = _base_questions(self.config.data, options.base_tasks)
        self.base_data, self.base_answers = self._load(base_config), answer_key(base_config)
        self.shared = shared_parameters(self.model, self.scope)
        self.base = {name: parameter.detach().clone() for name, parameter in self.shared.items()}
        base = Base(self.model, self.config, lambda: self._load(self.config.data), place)
        make = self.method.anchor
        self.anchor = make(base, self.scope, options.recipe.batch) if make else None
        self.rehearsal = base.pretraining() if self.method.rehearses else None
        self.joint = self._adaptation(self.stream_data, 0) if self.method.joint else None
        self.stage = self._restore()
        self.before = snapshot(self.model)  # as the last stage left everything

    def go(self) -> None:
        """Make the stages that are missing, and the rechecks that are due."""
        ids = self.stream.ids
        if self.stage:
            self.say(f"goes on after {self.stage} of {len(ids)} stages")
        while True:
            if self._due() and not _json(self.out / "rechecks", self.stage).is_file():
                self._recheck()
            if self.stage == len(ids):
                break
            self._stage(self.stream.tasks[self.stage])
        if not self.method.restores and not (self.out / "model").is_dir():
            temporary = self.out / "model.tmp"
            shutil.rmtree(temporary, ignore_errors=True)
            self.model.save_pretrained(temporary)
            os.replace(temporary, self.out / "model")
        write_sealed(self.out / "result.json", summarize(self.out))

    def _stage(self, task: Task) -> None:
        task_id, number, recipe = task.id, self.stage + 1, self.options.recipe
        began = time.monotonic()
        learned = self.stream.ids if self.joint else (task_id,)
        data = self.stream_data if self.joint else self._assemble(TaskSet(evaluate=(task,)), self.data_config)
        adaptation = self.joint or self._adaptation(data, keyed.key_of(task_id))
        for done in range(recipe.steps):
            adaptation.update()
            if done % 10 == 9:
                self._tell(done + 1, f"stage {number}, {task_id}")
        loss, exact = adaptation.progress()
        if not self.joint:
            adaptation.close()
        if not math.isfinite(loss):
            raise CharmError(
                f"stage {number}, task {task_id}: the loss is {loss}; earlier stages are unharmed"
            )
        scores = None if self.joint else self._score(data, answers_of([task]), self.options.evaluate_views)
        changed = self._changed(learned, f"stage {number}, task {task_id}")
        private, shared = updated_parameters(self.model, self.scope, task_id)
        record: dict[str, Any] = {
            "stage": number,
            "task": task_id,
            "updates": recipe.steps,
            "token_loss": loss,
            "exact_accuracy": exact,
            "private_parameters": private,
            "shared_parameters": shared,
            "views": len(self.model.instances.rows(task_id)),
            "changed_values": changed,
            "distance": distance(self.base, self.shared),
        }
        if scores is not None:
            record |= {"pass@1": scores.metrics.get("pass@1"), "pass@2": scores.metrics.get("pass@2")}
        record["files"] = self._save(number, learned)
        self.restore_base()
        self.before = snapshot(self.model)
        record["seconds"] = round(time.monotonic() - began, 3)
        write_sealed(_json(self.out / "stages", number), record)  # from here on the stage counts
        self.stage = number
        for old in (self.out / "shared").glob("*.safetensors"):
            if old != _tensors(self.out / "shared", number):
                old.unlink()
        answered = "" if record.get("pass@2") is None else f", pass@2 {record['pass@2']:.0%}"
        self.say(f"stage {number}, {task_id}: loss {loss:.3f}{answered}")

    def _changed(self, learned: tuple[str, ...], when: str) -> int:
        """How many shared values differ from what the last stage left; if anything else does, that is an error."""
        drifted = changed_values(self.model, self.before, private_rows(self.model, learned))
        for name, count in drifted.items():
            if name not in self.shared:
                raise CharmError(f"{when}: {count} values of {name} changed that must not")
        return sum(drifted.values())

    def restore_base(self) -> None:
        """For the oracle: every shared weight as it was before the stream."""
        if self.method.restores:
            with torch.no_grad():
                for name, parameter in self.shared.items():
                    parameter.copy_(self.base[name])

    def _recheck(self) -> None:
        self._tell(0, f"recheck after {self.stage} stages")
        stream = self._score(self.stream_data, self.stream_answers, self.options.evaluate_views)
        base = self._score(self.base_data, self.base_answers, self.options.base_views)
        self._changed((), f"recheck after {self.stage} stages")  # to ask must not change a thing
        learned = set(self.stream.ids if self.joint else self.stream.ids[: self.stage])
        record = {
            "stage": self.stage,
            "stream": stream.metrics,
            "base": base.metrics,
            "solved": [task.task_id for task in stream.tasks if task.outcome == "solved"],
            "solved_of_learned": [
                task.task_id for task in stream.tasks if task.outcome == "solved" and task.task_id in learned
            ],
        }
        write_sealed(_json(self.out / "rechecks", self.stage), record)
        shares = [f"{scores.metrics['pass@2']:.2%}" if scores.metrics else "-" for scores in (stream, base)]
        self.say(
            f"after {self.stage} stages: pass@2 {shares[0]} on the stream, {shares[1]} on the base's puzzles"
        )

    def _due(self) -> bool:
        """At the start, every so many stages, and at the end; the oracle keeps no model that could be asked again."""
        if self.method.restores:
            return self.stage == 0
        return self._is_due(self.stage)

    def _is_due(self, stage: int) -> bool:
        return stage % self.options.recheck_every == 0 or stage == len(self.stream.ids)

    def _score(self, data: Dataset, answers: AnswerKey, views: int) -> Scores:
        return score_votes(self.model, data, answers, views, self.place, 4 * self.options.recipe.batch)

    def _adaptation(self, data: Dataset, seed: int) -> Adaptation:
        """Seeded by the task and not by its place in the stream, so that equal starts give equal ends."""
        return Adaptation(
            self.model, data, self.options.recipe, self.scope, self.place, self.anchor, self.rehearsal, seed
        )

    def _load(self, config: DataConfig) -> Dataset:
        return self._assemble(load_task_set(config), config)

    def _assemble(self, tasks: TaskSet, config: DataConfig) -> Dataset:
        """Data whose rows the model has already."""
        rows = len(self.model.instances)
        data = assemble(tasks, config, self.model.instances)
        if len(data.instances) != rows:
            raise CharmError(f"{self.out}: the data of the base run has changed: it has views without a row")
        return data

    def _tell(self, done: int, text: str) -> None:
        steps = self.options.recipe.steps
        self.advance(self.stage * steps + done, len(self.stream.ids) * steps, text)

    def _open(self, checkpoint: Path, views: int) -> None:
        """Write down what this run is; refuse a folder that holds another one."""
        with (checkpoint / "model.safetensors").open("rb") as file:
            base = hashlib.file_digest(file, "sha256").hexdigest()
        settings = {
            "base": {"sha256": base, "model": to_json(self.model.config)},
            "options": {**to_json(self.options), "scope": self.scope, "views": views, "data": None},
            "order": list(self.stream.ids),
            "skipped": self.stream.skipped,
            "tasks_sha256": hashlib.sha256(self.stream.text().encode()).hexdigest(),
        }
        path = self.out / "adapt.json"
        if path.is_file():
            before = {
                "tasks_sha256": settings["tasks_sha256"],
                **read_sealed(path),
            }  # earlier versions had none
            if before != json.loads(json.dumps(settings)):
                raise CharmError(
                    f"{self.out} holds a run with other settings, base or tasks; use another folder"
                )
        elif any((self.out / "stages").glob("*.json")):
            raise CharmError(f"{path} is missing: the stages beside it may belong to another run")
        else:
            write_sealed(path, settings)
        self.stream.save(self.out / "stream.json")  # again each time: a damaged one would change the tasks
        for line in left_out(self.stream.skipped):
            self.say(line)

    def _save(self, number: int, learned: tuple[str, ...]) -> dict[str, Any]:
        """Write what sets the model apart from the base: rows learned in this stage, and shared weights.

        Returns the fingerprints of the files.
        """
        if self.method.restores:
            return {}
        own = private_rows(self.model, learned)
        rows = {name: table.weight[own[name]] for name, table in private_tables(self.model).items()}
        shared: dict[str, Tensor] = dict(self.shared)
        if self.joint:  # all rows move in every stage, and the loop goes on
            shared |= rows | {f"loop/{name}": tensor for name, tensor in self.joint.state().items()}
        else:
            _write(_tensors(self.out / "rows", number), rows)
        if shared:
            _write(_tensors(self.out / "shared", number), shared)
        written = [] if self.joint else ["rows"]
        names = [str(_tensors(Path(part), number)) for part in (*written, *(["shared"] if shared else []))]
        return {name: fingerprint(self.out / name) for name in names}

    @torch.no_grad()
    def _restore(self) -> int:
        """Bring the model to where the newest finished stage left it; returns that stage."""
        stages = 0
        while _json(self.out / "stages", stages + 1).is_file():
            stages += 1
        self._check_rechecks(stages)
        for number in range(1, stages + 1):
            listed = read_sealed(_json(self.out / "stages", number)).get("files", {})
            # Shared weights are kept of the newest stage alone.
            check_files(self.out, listed, [n for n in listed if number == stages or n.startswith("rows")])
        if self.method.restores or not stages:
            return stages
        if not self.joint:
            for number, task_id in enumerate(self.stream.ids[:stages], start=1):
                self._put_rows((task_id,), read_tensors(_tensors(self.out / "rows", number)))
        if self.shared:
            tensors = read_tensors(_tensors(self.out / "shared", stages))
            for name, parameter in self.shared.items():
                parameter.copy_(tensors[name])
            if self.joint:
                self._put_rows(self.stream.ids, tensors)
                self.joint.restore({n[5:]: value for n, value in tensors.items() if n.startswith("loop/")})
        return stages

    def _check_rechecks(self, stages: int) -> None:
        """Refuse to go on without an earlier recheck: the model that was asked then is gone."""
        due = [n for n in range(stages) if n == 0 or (not self.method.restores and self._is_due(n))]
        for number in due:
            if not _json(self.out / "rechecks", number).is_file():
                raise CharmError(
                    f"{_json(self.out / 'rechecks', number)} is missing and cannot be made again, since the model has "
                    f"learned more tasks since; restore the file or start the stream again in another folder"
                )

    def _put_rows(self, puzzles: tuple[str, ...], tensors: dict[str, Tensor]) -> None:
        own = private_rows(self.model, puzzles)
        for name, table in private_tables(self.model).items():
            table.weight[own[name]] = tensors[name].to(table.weight.device)


def _base_questions(config: DataConfig, count: int) -> DataConfig:
    """A fixed choice of the puzzles that the base was evaluated on."""
    asked = replace(config, train=(), auxiliary=(), synthetic=(), tasks=())
    ids = sorted(
        task.id for task in load_tasks(asked).evaluate if not config.tasks or task.id in config.tasks
    )
    if not ids:
        raise CharmError("the base run evaluated no puzzle, so nothing tells whether it forgets")
    order = np.random.Generator(np.random.Philox(keyed.key_of("base puzzles"))).permutation(len(ids))
    chosen = tuple(ids[number] for number in order[:count].tolist())
    return replace(asked, tasks=chosen)


def _json(folder: Path, number: int) -> Path:
    return folder / f"{number:04d}.json"


def _tensors(folder: Path, number: int) -> Path:
    return folder / f"{number:04d}.safetensors"


def _write(path: Path, tensors: dict[str, Tensor]) -> None:
    write_atomically(path, save(storable(tensors)))
