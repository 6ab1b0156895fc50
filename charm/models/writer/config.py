"""The shape of a writer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from charm.errors import CharmError
from charm.models.config import NetworkConfig, SolvingTraits

if TYPE_CHECKING:
    from torch import Tensor

    from charm.models.writer.network import Writer

RecipePart = Literal["film", "film-only", "root-loss", "next-place", "float32-head", "steps"]
FILM_RANK = 32  # columns from which a layer's scales and shifts are made


@dataclass(frozen=True)
class WriterConfig(NetworkConfig):
    """A transformer that writes the answer token by token; its layers may repeat, all with gradients."""

    kind: Literal["writer"] = "writer"
    reads: Literal["forward", "whole"] = "forward"
    """What the tokens of a question see: those before them, or all of the question."""
    dropout: float = 0.0
    """Share of activations dropped in training."""
    recipe: tuple[RecipePart, ...] = ()
    """film: the task's vector also scales and shifts what every layer reads; film-only: it is not added to tokens then.
    root-loss: an example counts by the square root of its answer's length. next-place: queries are turned by the place
    of the token to come. float32-head: of a bfloat16 writer. steps: a vector for each recurrence."""
    kernels: Literal["auto", "plain", "fused"] = "auto"
    """How attention is computed: "plain" PyTorch, or a "fused" Triton kernel for NVIDIA GPUs; "auto" is fused where
    possible. "plain" also writes answers without recorded steps. The model is the same."""

    described: ClassVar[str] = (
        "a causal transformer that writes answers token by token, which is not the paper's architecture"
    )
    unused: ClassVar[frozenset[str]] = frozenset(
        {"batch", "accumulate", "halt_weight", "shard_tables", "data.canvas", "data.scales", "data.color_pool"}
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := [one for one in self.recipe if one not in get_args(RecipePart)]:
            raise CharmError(f"reasoner recipe must be some of {', '.join(get_args(RecipePart))}; got {unknown[0]!r}")
        for name, acts, needed in (
            ("film-only", "film" not in self.recipe, "film not to be named as well"),
            ("next-place", self.kernels != "fused", "kernels other than fused"),
            ("float32-head", self.compute_dtype != "float32", "compute_dtype bfloat16"),
            ("steps", self.recurrences > 1, "more than one recurrence"),
        ):
            if name in self.recipe and not acts:
                raise CharmError(f"reasoner recipe {name} needs {needed}")

    @property
    def film(self) -> bool:
        """Whether the task's vector scales and shifts what every layer reads."""
        return "film" in self.recipe or "film-only" in self.recipe

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
        weights += 4 * width * FILM_RANK * self.film
        layer = 2 * tokens * weights + 4 * pairs * width
        ends = SEQUENCE_VOCABULARY + FILM_RANK * self.film
        forward = self.recurrences * self.layers * layer + 2 * tokens * width * ends
        return forward, 3 * forward
