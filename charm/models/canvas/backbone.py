"""The reasoner: one refinement step of a recurrent network over [task prefix | canvas cells], and many in evaluation.

Shapes: B examples, T cells, P prefix, L = P + T positions, D width, V tokens, S states.
"""

import importlib.util
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from charm.errors import CharmError
from charm.initial import truncated_normal_
from charm.models.canvas.config import CanvasConfig
from charm.models.canvas.training import CanvasNetwork
from charm.models.layers import Block, Linear, Rotation, rotation

HALT_BIAS = -5.0  # no example halts before the model has learned to: sigmoid(-5) is 0.7 %


# (state, injected, times, cut=0) -> the state after a block was applied several times, with the same input injected
# before each application. With a cut, gradients stop before that layer of the first application.
Apply = Callable[..., Tensor]

# The three recurrences. Each takes the states of the last step (the one that is read out first), the embedded input x,
# and the blocks; each returns new states, with a graph behind the last part only.


def recur_urm(states: list[Tensor], x: Tensor, apply: list[Apply], config: CanvasConfig) -> list[Tensor]:
    """Repeat one state: the input is injected before each of the R applications, the last layers carry gradients."""
    (h,), (f,) = states, apply
    frozen, cut = divmod(config.layers * config.recurrences - config.learning_layers, config.layers)
    with torch.no_grad():
        h = f(h, x, frozen)
    return [f(h, x, config.recurrences - frozen, cut)]


def recur_trm(states: list[Tensor], x: Tensor, apply: list[Apply], config: CanvasConfig) -> list[Tensor]:
    """Let a low state think `inner` times, then update the high one; the last H of R cycles carry gradients."""
    (high, low), (f,) = states, apply

    def cycle(high: Tensor, low: Tensor) -> tuple[Tensor, Tensor]:
        low = f(low, high + x, config.inner)
        return f(high, low, 1), low

    with torch.no_grad():
        for _ in range(config.recurrences - config.horizon):
            high, low = cycle(high, low)
    for _ in range(config.horizon):
        high, low = cycle(high, low)
    return [high, low]


def recur_hrm(states: list[Tensor], x: Tensor, apply: list[Apply], config: CanvasConfig) -> list[Tensor]:
    """Do as TRM with a block for each state; only the very last application of each block carries gradients."""
    (high, low), (f_high, f_low) = states, apply
    with torch.no_grad():
        for cycle in range(config.recurrences):
            last = cycle == config.recurrences - 1
            low = f_low(low, high + x, config.inner - last)
            if not last:
                high = f_high(high, low, 1)
    low = f_low(low, high + x, 1)
    high = f_high(high, low, 1)
    return [high, low]


def plain(block: nn.Module, turn: Rotation) -> Apply:
    """Return how a block is applied by its own forward."""

    def apply(state_BLD: Tensor, injected_BLD: Tensor, times: int, cut: int = 0) -> Tensor:
        if cut:
            state_BLD, times = block(state_BLD, injected_BLD, turn, cut), times - 1
        for _ in range(times):
            state_BLD = block(state_BLD, injected_BLD, turn)
        return state_BLD

    return apply


RECUR = {"urm": recur_urm, "trm": recur_trm, "hrm": recur_hrm}


