"""The training loop: carry in, one refinement step, loss, update, carry out.

charm train arc1 --out runs/arc1
torchrun --nproc-per-node 8 -m charm train arc1 --out runs/arc1
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import torch
from torch import Tensor

from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.archive import forget_later_votes
from charm.evaluation.predict import Request, predict_votes
from charm.evaluation.run import score_checkpoint
from charm.files import read_sealed
from charm.model import CharmModel
from charm.tasks.dataset import Dataset, load_dataset
from charm.tasks.keys import ArcKey
from charm.training import checkpoint
from charm.training.config import RunConfig, TrainConfig
from charm.training.folder import RESULTS, check_run, occupied, require_checkpoint, run_name
from charm.training.graphs import UpdateGraphs
from charm.training.logs import Logs, forget_later_lines
from charm.training.optimizers import MovingAverage, Optimizers
from charm.training.refinement import refine_prepared
from charm.training.slots import Slots, fill_slots, pick_slots

STOP_CHECK_EVERY = 10  # steps between agreements of all processes on whether to stop
RUNAWAY_STEPS = 200  # a halt head is judged over at least so many updates

# Scores the votes on disk after a checkpoint has voted: (data, run folder, step, loops, views) -> headline scores.
Score = Callable[[Dataset, Path, int, Sequence[int], int], dict[str, float]]


class Trainer:
    """A run in progress."""

    def __init__(
        self,
        config: RunConfig,
        out: Path,
        place: Place,
        say: Callable[[str], None] = print,
        data: Dataset | None = None,
        model: CharmModel | None = None,
        score: Score = score_checkpoint,
    ) -> None:
        """Data and model are made from the configuration, unless another domain brings its own, and its scoring."""
        self.config, self.out, self.place, self.say = config, out, place, say
        if data is None:
            assert isinstance(config, TrainConfig), "a run on other data than ARC's brings them along"
            data = load_dataset(config.data)
        self.data, self.score = data, score
        fresh = model or CharmModel(config.reasoner, config.memory, ArcKey(self.data.instances), config.seed)
        self.model = fresh.to(place.device)
        graphed = place.device.type == "cuda" and place.world == 1 and config.graphs
        self.optimizers = Optimizers(self.model, config.optimizer, config.steps, graphed)
        self.average = MovingAverage(self.optimizers.dense, config.optimizer.ema)
        share = place.share(config.batch)
        if (share[1] - share[0]) % config.accumulate:
            raise CharmError(
                f"{share[1] - share[0]} slots cannot be split into {config.accumulate} equal parts"
            )
        self.slots = fill_slots(self.model, self.data, config.batch, config.seed, place.device, share)
        self.graphs = UpdateGraphs(self.model, say) if graphed else None
        self.step = 0
        self.name = ""  # which `train` gives; see `run_name`
        self.logs = Logs(out, config, place.is_main, place.device)

    def run(self) -> None:
        """Train to the end, or until SIGTERM or SIGINT asks for a checkpoint and a clean exit."""
        config = self.config
        self.prepare_blocks()
        with stop_on_signal() as stopped, self.logs.progress(self.step, config.steps):
            # A stop may have come between a checkpoint and the end of its evaluation.
            asked = self.evaluation_due and not self.evaluated() and not self.evaluate(stopped)
            while self.step < config.steps and not asked:
                metrics = self.update(self.slots[self.side_of(self.step)])
                self.step += 1
                self.record(metrics)
                asked = self.step % STOP_CHECK_EVERY == 0 and self.place.any(bool(stopped))
                if self.checkpoint_due or asked:
                    self.save()
                if self.evaluation_due and not asked:
                    asked = not self.evaluate(stopped)
            if asked and (self.step < config.steps or self.evaluation_due):
                self.say(f"stopped at step {self.step}; --resume goes on from there")

    @property
    def checkpoint_due(self) -> bool:
        return self.step % self.config.checkpoint_every == 0 or self.step == self.config.steps

    @property
    def evaluation_due(self) -> bool:
        """Only checkpoints are evaluated, since they can be asked again later."""
        every = self.config.evaluate_every
        return bool(every) and self.step > 0 and self.step % every == 0 and self.checkpoint_due

    def evaluated(self) -> bool:
        """Whether the scores of this step are among the metrics."""
        return self.place.any(self.place.is_main and self.logs.has_evaluation(self.step))

    def update(self, slots: Slots) -> dict[str, Tensor]:
        """One update of all weights from one refinement step of these slots."""
        slots.prepare(self.step, self.config.seed)
        self.optimizers.set_rates(self.step)
        if self.graphs is None:
            return self.update_prepared(slots)
        return self.graphs(self.update_prepared, slots)

    def update_prepared(self, slots: Slots) -> dict[str, Tensor]:
        """What of `update` the device does."""
        metrics = refine_prepared(self.model, slots, self.config.refinement)
        self.optimizers.step()
        self.average.update()
        return metrics

    def close(self) -> None:
        """Free the recorded updates on the GPU."""
        if self.graphs is not None:
            self.graphs.close()

    def side_of(self, step: int) -> int:
        """Which canvas size this step trains: sizes come up as often as their share of the index."""
        return pick_slots(self.slots, self.config.seed, step).side

    def record(self, metrics: dict[str, Tensor]) -> None:
        self.logs.add(metrics)
        if self.step % self.config.log_every and self.step != self.config.steps:
            return
        means = self.logs.means(self.place)
        if not math.isfinite(means["loss"]):
            raise CharmError(
                f"step {self.step}: the loss is {means['loss']}; the last checkpoint is unharmed. "
                f"A lower learning rate or a longer warm-up may help"
            )
        if self.step >= RUNAWAY_STEPS and means["early"] > 0.5 and means["exact_accuracy"] < 0.05:
            raise CharmError(
                f"step {self.step}: the halt head has run away: it stops {means['early']:.0%} of the examples "
                f"early while {means['exact_accuracy']:.1%} of the answers are right"
            )
        self.logs.write(self.step, means, self.config.batch)

    def prepare_blocks(self) -> None:
        """Compile the blocks where that is asked for, and say so if it fails."""
        side = min(self.slots)
        slots = self.slots[side]

        def attempt() -> None:
            self.model.reasoner.compile_blocks()
            with torch.no_grad():
                self.model(slots.state_SBLD[:, :1].clone(), slots.inputs_BT[:1], slots.row_B[:1], side)

        if not compiles(attempt, self.config.compile, self.place, self.say):
            for block in self.model.reasoner.blocks:
                block._compiled_call_impl = None

    def save(self) -> None:
        """A checkpoint of everything, by all processes together."""
        writer = checkpoint.Writer(self.out, self.step, self.place.is_main)
        self.place.barrier()
        slots = {f"{side}/{k}": v for side, group in self.slots.items() for k, v in group.state().items()}
        with checkpoint.told_if_unwritten(writer):
            checkpoint.write_tensors(writer.path / f"slots_{self.place.rank:04d}.safetensors", slots)
        self.place.barrier()
        if self.place.is_main:
            with checkpoint.told_if_unwritten(writer):
                names = {id(parameter): name for name, parameter in self.model.named_parameters()}
                raw = {names[id(parameter)]: parameter for parameter in self.optimizers.dense}
                checkpoint.write_tensors(writer.path / "raw.safetensors", raw)
                checkpoint.write_tensors(
                    writer.path / "optimizers.safetensors", checkpoint.optimizer_tensors(self.optimizers.all)
                )
                with self.average.applied():
                    self.model.save_pretrained(writer.path)
                writer.commit(
                    {
                        "step": self.step,
                        "run": self.name,
                        "metrics": self.logs.state(),
                        "world": self.place.world,
                    }
                )
            checkpoint.prune(self.out, self.config.keep_checkpoints, self.step)
        self.place.barrier()

    def restore(self) -> bool:
        """Go on from the newest whole checkpoint; False if there is none."""
        found = checkpoint.last_good(self.out, self.say)
        if found is None:
            return False
        step, record = found
        folder = checkpoint.folder_of(self.out, step)
        device = self.place.device
        averaged = checkpoint.read_tensors(folder / "model.safetensors", device)
        raw = checkpoint.read_tensors(folder / "raw.safetensors", device)
        if type(self.model.schema).load(folder).instances != self.data.instances:
            raise CharmError(f"{folder} was trained on other data: its rows belong to other tasks or views")
        self.model.load_state_dict({**averaged, **raw})
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        if self.average.decay:
            self.average.average = [averaged[names[id(p)]].clone() for p in self.optimizers.dense]
        tensors = checkpoint.read_tensors(folder / "optimizers.safetensors", device)
        checkpoint.restore_optimizers(self.optimizers.all, tensors)
        parts = [checkpoint.read_tensors(file) for file in sorted(folder.glob("slots_*.safetensors"))]
        for side, group in self.slots.items():
            mine = slice(int(group.numbers[0]), int(group.numbers[-1]) + 1)
            names_here = [name for name in parts[0] if name.startswith(f"{side}/")]
            group.restore({n.split("/")[1]: torch.cat([part[n] for part in parts])[mine] for n in names_here})
        self.step = step
        self.name = record.get("run") or self.name
        self.logs.restore(record["metrics"])
        return True

    def evaluate(self, stopped: Sequence[int] = ()) -> bool:
        """Vote with the averaged weights and write the scores into the run folder; False if a signal came before."""
        loops, views = self.config.evaluate_loops, self.config.evaluate_views or None
        with self.average.applied():
            request = Request(self.model, self.data, loops, views)
            predict_votes(
                request,
                self.place,
                self.out / "votes",
                self.step,
                self.logs.voting,
                lambda: bool(stopped),
                self.name,
            )
        if self.place.any(bool(stopped)):
            return False
        if self.place.is_main:
            scores = self.score(self.data, self.out, self.step, loops, self.config.evaluate_views)
            self.logs.evaluation(self.step, scores)
        return True


def train(
    config: RunConfig,
    out: Path,
    place: Place,
    resume: bool = False,
    say: Callable[[str], None] = print,
    data: Dataset | None = None,
    model: CharmModel | None = None,
    score: Score = score_checkpoint,
) -> Trainer:
    """A whole run in the folder `out`; with `resume` it goes on from the newest whole checkpoint there."""
    check_run(out, config, resume, _FREE)
    trainer = Trainer(config, out, place, say, data, model, score)
    manifest = {**trainer.data.manifest, "pairs_sha256": trainer.data.bank.sha256()}
    if checkpoint.steps_of(out) and _recorded_pairs(out) not in ("", manifest["pairs_sha256"]):
        raise CharmError(f"{out} was trained on other pairs: its tasks or generated pairs have changed since")
    trainer.name = run_name(config, _FREE, manifest["pairs_sha256"])
    for text in manifest.get("partial", ()):
        say(f"training on part of the data: {text}")
    with occupied(out, place, config, manifest):
        if resume:
            require_checkpoint(out, trainer.restore())
            say(f"resumed at step {trainer.step}" if trainer.step else "no checkpoint yet: begins at step 0")
        if place.is_main:
            _forget_later(out, trainer.step, say)
        try:
            trainer.run()
        finally:
            trainer.close()
    return trainer


def _forget_later(out: Path, step: int, say: Callable[[str], None]) -> None:
    """Remove what a run that goes on from this step makes again, and say so."""
    removed = [forget_later_lines(out, step)]
    removed += [forget_later_votes(out / name, step) for name in RESULTS if name != "eval"]
    for path in (out / "eval").glob("step_*.json"):
        number = path.name.removeprefix("step_").partition(".")[0]
        if number.isdecimal() and int(number) > step:
            path.unlink()
            removed.append(True)
    if any(removed):
        say(f"removed metrics, votes and evaluations of steps after {step}; they are made again")


def _recorded_pairs(out: Path) -> str:
    """The hash of the pairs that a run was trained on; a run that recorded none is believed."""
    path = out / "data.json"
    recorded = read_sealed(path) if path.is_file() else None
    return str(recorded.get("pairs_sha256", "")) if isinstance(recorded, dict) else ""


# What may change when a run goes on: how long, where, and what is written; not what is computed.
_FREE = {
    *("steps", "accumulate", "device", "compile", "graphs", "tensorboard", "wandb", "checkpoint_every"),
    *("keep_checkpoints", "evaluate_every", "evaluate_views", "evaluate_loops", "log_every"),
    *("data.data", "data.partial", "reasoner.kernels"),  # pairs that changed are refused by their hash
}


def compiles(attempt: Callable[[], None], wanted: str, place: Place, say: Callable[[str], None]) -> bool:
    """Whether compiling is wanted ("auto": on CUDA) and an attempt succeeds; a failure is told, or raised if "on"."""
    if wanted == "off" or (wanted == "auto" and place.device.type != "cuda"):
        return False
    try:
        attempt()
    except Exception as error:
        if wanted == "on":
            raise CharmError(f"torch.compile failed: {error}") from error
        torch._dynamo.reset()
        say(f"torch.compile failed ({type(error).__name__}); the model runs uncompiled")
        return False
    return True


@contextmanager
def stop_on_signal() -> Iterator[list[int]]:
    """A list that is not empty once SIGTERM or SIGINT has come; a second one interrupts at once."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    try:
        before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    except ValueError:  # not in the main thread: signals belong to somebody else
        yield received
        return
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
