"""All settings of a run that trains a reasoner, as one typed record, which is also its command line."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from charm.config import at_least, from_json, read_run_config
from charm.errors import CharmError
from charm.memory.cose import CoSEConfig
from charm.models.canvas.config import CanvasConfig
from charm.models.config import NetworkConfig
from charm.models.model import ModelConfig
from charm.runs.config import EngineConfig
from charm.tasks.dataset import DataConfig
from charm.tasks.keys import MemoryConfig

RowChoice = Literal["signsgd", "adamw", "dense-adamw"]


@dataclass(frozen=True)
class OptimizerConfig:
    """Which optimizer updates which weights, and how fast."""

    retired: ClassVar[dict[str, Any]] = {"momentum": 0.95}  # Muon's, which no run changed

    dense: Literal["muon", "adamw", "adam-atan2", "urm-muon"] = "muon"
    """Optimizer of 2-D dense tensors; AdamW updates the others. "adam-atan2" updates all; "urm-muon" is URM's Muon."""
    lr: float = 1e-4  # Learning rate of all dense weights.
    weight_decay: float = 0.1  # Decoupled weight decay of all dense weights.
    betas: tuple[float, float] = (0.9, 0.95)  # Betas of AdamW and Adam-atan2.
    factors: Literal["muon", "adamw"] = "muon"  # Optimizer of the memory's factor tables.
    factor_lr: float = 1e-4  # Learning rate of the factor tables.
    factor_weight_decay: float = 0.1  # Decoupled weight decay of the factor tables.
    row_lr: float = 1e-2  # Learning rate of instance rows.
    row_weight_decay: float = 0.1  # Decoupled weight decay of instance rows that are read; with "dense-adamw" of all.
    rows: RowChoice = "signsgd"
    """Optimizer of instance rows: SignSGD, or AdamW row by row; "dense-adamw" also moves rows that were not read, by
    their momentum."""
    warmup: int = 2000  # Updates over which all learning rates rise linearly.
    cooldown: float = 0.0  # Last share of the run over which all learning rates fall to zero; 0 keeps them constant.
    decay: Literal["linear", "cosine"] = "linear"  # How they fall.
    clip: float = 0.0  # Maximum norm of the gradient of all weights together, instance rows included; 0 for no limit.
    ema: float = 0.999  # Decay of the moving average of dense weights that evaluation uses; 0 turns it off.

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, int | float) and not 0 <= value < math.inf:
                raise CharmError(f"optimizer.{name} must be a finite number >= 0, got {value}")
        if self.cooldown > 1 or self.ema >= 1:
            raise CharmError(f"optimizer: cooldown must be <= 1 and ema < 1, got {self.cooldown} and {self.ema}")


# For runs of minutes, where the memory learns fastest.
SHORT_RUN = OptimizerConfig(lr=2e-3, factors="adamw", factor_lr=1e-2, factor_weight_decay=0.0, warmup=100, cooldown=0.5)


