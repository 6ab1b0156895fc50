"""The backbone: a GPT with value embeddings, windowed attention, smear, back-out and optional n-gram memory.

Shapes: B rows, T tokens, D width, H heads, K head width, V vocabulary, E width of what a memory's tables return.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.varlen import varlen_attn

from charm.language.config import GPTConfig, NgramConfig
from charm.language.ngram import CastLinear, NgramMemory, NgramTables, delay, draw_uniform, norm, table_sizes
from charm.memory.parts import Rows

VALUE_GATE = 12  # features of a token that gate its value embedding
SMEAR_GATE = 24  # features of a token that gate the token before it
SHARPNESS = 1.2  # of queries and keys after their norm
SOFTCAP = 15.0  # bound of the logits
ROPE_BASE = 100_000


def attend(q_BTHK: Tensor, k_BTHK: Tensor, v_BTHK: Tensor, window: int) -> Tensor:
    """Attend causally: each token to itself and `window` tokens before it."""
    batch, length = q_BTHK.shape[:2]
    if window < length - 1 and q_BTHK.is_cuda and q_BTHK.dtype == torch.bfloat16:
        # torch's only maintained windowed kernel takes concatenated rows of any length; ours all have one length.
        starts = torch.arange(0, (batch + 1) * length, length, dtype=torch.int32, device=q_BTHK.device)
        q, k, v = (x.flatten(0, 1) for x in (q_BTHK, k_BTHK, v_BTHK))
        found = varlen_attn(q, k, v, starts, starts, length, length, window_size=(window, 0))
        assert isinstance(found, Tensor)
        return found.unflatten(0, (batch, length))
    mask = None
    if window < length - 1:
        distance = torch.arange(length, device=q_BTHK.device)
        distance = distance[:, None] - distance[None, :]
        mask = (distance >= 0) & (distance <= window)
    q, k, v = (x.transpose(1, 2) for x in (q_BTHK, k_BTHK, v_BTHK))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None).transpose(1, 2)


def rotary(length: int, head_width: int) -> tuple[Tensor, Tensor]:
    """Compute cosine and sine of every position and pair of features, [T, K / 2]."""
    frequencies = ROPE_BASE ** (-torch.arange(0, head_width, 2).double() / head_width)
    angles = torch.outer(torch.arange(length).double(), frequencies)
    return angles.cos().float(), angles.sin().float()


def rotate(x_BTHK: Tensor, cos_TK: Tensor, sin_TK: Tensor) -> Tensor:
    """Rotate the pairs (feature k, feature k + K/2) by angles that grow with the position."""
    first, second = x_BTHK.chunk(2, dim=-1)
    cos, sin = cos_TK[:, None], sin_TK[:, None]
    return torch.cat([first * cos + second * sin, second * cos - first * sin], dim=-1)


class CausalAttention(nn.Module):
    def __init__(self, config: GPTConfig, window: int, has_values: bool) -> None:
        super().__init__()
        width = config.model_width
        self.heads, self.window = config.heads, window
        self.query, self.key, self.value = (CastLinear(width, width) for _ in range(3))
        self.output = CastLinear(width, width)
        self.value_gate = CastLinear(VALUE_GATE, config.heads) if has_values else None

    def forward(self, x_BTD: Tensor, values_BTD: Tensor | None, cos: Tensor, sin: Tensor) -> Tensor:
        q, k, v = (part(x_BTD).unflatten(-1, (self.heads, -1)) for part in (self.query, self.key, self.value))
        if self.value_gate is not None and values_BTD is not None:
            gate_BTH1 = 3 * torch.sigmoid(self.value_gate(x_BTD[..., :VALUE_GATE])).unsqueeze(-1)
            v = v + gate_BTH1 * values_BTD.unflatten(-1, (self.heads, -1))
        q, k = (norm(rotate(part, cos, sin)) * SHARPNESS for part in (q, k))
        return self.output(attend(q, k, v, self.window).flatten(-2))


class GPTBlock(nn.Module):
    def __init__(self, config: GPTConfig, window: int, has_values: bool) -> None:
        super().__init__()
        width = config.model_width
        self.attention = CausalAttention(config, window, has_values)
        self.widen = CastLinear(width, 4 * width)
        self.narrow = CastLinear(4 * width, width)

    def forward(self, x_BTD: Tensor, values_BTD: Tensor | None, cos: Tensor, sin: Tensor) -> Tensor:
        x_BTD = x_BTD + self.attention(norm(x_BTD), values_BTD, cos, sin)
        return x_BTD + self.narrow(F.relu(self.widen(norm(x_BTD))).square())

    @torch.no_grad()
    def draw(self, generator: torch.Generator) -> None:
        """Draw initial weights. The two output maps stay zero, so a block initially adds nothing."""
        for layer in (self.attention.query, self.attention.key, self.attention.value):
            draw_uniform(layer, generator)
        draw_uniform(self.widen, generator, scale=0.4)
        if self.attention.value_gate is not None:
            self.attention.value_gate.weight.uniform_(0, 0.02, generator=generator)


class GPT(nn.Module):
    """Maps ids [B, T] to logits [B, T, V], or with targets to the nats of each target, [B, T]."""

    cos: Tensor
    sin: Tensor

    def __init__(
        self,
        config: GPTConfig,
        ngram: NgramConfig,
        seed: int | None = 0,
        canonical: npt.NDArray[np.int64] | None = None,  # the id that n-grams use for each token
        bos: int = 0,  # starts every document
    ) -> None:
        """Build the model. Without a seed, weights are not drawn: for counting, or when they are loaded afterwards."""
        super().__init__()
        self.config = config
        width, depth = config.model_width, config.depth
        self.embedding = Rows(config.vocab, width, sparse=False)
        self.head = CastLinear(width, config.vocab)
        second = range((depth - 1) % 2, depth, 2)  # every second layer, and the last
        self.values = nn.ModuleDict({str(i): Rows(config.vocab, width, sparse=False) for i in second})
        self.blocks = nn.ModuleList(GPTBlock(config, self.window(i), str(i) in self.values) for i in range(depth))
        self.residual_scale = nn.Parameter(torch.linspace(1.15, 1.05, depth))
        self.input_scale = nn.Parameter(torch.linspace(0.20, 0.05, depth))
        self.smear_gate = CastLinear(SMEAR_GATE, 1)
        self.smear = nn.Parameter(torch.zeros(1))
        self.backout = nn.Parameter(torch.full((1,), 0.2))
        layers = ngram.layers_in(depth)
        known = np.arange(config.vocab) if canonical is None else canonical
        self.memories = nn.ModuleDict()
        for number, sizes in zip(layers, table_sizes(ngram, len(layers)), strict=True):
            tables = NgramTables(ngram, number, sizes, known, bos) if ngram.rows else None
            self.memories[str(number)] = NgramMemory(ngram, width, tables)
        cos, sin = rotary(config.length, config.head_width)
        self.layer: Callable[..., Tensor] = layer
        self.output: Callable[..., Tensor] = output
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        if seed is not None:
            self.draw(seed)
        for table in self.modules():
            if isinstance(table, Rows):
                table.to(getattr(torch, config.table_dtype))

    def window(self, layer: int) -> int:
        """Return the attention window of a layer: three short windows, then a long one; the last layer's is long."""
        is_long = layer % 4 == 3 or layer == self.config.depth - 1
        return self.config.length if is_long else self.config.short_window

    @torch.no_grad()
    def draw(self, seed: int) -> None:
        """Draw initial weights; those of the backbone do not depend on the memory."""
        generator = torch.Generator().manual_seed(seed)
        self.embedding.weight.normal_(0, 0.8, generator=generator)
        self.head.weight.normal_(0, 0.001, generator=generator)
        bound = (3 / self.config.model_width) ** 0.5
        for weight in self.values.parameters():
            weight.uniform_(-bound, bound, generator=generator)
        for block in self.blocks:
            assert isinstance(block, GPTBlock)
            block.draw(generator)
        self.smear_gate.weight.uniform_(0, 0.02, generator=generator)
        for rows in self.ngram_tables():  # before the maps: equal seeds give equal tables in every variant
            rows.weight.normal_(0, 0.02, generator=generator)
        for memory in self.ngram_memories():
            memory.draw(generator)

    def ngram_memories(self) -> list[NgramMemory]:
        """Return the memories, lowest layer first."""
        return [memory for memory in self.memories.children() if isinstance(memory, NgramMemory)]

    def ngram_tables(self) -> list[Rows]:
        return [memory.tables.rows for memory in self.ngram_memories() if memory.tables is not None]

    def forward(self, ids_BT: Tensor, targets_BT: Tensor | None = None) -> Tensor:
        dtype, length = getattr(torch, self.config.compute_dtype), ids_BT.shape[1]
        turn = self.cos[:length].to(dtype), self.sin[:length].to(dtype)
        tokens_BTD = self.embedding(ids_BT).to(dtype)
        x = norm(tokens_BTD)
        smear_BT1 = self.smear.to(dtype) * torch.sigmoid(self.smear_gate(x[..., :SMEAR_GATE]))
        x = kept = x + smear_BT1 * delay(x, 1)
        first = x.view_as(x)  # not x itself, or the compiler would treat the first layer as a separate kind
        tokens_BTD = tokens_BTD.detach()  # memories send no gradient into the embeddings they compose
        residual_scale, input_scale = self.residual_scale.unbind(), self.input_scale.unbind()
        memories = dict(zip(self.memories, self.ngram_memories(), strict=True))
        for i, block in enumerate(self.blocks):
            memory = memories.get(str(i))
            tables = None if memory is None else memory.tables
            read = None if tables is None else tables(ids_BT).to(dtype)
            values = self.values[str(i)](ids_BT).to(dtype) if str(i) in self.values else None
            mixed = residual_scale[i], x, input_scale[i], first
            x = self.layer(block, memory, *mixed, read, tokens_BTD, values, *turn)
            if i == self.config.depth // 2:
                kept = x
        return self.output(self.head, x, self.backout.to(dtype), kept, targets_BT)

    def compile_parts(self, **options: Any) -> None:
        """Compile everything but the table look-ups in place. Layers of one kind share their code, so a deep model
        compiles about as fast as a shallow one. `options` are passed to torch.compile."""
        # There are up to six kinds of layer (window, values, memory), for training and evaluation; torch's limit is 8.
        torch._dynamo.config.recompile_limit = max(64, torch._dynamo.config.recompile_limit)
        self.layer = torch.compile(layer, dynamic=False, **options)
        self.output = torch.compile(output, dynamic=False, **options)

    def uncompile(self) -> None:
        self.layer, self.output = layer, output


