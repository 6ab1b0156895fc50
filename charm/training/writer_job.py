"""Training a writer: a pack of sequences in each update instead of slots that are refined."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from charm.devices import Place
from charm.errors import CharmError
from charm.models.model import CharmModel
from charm.models.writer.network import Writer
from charm.training.engine import LogEntry, compiles
from charm.training.job import ReasonerJob
from charm.training.packs import Packs

Loss = Callable[..., tuple[Tensor, dict[str, Tensor]]]


def compiled_loss(
    model: CharmModel, packs: Packs, wanted: str, place: Place, say: Callable[[str], None]
) -> Loss:
    """A writer's loss, compiled together with its gradient if that is wanted and succeeds (`compiles`)."""
    assert isinstance(model.reasoner, Writer)
    loss = compiled = model.reasoner.loss
    taken = packs.taken.copy()
    packs.prepare()  # real sequences to compile with, which are not learned from yet
    packs.taken = taken

    def attempt() -> None:
        nonlocal compiled
        compiled = torch.compile(loss, dynamic=False)
        compiled(packs.pack, model.task(packs.row_N))[0].backward()
        model.zero_grad(set_to_none=True)

    return compiled if compiles(attempt, wanted, place, say) else loss


class WriterJob(ReasonerJob):
    """A run of a writer on a dataset."""

    def fill(self) -> None:
        config, place = self.config, self.place
        if config.tokens % place.world or config.accumulate != 1:
            raise CharmError(
                f"tokens ({config.tokens}) must divide among {place.world} processes, and accumulate must be 1"
            )
        self.packs = Packs(
            self.data, config.tokens // place.world, config.seed, place.device, place.rank, place.world
        )
        self.work = (config.tokens, "tokens")
        assert isinstance(self.model.reasoner, Writer)
        self.writer = self.model.reasoner
        self.loss: Loss = self.writer.loss

    def compile(self) -> None:
        self.loss = compiled_loss(self.model, self.packs, self.config.compile, self.place, self.say)

    def update(self, step: int) -> dict[str, Tensor]:
        self.packs.prepare()
        self.optimizers.set_rates(step)
        self.seed_dropout(step)
        if self.graphs is None:
            return self.update_packed(self.packs)
        return self.graphs(self.update_packed, self.packs)

    def update_packed(self, packs: Packs) -> dict[str, Tensor]:
        """Device half of `update`."""
        loss, metrics = self.loss(packs.pack, self.model.task(packs.row_N))
        (loss / self.place.world).backward()
        self.optimizers.step()
        self.average.update()
        return metrics

    def line(self, step: int, means: dict[str, float]) -> LogEntry:
        exact = means["exact_accuracy"]
        return LogEntry(means, f"loss {means['loss']:.3f}  exact {exact:.1%}")

    def position(self) -> dict[str, Tensor]:
        return self.packs.state()

    def restore_position(self, parts: list[dict[str, Tensor]]) -> None:
        if len(parts) != self.place.world:
            raise CharmError(
                f"a writer that {len(parts)} processes trained resumes with as many, not {self.place.world}"
            )
        self.packs.restore(parts[self.place.rank])
