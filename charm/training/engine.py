"""One engine for every domain: the loop, signals, progress, metrics, checkpoints, resume, the evaluation schedule.

What is learned is a job. It makes one update, saves and restores itself and says how good it is; the engine decides
when. `charm train NAME` makes the job of NAME's domain and runs it here.
"""

import atexit
import importlib
import json
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from charm.config import to_json
from charm.devices import Place
from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.files import Terminated
from charm.paths import keep_compiled_code
from charm.progress import Bar, bar
from charm.runs import checkpoint
from charm.runs.config import EngineConfig
from charm.runs.folder import check_run, occupy, run_name
from charm.runs.metrics import Exam, LogEntry, forget_later_lines, has_evaluation, write_line
from charm.signals import check_every, stop_on_signal


class Job(Protocol):
    """What is learned. A domain gives the engine one of these; every process has its own."""

    manifest: Mapping[str, Any]  # the record of the training data, as written to data.json
    work: tuple[int, str]  # how much an update handles over all processes, and the word for it: (768, "samples")

    def check(self, out: Path) -> None:
        """Refuse to resume in this run folder if the training data has changed."""
        return

    def forget(self, out: Path, step: int) -> bool:
        """Remove what the job wrote into the run folder after this step, which is made again; whether there was any."""
        return False

    def begin(self, out: Path, step: int) -> None:
        """Get ready for the first update; `step` updates have been made by earlier attempts."""
        return

    def update(self, step: int) -> dict[str, Tensor]:
        """Update all weights once; returns measurements: a "loss", and everything `line` expects."""
        ...

    def line(self, step: int, means: dict[str, float]) -> LogEntry:
        """Return what to write, given the means of what `update` returned since the last line."""
        return LogEntry(means, f"loss {means['loss']:.3f}")

    def evaluate(self, exam: Exam) -> LogEntry | None:
        """Score the current model, for the main process; None if it had to stop before the end."""
        ...

    def save(self, folder: Path) -> None:
        """Write everything `restore` needs; each process writes its own files, or the main one writes for all."""
        ...

    def restore(self, folder: Path, step: int) -> None:
        """Bring everything to where `save` found it."""
        ...

    def close(self) -> None:
        """Clean up after the last update, or when something went wrong."""
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

    def run(self) -> None:
        """Train to the end; once `stopped` is not empty, make a checkpoint and return."""
        config, every = self.config, check_every(self.place)
        self.job.begin(self.out, self.step)
        with self.logs.progress(self.step, config.steps):
            # A stop may have come between a checkpoint and the end of its evaluation.
            due = config.evaluates_at(self.step) and not self.evaluated()
            asked = due and not self.evaluate()
            while self.step < config.steps and not asked:
                self.advance()
                asked = self.step % every == 0 and self.place.any(bool(self.stopped))
                saved = config.saves_at(self.step) or asked
                if saved:
                    self.save()
                if config.evaluates_at(self.step) and not asked:
                    asked = not self.evaluate()
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
        """Make one update, and write a line of metrics where one is due."""
        self.logs.add(self.job.update(self.step))
        self.step += 1
        if self.config.logs_at(self.step):
            means = self.logs.means()
            if not math.isfinite(loss := means["loss"]):
                hint = "A lower learning rate or a longer warm-up may help"
                raise CharmError(f"step {self.step}: the loss is {loss}; the last checkpoint is intact. {hint}")
            self.logs.write(self.step, *self.job.line(self.step, means), *self.job.work)

    def evaluated(self) -> bool:
        """Return whether the scores of this step are among the metrics."""
        return self.place.any(self.place.is_main and has_evaluation(self.out, self.step))

    def evaluate(self) -> bool:
        """Write the scores of this step to the metrics; return False if a signal came first."""
        exam = Exam(self.out, self.name, self.step, self.logs.report, lambda: bool(self.stopped))
        entry = self.job.evaluate(exam)
        if entry is not None:
            self.logs.evaluation(self.step, *entry)
        return entry is not None

    def save(self) -> None:
        """Write a checkpoint of everything, by all processes together."""
        record = {"step": self.step, "run": self.name, "metrics": self.logs.state(), "world": self.place.world}
        if not self.config.saves_at(self.step):
            record["stop"] = True
        with checkpoint.new_checkpoint(self.out, self.step, self.place, record) as folder:
            self.job.save(folder)
        if self.place.is_main:
            checkpoint.prune(self.out, self.config.keep_checkpoints, self.step)
        self.place.barrier()

    def restore(self) -> bool:
        """Resume from the newest intact checkpoint; False if there is none."""
        found = checkpoint.last_good(self.out, self.say)
        if found is None:
            return False
        self.step, record = found
        self.job.restore(checkpoint.folder_of(self.out, self.step), self.step)
        with charm_errors(f"{self.out}: the record of step {self.step} is damaged", *ODD_VALUES):
            self.logs.restore(record["metrics"])
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
            self.say(f"removed metrics, votes and evaluations of steps after {self.step}; they are made again")


def train(
    config: EngineConfig,
    make: Callable[[], J],
    out: Path,
    place: Place,
    resume: bool = False,
    say: Callable[[str], None] = print,
) -> Engine[J]:
    """Train in the folder `out`; with `resume`, continue from the newest intact checkpoint there.

    `make` makes the job, once it is clear that the folder takes this run. SIGTERM and SIGINT ask for a checkpoint and a
    clean exit.
    """
    check_run(out, config, resume)
    job = make()
    engine = Engine(job, config, out, place, say)
    if resume:
        job.check(out)
    with occupy(out, place, config, job.manifest):
        if resume:
            if not engine.restore() and (lost := checkpoint.steps_of(out)):  # not to begin again at step 0 unasked
                raise CharmError(
                    f"{out}: none of its {len(lost)} checkpoints is whole; restore one from a backup, or begin again "
                    f"at step 0 with --restart, which erases metrics, votes and evaluations"
                )
            say(f"resumed at step {engine.step}" if engine.step else "no checkpoint yet: starting at step 0")
        if place.is_main:
            engine.forget_later()
            if engine.step:  # a kill may have come between the last checkpoint and this
                checkpoint.prune(out, config.keep_checkpoints, engine.step)
        try:
            with stop_on_signal(say) as engine.stopped:
                engine.run()
        finally:
            job.close()
    return engine