def layer(
    block: GPTBlock,
    memory: NgramMemory | None,
    residual_scale: Tensor,
    x_BTD: Tensor,
    input_scale: Tensor,
    first_BTD: Tensor,
    read_BTE: Tensor | None,
    tokens_BTD: Tensor,
    values_BTD: Tensor | None,
    cos: Tensor,
    sin: Tensor,
) -> Tensor:
    """Apply one layer: mix some of the input into the stream, add the memory, then apply the block."""
    # In float32: near 1, bfloat16 has steps of 0.008, larger than an update of a scale.
    mixed_BTD = residual_scale * x_BTD.float() + input_scale * first_BTD.float()
    x_BTD = mixed_BTD.to(x_BTD.dtype)
    if memory is not None:
        x_BTD = x_BTD + memory(x_BTD, read_BTE, tokens_BTD)
    return block(x_BTD, values_BTD, cos, sin)


def output(head: CastLinear, x_BTD: Tensor, backout: Tensor, kept_BTD: Tensor, targets_BT: Tensor | None) -> Tensor:
    """Compute the logits, or the nats of the targets, after subtracting some of the middle layer (back-out)."""
    logits_BTV = head(norm(x_BTD - backout * kept_BTD)).float()
    logits_BTV = SOFTCAP * torch.tanh(logits_BTV / SOFTCAP)
    if targets_BT is None:
        return logits_BTV
    nats = F.cross_entropy(logits_BTV.flatten(0, 1), targets_BT.flatten(), reduction="none")
    return nats.view_as(targets_BT)


def components(config: GPTConfig, ngram: NgramConfig) -> dict[str, int]:
    """Count the parameters of a model by component, without allocating them."""
    with torch.device("meta"):
        model = GPT(config, ngram, seed=None)

    def size(part: nn.Module) -> int:
        return sum(parameter.numel() for parameter in part.parameters())

    parts = {"embedding": model.embedding, "head": model.head, "value tables": model.values, "blocks": model.blocks}
    counts = {name: size(part) for name, part in parts.items()}
    total, memory = size(model), size(model.memories)
    tables = sum(map(size, model.ngram_tables()))
    counts |= {"scalars": total - memory - sum(counts.values()), "backbone": total - memory}  # a sum after its parts
    return counts | {"memory tables": tables, "memory maps": memory - tables, "memory": memory, "total": total}
