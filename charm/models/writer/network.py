"""The writer: a transformer that reads the input grid and writes the answer, token by token.

A canvas reasoner predicts all cells at once and must agree with itself; a writer sees what it has written so far. Its
layers may repeat, all with gradients. The task's vector is added to every token. Positions are rotary in three axes:
row, column, and whether the token belongs to the input or to the answer. How it writes: `charm.models.writer.writing`.

Shapes: L tokens of a pack, N sequences, D width, H heads, K head width, P pairs of a head's columns, V tokens.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.varlen import varlen_attn

from charm.devices import Place
from charm.errors import CharmError
from charm.initial import truncated_normal_
from charm.models.layers import Linear, drop, rms_norm
from charm.models.network import AskedBatch, Asking, BatchSize, Network
from charm.models.writer.config import FILM_RANK, WriterConfig
from charm.models.writer.cpu import GatedSilu, RmsNorm, Rotate, add_dropped, linear
from charm.models.writer.packs import Packs, longest_sequence
from charm.tasks.batch import PairBank
from charm.tasks.dataset import Dataset
from charm.tasks.keyed import Numbers
from charm.tasks.keys import Keys
from charm.tasks.sequences import LONGEST, SEQUENCE_VOCABULARY, Pack

if TYPE_CHECKING:
    from charm.models.model import CharmModel

# (queries, keys, values [..., H, K], number of the layer application) -> mixed values [..., H, K].
Mix = Callable[[Tensor, Tensor, Tensor, int], Tensor]
# The same of [..., 3, H, K] that are not rotated yet: (them, angles of the keys, of the queries, the number).
Attend = Callable[[Tensor, Tensor, Tensor, int], Tensor]
Loss = Callable[[Pack, Tensor], tuple[Tensor, dict[str, Tensor]]]

HAS_TRITON = importlib.util.find_spec("triton") is not None
FUSED_WIDTHS = (32, 64)  # of a head; wider ones would need other blocks


def turned(attend: Mix) -> Attend:
    """Return attention that turns keys by their own places, and queries by those of the tokens to come, before."""

    def attend_turned(qkv: Tensor, turn: Tensor, ahead: Tensor, index: int) -> Tensor:
        q, k, v = qkv.unbind(-3)
        return attend(_rotate(q, ahead), _rotate(k, turn), v, index)

    return attend_turned


class Last(NamedTuple):
    """What the last layer computes if only some tokens' logits are wanted: a choice of tokens, and their attention."""

    pick: Callable[[Tensor], Tensor]  # [..., D] of all tokens -> of the wanted ones
    attend: Mix  # queries of the wanted tokens; keys and values of all


class WriterLayer(nn.Module):
    """Attention, then SwiGLU, each reading normalised activations and adding to the stream."""

    def __init__(self, config: WriterConfig, generator: torch.Generator) -> None:
        super().__init__()
        width, inner = config.width, config.inner_width
        self.heads, self.dropout = config.heads, config.dropout
        self.qkv, self.out = Linear(width, 3 * width, generator), Linear(width, width, generator)
        self.gate_up, self.down = Linear(width, 2 * inner, generator), Linear(inner, width, generator)
        with torch.no_grad():  # the stream's size at the last layer is that at the first
            for branch in (self.out, self.down):
                branch.weight.mul_((2 * config.layers * config.recurrences) ** -0.5)
        self.film = Linear(FILM_RANK, 4 * width, generator) if config.film else None

    def forward(
        self,
        x: Tensor,
        turn: Tensor,
        ahead: Tensor,
        code: Tensor | None,
        attend: Attend,
        index: int,
        last: Last | None = None,
    ) -> Tensor:
        """Apply the layer; with `last`, only the tokens that it picks leave it.

        Keys are turned by `turn`, queries by `ahead`; the film is made from `code`.
        """
        normal = self.filmed(x, code, 0)
        if last is not None:
            weight, width = self.qkv.weight, x.shape[-1]
            k, v = linear(normal, weight[width:]).unflatten(-1, (2, self.heads, -1)).unbind(-3)
            q = linear(last.pick(normal), weight[:width]).unflatten(-1, (self.heads, -1))
            own = torch.stack([last.pick(part) for part in ahead])
            mixed = last.attend(_rotate(q, own), _rotate(k, turn), v, index)
            x, code = last.pick(x), None if code is None else last.pick(code)
        else:
            qkv = linear(normal, self.qkv.weight).unflatten(-1, (3, self.heads, -1))
            mixed = attend(qkv, turn, ahead, index)
        x = self.add(x, linear(mixed.flatten(-2), self.out.weight))
        return self.add(x, linear(_swiglu(linear(self.filmed(x, code, 2), self.gate_up.weight)), self.down.weight))

    def filmed(self, x: Tensor, code: Tensor | None, part: int) -> Tensor:
        """Return x normalised; with a code, also scaled and shifted by parts of the film."""
        if self.film is None or code is None:
            return _norm(x)
        scale, shift = linear(code, self.film.weight).chunk(4, dim=-1)[part : part + 2]
        return _norm(x) * (1 + scale) + shift

    def add(self, x: Tensor, branch: Tensor) -> Tensor:
        if self.dropout and self.training and torch.is_grad_enabled() and _plain(x):
            return add_dropped(x, branch, self.dropout)
        return x + drop(branch, self.dropout, self.training)


