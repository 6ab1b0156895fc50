"""N-gram memory: hashed tables (Engram), a composition of token embeddings (CoSE), or a mixture of both.

Shapes: B rows, T tokens, D width of the model, P width of the composition (half of D), O the two orders (2-grams and
3-grams), H heads, W width looked up for an order (C = W / H columns for each head), F width of a memory's feature.
"""

from __future__ import annotations

import math
from itertools import repeat

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from charm.language.config import NgramConfig
from charm.language.data import Integers
from charm.memory.factors import primes_from
from charm.memory.parts import Rows

ORDERS = 2  # 2-grams and 3-grams
KERNEL, DILATION = 4, 3  # of the short convolution


class CastLinear(nn.Linear):
    """A map without bias that computes in the type of its input; zero until `draw_uniform` draws it."""

    weight: nn.Parameter

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, bias=False)

    def reset_parameters(self) -> None:
        self.weight.data.zero_()  # all weights are drawn together, from one generator

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype))


def norm(x: Tensor) -> Tensor:
    """Apply an RMS norm over the last dimension, without parameters."""
    return F.rms_norm(x, (x.shape[-1],))


def delay(x_BTD: Tensor, tokens: int) -> Tensor:
    """Move the sequence later by `tokens`, with zeros before its start."""
    return F.pad(x_BTD, (0, 0, tokens, 0))[:, : x_BTD.shape[1]]


def table_sizes(config: NgramConfig, modules: int) -> Integers:
    """Return the rows of each table, [modules, O, H]: no prime is used twice in the whole model."""
    sizes = repeat(1) if config.rows == 1 else primes_from(config.rows)
    shape = modules, ORDERS, config.heads
    return np.fromiter(sizes, np.int64, math.prod(shape)).reshape(shape)


def hash_multipliers(layer: int, keys: int) -> Integers:
    """Draw three odd numbers whose products with ids below `keys` stay within int64."""
    half = (2**63 - 1) // keys // 2
    return np.random.default_rng(10007 * layer).integers(0, half, size=ORDERS + 1) * 2 + 1