def compiles(
    network: Any, attempt: Callable[[], object], wanted: str, place: Place, say: Callable[[str], None]
) -> bool:
    """Compile the parts of a network if that is wanted ("auto": on CUDA), and try them; return whether that worked.

    A failure is reported, or raised if "on".
    """
    if wanted == "off" or (wanted == "auto" and place.device.type != "cuda"):
        return False
    keep_compiled_code()
    try:
        network.compile_parts()
        attempt()
    except Exception as error:
        network.uncompile()
        if wanted == "on":
            raise CharmError(f"torch.compile failed: {error}") from error
        torch._dynamo.reset()
        say(f"torch.compile failed ({type(error).__name__}); running the model uncompiled")
        return False
    return True


class Logs:
    """Lines of metrics.jsonl, a progress line with an ETA, and other places when asked for.

    Metrics are added up on the device between lines, so that logging never waits for it.
    """

    def __init__(self, out: Path, config: EngineConfig, place: Place) -> None:
        self.out, self.config, self.place, self.enabled = out, config, place, place.is_main
        self._names: list[str] = []
        self._sums: Tensor | None = None  # one for each name
        self._count = 0
        self._since, self._since_step = time.perf_counter(), 0
        self._bar: Bar | None = None
        self._others = _other_writers(out, config) if self.enabled else []

    def add(self, metrics: dict[str, Tensor]) -> None:
        values = torch.stack([value.detach() for value in metrics.values()]).to(self.place.sum_dtype)
        self._names, self._sums = list(metrics), values if self._sums is None else self._sums + values
        self._count += 1

    def means(self) -> dict[str, float]:
        """Return the means since the last line, over all processes, and start the next line."""
        means = (self._over_processes() / self._count).tolist()
        self._sums, self._count = None, 0
        return dict(zip(self._names, means, strict=True))

    def write(self, step: int, values: Mapping[str, float], text: str, batch: int, unit: str) -> None:
        """Write a line of metrics, with the speed in `unit`s per second at `batch` per update."""
        now = time.perf_counter()
        rate = (step - self._since_step) * batch / max(now - self._since, 1e-9)
        self._since, self._since_step = now, step
        if not self.enabled:
            return
        self._write(step, {**values, f"{unit}_per_second": round(rate, 1)})
        if self._bar is not None:
            self._bar.update(step, text=f"{text}  {rate:,.0f} {unit}/s")

    def report(self, text: str) -> None:
        """Show a status text instead of the last metrics."""
        if self._bar is not None:
            self._bar.update(text=text)

    def evaluation(self, step: int, scores: Mapping[str, float], text: str) -> None:
        """Write the headline of an evaluation to the metrics; its time does not count as training time."""
        if self.enabled:
            self._write(step, {f"evaluation/{name}": value for name, value in scores.items()})
        if self._bar is not None:
            self._bar.say(f"step {step}: {text}")
        self._since, self._since_step = time.perf_counter(), step

    def _write(self, step: int, values: dict[str, float]) -> None:
        write_line(self.out, step, values)
        for write in self._others:
            write(step, values)

    @contextmanager
    def progress(self, step: int, steps: int) -> Iterator[None]:
        """Show a live line while the block runs."""
        self._since, self._since_step = time.perf_counter(), step
        # A run that has nothing left to do leaves no line behind.
        with bar(total=steps, done=step, stays=step < steps) if self.enabled else nullcontext() as self._bar:
            yield
        self._bar = None

    def state(self) -> dict[str, Any]:
        """Return the unfinished line, for a checkpoint; all processes must ask together."""
        sums = [] if self._sums is None else self._over_processes().tolist()
        return {"count": self._count, "sums": dict(zip(self._names, sums, strict=False))}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue an unfinished line."""
        self._count, sums = state["count"], state["sums"]
        values = torch.tensor([*sums.values()], dtype=self.place.sum_dtype, device=self.place.device)
        self._names, self._sums = list(sums), values if sums and self._count else None

    def _over_processes(self) -> Tensor:
        """Return the sums, a mean over all processes."""
        assert self._sums is not None
        if self.place.world == 1:
            return self._sums
        sums = self._sums.clone()
        dist.all_reduce(sums)
        return sums / self.place.world


def _other_writers(out: Path, config: EngineConfig) -> list[Any]:
    """Return functions that write metrics to what `log_to` names."""
    writers: list[Any] = []
    for wanted in config.log_to:
        name, _, project = wanted.partition(":")
        with charm_errors(f"{name} is not installed: pip install 'charm-arc[{name}]'", ImportError):
            library = importlib.import_module("torch.utils.tensorboard" if name == "tensorboard" else name)
        if name == "tensorboard":
            add = library.SummaryWriter(str(out / "tensorboard")).add_scalar
            writers.append(lambda step, values, add=add: [add(name, value, step) for name, value in values.items()])
        else:
            more = {"dir": str(out)} if name == "wandb" else {}
            run = library.init(project=project, name=out.name, config=to_json(config), **more)
            atexit.register(run.finish)
            writers.append(lambda step, values, run=run: run.log(values, step=step))
    return writers
