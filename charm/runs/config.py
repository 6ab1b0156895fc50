"""The settings that runs of all domains share: duration, checkpoints, evaluations, device."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from charm.config import at_least, check_seed
from charm.errors import CharmError


@dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """The part of a configuration that the engine reads; a domain's configuration adds its own."""

    domain: ClassVar[str] = ""  # the domain's name in the registry and in config.json
    free: ClassVar[frozenset[str]] = frozenset(
        {"device", "compile", "checkpoint_every", "keep_checkpoints", "evaluate_every", "log_every"} | {"log_to"}
    )
    """Fields that may change when a run is resumed: they do not change what is computed."""
    retired: ClassVar[dict[str, Any]] = {"tensorboard": False, "wandb": ""}  # now in `log_to`
    resume_hint: ClassVar[str] = "use --resume to continue"  # what is printed when a run is stopped
    evaluates_ends: ClassVar[bool] = False
    """Whether there is always an evaluation after the last update and, if there are earlier ones, before the first."""

    steps: int = 1000
    """Updates in all."""
    seed: int = 0
    """Seed for everything random."""
    checkpoint_every: int = 1000
    """Updates between checkpoints; there is always one at the end."""
    keep_checkpoints: int = 2
    """Number of checkpoints to keep; 0 keeps all."""
    evaluate_every: int = 0
    """Updates between evaluations; there is also one at the end. 0: no evaluations."""
    log_every: int = 10
    """Updates between lines of metrics.jsonl."""
    device: str = "auto"
    """cuda, xpu, mps, cpu, or auto for the best available."""
    compile: Literal["auto", "on", "off"] = "auto"
    """torch.compile the model; auto: on CUDA."""
    log_to: tuple[str, ...] = ()
    """Log to these as well: tensorboard (in the run folder), wandb:PROJECT, trackio:PROJECT."""

    def __post_init__(self) -> None:
        at_least(1, self, "steps", "checkpoint_every", "log_every")
        at_least(0, self, "evaluate_every", "keep_checkpoints")
        check_seed(self.seed)
        for wanted in self.log_to:
            if not re.fullmatch(r"tensorboard|(wandb|trackio):.+", wanted):
                raise CharmError(f"log_to must be tensorboard, wandb:PROJECT or trackio:PROJECT; got {wanted!r}")

    def logs_at(self, step: int) -> bool:
        return step % self.log_every == 0 or step == self.steps

    def saves_at(self, step: int) -> bool:
        return step % self.checkpoint_every == 0 or step == self.steps

    def evaluates_at(self, step: int) -> bool:
        if step == self.steps and (self.evaluates_ends or self.evaluate_every):
            return True
        due = self.evaluate_every > 0 and step % self.evaluate_every == 0
        return due and (step > 0 or self.evaluates_ends)