class NgramTables(nn.Module):
    """The tables of one module as one flat table; an n-gram reads a row of each of its order's heads."""

    canonical: Tensor
    multipliers: Tensor
    sizes: Tensor
    offsets: Tensor

    def __init__(self, config: NgramConfig, layer: int, sizes_OH: Integers, canonical: Integers, bos: int) -> None:
        super().__init__()
        self.before = int(canonical[bos])  # used before the first token
        offsets = sizes_OH.cumsum().reshape(sizes_OH.shape) - sizes_OH
        multipliers = hash_multipliers(layer, int(canonical.max()) + 1)
        buffers = {"canonical": canonical, "multipliers": multipliers, "sizes": sizes_OH, "offsets": offsets}
        for name, values in buffers.items():
            self.register_buffer(name, torch.tensor(values, dtype=torch.int64))
        self.rows = Rows(int(sizes_OH.sum()), config.width // config.heads, sparse=False)

    def addresses(self, ids_BT: Tensor) -> Tensor:
        """Return the row of the flat table that each head of each order reads, [B, T, O * H]."""
        keys_BT = self.canonical[ids_BT]
        hashed = keys_BT * self.multipliers[0]
        rows = []
        for order in range(ORDERS):
            earlier_BT = F.pad(keys_BT, (order + 1, 0), value=self.before)[:, : keys_BT.shape[1]]
            hashed = hashed ^ (earlier_BT * self.multipliers[order + 1])
            rows.append(hashed.unsqueeze(-1) % self.sizes[order] + self.offsets[order])
        return torch.cat(rows, dim=-1)

    def forward(self, ids_BT: Tensor) -> Tensor:
        """Return the vectors that all heads read, 2-grams first, [B, T, O * W]."""
        return self.rows(self.addresses(ids_BT)).flatten(-2)


class TokenComposer(nn.Module):
    """FiLM of the token by the two before it: norm((1 + scale(c)) * r + shift(c) + c)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width // 2
        self.token = CastLinear(width, self.width)
        self.context = CastLinear(2 * width, self.width)
        self.scale = CastLinear(self.width, self.width)
        self.shift = CastLinear(self.width, self.width)

    def forward(self, tokens_BTD: Tensor) -> Tensor:
        context_BTP = self.context(torch.cat([delay(tokens_BTD, 1), delay(tokens_BTD, 2)], dim=-1))
        composed_BTP = (1 + self.scale(context_BTP)) * self.token(tokens_BTD) + self.shift(context_BTP)
        return norm(composed_BTP + context_BTP)


class ShortConvolution(nn.Module):
    """u + SiLU(conv(norm(u))): each channel separately, over the tokens t, t-3, t-6 and t-9; initially u."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width, KERNEL))

    def forward(self, u_BTD: Tensor) -> Tensor:
        # Four shifted products, which a compiler fuses; depthwise convolution kernels are slow in training.
        x_BTD, weight = norm(u_BTD), self.weight.to(u_BTD.dtype)
        taps = [delay(x_BTD, DILATION * tap) * weight[:, tap] for tap in range(KERNEL)]
        return u_BTD + F.silu(torch.stack(taps).sum(dim=0))


class NgramMemory(nn.Module):
    """What one layer adds to the residual stream before its attention."""

    def __init__(self, config: NgramConfig, width: int, tables: NgramTables | None) -> None:
        super().__init__()
        self.variant, self.lookup_width = config.variant, config.width
        self.tables = tables
        self.composer = TokenComposer(width) if config.variant != "engram" else None
        composed = width // 2 if self.composer is not None else 0
        if config.variant == "mixture":
            self.projections = nn.ModuleList(CastLinear(config.width, composed) for _ in range(ORDERS))
            self.router = CastLinear(composed, ORDERS)
            features = composed
        else:
            features = composed + (ORDERS * config.width if self.tables is not None else 0)
        self.key = CastLinear(features, width)
        self.value = CastLinear(features, width)
        self.convolution = ShortConvolution(width)

    def feature(self, read_BTE: Tensor | None, tokens_BTD: Tensor) -> Tensor:
        """Compute features [B, T, F] of the n-grams that end at each token."""
        if self.composer is None:
            assert read_BTE is not None, "Engram has tables"
            return read_BTE
        composed_BTP = self.composer(tokens_BTD)
        if read_BTE is None:
            return composed_BTP
        if self.variant == "cose":
            return torch.cat([composed_BTP, read_BTE], dim=-1)
        weights_BTO = self.router(composed_BTP).softmax(dim=-1)
        reads = read_BTE.split(self.lookup_width, dim=-1)
        mixed_BTP = composed_BTP
        for order, project in enumerate(self.projections):
            mixed_BTP = mixed_BTP + weights_BTO[..., order : order + 1] * project(reads[order])
        return norm(mixed_BTP)

    def forward(self, x_BTD: Tensor, read_BTE: Tensor | None, tokens_BTD: Tensor) -> Tensor:
        """Compute what is added to x, from the vectors read and the token embeddings (which get no gradient here)."""
        feature_BTF = self.feature(read_BTE, tokens_BTD)
        fit_BT1 = (norm(self.key(feature_BTF)) * norm(x_BTD)).sum(dim=-1, keepdim=True)
        fit_BT1 = fit_BT1 / math.sqrt(x_BTD.shape[-1])
        gate_BT1 = torch.sigmoid(fit_BT1.sign() * fit_BT1.abs().clamp_min(1e-6).sqrt())
        return self.convolution(gate_BT1 * self.value(feature_BTF))

    @torch.no_grad()
    def draw(self, generator: torch.Generator) -> None:
        """Draw initial weights of all but the tables. The value map is zero, so the model starts as the stock one; the
        tables must then not be zero, or neither of the two would ever get a gradient."""
        for part in self.modules():
            if isinstance(part, CastLinear):
                draw_uniform(part, generator)
        self.value.weight.zero_()


@torch.no_grad()
def draw_uniform(layer: CastLinear, generator: torch.Generator, scale: float = 1.0) -> None:
    """Draw weights of variance scale^2 / inputs."""
    bound = scale * math.sqrt(3 / layer.in_features)
    layer.weight.uniform_(-bound, bound, generator=generator)
