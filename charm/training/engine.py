"""One engine for every domain: the loop, signals, progress, metrics, checkpoints, resume, the evaluation schedule.

What is learned is a job. It makes one update, saves and restores itself and says how good it is; the engine decides
when. `charm train NAME` makes the job of NAME's domain and runs it here.
"""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor

from charm.devices import Place
from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.files import Terminated
from charm.runs import checkpoint
from charm.runs.config import EngineConfig
from charm.runs.folder import check_run, occupied, require_checkpoint, run_name
from charm.runs.metrics import Exam, LogEntry, forget_later_lines, has_evaluation
from charm.signals import check_every, stop_on_signal
from charm.training.logs import Logs


class Job(Protocol):
    """What is learned. A domain gives the engine one of these; every process has its own."""

    manifest: Mapping[str, Any]
    """The record of the training data, as written to data.json."""
    work: tuple[int, str]
    """How much an update handles over all processes, and the word for it: (768, "samples")."""

    def check(self, out: Path) -> None:
        """Refuse to resume in this run folder if the training data has changed."""
        return

    def forget(self, out: Path, step: int) -> bool:
        """Remove what the job wrote into the run folder after this step, which is made again; whether there was any."""
        return False

    def begin(self, out: Path, step: int) -> None:
        """Called once before the first update; `step` updates have been made by earlier attempts."""
        return

    def update(self, step: int) -> dict[str, Tensor]:
        """Update all weights once; returns measurements: a "loss", and everything `line` expects."""
        ...

    def line(self, step: int, means: dict[str, float]) -> LogEntry:
        """What to write, given the means of what `update` returned since the last line."""
        return LogEntry(means, f"loss {means['loss']:.3f}")

    def evaluate(self, exam: Exam) -> LogEntry | None:
        """Scores of the model as it stands, which the main process needs; None if it had to stop before the end."""
        ...

    def save(self, folder: Path) -> None:
        """Write everything `restore` needs; each process writes its own files, or the main one writes for all."""
        ...

    def restore(self, folder: Path, step: int) -> None:
        """Bring everything to where `save` found it."""
        ...

    def close(self) -> None:
        """Called once after the last update, or when something went wrong."""
        return


J = TypeVar("J", bound=Job)