@dataclass(frozen=True, kw_only=True)
class RunConfig(EngineConfig):
    """A run that trains a reasoner with a task memory: what learns, how, and for how long."""

    free: ClassVar[frozenset[str]] = EngineConfig.free | {
        *("steps", "accumulate", "graphs", "evaluate_views", "evaluate_loops"),
        *("data.data", "reasoner.kernels"),
        "data.partial",  # pairs that changed are refused by their hash
    }
    retired: ClassVar[dict[str, Any]] = {**EngineConfig.retired, "focus": 0.0}  # a last phase of writers without a gain

    reasoner: NetworkConfig = field(default_factory=CanvasConfig)
    memory: CoSEConfig = field(default_factory=CoSEConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    steps: int = 600_000
    batch: int = 768  # Examples refined per update (slots), over all processes.
    tokens: int = 32_768  # Tokens per update of a writer, which has no slots, over all processes.
    accumulate: int = 1  # Number of micro-batches per update, to save memory.
    halt_weight: float = 0.5  # Weight of the halting loss.
    checkpoint_every: int = 10_000
    keep_checkpoints: int = 2
    """Number of checkpoints to keep; 0 keeps all. Votes are always kept."""
    evaluate_every: int = 10_000
    """Updates between evaluations (a multiple of checkpoint_every); there is also one at the end. 0: none."""
    evaluate_views: int = 0  # Views per question in those evaluations; 0 for all.
    evaluate_loops: tuple[int, ...] = (16,)
    """Refinement steps after which votes are taken. Scores while training use the first; the others' votes are kept.
    A network of fixed depths has its own."""
    log_every: int = 50
    graphs: bool = True
    """Replay updates as CUDA graphs on one GPU; otherwise small canvases and batches would wait for the host."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(1, self, "batch", "accumulate")
        if self.batch % self.accumulate:
            raise CharmError(f"a batch of {self.batch} cannot be split into {self.accumulate} equal parts")
        if self.evaluate_every and self.evaluate_every % self.checkpoint_every:
            often = f"evaluate_every ({self.evaluate_every}) must be a multiple of checkpoint_every"
            raise CharmError(f"{often} ({self.checkpoint_every}): evaluations run on checkpoints")
        if self.reasoner.fixed_depths:
            object.__setattr__(self, "evaluate_loops", self.reasoner.voting_steps)
        depths = self.evaluate_loops  # votes store them in a byte
        if not depths or len(set(depths)) < len(depths) or not all(1 <= one <= 255 for one in depths):
            raise CharmError(f"evaluate_loops must be different integers from 1 to 255, got {depths}")
        for name in self.reasoner.unused:
            path, _, last = name.rpartition(".")
            holder = attrgetter(path)(self) if path else self
            default, value = getattr(type(holder), last, None), getattr(holder, last, None)
            if value != default:
                use = f"reasoner kind {self.reasoner.kind} does not use {name}"
                raise CharmError(f"{use}: it must stay {default}, got {value}")

    def sized(self, **changes: Any) -> Self:
        """Return the configuration with these fields changed, as far as the network uses them."""
        used = {name: value for name, value in changes.items() if name not in self.unused}
        return replace(self, **used)

    @property
    def unused(self) -> frozenset[str]:
        """Fields that the network does not read, or that follow from others: no flags, and files do not state them."""
        return self.reasoner.unused | ({"evaluate_loops"} if self.reasoner.fixed_depths else set())

    @property
    def idle(self) -> dict[str, str]:
        """Fields that have no effect given the values of others, by dotted name, each with the reason."""
        found = {f"memory.{name}": reason for name, reason in self.memory.idle.items()}
        found |= {f"reasoner.{name}": reason for name, reason in self.reasoner.idle.items()}
        rows, factors = ("row_lr", "row_weight_decay", "rows"), ("factors", "factor_lr", "factor_weight_decay")
        return found | _idle_fields(
            (not self.memory.has_rows, [f"optimizer.{name}" for name in rows], "memory.rank is 0"),
            (self.memory.design == "table", [f"optimizer.{name}" for name in factors], "memory.design is table"),
            (not self.optimizer.cooldown, ["optimizer.decay"], "optimizer.cooldown is 0"),
            (not self.evaluate_every, ["evaluate_views"], "evaluate_every is 0"),
        )

    @property
    def model(self) -> ModelConfig:
        return ModelConfig(self.reasoner, self.memory)


@dataclass(frozen=True, kw_only=True)
class TrainConfig(RunConfig):
    """A run on ARC's tasks."""

    domain: ClassVar[str] = "arc"
    free: ClassVar[frozenset[str]] = RunConfig.free | {"start", "shard_tables"}

    memory: MemoryConfig = field(default_factory=MemoryConfig)
    data: DataConfig = field(default_factory=DataConfig)
    start: str = ""
    """A run or saved model, or the name of a released one, whose weights this run starts with; empty: random ones."""
    shard_tables: bool = False
    """Under torchrun, shard the instance rows over the processes instead of replicating them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reasoner.canvas not in ("", self.data.canvas):
            needed = f"reasoner kind {self.reasoner.kind} needs data.canvas {self.reasoner.canvas}"
            raise CharmError(f"{needed}, got {self.data.canvas}")

    @property
    def idle(self) -> dict[str, str]:
        scored = ["evaluate_every", "evaluate_views", "evaluate_loops", "data.evaluate_repeats"]
        generated = ["data.synthetic_view_count", "data.synthetic_views", "data.partial"]
        return super().idle | _idle_fields(
            (not self.data.evaluate, scored, "data.evaluate is empty"),
            (not self.data.auxiliary, ["data.auxiliary_repeats"], "data.auxiliary is empty"),
            (not self.data.synthetic, generated, "data.synthetic is empty"),
            (self.data.augment == "pseudo-tasks", ["data.color_pool"], "data.augment is pseudo-tasks"),
        )


def _idle_fields(*rules: tuple[bool, Sequence[str], str]) -> dict[str, str]:
    """Return the fields of the rules that hold, each with the rule's reason why it has no effect."""
    return {name: reason for holds, names, reason in rules if holds for name in names}


def read_config(run: Path, data: Path | None = None) -> TrainConfig:
    """Read the configuration of a run on ARC's tasks; `data` overrides its folder of downloaded data."""
    config = read_run_config(run, TrainConfig)
    return replace(config, data=replace(config.data, data=data or config.data.data))


def solving_config(run: Path, saved: Path, training: dict[str, Any] | None) -> TrainConfig:
    """Return the configuration under which a model answers: its run's, or the one that was saved with it.

    `saved` is the model's folder, the same as `run` where that is no run folder but a saved model.
    """
    if saved != run:
        return read_config(run)
    if training is None or training.get("domain", "arc") != "arc":
        return TrainConfig()
    return from_json(TrainConfig, {k: v for k, v in training.items() if k != "domain"}, str(saved))
