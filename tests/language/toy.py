"""A toy language model and toy text, small enough for tests that train."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from charm.language.config import GPTConfig, LMConfig, LMOptimizerConfig, NgramConfig
from charm.language.corpus import gather, python_documents
from charm.language.data import prepare

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