class Engine(Generic[J]):
    """A run in progress. `step` counts updates."""

    def __init__(
        self, job: J, config: EngineConfig, out: Path, place: Place, say: Callable[[str], None] = print
    ) -> None:
        self.job, self.config, self.out, self.place, self.say = job, config, out, place, say
        self.step = 0
        self.finished = False  # with the last update and its evaluation
        self.stopped: Sequence[int] = ()  # signals that asked for a stop
        self.name = run_name(config, str(job.manifest.get("pairs_sha256") or json.dumps(job.manifest)))
        self.logs = Logs(out, config, place)

    def run(self, stopped: Sequence[int] = ()) -> None:
        """Train to the end; once `stopped` is not empty, make a checkpoint and return."""
        config, every = self.config, check_every(self.place)
        self.job.begin(self.out, self.step)
        with self.logs.progress(self.step, config.steps):
            # A stop may have come between a checkpoint and the end of its evaluation.
            due = config.evaluates_at(self.step) and not self.evaluated()
            asked = due and not self.evaluate(stopped)
            while self.step < config.steps and not asked:
                self.advance()
                asked = self.step % every == 0 and self.place.any(bool(stopped))
                saved = config.saves_at(self.step) or asked
                if saved:
                    self.save()
                if config.evaluates_at(self.step) and not asked:
                    asked = not self.evaluate(stopped)
                    if asked and not saved:
                        self.save()
            self.finished = not asked or (self.step >= config.steps and not config.evaluates_at(self.step))
            if not self.finished:
                self.say(f"stopped at step {self.step}; {config.resume_hint}")

    @property
    def interrupt(self) -> KeyboardInterrupt:
        """The exception for a run that was stopped: Ctrl-C, or SIGTERM, also if only another process had a signal."""
        return KeyboardInterrupt() if signal.SIGINT in self.stopped else Terminated()

    def advance(self) -> None:
        """One update, and a line of metrics where one is due."""
        self.logs.add(self.job.update(self.step))
        self.step += 1
        if not self.config.logs_at(self.step):
            return
        means = self.logs.means()
        if not math.isfinite(means["loss"]):
            raise CharmError(
                f"step {self.step}: the loss is {means['loss']}; the last checkpoint is intact. "
                f"A lower learning rate or a longer warm-up may help"
            )
        self.logs.write(self.step, *self.job.line(self.step, means), *self.job.work)

    def evaluated(self) -> bool:
        """Whether the scores of this step are among the metrics."""
        return self.place.any(self.place.is_main and has_evaluation(self.out, self.step))

    def evaluate(self, stopped: Sequence[int] = ()) -> bool:
        """Write the scores of this step to the metrics; False if a signal came first."""
        exam = Exam(self.out, self.name, self.step, self.logs.report, lambda: bool(stopped))
        entry = self.job.evaluate(exam)
        if entry is None:
            return False
        self.logs.evaluation(self.step, *entry)
        return True

    def save(self) -> None:
        """A checkpoint of everything, by all processes together."""
        writer = checkpoint.CheckpointWriter(self.out, self.step, self.place.is_main)
        metrics = self.logs.state()
        self.place.barrier()
        with checkpoint.checkpoint_errors(writer):
            self.job.save(writer.path)
        self.place.barrier()
        if self.place.is_main:
            record = {"step": self.step, "run": self.name, "metrics": metrics, "world": self.place.world}
            if not self.config.saves_at(self.step):
                record["stop"] = True
            with checkpoint.checkpoint_errors(writer):
                writer.commit(record)
            checkpoint.prune(self.out, self.config.keep_checkpoints, self.step)
        self.place.barrier()

    def restore(self) -> bool:
        """Resume from the newest intact checkpoint; False if there is none."""
        found = checkpoint.last_good(self.out, self.say)
        if found is None:
            return False
        step, record = found
        self.job.restore(checkpoint.folder_of(self.out, step), step)
        with charm_errors(f"{self.out}: the record of step {step} is damaged", *ODD_VALUES):
            self.logs.restore(record["metrics"])
        self.step = step
        self.name = str(record.get("run") or self.name)
        return True

    def forget_later(self) -> None:
        """Remove what a run resumed at this step makes again, and report it."""
        removed = [forget_later_lines(self.out, self.step), self.job.forget(self.out, self.step)]
        for path in (self.out / "eval").glob("step_*.json"):
            number = path.name.removeprefix("step_").partition(".")[0]
            if number.isdecimal() and int(number) > self.step:
                path.unlink()
                removed.append(True)
        if any(removed):
            self.say(
                f"removed metrics, votes and evaluations of steps after {self.step}; they are made again"
            )


def train(
    config: EngineConfig,
    make: Callable[[], J],
    out: Path,
    place: Place,
    resume: bool = False,
    say: Callable[[str], None] = print,
) -> Engine[J]:
    """A whole run in the folder `out`; with `resume` it goes on from the newest whole checkpoint there.

    `make` makes the job, once it is clear that the folder takes this run. SIGTERM and SIGINT ask for a checkpoint and a
    clean exit.
    """
    check_run(out, config, resume)
    job = make()
    engine = Engine(job, config, out, place, say)
    if resume:
        job.check(out)
    with occupied(out, place, config, job.manifest):
        if resume:
            require_checkpoint(out, engine.restore())
            say(f"resumed at step {engine.step}" if engine.step else "no checkpoint yet: starting at step 0")
        if place.is_main:
            engine.forget_later()
            if engine.step:  # a kill may have come between the last checkpoint and this
                checkpoint.prune(out, config.keep_checkpoints, engine.step)
        try:
            with stop_on_signal(say) as engine.stopped:
                engine.run(engine.stopped)
        finally:
            job.close()
    return engine


def compiles(attempt: Callable[[], None], wanted: str, place: Place, say: Callable[[str], None]) -> bool:
    """Whether compiling is wanted ("auto": on CUDA) and succeeds; a failure is reported, or raised if "on"."""
    if wanted == "off" or (wanted == "auto" and place.device.type != "cuda"):
        return False
    try:
        attempt()
    except Exception as error:
        if wanted == "on":
            raise CharmError(f"torch.compile failed: {error}") from error
        torch._dynamo.reset()
        say(f"torch.compile failed ({type(error).__name__}); running the model uncompiled")
        return False
    return True
