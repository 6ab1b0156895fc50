"""A run of a network with a task memory, for any tasks: its learner, log lines, evaluation and checkpoints."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from torch import Tensor

from charm.devices import Place
from charm.errors import CharmError
from charm.files import read_sealed
from charm.memory.sharding import sharded_tables, whole_tables
from charm.models.model import CharmModel
from charm.models.network import BatchSize
from charm.runs import checkpoint
from charm.runs.settings import RunConfig
from charm.tasks.dataset import Dataset
from charm.training.engine import Exam, Job, LogEntry
from charm.training.learner import Learner
from charm.training.optimizers import MovingAverage, Optimizers, lr_scale

RUNAWAY_STEPS = 200  # a halt head is judged over at least this many updates


class Examiner(Protocol):
    """Asks a model in training and scores its answers; evaluation has one (`charm.evaluation.evaluate.Voting`)."""

    def examine(self, model: CharmModel, data: Dataset, place: Place, exam: Exam) -> LogEntry | None:
        """Return the scores of the run so far, on the main process; None if it had to stop before the end."""

    def forget(self, out: Path, step: int) -> bool:
        """Remove what was written to the run folder after this step; return whether there was any."""


class ReasonerJob(Job):
    """A run of a reasoner on a dataset: ARC's tasks, cellular automata, or others in the same form."""

    def __init__(
        self,
        config: RunConfig,
        place: Place,
        data: Dataset,
        model: CharmModel,
        examiner: Examiner | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self.config, self.place, self.data, self.examiner, self.say = config, place, data, examiner, say
        self.manifest = {**data.manifest, "pairs_sha256": data.bank.sha256()}
        self.model = model.to(place.device)
        records = place.device.type == "cuda" and place.world == 1 and config.graphs
        self.optimizers = Optimizers(self.model, config.optimizer, records)
        self.average = MovingAverage(self.optimizers.dense, config.optimizer.ema)
        size = BatchSize(config.batch, config.tokens, config.accumulate, config.halt_weight)
        self.learner = Learner(
            self.model,
            self.optimizers,
            self.model.reasoner.examples(data, size, config.seed, place),
            lambda update, passed: lr_scale(update, config.steps, config.optimizer),
            config.seed,
            place,
            place.rank,
            self.average,
            records=records,
            say=say,
        )
        self.work = self.learner.examples.work
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        self.dense = {names[id(parameter)]: parameter for parameter in self.optimizers.dense}

    def check(self, out: Path) -> None:
        """Compare the hash of the pairs; a run that recorded none is believed."""
        path, own = out / "data.json", self.manifest["pairs_sha256"]
        recorded = read_sealed(path).get("pairs_sha256", own) if path.is_file() else own
        if checkpoint.steps_of(out) and recorded != own:
            raise CharmError(f"{out} was trained on different pairs: its tasks or generated pairs have changed since")

    def forget(self, out: Path, step: int) -> bool:
        return self.examiner is not None and self.examiner.forget(out, step)

    def begin(self, out: Path, step: int) -> None:
        for text in self.manifest.get("partial", ()):
            self.say(f"training on part of the data: {text}")
        self.compile()

    def compile(self) -> None:
        self.learner.compile(self.config.compile)

    def update(self, step: int) -> dict[str, Tensor]:
        self.learner.updates = step
        return self.learner.update()

    def line(self, step: int, means: dict[str, float]) -> LogEntry:
        exact = means["exact_accuracy"]
        text = f"loss {means['loss']:.3f}  exact {exact:.1%}"
        if "halted_steps" not in means:  # this network answers at once
            return LogEntry(means, text)
        # Of the examples that halted; where none did they are all still being refined.
        steps, halted = means.pop("halted_steps"), means["halted"]
        depth = means["refinement_steps"] = steps / halted if halted else float(self.config.reasoner.depth)
        if step >= RUNAWAY_STEPS and means["early"] > 0.5 and exact < 0.05:
            early = f"it stops {means['early']:.0%} of the examples early while {exact:.1%} of the answers are right"
            raise CharmError(f"step {step}: the halt head has diverged: {early}")
        return LogEntry(means, f"{text}  refinements {depth:.1f}")

    def evaluate(self, exam: Exam) -> LogEntry | None:
        """Score the averaged weights."""
        if self.examiner is None:
            return LogEntry({}, "this run is not scored")
        with self.average.applied():
            return self.examiner.examine(self.model, self.data, self.place, exam)

    def save(self, folder: Path) -> None:
        position = self.learner.examples.state()
        checkpoint.write_tensors(folder / f"slots_{self.place.rank:04d}.safetensors", position)
        whole = whole_tables(self.model)
        if not self.place.is_main:
            return
        checkpoint.write_tensors(folder / "raw.safetensors", self.dense)
        moments = checkpoint.optimizer_tensors(self.optimizers.all)
        checkpoint.write_tensors(folder / "optimizers.safetensors", moments)
        with self.average.applied():
            self.model.save(folder, whole)

    def restore(self, folder: Path, step: int) -> None:
        device = self.place.device
        divided = sharded_tables(self.model)  # whole ones may be too large for the device
        averaged = checkpoint.read_tensors(folder / "model.safetensors", "cpu" if divided else device)
        raw = checkpoint.read_tensors(folder / "raw.safetensors", device)
        if type(self.model.schema).load(folder).instances != self.data.instances:
            raise CharmError(f"{folder} was trained on different data: its rows belong to other tasks or views")
        self.model.load_state_dict({**averaged, **raw})
        if self.average.decay:
            self.average.average = [averaged[name].to(device, copy=True) for name in self.dense]
        tensors = checkpoint.read_tensors(folder / "optimizers.safetensors", device)
        checkpoint.restore_optimizers(self.optimizers.all, tensors)
        files = sorted(folder.glob("slots_*.safetensors"))
        self.learner.examples.restore([checkpoint.read_tensors(file) for file in files])

    def close(self) -> None:
        """Free the recorded updates on the GPU."""
        self.learner.close()
