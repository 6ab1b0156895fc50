"""A network of your own in one file: a mixer, without attention, that answers in one step. docs/extend.md explains it.

    python examples/own_network.py train mixer --out runs/mixer
    python examples/own_network.py eval runs/mixer                   # likewise solve, adapt, report, params and view

A layer mixes the rows of a canvas by one learned matrix and its columns by another. The task's vector decides which
channels take part: it scales and shifts what is mixed, and scales what comes out.

Shapes: B examples, T cells, S side of the canvas, D width, N groups of channels, H channels of a group, V tokens.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from charm.arc.presets import PRESETS, quickstart
from charm.cli import main
from charm.errors import CharmError
from charm.initial import truncated_normal_
from charm.models.canvas.training import CanvasNetwork
from charm.models.config import NetworkConfig
from charm.models.layers import Linear, SwiGLU, rms_norm
from charm.models.networks import NETWORKS
from charm.runs.settings import TrainConfig
from charm.tasks.canvas import FULL_SIDE, VOCABULARY

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class MixerConfig(NetworkConfig):
    """The shape of a mixer. Each field that it reads is a flag, such as --reasoner.width."""

    kind: Literal["mixer"] = "mixer"
    heads: int = 8
    """Groups of channels; each has separate matrices that mix rows and columns."""

    described: ClassVar[str] = "a network without attention"  # on a model card
    unused: ClassVar[frozenset[str]] = frozenset({"tokens", "reasoner.recurrences", "reasoner.rope_base"})
    sure: ClassVar[str] = "halting"  # one output learns whether the answer is right

    def build(self, seed: int = 0) -> "Mixer":
        return Mixer(self, seed)

    def flops(self, side: int) -> tuple[int, int]:
        """Count the operations of one canvas, for `charm bench`."""
        cells, width = side * side, self.width
        layer = 2 * cells * width * (2 * side + width + 3 * self.inner_width) + 6 * width**2
        forward = self.layers * layer + 2 * width * (cells * VOCABULARY + 1)
        return forward, 3 * forward


class MixerLayer(nn.Module):
    """Mix rows and columns, then channels; each part is added to what came in."""

    def __init__(self, config: MixerConfig, generator: torch.Generator) -> None:
        super().__init__()
        shape, width = (config.heads, FULL_SIDE, FULL_SIDE), config.width
        self.rows, self.columns = (
            nn.Parameter(truncated_normal_(torch.empty(shape), FULL_SIDE**-0.5, generator)) for _ in range(2)
        )
        self.task = Linear(width, 3 * width, generator)
        self.out = Linear(width, width, generator)
        self.feed_forward = SwiGLU(config, generator)

    def forward(self, x_BSSD: Tensor, task_BD: Tensor) -> Tensor:
        side, heads = x_BSSD.shape[1], len(self.rows)
        scale, shift, gate = self.task(task_BD)[:, None, None].chunk(3, dim=-1)
        y_BSSD = rms_norm(x_BSSD) * (1 + scale) + shift
        # Half of the channels are transposed: matrices of rows and columns alone cannot turn a grid.
        upright, turned = y_BSSD.chunk(2, dim=-1)
        y_BSSNH = torch.cat([upright, turned.transpose(1, 2)], dim=-1).unflatten(-1, (heads, -1))
        # A smaller canvas uses a part of the matrices, so one model serves all sizes.
        rows_NSS, columns_NSS = (part[:, :side, :side].to(x_BSSD.dtype) for part in (self.rows, self.columns))
        y_BSSNH = torch.einsum("nir,brcnh->bicnh", rows_NSS, y_BSSNH)
        y_BSSNH = torch.einsum("njc,bicnh->bijnh", columns_NSS, y_BSSNH)
        x_BSSD = x_BSSD + self.out(y_BSSNH.flatten(-2) * (1 + gate))
        return x_BSSD + self.feed_forward(rms_norm(x_BSSD))


class Mixer(CanvasNetwork):
    """Token vectors, mixing layers, and a token for every cell. `CanvasNetwork` makes batches, losses and updates."""

    def __init__(self, config: MixerConfig, seed: int = 0) -> None:
        super().__init__(config)
        generator = torch.Generator().manual_seed(seed)
        self.tokens = nn.Parameter(truncated_normal_(torch.empty(VOCABULARY, config.width), 1.0, generator))
        self.blocks = nn.ModuleList(MixerLayer(config, generator) for _ in range(config.layers))
        self.head = Linear(config.width, VOCABULARY, generator)
        self.right = nn.Parameter(torch.zeros(1, config.width))

    def forward(
        self, state_SBLD: Tensor, tokens_BT: Tensor, task_BD: Tensor, side: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the state as it was (there is none), token logits [B, T, V] and logits [B] that they are right."""
        if side > FULL_SIDE:
            raise CharmError(
                f"a mixer answers canvases of side {FULL_SIDE} at most, got {side}; set data.canvas to fit"
            )
        x_BSSD = F.embedding(tokens_BT.long(), self.tokens).to(self.compute_dtype).unflatten(1, (side, side))
        for block in self.blocks:
            x_BSSD = block(x_BSSD, task_BD.to(self.compute_dtype))
        x_BTD = rms_norm(x_BSSD.flatten(1, 2))
        right_B = F.linear(x_BTD.mean(1).float(), self.right).squeeze(1)
        return state_SBLD, self.head(x_BTD).float(), right_B

    def elementwise_parameters(self) -> list[nn.Parameter]:
        """Return the matrices whose rows are single tokens; Muon moves the others."""
        return [self.tokens, self.head.weight, self.right]


def mixer() -> TrainConfig:
    """The quickstart's tasks and memory with a mixer."""
    return replace(quickstart(), reasoner=MixerConfig(width=128, layers=4, inner_multiple=32, compute_dtype="float32"))


NETWORKS["mixer"] = MixerConfig
PRESETS["mixer"] = mixer

if __name__ == "__main__":
    main()
