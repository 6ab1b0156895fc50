"""The shape of a reasoner: one typed record, and the four shapes of the family by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args, get_type_hints

from charm.errors import CharmError

Recurrence = Literal["urm", "trm", "hrm", "writer", "vit"]

MOST = 2**16  # of any size: a configuration from a file must not use up all memory
MOST_LAYERS = 1024


@dataclass(frozen=True)
class ReasonerConfig:
    """Shape and recurrence of a reasoner; the defaults are CHARM's."""

    kind: Recurrence = "urm"
    """The recurrence: "urm" (CHARM's own) repeats one block, "trm" and "hrm" keep two states. A "writer" writes the
    answer cell by cell instead of refining a canvas (`charm.models.writer`). A "vit" answers a large canvas in one
    step, as VARC and LoopViT do (`charm.models.vit`)."""
    width: int = 512
    """Width D of the hidden state and of the task embedding."""
    heads: int = 8
    """Attention heads; the width of one is width / heads."""
    layers: int = 4
    """U: distinct layers in a block. HRM has two such blocks, the others one."""
    recurrences: int = 12
    """R: applications of the block per refinement step (urm), or cycles of `inner` + 1 of them (trm, hrm)."""
    horizon: int = 6
    """H: the last recurrences that carry gradients, 1..R. HRM's is 1 and means its last two applications."""
    horizon_layers: int = 0
    """The same in layers, so that it can cut through a block, U..U*R; 0 means `horizon` whole blocks. For urm."""
    inner: int = 1
    """Applications to the low state in each cycle of trm and hrm; urm has no inner cycle, so 1."""
    prefix: int = 16
    """Positions before the cells: the task embedding at the first, zeros at the others."""
    ffn: Literal["swiglu", "conv_swiglu", "gelu"] = "conv_swiglu"
    """Feed-forward part: plain SwiGLU, or with a causal depthwise convolution of kernel 2 inside; a vit's is a
    GELU between two maps."""
    expansion: float = 4.0
    """Feed-forward expansion e: the inner width is 2/3 * e * width, rounded up to a multiple."""
    inner_multiple: int = 256
    """Feed-forward widths are rounded up to a multiple of this; the family's value is too coarse for tiny models."""
    reads: Literal["forward", "whole"] = "forward"
    """What the tokens of a writer's question see: those before them, or all of the question."""
    rope: Literal["1d", "2d"] = "1d"
    """Rotary positions: along the sequence (1d), or by row and column (2d)."""
    rope_base: float = 10000.0
    """Base of the rotary wavelengths."""
    dropout: float = 0.0
    """Share of activations dropped in training; for writers and vits."""
    placements: int = 1
    """Random scales and places of the input at which each view votes; only for vits."""
    halt_outputs: int = 1
    """Outputs of the halt head: 1 (halt), or 2 (halt, continue). Only HRM learns to use the second."""
    vocab: int = 12
    """Tokens: pad, boundary, ten colours."""
    refinement_steps: int = 16
    """Maximum number of refinement (outer) steps per example in training, and the exact number in evaluation."""
    exploration: float = 0.1
    """Probability that a training step imposes a random minimum on the number of refinement steps."""
    compute_dtype: Literal["bfloat16", "float32"] = "bfloat16"
    """Type of activations and matrix products; the weights themselves are always float32."""
    kernels: Literal["auto", "plain", "fused"] = "auto"
    """How blocks, or a writer's attention, are computed: "plain" PyTorch, or "fused" Triton kernels for NVIDIA GPUs,
    which "auto" uses for bfloat16 there. The model is the same."""

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            choices, value = get_args(hint), getattr(self, name)
            if choices and value not in choices:
                raise CharmError(f"reasoner {name} must be one of {', '.join(choices)}; got {value!r}")
            if hint is not int or name in ("horizon_layers", "halt_outputs"):
                continue
            least, most = 2 if name == "vocab" else 1, MOST_LAYERS if name == "layers" else MOST
            if not isinstance(value, int) or value < least:
                raise CharmError(f"reasoner {name} must be an integer >= {least}, got {value!r}")
            if value > most:
                raise CharmError(f"reasoner {name} must be <= {most}, got {value}")
        if self.horizon > self.recurrences:
            raise CharmError(
                f"reasoner horizon must be <= its {self.recurrences} recurrences, got {self.horizon}"
            )
        depth = self.layers * self.recurrences
        if self.horizon_layers and not (
            isinstance(self.horizon_layers, int) and self.layers <= self.horizon_layers <= depth
        ):
            raise CharmError(
                f"reasoner horizon_layers must be 0 or from {self.layers} (one block) to {depth} (all layers); "
                f"got {self.horizon_layers!r}"
            )
        if self.horizon_layers and self.kind != "urm":
            raise CharmError(
                f"reasoner horizon_layers is for kind urm; kind {self.kind} counts its horizon in recurrences"
            )
        if self.kind == "urm" and self.inner != 1:
            raise CharmError(f"reasoner kind urm has no inner cycles, so inner must be 1; got {self.inner}")
        if self.kind == "hrm" and self.horizon != 1:
            raise CharmError(
                f"reasoner kind hrm carries gradients through its last two applications, "
                f"so horizon must be 1; got {self.horizon}"
            )
        if self.kind == "writer" and (self.horizon != self.recurrences or self.refinement_steps != 1):
            raise CharmError(
                "reasoner kind writer carries gradients through all recurrences and answers in one step: "
                f"horizon must be {self.recurrences} and refinement_steps 1"
            )
        if not 0 <= self.dropout < 1 or (self.dropout and self.kind not in ("writer", "vit")):
            raise CharmError(
                f"reasoner dropout must be in 0..1 (below 1) and is for kinds writer and vit; got {self.dropout}"
            )
        if self.reads != "forward" and self.kind != "writer":
            raise CharmError(f"reasoner reads is for kind writer; got {self.reads} for kind {self.kind}")
        if (self.kind == "vit") != (self.ffn == "gelu"):
            raise CharmError("reasoner ffn gelu and kind vit belong together")
        if self.kind == "vit":
            self._check_vit()
        elif self.placements != 1:
            raise CharmError(f"reasoner placements is for kind vit; kind {self.kind} needs 1")
        if self.width % self.heads != 0:
            raise CharmError(f"reasoner width must be divisible by its {self.heads} heads, got {self.width}")
        rotated = 2 if self.rope == "1d" else 4  # a pair turns by one angle; 2-D needs a pair for each axis
        if self.head_width % rotated != 0:
            raise CharmError(
                f"reasoner head width {self.head_width} (width / heads) is not divisible by {rotated}, "
                f"as {self.rope} rotary positions need"
            )
        if self.halt_outputs not in (1, 2):
            raise CharmError(f"reasoner halt_outputs must be 1 or 2, got {self.halt_outputs!r}")
        if not 0 < self.expansion <= MOST:
            raise CharmError(f"reasoner expansion must be positive and <= {MOST}, got {self.expansion}")
        if not 1 < self.rope_base < math.inf:
            raise CharmError(f"reasoner rope_base must be > 1, got {self.rope_base}")
        if not 0 <= self.exploration <= 1:
            raise CharmError(f"reasoner exploration must be a probability, got {self.exploration}")

    def _check_vit(self) -> None:
        fixed = {
            "horizon": self.recurrences,
            "refinement_steps": 1,
            "prefix": 1,
            "rope": "2d",
            "halt_outputs": 1,
            "vocab": 12,
        }
        for name, value in fixed.items():
            if getattr(self, name) != value:
                raise CharmError(
                    f"reasoner {name} must be {value} for this vit, which answers in one step and learns from all of "
                    f"its layers; got {getattr(self, name)}"
                )
        if self.placements > 255:  # votes store its number in a byte
            raise CharmError(f"reasoner placements must be <= 255, got {self.placements}")

    @property
    def sure(self) -> str:
        """What the model's confidence in an answer is: a key of `charm.evaluation.protocols.SURE`."""
        return "likelihood" if self.kind in ("writer", "vit") else "halting"

    @property
    def voting_steps(self) -> tuple[int, ...]:
        """The steps after which votes are taken: the last one; for a vit, one for each placement."""
        return tuple(range(1, self.placements + 1)) if self.kind == "vit" else (self.refinement_steps,)

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    @property
    def inner_width(self) -> int:
        """Width inside the feed-forward part: 1536 for width 512 and expansion 4."""
        multiples = math.ceil(round(2 / 3 * self.expansion * self.width) / self.inner_multiple)
        return self.inner_multiple * max(1, multiples)

    @property
    def learning_layers(self) -> int:
        """How many of a step's last layers carry gradients; of trm and hrm, in one of a cycle's applications."""
        return self.horizon_layers or self.horizon * self.layers

    @property
    def states(self) -> int:
        """Hidden states carried from one refinement step to the next."""
        return {"urm": 1, "vit": 0}.get(self.kind, 2)

    @property
    def blocks(self) -> int:
        """Separate stacks of `layers` layers."""
        return 2 if self.kind == "hrm" else 1


