"""The shape of a recurrent reasoner that refines a canvas, and those of the family by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from charm.errors import CharmError
from charm.models.config import MOST, NetworkConfig

if TYPE_CHECKING:
    from charm.models.canvas.backbone import Reasoner

Recurrence = Literal["urm", "trm", "hrm"]


@dataclass(frozen=True)
class CanvasConfig(NetworkConfig):
    """Shape and recurrence of a reasoner; the defaults are CHARM's."""

    kind: Recurrence = "urm"
    """The recurrence: "urm" (CHARM's own) repeats one block, "trm" and "hrm" keep two states."""
    recurrences: int = 12
    """R: applications of the block per refinement step (urm), or cycles of `inner` + 1 of them (trm, hrm)."""
    horizon: int = 6
    """H: the last recurrences that carry gradients, 1..R. HRM's is 1 and means its last two applications."""
    horizon_layers: int = 0
    """The same in layers, so that it can cut through a block, U..U*R; 0 means `horizon` whole blocks. For urm."""
    inner: int = 1  # Applications to the low state in each cycle of trm and hrm; urm has no inner cycle, so 1.
    prefix: int = 16  # Positions before the cells: the task embedding at the first, zeros at the others.
    ffn: Literal["swiglu", "conv_swiglu"] = "conv_swiglu"
    """Feed-forward part: plain SwiGLU, or with a causal depthwise convolution of kernel 2 inside."""
    rope: Literal["1d", "2d"] = "1d"  # Rotary positions: along the sequence (1d), or by row and column (2d).
    halt_outputs: int = 1
    """Outputs of the halt head: 1 (halt), or 2 (halt, continue). Only HRM learns to use the second."""
    vocab: int = 12  # Tokens: pad, boundary, ten colours.
    refinement_steps: int = 16
    """Maximum number of refinement (outer) steps per example in training, and the exact number in evaluation."""
    exploration: float = 0.1
    """Probability that a training step imposes a random minimum on the number of refinement steps."""
    kernels: Literal["auto", "plain", "fused"] = "auto"
    """How blocks are computed: "plain" PyTorch, or "fused" Triton kernels for NVIDIA GPUs, which "auto" uses for
    bfloat16 there. The model is the same."""

    described: ClassVar[str] = "a recurrent reasoner ({kind})"
    unused: ClassVar[frozenset[str]] = frozenset({"tokens"})
    limits: ClassVar[Mapping[str, tuple[float, float]]] = {
        **NetworkConfig.limits,
        "vocab": (2, MOST),
        "horizon_layers": (0, MOST),
        "exploration": (0, 1),
    }
    fixed_depths: ClassVar[bool] = False
    sure: ClassVar[str] = "halting"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.horizon > self.recurrences:
            raise CharmError(f"reasoner horizon must be <= its {self.recurrences} recurrences, got {self.horizon}")
        depth = self.layers * self.recurrences
        if self.horizon_layers and not self.layers <= self.horizon_layers <= depth:
            blocks = f"from {self.layers} (one block) to {depth} (all layers)"
            raise CharmError(f"reasoner horizon_layers must be 0 or {blocks}; got {self.horizon_layers}")
        if self.horizon_layers and self.kind != "urm":
            raise CharmError(f"reasoner horizon_layers is for kind urm; {self.kind} counts its horizon in recurrences")
        if self.kind == "urm" and self.inner != 1:
            raise CharmError(f"reasoner kind urm has no inner cycles, so inner must be 1; got {self.inner}")
        if self.kind == "hrm" and self.horizon != 1:
            raise CharmError(f"reasoner kind hrm learns by two applications, so horizon must be 1; got {self.horizon}")
        if self.halt_outputs not in (1, 2):
            raise CharmError(f"reasoner halt_outputs must be 1 or 2, got {self.halt_outputs!r}")

    def build(self, seed: int = 0) -> Reasoner:
        from charm.models.canvas.backbone import Reasoner

        return Reasoner(self, seed)

    def flops(self, side: int) -> tuple[int, int]:
        """Count the operations of one refinement step of an example on a canvas of this side."""
        length, cells, width = self.prefix + side * side, side * side, self.width
        weights = 4 * width * width + 3 * width * self.inner_width
        layer = 2 * length * weights + 4 * length * length * width
        cycle = 1 if self.kind == "urm" else self.inner + 1
        applied = self.recurrences * cycle
        learning = 2 * self.layers if self.kind == "hrm" else self.learning_layers * cycle
        heads = 2 * width * (cells * self.vocab + self.halt_outputs)
        forward = applied * self.layers * layer + heads
        training = (applied * self.layers + 2 * learning) * layer + 3 * heads
        if self.kind == "hrm" and self.halt_outputs == 2:
            training += forward  # its loss looks one step ahead
        return forward, training

    @property
    def idle(self) -> dict[str, str]:
        found = {"exploration": "reasoner.refinement_steps is 1"} if self.refinement_steps == 1 else {}
        return found | ({"horizon": "reasoner.horizon_layers is given"} if self.horizon_layers else {})

    @property
    def depth(self) -> int:
        return self.refinement_steps

    @property
    def rotated(self) -> int:
        return 4 if self.rope == "2d" else 2  # a pair for each axis

    @property
    def voting_steps(self) -> tuple[int, ...]:
        return (self.refinement_steps,)

    @cached_property
    def learning_layers(self) -> int:
        """How many of a step's last layers carry gradients; of trm and hrm, in one of a cycle's applications."""
        return self.horizon_layers or self.horizon * self.layers

    @property
    def states(self) -> int:
        """Hidden states carried from one refinement step to the next."""
        return 1 if self.kind == "urm" else 2


# URM's backbone is the default one with a prefix of 1 and a halt head of two outputs.
# TRM's shape on ARC: 3 cycles of 4 + 1 applications of two layers, gradients through the last cycle.
TRM = CanvasConfig(kind="trm", layers=2, recurrences=3, inner=4, horizon=1, ffn="swiglu", halt_outputs=2)
# HRM's shape on ARC: 2 cycles of 2 + 1 applications of two blocks, gradients through the last of each.
HRM = CanvasConfig(kind="hrm", recurrences=2, inner=2, horizon=1, prefix=1, ffn="swiglu", halt_outputs=2)
# The small backbone for cellular automata. The paper does not give its heads; ours stay 64 wide.
CAR = CanvasConfig(width=256, heads=4, layers=2, recurrences=6, horizon=3, ffn="swiglu", refinement_steps=4)
