"""A toy language model and toy text, small enough for tests that train."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from charm.language.config import GPTConfig, LMConfig, LMOptimizerConfig, NgramConfig
from charm.language.corpus import gather, python_documents
from charm.language.data import prepare
from charm.language.ngram import NgramMemory

VOCAB = 400
TOY_GPT = GPTConfig(
    depth=4,
    width=32,
    head_width=8,
    vocab=VOCAB,
    length=24,
    short_window=6,
    compute_dtype="float32",
    table_dtype="float32",
)
MEMORIES = {
    "stock": NgramConfig(),
    "engram": NgramConfig("engram", 50, 16, layers=(1, 2)),
    "cose": NgramConfig("cose", 50, 16, layers=(1, 2)),
    "mixture": NgramConfig("mixture", 50, 16, layers=(1, 2)),
    "composition only": NgramConfig("cose", 0, 16, layers=(1, 2)),
    "one row": NgramConfig("cose", 1, 16, layers=(1, 2)),
}


def canonical(seed: int = 0) -> np.ndarray:
    """A made-up map of tokens to fewer ids, dense and numbered by first appearance."""
    drawn = np.random.default_rng(seed).integers(0, 300, VOCAB)
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(int(one), len(numbers)) for one in drawn])


def prepare_toy(folder: Path, characters: int = 60_000) -> Path:
    """Text that Python ships with, tokenised into VOCAB tokens."""
    source = folder / "texts"
    source.mkdir(parents=True)
    for number, text in enumerate(python_documents(characters)):
        (source / f"{number}.txt").write_text(text, encoding="utf-8")
    shards, record = gather([source], validation=0.3)
    prepare(shards, record, folder / "data", VOCAB)
    return folder / "data"


def toy_config(data: Path, **changes: Any) -> LMConfig:
    """A run of seconds."""
    config = LMConfig(
        gpt=TOY_GPT,
        ngram=MEMORIES["cose"],
        optimizer=LMOptimizerConfig(warmup=2, matrix_lr=1.0, memory_lr=0.2, head_lr=0.3),
        data=data,
        tails="keep",
        steps=6,
        batch=8 * TOY_GPT.length,
        device_rows=4,
        evaluate_every=0,
        evaluate_tokens=16 * TOY_GPT.length,
        checkpoint_every=3,
        keep_checkpoints=0,
        log_every=2,
        device="cpu",
    )
    return replace(config, **changes)


def slow_norm(x: Tensor) -> Tensor:
    return x / (x.square().mean(-1, keepdim=True) + torch.finfo(x.dtype).eps).sqrt()


def slow_memory(memory: NgramMemory, x: Tensor, ids: Tensor, embedding: Tensor) -> Tensor:
    """The paper's equations, token by token, in float64."""
    weights = {name: value.double() for name, value in memory.state_dict().items() if value.is_floating_point()}
    batch, length, width = x.shape
    out = torch.zeros(batch, length, width, dtype=torch.float64)
    gated = torch.zeros_like(out)
    addresses = memory.tables.addresses(ids) if memory.tables is not None else None
    for b in range(batch):
        for t in range(length):
            e = [embedding[ids[b, t - n]] if t >= n else torch.zeros(width, dtype=torch.float64) for n in range(3)]
            m2 = m3 = torch.zeros(0, dtype=torch.float64)
            if addresses is not None:
                rows = weights["tables.rows.weight"][addresses[b, t]]
                m2, m3 = rows[:8].flatten(), rows[8:].flatten()
            if memory.variant == "engram":
                h = torch.cat([m2, m3])
            else:
                r = weights["composer.token.weight"] @ e[0]
                c = weights["composer.context.weight"] @ torch.cat([e[1], e[2]])
                gamma, beta = weights["composer.scale.weight"] @ c, weights["composer.shift.weight"] @ c
                s = slow_norm((1 + gamma) * r + beta + c)
                if memory.variant == "cose":
                    h = torch.cat([s, m2, m3])
                else:
                    a = torch.softmax(weights["router.weight"] @ s, dim=0)
                    u2, u3 = weights["projections.0.weight"] @ m2, weights["projections.1.weight"] @ m3
                    h = slow_norm(s + a[0] * u2 + a[1] * u3)
            key, value = weights["key.weight"] @ h, weights["value.weight"] @ h
            g = float(slow_norm(key) @ slow_norm(x[b, t])) / math.sqrt(width)
            g = math.copysign(math.sqrt(max(abs(g), 1e-6)), g)
            gated[b, t] = value / (1 + math.exp(-g))
    normed = slow_norm(gated)
    for t in range(length):
        taps = [weights["convolution.weight"][:, n] * normed[:, t - 3 * n] for n in range(4) if t >= 3 * n]
        out[:, t] = gated[:, t] + F.silu(torch.stack(taps).sum(0))
    return out
