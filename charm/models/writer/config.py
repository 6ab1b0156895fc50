"""The shape of a writer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from charm.models.config import NetworkConfig, SolvingTraits

if TYPE_CHECKING:
    from torch import Tensor

    from charm.models.writer.network import Writer


@dataclass(frozen=True)
class WriterConfig(NetworkConfig):
    """A transformer that writes the answer token by token; its layers may repeat, all with gradients."""

    kind: Literal["writer"] = "writer"
    reads: Literal["forward", "whole"] = "forward"
    """What the tokens of a question see: those before them, or all of the question."""
    dropout: float = 0.0
    """Share of activations dropped in training."""
    kernels: Literal["auto", "plain", "fused"] = "auto"
    """How attention is computed: "plain" PyTorch, or a "fused" Triton kernel for NVIDIA GPUs. "auto" is plain until the
    kernel has been measured on a GPU. The model is the same."""

    described: ClassVar[str] = (
        "a causal transformer that writes answers token by token, which is not the paper's architecture"
    )
    unused: ClassVar[frozenset[str]] = frozenset(
        {"batch", "accumulate", "halt_weight", "shard_tables", "data.canvas", "data.scales"}
    )
    limits: ClassVar[Mapping[str, tuple[float, float]]] = {**NetworkConfig.limits, "dropout": (0, 0.99)}
    judges: ClassVar[bool] = True
    starts_from_mean: ClassVar[bool] = True
    solving: ClassVar[SolvingTraits] = SolvingTraits(
        together=True,
        mode="full",
        steps=None,
        early=(0.5, 0.75, 0.9),
        early_views=2,
        asked_at_once=512,
        long_seconds=90.0,
        data={"balanced": True, "fixed_colors": "output-only"},
    )

    def build(self, seed: int = 0) -> Writer:
        from charm.models.writer.network import Writer

        return Writer(self, seed)

    def flops(self, lengths_N: Tensor, asked_N: Tensor) -> tuple[int, int]:
        """Count the operations for sequences of these lengths; the first `asked_N` tokens of each are its question."""
        from charm.tasks.sequences import SEQUENCE_VOCABULARY  # which loads torch

        width, tokens = self.width, int(lengths_N.sum())
        weights = 4 * width * width + 3 * width * self.inner_width
        # A token reads itself and those before it, and in a question perhaps also those after it.
        pairs = int((lengths_N * (lengths_N + 1)).sum()) // 2
        if self.reads == "whole":
            pairs += int((asked_N * (asked_N - 1)).sum()) // 2
        layer = 2 * tokens * weights + 4 * pairs * width
        forward = self.recurrences * self.layers * layer + 2 * tokens * width * SEQUENCE_VOCABULARY
        return forward, 3 * forward
