"""The shape of a vision transformer, and those of VARC and LoopViT by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from charm.models.config import NetworkConfig, SolvingTraits
from charm.tasks.canvas import LARGE_SIDE, VOCABULARY

if TYPE_CHECKING:
    from charm.models.vit.network import Vit


PATCH = 2  # cells along the side of a patch


@dataclass(frozen=True)
class VitConfig(NetworkConfig):
    """Post-norm layers over a 64 x 64 canvas in patches of 2 x 2, in one pass; the defaults are VARC's."""

    kind: Literal["vit"] = "vit"
    layers: int = 10
    expansion: float = 1.5  # the inner width is the model's own, 512
    dropout: float = 0.1  # Share of activations dropped in training.
    placements: int = 10  # Random scales and places of the input at which each view votes.

    described: ClassVar[str] = "a vision transformer after VARC and LoopViT, which is not the paper's architecture"
    unused: ClassVar[frozenset[str]] = frozenset({"tokens", "halt_weight"})
    canvas: ClassVar[str] = "large"
    limits: ClassVar[Mapping[str, tuple[float, float]]] = {
        **NetworkConfig.limits,
        "dropout": (0, 0.99),
        "placements": (1, 255),  # votes store its number in a byte
    }
    solving: ClassVar[SolvingTraits] = SolvingTraits(
        mode="full",
        asked_at_once=128,  # it learns in small batches, and is asked ten times for each view
        long_seconds=300.0,
        filled=64,  # the 51 views of a test input
        data={"canvas": "large", "scales": 0, "augment": "pseudo-tasks"},
        recipe={  # VARC's, which moves all weights
            "row_lr": 3e-4,
            "shared_lr": 3e-4,
            "row_decay": 0.0,
            "shared_decay": 0.0,
            "betas": (0.9, 0.999),
            "rows": "dense-adamw",
            "warmup_share": 0.1,
            "clip": 1.0,
            "decay": "cosine",
        },
    )

    def build(self, seed: int = 0) -> Vit:
        from charm.models.vit.network import Vit

        return Vit(self, seed)

    def flops(self, side: int = LARGE_SIDE) -> tuple[int, int]:
        """Count the operations of one canvas; all pairs of positions count, also those that the mask hides."""
        patches, width = (side // PATCH) ** 2, self.width
        length = 1 + patches
        layer = 2 * length * (4 * width**2 + 2 * width * self.inner_width) + 4 * length**2 * width
        ends = 2 * patches * PATCH**2 * VOCABULARY * width  # into patches, and as much out of them
        forward = self.recurrences * self.layers * layer + 2 * ends
        return forward, 3 * forward - ends  # what symbols there are has no gradient

    @property
    def rotated(self) -> int:
        return 4  # a pair for each axis

    @property
    def voting_steps(self) -> tuple[int, ...]:
        """One for each placement."""
        return tuple(range(1, self.placements + 1))


VARC = VitConfig()
# LoopViT is VARC with six layers, repeated six times; the large one is wider inside, the small one half as wide.
LOOPVIT = VitConfig(layers=6, recurrences=6, expansion=4.5)
LOOPVIT_MEDIUM = VitConfig(layers=6, recurrences=6)
LOOPVIT_SMALL = VitConfig(width=256, heads=4, layers=6, recurrences=6, expansion=3.0)
