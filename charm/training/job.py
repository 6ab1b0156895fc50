"""Training a reasoner with a task memory, for any tasks: slots, optimizers, averages, graphs, and their state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from charm.devices import Place
from charm.errors import CharmError
from charm.files import read_sealed
from charm.memory.sharding import sharded_tables, whole_tables
from charm.models.model import CharmModel
from charm.runs import checkpoint
from charm.runs.settings import RunConfig
from charm.tasks.dataset import Dataset
from charm.tasks.keyed import key_of
from charm.training.engine import Exam, Job, LogEntry, compiles
from charm.training.graphs import UpdateGraphs
from charm.training.optimizers import MovingAverage, Optimizers
from charm.training.refinement import refine_prepared
from charm.training.slots import Slots, fill_slots, pick_slots

RUNAWAY_STEPS = 200  # a halt head is judged over at least this many updates


class Examiner(Protocol):
    """Asks a model in training and scores its answers; evaluation has one (`charm.evaluation.run.Voting`)."""

    def examine(self, model: CharmModel, data: Dataset, place: Place, exam: Exam) -> LogEntry | None:
        """The scores of the run so far, on the main process; None if it had to stop before the end."""

    def forget(self, out: Path, step: int) -> bool:
        """Remove what was written to the run folder after this step; whether there was any."""


def compile_canvas(
    model: CharmModel, attempt: Callable[[], None], wanted: str, place: Place, say: Callable[[str], None]
) -> bool:
    """Whether the blocks of a model are compiled: if that is wanted, and `attempt`, which uses them, succeeds."""

    def compiled() -> None:
        model.canvas.compile_blocks()
        attempt()

    if compiles(compiled, wanted, place, say):
        return True
    for block in model.canvas.blocks:
        block._compiled_call_impl = None
    return False


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
        graphed = place.device.type == "cuda" and place.world == 1 and config.graphs
        self.optimizers = Optimizers(self.model, config.optimizer, config.steps, graphed)
        self.average = MovingAverage(self.optimizers.dense, config.optimizer.ema)
        self.fill()
        self.graphs = UpdateGraphs(self.model, say) if graphed else None

    def fill(self) -> None:
        """Lay out the first examples."""
        config, place = self.config, self.place
        self.work = (config.batch, "samples")
        share = place.share(config.batch)
        if (share[1] - share[0]) % config.accumulate:
            raise CharmError(
                f"{share[1] - share[0]} slots cannot be split into {config.accumulate} equal parts"
            )
        self.slots = fill_slots(self.model, self.data, config.batch, config.seed, place.device, share)

    def check(self, out: Path) -> None:
        """A run that recorded no hash of its pairs is believed."""
        path = out / "data.json"
        found = read_sealed(path) if path.is_file() else None
        recorded = str(found.get("pairs_sha256", "")) if isinstance(found, dict) else ""
        if checkpoint.steps_of(out) and recorded not in ("", self.manifest["pairs_sha256"]):
            raise CharmError(
                f"{out} was trained on different pairs: its tasks or generated pairs have changed since"
            )

    def forget(self, out: Path, step: int) -> bool:
        return self.examiner is not None and self.examiner.forget(out, step)

    def begin(self, out: Path, step: int) -> None:
        for text in self.manifest.get("partial", ()):
            self.say(f"training on part of the data: {text}")
        self.compile()

    def compile(self) -> None:
        """Compile the blocks if requested, with their gradient, and report a failure."""
        side = min(self.slots)
        slots = self.slots[side]
        # The shape of updates: nothing is compiled twice.
        part = slice(0, len(slots) // self.config.accumulate)

        def attempt() -> None:
            state = slots.state_SBLD[:, part].clone()
            _, logits, halt = self.model(state, slots.inputs_BT[part], slots.row_B[part], side)
            (logits.sum() + halt.sum()).backward()
            self.model.zero_grad(set_to_none=True)

        compile_canvas(self.model, attempt, self.config.compile, self.place, self.say)

    def update(self, step: int) -> dict[str, Tensor]:
        """Canvas sizes occur in proportion to their share of the index."""
        return self.update_slots(pick_slots(self.slots, self.config.seed, step), step)

    def update_slots(self, slots: Slots, step: int) -> dict[str, Tensor]:
        """One update of all weights from one refinement step of these slots."""
        slots.prepare(step, self.config.seed)
        self.optimizers.set_rates(step)
        self.seed_dropout(step)
        if self.graphs is None:
            return self.update_prepared(slots)
        return self.graphs(self.update_prepared, slots)

    def seed_dropout(self, step: int) -> None:
        """Let this update drop the same activations when it is made again after a resume."""
        if self.config.reasoner.dropped:
            torch.manual_seed(key_of("dropout", self.config.seed, step, self.place.rank) >> 1)

    def update_prepared(self, slots: Slots) -> dict[str, Tensor]:
        """Device half of `update_slots`."""
        metrics = refine_prepared(self.model, slots, self.config.refinement)
        self.optimizers.step()
        self.average.update()
        return metrics

    def line(self, step: int, means: dict[str, float]) -> LogEntry:
        # Of the examples that halted; where none did they are all still being refined.
        steps, halted = means.pop("halted_steps"), means["halted"]
        means["refinement_steps"] = steps / halted if halted else float(self.config.reasoner.depth)
        if step >= RUNAWAY_STEPS and means["early"] > 0.5 and means["exact_accuracy"] < 0.05:
            raise CharmError(
                f"step {step}: the halt head has diverged: it stops {means['early']:.0%} of the examples "
                f"early while {means['exact_accuracy']:.1%} of the answers are right"
            )
        exact, depth = means["exact_accuracy"], means["refinement_steps"]
        return LogEntry(means, f"loss {means['loss']:.3f}  exact {exact:.1%}  refinements {depth:.1f}")

    def evaluate(self, exam: Exam) -> LogEntry | None:
        """With the averaged weights."""
        if self.examiner is None:
            return LogEntry({}, "this run is not scored")
        with self.average.applied():
            return self.examiner.examine(self.model, self.data, self.place, exam)

    def save(self, folder: Path) -> None:
        checkpoint.write_tensors(folder / f"slots_{self.place.rank:04d}.safetensors", self.position())
        whole = whole_tables(self.model)
        if not self.place.is_main:
            return
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        raw = {names[id(parameter)]: parameter for parameter in self.optimizers.dense}
        checkpoint.write_tensors(folder / "raw.safetensors", raw)
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
            raise CharmError(
                f"{folder} was trained on different data: its rows belong to other tasks or views"
            )
        self.model.load_state_dict({**averaged, **raw})
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        if self.average.decay:
            self.average.average = [
                averaged[names[id(p)]].to(device, copy=True) for p in self.optimizers.dense
            ]
        tensors = checkpoint.read_tensors(folder / "optimizers.safetensors", device)
        checkpoint.restore_optimizers(self.optimizers.all, tensors)
        files = sorted(folder.glob("slots_*.safetensors"))
        self.restore_position([checkpoint.read_tensors(file) for file in files])

    def position(self) -> dict[str, Tensor]:
        """Where this process is in its data, and what it carries from step to step."""
        return {f"{side}/{k}": v for side, group in self.slots.items() for k, v in group.state().items()}

    def restore_position(self, parts: list[dict[str, Tensor]]) -> None:
        """Go back to the positions that all processes saved; there may be another number of processes now."""
        for side, group in self.slots.items():
            mine = slice(int(group.numbers[0]), int(group.numbers[-1]) + 1)
            names_here = [name for name in parts[0] if name.startswith(f"{side}/")]
            group.restore({n.split("/")[1]: torch.cat([part[n] for part in parts])[mine] for n in names_here})

    def close(self) -> None:
        """Free the recorded updates on the GPU."""
        if self.graphs is not None:
            self.graphs.close()