# URM's backbone is the default one with a prefix of 1 and a halt head of two outputs.


def trm() -> ReasonerConfig:
    """TRM on ARC: 3 cycles of 4 + 1 applications of two layers, gradients through the last cycle."""
    return ReasonerConfig(
        kind="trm", layers=2, recurrences=3, inner=4, horizon=1, ffn="swiglu", halt_outputs=2
    )


def hrm() -> ReasonerConfig:
    """HRM on ARC: 2 cycles of 2 + 1 applications of two blocks, gradients through the last of each."""
    return ReasonerConfig(
        kind="hrm", recurrences=2, inner=2, horizon=1, prefix=1, ffn="swiglu", halt_outputs=2
    )


def varc() -> ReasonerConfig:
    """VARC's ViT: ten post-norm layers of width 512, one pass over a 64 x 64 canvas in patches of 2 x 2."""
    return ReasonerConfig(
        kind="vit",
        layers=10,
        recurrences=1,
        horizon=1,
        prefix=1,
        ffn="gelu",
        expansion=1.5,  # the inner width is the model's own, 512
        rope="2d",
        dropout=0.1,
        placements=10,
        refinement_steps=1,
    )


def loopvit() -> ReasonerConfig:
    """LoopViT's large size: VARC with six layers that are repeated six times, wider inside."""
    return replace(varc(), layers=6, recurrences=6, horizon=6, expansion=4.5)


def loopvit_small() -> ReasonerConfig:
    """LoopViT's small size: half as wide."""
    return replace(loopvit(), width=256, heads=4, expansion=3.0)


def car() -> ReasonerConfig:
    """The small backbone for cellular automata. The paper does not give its heads; ours stay 64 wide."""
    return ReasonerConfig(
        width=256, heads=4, layers=2, recurrences=6, horizon=3, ffn="swiglu", refinement_steps=4
    )