class Writer(Network):
    """Token embedding, layers and token head; `seed` decides its start."""

    config: WriterConfig
    frequency_3P: Tensor

    def __init__(self, config: WriterConfig, seed: int = 0) -> None:
        super().__init__(config)
        generator = torch.Generator().manual_seed(seed)
        self._compiled_loss: Loss | None = None
        rows = torch.empty(SEQUENCE_VOCABULARY, config.width)
        self.tokens = nn.Parameter(truncated_normal_(rows, 1.0, generator))
        self.layers = nn.ModuleList(WriterLayer(config, generator) for _ in range(config.layers))
        self.head = Linear(config.width, SEQUENCE_VOCABULARY, generator)
        nn.init.zeros_(self.head.weight)
        self.code = Linear(config.width, FILM_RANK, generator) if config.film else None
        stepped = "steps" in config.recipe
        self.steps = nn.Parameter(torch.zeros(config.recurrences, config.width)) if stepped else None
        self.register_buffer("frequency_3P", _frequencies(config), persistent=False)

    def examples(self, data: Dataset, size: BatchSize, seed: int, place: Place) -> Packs:
        if size.tokens % place.world or size.accumulate != 1:
            raise CharmError(
                f"tokens ({size.tokens}) must divide among {place.world} processes, and accumulate must be 1"
            )
        return Packs(self, data, size.tokens // place.world, seed, place)

    @property
    def body(self) -> nn.ModuleList:
        return self.layers

    def asking(self, data: Dataset, steps: int, batch: int, fill: bool = False) -> Asking:
        from charm.models.writer.asking import AskingWriter  # which needs the writer

        return AskingWriter(self, data, steps, batch, fill)

    def answers(self, asked: AskedBatch, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
        from charm.models.writer.asking import write_answers

        yield write_answers(self, asked)

    def log_likelihoods(
        self, model: CharmModel, pairs: PairBank, keys: Keys, pair_N: Numbers, row_N: Numbers
    ) -> npt.NDArray[np.float32]:
        from charm.models.writer.asking import log_likelihoods

        return log_likelihoods(self, model, pairs, keys, pair_N, row_N)

    def search(
        self,
        model: CharmModel,
        data: Dataset,
        question_N: Numbers,
        row_N: Numbers,
        least: float,
        stop: Callable[[], bool],
    ) -> Iterator[tuple[Numbers, Tensor, Tensor]]:
        from charm.models.writer.asking import search_answers

        return search_answers(self, model, data, question_N, row_N, least, stop)

    def update_size(self, data: Dataset, tasks: int, asked: int, place: Place) -> int:
        """Return the tokens in each update: as asked, or by device and number of tasks."""
        longest = longest_sequence(data)
        if asked or place.device.type == "cpu":
            return max(asked or 1024, longest)
        return min(max(2048 * tasks, 8192), 32_768)

    def compile_parts(self) -> None:
        self._compiled_loss = torch.compile(self.loss, dynamic=False)

    def uncompile(self) -> None:
        self._compiled_loss = None

    @property
    def learned_loss(self) -> Loss:
        """`loss`, compiled together with its gradient where `compile_parts` was called."""
        return self._compiled_loss or self.loss

    def elementwise_parameters(self) -> list[nn.Parameter]:
        return [self.tokens, self.head.weight, *([] if self.steps is None else [self.steps])]

    def forward(
        self,
        token: Tensor,
        place: Tensor,
        after: Tensor,
        task: Tensor,
        attend: Attend,
        last: Last | None = None,
    ) -> Tensor:
        """Return the logits [..., V] of what follows each of `token` [...], at `place` [..., 3], under `task` [..., D].

        The token that follows is at `after` [..., 3]. With `last`, only of the tokens that it picks.
        """
        recipe, dtype = self.config.recipe, self.compute_dtype
        turn = _turns(place, self.frequency_3P, dtype)
        ahead = _turns(after, self.frequency_3P, dtype) if "next-place" in recipe else turn
        code = None if self.code is None else linear(task.to(dtype), self.code.weight)
        x = F.embedding(token, self.tokens)
        x = (x if "film-only" in recipe else x + task).to(dtype)
        layers = [*self.layers] * self.config.recurrences
        for index, layer in enumerate(layers):
            if self.steps is not None and index % len(self.layers) == 0:
                x = x + self.steps[index // len(self.layers)].to(dtype)
            x = layer(x, turn, ahead, code, attend, index, last if index + 1 == len(layers) else None)
        return linear(_norm(x.float() if "float32-head" in recipe else x), self.head.weight).float()

    def loss(self, pack: Pack, task_ND: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the mean cross-entropy of the answers' tokens, each given the true ones before it; and what to log."""
        found = self._follow(pack, task_ND)
        count = found.wanted.sum().clamp(min=1)
        zeros_N = torch.zeros(len(task_ND), device=task_ND.device)
        tokens_N = zeros_N.index_add(0, found.example, found.wanted.float())
        loss = found.nll.sum() / count
        if "root-loss" in self.config.recipe:
            weight = tokens_N.clamp(min=1).rsqrt()[found.example]
            loss = (weight * found.nll).sum() / (weight * found.wanted).sum().clamp(min=1)
        with torch.no_grad():
            wrong = (found.logits.argmax(-1) != found.target) & found.wanted
            mistakes_N = zeros_N.index_add(0, found.example, wrong.float())
            examples = (tokens_N > 0).sum()
            exact = ((mistakes_N == 0) & (tokens_N > 0)).sum() / examples.clamp(min=1)
        return loss, {
            "loss": loss.detach(),
            "token_accuracy": 1 - wrong.sum() / count,
            "exact_accuracy": exact,
            "examples": examples.float(),
        }

    def log_likelihood(self, pack: Pack, task_ND: Tensor) -> Tensor:
        """Return the log-probability of each sequence's answer, given its input, [N]."""
        found = self._follow(pack, task_ND)
        return torch.zeros_like(task_ND[:, 0], dtype=torch.float32).index_add(0, found.example, -found.nll)

    def _follow(self, pack: Pack, task_ND: Tensor) -> Followed:
        """Read a pack: what comes after each token of an answer, or after every token where shapes are fixed."""
        arranged, attend, last = self._arrange(pack)
        task_LD = F.embedding(arranged.example_L, task_ND)
        after_L3 = torch.roll(arranged.place_L3, -1, 0)  # nothing is asked of a sequence's last token
        logits = self(arranged.token_L, arranged.place_L3, after_L3, task_LD, attend, last)
        target = torch.roll(arranged.token_L, -1)
        about = (target, arranged.example_L, arranged.wanted_L)
        target, example, wanted = about if last is None else map(last.pick, about)
        nll = torch.where(wanted, F.cross_entropy(logits, target, reduction="none"), 0.0)
        return Followed(logits, target, example, wanted, nll)

    def _arrange(self, pack: Pack) -> tuple[Pack, Attend, Last | None]:
        """Return a pack in the order of computing, attention within its sequences, and the last layer's."""
        fused = self.uses_fused_kernels()
        if not pack.token_L.is_cuda or self.on_old_gpu:  # which has no FlashAttention either
            return _arrange_by_shape(pack, self.config.reads)
        if not fused:
            return pack, turned(_attend_within(pack, self.config.reads)), None
        from charm.models.writer.kernels import attend_packed, tables  # here alone: Triton is not everywhere

        answers_N = pack.answers_N if self.config.reads == "whole" else pack.edges_N2[:-2]
        blocks = tables(pack.edges_N2, answers_N, len(pack.token_L))
        return pack, lambda qkv, turn, ahead, index: attend_packed(qkv, turn, *blocks)[0], None

    def uses_fused_kernels(self) -> bool:
        """Return whether this writer, where it is now, reads packs with the attention kernel of our own."""
        config, at = self.config, self.tokens.device
        nvidia = at.type == "cuda" and torch.version.hip is None
        possible = HAS_TRITON and nvidia and config.head_width in FUSED_WIDTHS and "next-place" not in config.recipe
        if config.kernels == "fused" and not possible:
            raise CharmError(
                f"the fused kernels need Triton, an NVIDIA GPU and heads of 32 or 64 columns; this writer has "
                f'{config.head_width} and is on {at}. kernels "auto" is PyTorch there'
            )
        return possible and config.kernels != "plain"


class Followed(NamedTuple):
    """What a writer finds of a pack's answers: of W tokens, those that are wanted or all."""

    logits: Tensor  # [W, V]
    target: Tensor  # [W]: the tokens that come next
    example: Tensor  # [W]: of which sequence
    wanted: Tensor  # [W]: whether the next token belongs to the answer
    nll: Tensor  # [W]: minus its log-probability; 0 where it is not wanted


def _plain(x: Tensor) -> bool:
    """Return whether PyTorch runs this op by op in float32 on a CPU, where fewer passes over memory are faster."""
    return x.device.type == "cpu" and x.dtype == torch.float32 and not torch.compiler.is_compiling()


def _norm(x: Tensor) -> Tensor:
    return RmsNorm.apply(x) if _plain(x) else rms_norm(x)


def _swiglu(x: Tensor) -> Tensor:
    if _plain(x):
        return GatedSilu.apply(x)
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def _arrange_by_shape(pack: Pack, reads: str) -> tuple[Pack, Attend, Last]:
    """Return the tokens of a pack in the order without CUDA, attention that does not cross from one sequence to
    the next, and the last layer's for answers alone.

    Padding is left out and sequences of one shape are next to each other: each such group is one batch of attention.
    `edges_N2` and `answers_N` keep the order in which the sequences came.
    """
    edges = pack.edges_N2.long()
    shape_N = edges[:-1].diff() * LONGEST + pack.answers_N - edges[:-2]  # no question has LONGEST tokens
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
    wanted_W = arranged.wanted_L.nonzero()[:, 0]
    last = Last(partial(torch.index_select, dim=0, index=wanted_W), partial(_attend_answers, groups=groups))
    return arranged, turned(partial(_attend_plainly, groups=groups, whole=reads == "whole")), last


def _attend_within(pack: Pack, reads: str) -> Mix:
    """Return attention within each sequence that does not look ahead in an answer."""
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


Groups = Sequence[tuple[int, int, int]]  # of sequences of one shape: tokens in all, of each, and of each question


def _attend_plainly(q: Tensor, k: Tensor, v: Tensor, index: int, groups: Groups, whole: bool) -> Tensor:
    """Attend within the sequences of each group; tokens of a question that is read whole see one another."""
    mixed = []
    parts = (x.split([size for size, *_ in groups]) for x in (q, k, v))
    for (_, length, asked), *three in zip(groups, *parts, strict=True):
        a, b, c = (part.unflatten(0, (-1, length)).transpose(1, 2) for part in three)
        first = asked if whole else 0
        found = [F.scaled_dot_product_attention(*(part[:, :, :first] for part in (a, b, c)))] if first else []
        if first < length:
            found.append(_look_back(a[:, :, first:], b, c, first))
        mixed.append(torch.cat(found, dim=2).transpose(1, 2).flatten(0, 1))
    return torch.cat(mixed)


def _attend_answers(q: Tensor, k: Tensor, v: Tensor, index: int, groups: Groups) -> Tensor:
    """Attend from the tokens that predict answers: from the last of the question to the last but one of all."""
    mixed = []
    sizes = [size for size, *_ in groups]
    wanted = [size // length * (length - asked) for size, length, asked in groups]
    for (_, length, asked), a, b, c in zip(groups, q.split(wanted), k.split(sizes), v.split(sizes), strict=True):
        if length > asked:
            a = a.unflatten(0, (-1, length - asked)).transpose(1, 2)
            b, c = (part.unflatten(0, (-1, length)).transpose(1, 2) for part in (b, c))
            mixed.append(_look_back(a, b, c, asked - 1).transpose(1, 2).flatten(0, 1))
    return torch.cat(mixed) if mixed else q


def _look_back(q: Tensor, k: Tensor, v: Tensor, first: int) -> Tensor:
    """Attend from tokens [N, H, A, K], numbered from `first`, to all tokens up to themselves."""
    sees = q.new_ones(q.shape[2], k.shape[2], dtype=torch.bool).tril_(first) if first else None
    return F.scaled_dot_product_attention(q, k, v, attn_mask=sees, is_causal=not first)


def _frequencies(config: WriterConfig) -> Tensor:
    """Return how fast each pair of a head's columns turns with the row, the column and the part, [3, P].

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
    """Return cosines and sines of every token's angles, [2, ..., P]. An op of its own: a compiler would otherwise
    compute them again in every layer."""
    angle = place.to(frequency_3P.dtype) @ frequency_3P
    return torch.stack([angle.cos(), angle.sin()]).to(dtype)


@_turns.register_fake
def _(place: Tensor, frequency_3P: Tensor, dtype: torch.dtype) -> Tensor:
    return place.new_empty((2, *place.shape[:-1], frequency_3P.shape[1]), dtype=dtype)


def _rotate(x: Tensor, turn: Tensor) -> Tensor:
    """Turn pair (i, i + K/2) of x [..., H, K] by its token's angle."""
    cos, sin = turn.unsqueeze(-2).to(x.dtype)
    if _plain(x):
        return Rotate.apply(x, cos, sin)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
