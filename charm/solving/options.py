"""How to solve: everything that can be chosen, in one typed record. Imports no torch, so that `--help` is quick."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Literal, get_args

from tyro.conf import Suppress, arg

from charm.config import MOST_VIEWS, at_least, at_most, check_seed
from charm.errors import CharmError

BUDGET, CPU_BUDGET = 60.0, 180.0  # seconds, if none are given; a CPU needs more
LEAST_SEARCHED = 0.01  # there may be 1 / this many answers to a question under a view
Mode = Literal["auto", "memory", "composition", "full"]


@dataclass(frozen=True)
class WriterRecipe:
    """How a writer learns a group of tasks together. It has no effect on models that refine canvases."""

    optimizer: Literal["auto", "muon", "adamw"] = "auto"
    """Optimizer of shared matrices; everything else uses AdamW. auto is Muon, or AdamW on a CPU, where Muon is slow."""
    lr: float = 5e-4
    """Learning rate of shared weights, the same for both optimizers."""
    task_lr: float = 1e-2
    """Learning rate of the tasks' vectors (AdamW)."""
    task_weight_decay: Suppress[float] = 0.01  # no flag: programs set it
    """Decoupled weight decay of the tasks' vectors."""
    warmup: Suppress[int] = 20
    """Updates over which all learning rates rise linearly."""
    cooldown: float = 0.4
    """Final share of the learning time, in which all learning rates fall linearly to zero."""
    rehearse: float = -1.0
    """Share of updates, until rates fall, that rehearse training tasks; -1 is half with 90 s of a GPU, else none."""
    views: int = 1000
    """Maximum number of views of each task to learn."""
    tokens: int = 0
    """Tokens in each update; 0 chooses by the device and the number of tasks."""
    vote_share: Suppress[float] = 0.2
    """Maximum share of the time to keep for voting."""
    compile: Suppress[Literal["auto", "on", "off"]] = "auto"
    """Compile the loss with torch.compile; auto compiles on CUDA when the budget is long enough."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            chosen_later = name == "rehearse" and value == -1
            if isinstance(value, int | float) and not (0 <= value < math.inf or chosen_later):
                raise CharmError(f"writer.{name} must be a number >= 0, got {value}")
        for name in ("cooldown", "vote_share", "rehearse"):
            if getattr(self, name) >= 1:
                raise CharmError(f"writer.{name} must be below 1, got {getattr(self, name)}")
        at_least(1, self, "views", where="writer.")
        at_most(MOST_VIEWS, self, "views", where="writer.")


@dataclass(frozen=True)
class SolveOptions:
    """How to adapt and vote. Learning rates are the paper's for unseen tasks."""

    budget: Suppress[float] = BUDGET  # the command has its own flag, with units
    """Seconds from the first update; 180 on a CPU if not set."""
    steps: int | None = None
    """Maximum number of updates; 1000 for each task if not given, or as many as the time allows for a writer."""
    views: int = 128
    """Maximum number of views of each task that vote; a model that refines canvases learns the same ones."""
    batch: int = 128
    """Examples in an update, and predictions made at once."""
    mode: Mode = "auto"
    """What learns: the tasks' own rows (memory), also the memory's shared weights (composition), or everything
    (full). auto is full for a writer and a vit, memory for other models."""
    seed: Annotated[int | tuple[int, ...], arg(metavar="INT ...")] = 0
    """Seed for the order of examples; with several, every model learns once with each, and all vote together."""
    together: int = 0
    """Tasks that a writer learns together in one copy of the weights; 0: all that a device has."""
    until_end: bool = False
    """Use the whole time, even if all votes agree."""
    search: float = 0.0
    """Where views disagree, also search for all answers with at least this probability under a view; 0 for none."""
    glance: Suppress[int] = 0
    """Updates between the interim votes of a few views that the viewer shows; 0 for none. A network that learns groups
    votes at fixed shares of its learning instead, the first after a tenth."""
    writer: WriterRecipe = field(default_factory=WriterRecipe)
    """How a writer learns the tasks; refused for other models."""

    def __post_init__(self) -> None:
        at_least(1, self, "views", "batch")
        at_least(0, self, "budget", "steps", "together", "glance")
        at_most(MOST_VIEWS, self, "views")
        for seed in self.seeds:
            check_seed(seed)
        if self.mode not in get_args(Mode):
            raise CharmError(f"mode must be one of {', '.join(get_args(Mode))}; got {self.mode!r}")
        if not (self.search == 0 or LEAST_SEARCHED <= self.search < 1):
            raise CharmError(f"search must be 0, or from {LEAST_SEARCHED} to below 1; got {self.search}")
        if not self.seeds or len({*self.seeds}) < len(self.seeds):
            raise CharmError(f"seed must be one number or several different ones, got {self.seed}")
        if len(self.seeds) > 1 and self.steps == 0:
            raise CharmError("several seeds need updates to differ in, but steps is 0")

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds."""
        return (self.seed,) if isinstance(self.seed, int) else self.seed
