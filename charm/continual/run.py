"""A stream run: stage after stage, each measured and written at once. The engine of `charm.training` drives it.

OUT/ config.json                 the settings
     data.json                   the base, the order of the stream, and what was left out of it
     stream.json                 the tasks, in order
     metrics.jsonl               a line every few updates, and the headlines of rechecks
     stages/NNNN.json            a finished stage: immediate accuracy, loss, parameters moved, drift
     rechecks/NNNN.json          the whole stream and the base's own puzzles, after so many stages
     rows/NNNN.safetensors       the rows that a stage learned
     checkpoints/step_N/         what resuming needs besides the rows: shared weights that moved, the stage in progress
     model/                      the model in the end, where the method keeps one
     R.json                      accuracy on every task after every stage that was asked, for all measures
     result.json                 the summary
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from charm.config import MOST_VIEWS, at_least, at_most, to_json
from charm.continual.drift import changed_values, distance, snapshot
from charm.continual.methods import FISHER_BATCHES, METHODS, Base, make_anchor, method_named, reservoir
from charm.continual.records import check_records, record_file, summarize, write_matrices
from charm.continual.streams import load_stream
from charm.devices import Place
from charm.errors import CharmError, charm_errors
from charm.evaluation.predict import Request, predict
from charm.evaluation.protocols import Ballot
from charm.evaluation.ranking import rank
from charm.evaluation.scoring import AnswerKey, Scores, score
from charm.files import fingerprint, lock_folder, read_sealed, write_atomically, write_sealed
from charm.models.model import TRAINING, CharmModel
from charm.progress import Echo
from charm.runs.checkpoint import newest_checkpoint, read_tensors, steps_of, storable, write_tensors
from charm.runs.config import EngineConfig
from charm.runs.export import write_model
from charm.runs.folder import write_result
from charm.runs.metrics import has_evaluation
from charm.runs.settings import solving_config
from charm.tasks import dataset, keyed
from charm.tasks.dataset import DataConfig, Dataset, TaskSet, task_data
from charm.tasks.reading import skipped_lines
from charm.training import adaptation as loop
from charm.training.adaptation import Adaptation, Recipe, Scope
from charm.training.engine import Exam, Job, LogEntry, train
from charm.training.forms import Form, LowRank, Units, Usage, unit_usage


@dataclass(frozen=True)
class StreamOptions(EngineConfig):
    """What is learned, how, and how it is measured. The defaults are the paper's.

    What the engine reads of it (`steps`, when to save) follows from the recipe: `run_stream` fills it in.
    """

    domain: ClassVar[str] = "stream"
    free: ClassVar[frozenset[str]] = EngineConfig.free | {"data", "steps", "seed"}  # the latter two follow
    resume_hint: ClassVar[str] = "run the same command again to continue"

    stream: str
    """arc2-training, arc2-evaluation, a source, a file or a folder of tasks."""
    method: str = "memory-only"
    scope: Scope | None = None
    recipe: Recipe = field(default_factory=Recipe)
    tasks: int = 0
    """Number of tasks, from the start of the stream; 0 for all."""
    views: int = 0
    """Views of each task that are learned; 0 is as many as the base had."""
    evaluate_views: int = 128
    """Views that vote on tasks of the stream."""
    base_views: int = 64
    """Views that vote on the base's own puzzles."""
    base_tasks: int = 60
    """Number of the base's own puzzles used to measure forgetting."""
    strength: float | None = None
    """Of the pull to the base, for l2sp and ewc; the method's own if not given."""
    buffer: int = 10
    """Earlier tasks that replay keeps."""
    rank: int = 8
    """Of the change that lora makes to each matrix."""
    units: int = 32
    """Of each feed-forward layer that sparse lets learn."""
    recheck_every: int = 15
    """Stages between evaluations of the whole stream and of the base's own puzzles."""
    log_every: int = field(default=50, kw_only=True)
    """Updates between lines of metrics.jsonl; on a GPU each line waits for the device."""
    data: Path | None = None
    """Folder of downloaded and generated data; by default as in training."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(1, self, "evaluate_views", "base_views", "base_tasks", "recheck_every")
        at_least(1, self, "buffer", "rank", "units")
        at_least(0, self, "tasks", "views", "strength")
        at_most(MOST_VIEWS, self, "views", "evaluate_views", "base_views")
        at_least(1, self.recipe, "steps", where="recipe.")
        method, _ = method_named(self.method, self.scope)
        for name in ("strength", "buffer", "rank", "units"):
            if name != method.setting and getattr(self, name) != getattr(StreamOptions, name):
                users = " and ".join(user for user, one in METHODS.items() if one.setting == name)
                raise CharmError(f"{name} is for {users}; the method {self.method} does not use it")

    def saves_at(self, step: int) -> bool:
        """Return whether a stage ends here."""
        return step % self.recipe.steps == 0

    def evaluates_at(self, step: int) -> bool:
        """Evaluate at the start, every `recheck_every` stages and at the end; the oracle keeps no model to ask."""
        if METHODS[self.method].restores:
            return step == 0
        return step % (self.recheck_every * self.recipe.steps) == 0 or step == self.steps


def score_votes(model: CharmModel, data: Dataset, answers: AnswerKey, views: int, place: Place, batch: int) -> Scores:
    """Let the model vote on all questions of the data, rank and score; nothing is kept on disk."""
    reasoner = model.config.reasoner
    votes = predict(Request(model, data, reasoner.voting_steps, views, batch), place)
    order = "likelihood" if reasoner.judges else "votes"
    return score(rank([Ballot(one) for one in votes.values()], data.questions, order), answers)


def run_stream(run: Path, out: Path, options: StreamOptions, place: Place, say: Echo = print) -> dict[str, Any]:
    """Learn a stream from a trained base and return the summary; started again, it resumes.

    SIGTERM and SIGINT ask for a checkpoint, in the middle of a stage as well; then KeyboardInterrupt is raised.
    """
    if place.world > 1:
        raise CharmError("a stream is learned by one process; run several methods or seeds side by side instead")
    base = StreamBase(run, options, place)
    updates = len(base.stream.ids) * options.recipe.steps
    scope, views = method_named(options.method, options.scope)[1], options.views or base.config.data.views
    config = replace(options, scope=scope, views=views, steps=updates, seed=options.recipe.seed)
    begun = (out / "config.json").is_file()
    if not begun and any((out / "stages").glob("*.json")):
        raise CharmError(f"{out}: config.json is missing: the stages in the folder may belong to another run")
    with charm_errors(f"{out} cannot be written", OSError):
        out.mkdir(parents=True, exist_ok=True)
    engine = train(config, lambda: StreamJob(base, out, config, place, say), out, place, begun, say)
    # The oracle has no evaluation at the end: it keeps no model to ask.
    if engine.step == updates and (engine.evaluated() or not config.evaluates_at(updates)):
        with lock_folder(out, "training run"):
            engine.job.finish()
    if not engine.finished:
        raise engine.interrupt
    return summarize(out)


class StreamBase:
    """A trained model with its configuration, and the tasks of a stream that it has never seen."""

    def __init__(self, run: Path, options: StreamOptions, place: Place) -> None:
        self.checkpoint = newest_checkpoint(run)
        self.model = CharmModel.from_pretrained(self.checkpoint, place.device)
        if self.checkpoint == run and self.model.trained_by is None:
            raise CharmError(f"{run} has no {TRAINING}: what its tasks are is not known, so none can be asked")
        config = solving_config(run, self.checkpoint, self.model.trained_by)
        self.config = replace(config, data=replace(config.data, data=options.data or config.data.data))
        for name in ("batch", "tokens", "halt_weight"):
            value, default = getattr(options.recipe, name), getattr(Recipe, name)
            if name in config.reasoner.unused and value != default:
                raise CharmError(f"a {config.reasoner.kind} does not use {name}: it must stay {default}, got {value}")
        self.stream = load_stream(
            options.stream, options.recipe.seed, self.model.instances, options.tasks, self.config.data.data
        )


class StreamJob(Job):
    """A stream as a job for the engine: `recipe.steps` updates are a stage, which learns one task.

    The last update of a stage also scores the task and writes the stage's files; the engine then makes a checkpoint. A
    checkpoint holds shared weights and, inside a stage, what the stage has learned so far. Rows that earlier stages
    learned stay in their files, so a checkpoint does not grow with the stream.
    """

    def __init__(self, base: StreamBase, out: Path, options: StreamOptions, place: Place, say: Echo) -> None:
        self.out, self.options, self.place, self.say = out, options, place, say
        self.method, self.scope = method_named(options.method, options.scope)
        self.config, self.model, self.stream = base.config, base.model, base.stream
        recipe, counts_tokens = options.recipe, "batch" in self.config.reasoner.unused
        self.work = (recipe.tokens, "tokens") if counts_tokens else (recipe.batch, "samples")
        sha256 = fingerprint(base.checkpoint / "model.safetensors")["sha256"]
        self.manifest = {"base": {"sha256": sha256, "model": to_json(self.model.config)}}
        self.manifest |= {"order": list(self.stream.ids), "skipped": self.stream.skipped}
        self.manifest["tasks_sha256"] = hashlib.sha256(self.stream.text().encode()).hexdigest()
        # All rows of the stream are there from the start, at zero: a task not learned yet can be asked, too.
        self.data_config = task_data(self.config.data, options.views)
        instances = self.model.instances.copy()
        self.stream_data = dataset.assemble(TaskSet(evaluate=self.stream.tasks), self.data_config, instances)
        self.stream_answers = dataset.answers_of(self.stream.tasks)
        self.model.grow(instances)
        base_config = _base_questions(self.config.data, options.base_tasks, self._has_instance_rows())
        self.base_data, self.base_answers = self._load(base_config), dataset.answer_key(base_config)
        self.shared = loop.shared_parameters(self.model, self.scope)
        self.base = {name: parameter.detach().clone() for name, parameter in self.shared.items()}
        before = Base(self.model, self.config, lambda: self._load(self.config.data), place)
        made = (self.method, before, self.scope, options.recipe, options.strength)
        self.anchor = make_anchor(*made) if self.method.strength else None
        self.rehearsal = before.pretraining() if self.method.rehearses else None
        self.background: Usage | None = None  # which units pretraining uses
        if self.method.form == "units":
            self.background = self._usage(before.pretraining(), FISHER_BATCHES, self.config.seed)
        self.adaptation: Adaptation | None = None  # of the stage in progress; joint learning keeps one
        self.data = self.stream_data  # what it learns
        self.before = snapshot(self.model)  # everything as the last stage left it
        self.made = 0  # updates
        self.asked: float | None = None  # pass@2 on the task of this stage before it was learned
        self.began = time.monotonic()

    def check(self, out: Path) -> None:
        found = read_sealed(out / "data.json")
        if found != json.loads(json.dumps(self.manifest)):
            raise CharmError(f"{out} holds a stream of another base or other tasks; use another folder")
        if not steps_of(out) and record_file(out, "stages", 2).is_file():
            raise CharmError(f"{out} has stages but no checkpoint; restore it, or use another folder")

    def begin(self, out: Path, step: int) -> None:
        self.stream.save(out / "stream.json")  # again each time: a damaged one would change the tasks
        for line in skipped_lines(self.stream.skipped):
            self.say(line)
        stage = record_file(self.out, "rechecks", step // self.options.recipe.steps)
        if has_evaluation(out, step) and not stage.is_file():  # the model of this step is there: ask it again
            self.evaluate(Exam(out, self.options.method, step, self.say, lambda: False))

    def forget(self, out: Path, step: int) -> bool:
        files = (path for kind in ("stages", "rechecks", "rows") for path in (out / kind).glob("*.*"))
        done = step // self.options.recipe.steps
        later = [path for path in files if path.stem.isdecimal() and int(path.stem) > done]
        for path in later:
            path.unlink()
        return bool(later)

    def update(self, step: int) -> dict[str, Tensor]:
        stage, inside = divmod(step, self.options.recipe.steps)
        if inside == 0:
            self.began = time.monotonic()
            self.asked = self._ask_next(step)
        if self.adaptation is None:
            self.adaptation = self._adaptation(stage)
        metrics = self.adaptation.update()
        self.made = step + 1
        if inside + 1 == self.options.recipe.steps:
            self._finish_stage(stage + 1, self.adaptation)
        return metrics

    def _ask_next(self, step: int) -> float | None:
        """Return pass@2 on the next task, for forward transfer, unless a recheck or a frozen model already gives it."""
        stage = step // self.options.recipe.steps
        if self.method.joint or self.method.restores or not self.shared or self.options.evaluates_at(step):
            return None
        return self._score_task(stage, self._learnable(stage)).get("pass@2")

    def line(self, step: int, means: dict[str, float]) -> LogEntry:
        number = -(-step // self.options.recipe.steps)
        text = f"stage {number} of {len(self.stream.ids)}: loss {means['loss']:.3f}"
        return LogEntry({name: means[name] for name in ("loss", "token_loss") if name in means}, text)

    def _adaptation(self, stage: int) -> Adaptation:
        """Begin a stage, seeded by the task and not by its place in the stream: equal starts give equal ends."""
        seed = 0
        if not self.method.joint:
            seed, self.data = keyed.key_of(self.stream.ids[stage]), self._learnable(stage)
        if self.method.replays:
            kept = reservoir(stage, self.options.buffer, self.options.recipe.seed)
            self.rehearsal = self._learnable(*kept) if kept else None
        form: Form = self.anchor or Form(self.shared)
        if self.method.form == "low rank":
            form = LowRank(self.shared, self.options.rank, seed)
        if self.background is not None:
            form = Units(self.shared, self._usage(self.data, 4, seed), self.background, self.options.units)
        own = (form, self.rehearsal, seed)
        return Adaptation(self.model, self.data, self.options.recipe, self.scope, self.place, *own)

    def _learnable(self, *stages: int) -> Dataset:
        """Assemble the demonstrations and questions of the tasks of these stages (from 0)."""
        return self._assemble(TaskSet(evaluate=tuple(self.stream.tasks[stage] for stage in stages)), self.data_config)

    def _usage(self, data: Dataset, batches: int, seed: int) -> Usage:
        return unit_usage(self.model, data, self.place, self.options.recipe.batch, batches, seed)

    def kept_bytes(self) -> int:
        """Count what the method keeps besides the model: copies of the base, importances, counts, examples."""
        tensors = [] if self.anchor is None else [*self.anchor.base, *(self.anchor.importance or [])]
        tensors += [] if self.background is None else self.background.counts.values()
        tensors += [] if self.rehearsal is None else [self.rehearsal.bank.cells, self.rehearsal.bank.shape]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def _tasks_learned_in(self, stage: int) -> tuple[str, ...]:
        """Return the tasks whose rows move in this stage (from 0)."""
        return self.stream.ids if self.method.joint else self.stream.ids[stage : stage + 1]

    def _finish_stage(self, number: int, adaptation: Adaptation) -> None:
        """Score the task and write what the stage learned."""
        task_id = self.stream.ids[number - 1]
        when = f"stage {number}, task {task_id}"
        loss, exact = adaptation.progress()
        learning = time.monotonic() - self.began
        if not math.isfinite(loss):
            raise CharmError(f"{when}: the loss is {loss}; earlier stages are unharmed")
        record = {"stage": number, "task": task_id, "updates": self.options.recipe.steps}
        record |= {"token_loss": loss, "exact_accuracy": exact}
        record["private_parameters"], _ = loop.updated_parameters(self.model, self.scope, task_id)
        record |= {"shared_parameters": adaptation.form.count(), "kept_bytes": self.kept_bytes()}
        record["views"] = len(self.model.instances.rows(task_id))
        answered = ""
        if not self.method.joint:
            self.close()
            scores = self._score_task(number - 1, self.data)
            record |= {name: scores.get(name) for name in ("pass@1", "pass@2")}
            answered = f", pass@2 {scores['pass@2']:.0%}" if "pass@2" in scores else ""
        if self.asked is not None:
            record["pass@2 before"] = self.asked
        record["changed_values"] = self._count_changes(self._tasks_learned_in(number - 1), when)
        record |= {"distance": distance(self.base, self.shared), "files": self._save_rows(number)}
        if self.method.restores:  # the oracle: every shared weight as it was before the stream
            with torch.no_grad():
                for name, parameter in self.shared.items():
                    parameter.copy_(self.base[name])
        self.before = snapshot(self.model)
        record |= {"learning_seconds": round(learning, 3), "seconds": round(time.monotonic() - self.began, 3)}
        write_sealed(record_file(self.out, "stages", number), record)
        self.say(f"{when}: loss {loss:.3f}{answered}")

    def _count_changes(self, learned: tuple[str, ...], when: str) -> int:
        """Count the shared values that differ from what the last stage left; it is an error if anything else does."""
        drifted = changed_values(self.model, self.before, loop.private_rows(self.model, learned))
        for name, count in drifted.items():
            if name not in self.shared:
                raise CharmError(f"{when}: {count} values of {name} changed that must not")
        return sum(drifted.values())

    def evaluate(self, exam: Exam) -> LogEntry | None:
        """Score the whole stream, tasks not learned yet included, and the base's own puzzles."""
        stage = exam.step // self.options.recipe.steps
        exam.report(f"recheck after {stage} stages")
        stream = self._score(self.stream_data, self.stream_answers, self.options.evaluate_views)
        if exam.stop():
            return None
        base = self._score(self.base_data, self.base_answers, self.options.base_views)
        self._count_changes((), f"recheck after {stage} stages")  # to ask must not change a thing
        learned = set(self.stream.ids if self.method.joint else self.stream.ids[:stage])
        solved = [task.task_id for task in stream.tasks if task.outcome == "solved"]
        metrics = {"stream": stream.metrics, "base": base.metrics}
        accuracy = {"stream": stream.accuracy(), "base": base.accuracy()}
        of_learned = [task_id for task_id in solved if task_id in learned]
        record = {"stage": stage, **metrics, "solved": solved, "solved_of_learned": of_learned, "accuracy": accuracy}
        write_sealed(record_file(self.out, "rechecks", stage), record)
        scores = {f"{of} pass@2": one["pass@2"] for of, one in metrics.items() if "pass@2" in one}
        words = [f"{one['pass@2']:.2%}" if "pass@2" in one else "-" for one in metrics.values()]
        text = f"after {stage} stages: pass@2 {words[0]} on the stream, {words[1]} on the base's puzzles"
        return LogEntry({"stages": stage, **scores}, text)

    def _score(self, data: Dataset, answers: AnswerKey, views: int) -> Scores:
        return score_votes(self.model, data, answers, views, self.place, 4 * self.options.recipe.batch)

    def _score_task(self, stage: int, data: Dataset) -> dict[str, float]:
        answers = dataset.answers_of([self.stream.tasks[stage]])
        return self._score(data, answers, self.options.evaluate_views).metrics

    def _load(self, config: DataConfig) -> Dataset:
        return self._assemble(dataset.load_task_set(config), config)

    def _assemble(self, tasks: TaskSet, config: DataConfig) -> Dataset:
        """Assemble data whose rows the model has already; views without a row are added before the stream."""
        instances = self.model.instances.copy()
        data = dataset.assemble(tasks, config, instances)
        if len(instances) != len(self.model.instances):
            if self._has_instance_rows():
                raise CharmError(f"{self.out}: the data of the base run has changed: it has views without a row")
            self.model.grow(instances)
        return data

    def _has_instance_rows(self) -> bool:
        return "memory.residual.rows.weight" in loop.private_tables(self.model)

    def _rows(self, stage: int) -> dict[str, Tensor]:
        """Return the rows that this stage (from 0) moves."""
        own = loop.private_rows(self.model, self._tasks_learned_in(stage))
        return {name: table.weight[own[name]] for name, table in loop.private_tables(self.model).items()}

    def _save_rows(self, number: int) -> dict[str, Any]:
        """Write the rows that a stage learned, which no later stage changes; returns the file's fingerprint."""
        if self.method.restores or self.method.joint:
            return {}
        path = record_file(self.out, "rows", number)
        write_atomically(path, save(storable(self._rows(number - 1))))
        return {f"rows/{path.name}": fingerprint(path)}

    def save(self, folder: Path) -> None:
        stage, inside = divmod(self.made, self.options.recipe.steps)
        keeps = self.adaptation is not None or not self.method.restores
        tensors: dict[str, Tensor] = {**self.shared} if keeps else {}
        if self.adaptation is not None:
            tensors |= self._rows(stage) | {f"loop/{name}": one for name, one in self.adaptation.state().items()}
        if inside:
            tensors |= {f"before/{name}": self.before[name] for name in self.shared}
            tensors["seconds"] = torch.tensor(time.monotonic() - self.began)
            if self.asked is not None:
                tensors["asked"] = torch.tensor(self.asked, dtype=torch.float64)
        write_tensors(folder / "stream.safetensors", tensors)

    @torch.no_grad()
    def restore(self, folder: Path, step: int) -> None:
        stage, inside = divmod(step, self.options.recipe.steps)
        rechecked = (n for n in range(stage) if self.options.evaluates_at(n * self.options.recipe.steps))
        check_records(self.out, stage, rechecked)
        tensors = read_tensors(folder / "stream.safetensors")
        if not (self.method.joint or self.method.restores):
            for number in range(stage):
                self._put_rows(number, read_tensors(record_file(self.out, "rows", number + 1)))
        for name, parameter in self.shared.items():
            if name in tensors:
                parameter.copy_(tensors[name])
        if inside or (step and self.method.joint):
            self.adaptation = self._adaptation(stage)
            self._put_rows(stage, tensors)
            self.adaptation.restore({n[5:]: value for n, value in tensors.items() if n.startswith("loop/")})
        self.before = snapshot(self.model)
        if inside:
            self.before |= {name: tensors[f"before/{name}"].to(p.device) for name, p in self.shared.items()}
            self.began = time.monotonic() - float(tensors["seconds"])
            self.asked = float(tensors["asked"]) if "asked" in tensors else None
        self.made = step

    def _put_rows(self, stage: int, tensors: dict[str, Tensor]) -> None:
        own = loop.private_rows(self.model, self._tasks_learned_in(stage))
        for name, table in loop.private_tables(self.model).items():
            table.weight[own[name]] = tensors[name].to(table.weight.device)

    def close(self) -> None:
        """Free the recorded updates on the GPU."""
        if self.adaptation is not None:
            self.adaptation.close()
        self.adaptation = None

    def finish(self) -> None:
        """Write the model in the end, where there is one, and the summary."""
        if not self.method.restores and not (self.out / "model").is_dir():
            write_model(self.model, self.out / "model", torch.float32)
        write_matrices(self.out)
        found = {**summarize(self.out), "source_sha256": self.stream.source_sha256}
        write_result(self.out / "result.json", found, self.out)


def _base_questions(config: DataConfig, count: int, evaluated: bool) -> DataConfig:
    """Make a fixed choice of the puzzles that the base was evaluated on.

    If there are none, it is one of those that the base was trained on, unless they must be `evaluated`: the views of a
    puzzle depend on whether its test outputs may be seen, and so do instance rows.
    """
    own = config.evaluate or (() if evaluated else config.train)
    asked = replace(config, train=(), evaluate=own, auxiliary=(), synthetic=(), tasks=())
    tasks = dataset.load_tasks(asked).evaluate
    ids = sorted(task.id for task in tasks if not config.tasks or task.id in config.tasks)
    if not ids:
        raise CharmError("the base run evaluated no puzzle, so forgetting cannot be measured")
    order = np.random.Generator(np.random.Philox(keyed.key_of("base puzzles"))).permutation(len(ids))
    return replace(asked, tasks=tuple(ids[number] for number in order[:count].tolist()))
