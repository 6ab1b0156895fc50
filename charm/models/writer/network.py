"""The writer: a transformer that reads the input grid and writes the answer, token by token.

A canvas reasoner predicts all cells at once and must agree with itself; a writer sees what it has written so far. Its
layers may repeat, all with gradients. The task's vector is added to every token. Positions are rotary in three axes:
row, column, and whether the token belongs to the input or to the answer. How it writes: `charm.models.writer.writing`.

Shapes: L tokens of a pack, N sequences, D width, H heads, K head width, P pairs of a head's columns, V tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.varlen import varlen_attn

from charm.initial import truncated_normal_
from charm.models.config import ReasonerConfig
from charm.models.layers import Linear, Rotation, dropped, rms_norm
from charm.models.writer.passes import GatedSilu, RmsNorm, Rotate, add_dropped
from charm.tasks.sequences import LONGEST, SEQUENCE_VOCABULARY, Pack

# (queries, keys, values [..., H, K], number of the layer application) -> mixed values [..., H, K].
Attend = Callable[[Tensor, Tensor, Tensor, int], Tensor]


class WriterLayer(nn.Module):
    """Attention, then SwiGLU, each reading normalised activations and adding to the stream."""

    def __init__(self, config: ReasonerConfig, generator: torch.Generator) -> None:
        super().__init__()
        width, inner = config.width, config.inner_width
        self.heads, self.dropout = config.heads, config.dropout
        self.qkv, self.out = Linear(width, 3 * width, generator), Linear(width, width, generator)
        self.gate_up, self.down = Linear(width, 2 * inner, generator), Linear(inner, width, generator)
        with torch.no_grad():  # the stream's size at the last layer is that at the first
            for branch in (self.out, self.down):
                branch.weight.mul_((2 * config.layers * config.recurrences) ** -0.5)

    def forward(self, x: Tensor, turn: Rotation, attend: Attend, index: int) -> Tensor:
        q, k, v = self.qkv(_norm(x)).unflatten(-1, (3, self.heads, -1)).unbind(-3)
        mixed = attend(_rotate(q, turn), _rotate(k, turn), v, index).flatten(-2)
        x = self.add(x, self.out(mixed))
        return self.add(x, self.down(_swiglu(self.gate_up(_norm(x)))))

    def add(self, x: Tensor, branch: Tensor) -> Tensor:
        if self.dropout and self.training and torch.is_grad_enabled() and _plain(x):
            return add_dropped(x, branch, self.dropout)
        return x + dropped(branch, self.dropout, self.training)


class Writer(nn.Module):
    """Token embedding, layers and token head; `seed` decides its start."""

    frequency_3P: Tensor

    def __init__(self, config: ReasonerConfig, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.config = config
        self.compute_dtype: torch.dtype = getattr(torch, config.compute_dtype)
        rows = torch.empty(SEQUENCE_VOCABULARY, config.width)
        self.tokens = nn.Parameter(truncated_normal_(rows, 1.0, generator))
        self.layers = nn.ModuleList(WriterLayer(config, generator) for _ in range(config.layers))
        self.head = Linear(config.width, SEQUENCE_VOCABULARY, generator)
        nn.init.zeros_(self.head.weight)
        self.register_buffer("frequency_3P", _frequencies(config), persistent=False)

    def elementwise_parameters(self) -> list[nn.Parameter]:
        """Matrices whose rows are single tokens: to be moved by AdamW, never by Muon."""
        return [self.tokens, self.head.weight]

    def forward(self, token: Tensor, place: Tensor, task: Tensor, attend: Attend) -> Tensor:
        """Logits [..., V] of the token after each of `token` [...], at `place` [..., 3], under `task` [..., D]."""
        turn = _turns(place, self.frequency_3P, self.compute_dtype).unbind()
        x = (F.embedding(token, self.tokens) + task).to(self.compute_dtype)
        for recurrence in range(self.config.recurrences):
            for number, layer in enumerate(self.layers):
                x = layer(x, turn, attend, recurrence * len(self.layers) + number)
        return self.head(_norm(x)).float()

    def loss(self, pack: Pack, task_ND: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Mean cross-entropy of the answers' tokens, each given the true ones before it; and what to log."""
        pack, attend = _arranged(pack, self.config.reads)
        logits_LV, target_L, nll_L = self._follow(pack, attend, task_ND)
        count = pack.wanted_L.sum().clamp(min=1)
        loss = nll_L.sum() / count
        with torch.no_grad():
            wrong_L = (logits_LV.argmax(-1) != target_L) & pack.wanted_L
            zeros_N = torch.zeros(len(task_ND), device=task_ND.device)
            mistakes_N = zeros_N.index_add(0, pack.example_L, wrong_L.float())
            tokens_N = zeros_N.index_add(0, pack.example_L, pack.wanted_L.float())
            examples = (tokens_N > 0).sum()
            exact = ((mistakes_N == 0) & (tokens_N > 0)).sum() / examples.clamp(min=1)
        return loss, {
            "loss": loss.detach(),
            "token_accuracy": 1 - wrong_L.sum() / count,
            "exact_accuracy": exact,
            "examples": examples.float(),
        }

    def log_likelihood(self, pack: Pack, task_ND: Tensor) -> Tensor:
        """How likely each sequence's answer is, given its input: log-probabilities [N]."""
        pack, attend = _arranged(pack, self.config.reads)
        nll_L = self._follow(pack, attend, task_ND)[2]
        return torch.zeros_like(task_ND[:, 0], dtype=torch.float32).index_add(0, pack.example_L, -nll_L)

    def _follow(self, pack: Pack, attend: Attend, task_ND: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits [L, V], the tokens that come next [L], and minus their log-probabilities in answers, 0 elsewhere."""
        task_LD = F.embedding(pack.example_L, task_ND)
        logits_LV = self(pack.token_L, pack.place_L3, task_LD, attend)
        target_L = torch.roll(pack.token_L, -1)
        nll_L = F.cross_entropy(logits_LV, target_L, reduction="none")
        return logits_LV, target_L, torch.where(pack.wanted_L, nll_L, 0.0)


def _plain(x: Tensor) -> bool:
    """Whether this is computed as it is written, so that fewer passes over memory are faster."""
    return x.device.type == "cpu" and x.dtype == torch.float32 and not torch.compiler.is_compiling()


def _norm(x: Tensor) -> Tensor:
    return RmsNorm.apply(x) if _plain(x) else rms_norm(x)


def _swiglu(x: Tensor) -> Tensor:
    if _plain(x):
        return GatedSilu.apply(x)
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def _arranged(pack: Pack, reads: str) -> tuple[Pack, Attend]:
    """The tokens of a pack as they are computed, and attention that does not cross from one sequence to the next.

    Without CUDA's kernel, padding is left out and sequences of one shape are next to each other: each such group is one
    batch of attention. `edges_N2` and `answers_N` keep the order in which the sequences came.
    """
    if pack.token_L.is_cuda:
        return pack, _attend_within(pack, reads)
    edges = pack.edges_N2.long()
    asked_N = pack.answers_N - edges[:-2] if reads == "whole" else torch.zeros_like(edges[:-2])
    shape_N = edges[:-1].diff() * LONGEST + asked_N  # no question has LONGEST tokens
    shape_L = shape_N[pack.example_L[: edges[-2]]]
    order_L = shape_L.argsort(stable=True)
    arranged = replace(
        pack,
        token_L=pack.token_L[order_L],
        place_L3=pack.place_L3[order_L],
        example_L=pack.example_L[order_L],
        wanted_L=pack.wanted_L[order_L],
    )
    shapes, sizes = (part.tolist() for part in shape_L.unique(return_counts=True))
    groups = [(size, *divmod(shape, LONGEST)) for shape, size in zip(shapes, sizes, strict=True)]
    return arranged, partial(_attend_plainly, groups=groups)


def _attend_within(pack: Pack, reads: str) -> Attend:
    """Attention within each sequence that does not look ahead in an answer."""
    edges, begins_N, answers_N = pack.edges_N2, pack.edges_N2[:-2], pack.answers_N
    if reads == "forward":
        return lambda q, k, v, index: _attend_fast(q, k, v, edges, causal=True)

    # For questions: questions and answers as separate sequences. For answers: whole sequences.
    halves = torch.cat([torch.stack([begins_N, answers_N], 1).flatten(), edges[-2:]])
    at_L = torch.arange(len(pack.token_L), device=edges.device)
    asked_L = at_L < answers_N[pack.example_L]

    def whole(q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
        reading, writing = _attend_fast(q, k, v, halves, False), _attend_fast(q, k, v, edges, True)
        return torch.where(asked_L[:, None, None], reading, writing)

    return whole


def _attend_fast(q: Tensor, k: Tensor, v: Tensor, edges: Tensor, causal: bool) -> Tensor:
    # FlashAttention has no float32: a model that computes in it has bfloat16 here alone.
    dtype = torch.bfloat16 if q.dtype == torch.float32 else q.dtype
    a, b, c = (part.to(dtype).contiguous() for part in (q, k, v))
    found = varlen_attn(a, b, c, edges, edges, LONGEST, LONGEST, window_size=(-1, 0 if causal else -1))
    assert isinstance(found, Tensor)
    return found.to(q.dtype)


def _attend_plainly(
    q: Tensor, k: Tensor, v: Tensor, index: int, groups: Sequence[tuple[int, int, int]]
) -> Tensor:
    """Groups of sequences of one shape: tokens in all, tokens of each, and how many of those see one another."""
    mixed = []
    for (_, length, first), *parts in zip(
        groups, *(x.split([size for size, *_ in groups]) for x in (q, k, v)), strict=True
    ):
        a, b, c = (part.unflatten(0, (-1, length)).transpose(1, 2) for part in parts)
        found = []
        if first:
            found.append(F.scaled_dot_product_attention(*(part[:, :, :first] for part in (a, b, c))))
        if (rest := length - first) > 0:
            sees = torch.ones(rest, length, dtype=torch.bool).tril_(first) if first else None
            found.append(
                F.scaled_dot_product_attention(a[:, :, first:], b, c, attn_mask=sees, is_causal=not first)
            )
        mixed.append(torch.cat(found, dim=2).transpose(1, 2).flatten(0, 1))
    return torch.cat(mixed)


def _frequencies(config: ReasonerConfig) -> Tensor:
    """How fast each pair of a head's columns turns with the row, the column and the part, [3, P].

    Three eighths of the pairs turn with the row, three eighths with the column, the rest with the part.
    """
    pairs = config.head_width // 2
    along = 3 * pairs // 8
    turning = torch.zeros(3, pairs)
    for axis, (first, count, fastest) in enumerate(
        ((0, along, 1.0), (along, along, 1.0), (2 * along, pairs - 2 * along, math.pi))
    ):
        speeds = fastest * config.rope_base ** -(torch.arange(count) / count)
        turning[axis, first : first + count] = speeds
    return turning


@torch.library.custom_op("charm::turns", mutates_args=())
def _turns(place: Tensor, frequency_3P: Tensor, dtype: torch.dtype) -> Tensor:
    """Cosines and sines of every token's angles, [2, ..., P]. An op of its own: a compiler would otherwise compute
    them anew in every layer."""
    angle = place.to(frequency_3P.dtype) @ frequency_3P
    return torch.stack([angle.cos(), angle.sin()]).to(dtype)


@_turns.register_fake
def _(place: Tensor, frequency_3P: Tensor, dtype: torch.dtype) -> Tensor:
    return place.new_empty((2, *place.shape[:-1], frequency_3P.shape[1]), dtype=dtype)


def _rotate(x: Tensor, turn: Rotation) -> Tensor:
    """Turns pair (i, i + K/2) of x [..., H, K] by its token's angle."""
    cos, sin = (part.unsqueeze(-2).to(x.dtype) for part in turn)
    if _plain(x):
        return Rotate.apply(x, cos, sin)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