class Reasoner(CanvasNetwork):
    """A recurrent backbone with its token embedding, token head and halt head; `seed` decides its start."""

    config: CanvasConfig
    initial: Tensor

    def __init__(self, config: CanvasConfig, seed: int = 0) -> None:
        super().__init__(config)
        generator = torch.Generator().manual_seed(seed)
        self.rope = (config.prefix, config.rope, config.rope_base, config.head_width)
        std = config.width**-0.5
        self.tokens = nn.Parameter(truncated_normal_(torch.empty(config.vocab, config.width), std, generator))
        blocks = 2 if config.kind == "hrm" else 1  # HRM has one for each state
        self.blocks = nn.ModuleList(Block(config, generator) for _ in range(blocks))
        self.head = Linear(config.width, config.vocab, generator)
        self.halt_weight = nn.Parameter(torch.zeros(config.halt_outputs, config.width))
        self.halt_bias = nn.Parameter(torch.full((config.halt_outputs,), HALT_BIAS))
        # Where every position's state begins. Never trained, but part of the model: saved and counted.
        initial_SD = truncated_normal_(torch.empty(config.states, config.width), 1.0, generator)
        self.register_buffer("initial", initial_SD)

    def forward(
        self, state_SBLD: Tensor, tokens_BT: Tensor, task_BD: Tensor, side: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Make one refinement step on canvases of `side` x `side` cells, row by row.

        Return the next state (detached: gradients never cross refinement steps), the token logits [B, T, V]
        and the halt logits [B] (or [B, 2]: halt, continue), both float32.
        """
        config = self.config
        if tokens_BT.shape[1] != side * side:
            raise CharmError(f"a canvas of side {side} must have {side * side} cells, got {tokens_BT.shape[1]}")
        turn = rotation(side, *self.rope, tokens_BT.device)
        apply: list[Apply] = [plain(block, turn) for block in self.blocks]
        if self.uses_fused_kernels():
            from charm.models.canvas.kernels import fused  # here alone: Triton is not everywhere

            apply = [fused(block, turn, self.compute_dtype) for block in self.blocks]
        x_BLD = self.embed(tokens_BT, task_BD)
        states = RECUR[config.kind](list(state_SBLD.detach()), x_BLD, apply, config)
        answer_BLD = states[0]
        logits_BTV = self.head(answer_BLD[:, config.prefix :]).float()
        weights = (self.halt_weight.to(self.compute_dtype), self.halt_bias.to(self.compute_dtype))
        halt_BQ = F.linear(answer_BLD[:, 0], *weights).float()
        next_SBLD = torch.stack([state.detach() for state in states])
        return next_SBLD, logits_BTV, halt_BQ.squeeze(1) if config.halt_outputs == 1 else halt_BQ

    def embed(self, tokens_BT: Tensor, task_BD: Tensor) -> Tensor:
        """Return sqrt(D) * [task, zeros, token embeddings] as [B, L, D].

        Looked up and scaled in float32, rounded once: the gradient of twelve rows sums over all cells of a
        batch, which bfloat16 could not hold.
        """
        cells_BTD = F.embedding(tokens_BT.long(), self.tokens)
        prefix_BPD = F.pad(task_BD.float()[:, None], (0, 0, 0, self.config.prefix - 1))
        return (self.config.width**0.5 * torch.cat([prefix_BPD, cells_BTD], dim=1)).to(self.compute_dtype)

    def initial_state(self, batch: int, cells: int) -> Tensor:
        """Return the state [S, B, L, D] before the first step: the same vector everywhere, as a read-only view."""
        shape = (-1, batch, self.config.prefix + cells, -1)
        return self.initial.to(self.compute_dtype)[:, None, None].expand(shape)

    def restart(self, state_SBLD: Tensor, halted_B: Tensor) -> Tensor:
        initial_S11D = self.initial.to(state_SBLD.dtype)[:, None, None]
        return torch.where(halted_B[:, None, None], initial_S11D, state_SBLD)

    def uses_fused_kernels(self) -> bool:
        """Return whether this model, where it is now, computes its blocks with the fused kernels."""
        config = self.config
        # Tiles of the attention kernel are powers of two, and matrix units take no fewer than 16 columns.
        possible = self.initial.is_cuda and config.head_width in (16, 32, 64, 128)
        possible = possible and importlib.util.find_spec("triton") is not None
        if config.kernels == "fused" and not possible:
            raise CharmError(
                f"the fused kernels need Triton, an NVIDIA GPU and heads of 16, 32, 64 or 128 columns; this model "
                f'has {config.head_width} and is on {self.initial.device}. kernels "auto" uses them where they run'
            )
        by_default = config.kernels == "auto" and config.compute_dtype == "bfloat16"
        return possible and (by_default or config.kernels == "fused")

    def kernels_in_use(self) -> str:
        return "fused" if self.uses_fused_kernels() else super().kernels_in_use()

    def compile_parts(self, **options: Any) -> None:
        if not self.uses_fused_kernels():  # they leave nothing to compile
            super().compile_parts(**options)


def count_parameters(module: nn.Module, initial_state: bool = True) -> int:
    """Count the parameters of a module, by default with a reasoner's untrained initial state, as the paper counts."""
    count = sum(parameter.numel() for parameter in module.parameters())
    if initial_state:
        count += sum(part.initial.numel() for part in module.modules() if isinstance(part, Reasoner))
    return count
