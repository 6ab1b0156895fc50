"""An objective of your own in one file: what an update makes smaller. docs/extend.md explains it.

    python examples/objective.py train per-answer --out runs/per-answer
    python examples/objective.py solve examples/task.json --checkpoint runs/per-answer     # learns with it, too

A writer's loss is the mean over tokens, so a large answer counts more than a small one. Here every answer counts once.
"""

from dataclasses import dataclass, fields, replace
from typing import Literal

from charm.arc.presets import PRESETS, base
from charm.cli import main
from charm.models.networks import NETWORKS
from charm.models.writer.config import WriterConfig
from charm.models.writer.network import Writer
from charm.runs.settings import TrainConfig
from charm.tasks.sequences import Pack

import torch
from torch import Tensor


@dataclass(frozen=True)
class PerAnswerConfig(WriterConfig):
    """A writer with another objective; its shape is that of any writer."""

    kind: Literal["per-answer"] = "per-answer"  # type: ignore[assignment]

    def build(self, seed: int = 0) -> "PerAnswerWriter":
        return PerAnswerWriter(self, seed)


class PerAnswerWriter(Writer):
    def loss(self, pack: Pack, task_ND: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the mean negative log-likelihood of whole answers, and what to log."""
        with torch.no_grad():
            _, measured = super().loss(pack, task_ND)  # accuracies are those of a writer
        loss = -self.log_likelihood(pack, task_ND).sum() / measured["examples"].clamp(min=1)
        return loss, {**measured, "loss": loss.detach()}


def per_answer() -> TrainConfig:
    """The preset `base` with this objective."""
    shape = base().reasoner
    values = {one.name: getattr(shape, one.name) for one in fields(shape) if one.name != "kind"}
    return replace(base(), reasoner=PerAnswerConfig(**values))


NETWORKS["per-answer"] = PerAnswerConfig
PRESETS["per-answer"] = per_answer

if __name__ == "__main__":
    main()
