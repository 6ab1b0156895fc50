"""Named language-model runs: the paper's two backbones with every memory it measures, controls, and a tiny one.

lm-d12                     the stock backbone; lm-d20 likewise
lm-d12-engram-x5           tables of just over 5 x 32,768 rows; also cose and mixture, x10, x20, x40 (d20: to x20)
lm-d12-cose-x5-w24         narrower look-ups (d12: 24, 48, 96; d20: 40, 80, 160)
lm-d12-cose-x0             control: composition only
lm-d12-engram-one-row      control: tables of one row, which cannot tell n-grams apart; also cose and mixture
lm-d12-engram-x5-matched   control: Engram with more rows, so that it has as many parameters as CoSE
lm-tiny, lm-tiny-engram... a model for a CPU, trained on the text that ships with Python
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from pathlib import Path

import numpy as np

from charm.domains import Counted
from charm.errors import CharmError
from charm.language.config import GPTConfig, LMConfig, LMOptimizerConfig, NgramConfig, NgramVariant
from charm.language.gpt import components
from charm.language.ngram import table_sizes
from charm.tables import Table

VOCAB = 32_768
CAPACITIES = {12: (5, 10, 20, 40), 20: (5, 10, 20)}
WIDTHS = {12: (24, 48, 96), 20: (40, 80, 160)}  # in addition to the full widths, 384 and 640
VARIANTS: tuple[NgramVariant, ...] = ("engram", "cose", "mixture")


def deep(depth: int) -> LMConfig:
    """The paper's stock backbones, with the same number of updates in every variant."""
    if depth == 12:
        return LMConfig(GPTConfig(12), steps=2270, batch=2**19, device_rows=32)
    # Weight decay falls with the tokens of the run: 0.28 x sqrt(2) x 1.156 / 4.569.
    slower = LMOptimizerConfig(weight_decay=0.100)
    return LMConfig(GPTConfig(20), optimizer=slower, steps=4425, batch=2**20, device_rows=16)


def tiny() -> LMConfig:
    """Minutes on a CPU, on Python's own documentation: `charm lm prepare --python --vocab 2048`."""
    gpt = GPTConfig(
        depth=4,
        width=128,
        head_width=32,
        vocab=2048,
        length=256,
        short_window=64,
        compute_dtype="float32",
        table_dtype="float32",
    )
    return LMConfig(
        gpt,
        optimizer=LMOptimizerConfig(weight_decay=0.1, warmup=20, matrix_lr=0.3, head_lr=0.05, memory_lr=0.1),
        tails="keep",
        steps=300,
        batch=2048,
        device_rows=8,
        evaluate_every=100,
        evaluate_tokens=32_768,
        checkpoint_every=100,
    )


def matched_rows(gpt: GPTConfig, ngram: NgramConfig) -> int:
    """The smallest number of rows with which Engram has at least as many parameters as CoSE with these tables."""
    modules, columns = len(ngram.layers_in(gpt.depth)), ngram.width // ngram.heads
    missing = (
        components(gpt, replace(ngram, variant="cose"))["memory"]
        - components(gpt, replace(ngram, variant="engram"))["memory"]
    )

    def total(rows: int) -> int:
        return int(np.sum(table_sizes(replace(ngram, rows=rows), modules)))

    wanted = total(ngram.rows) + -(-missing // columns)
    choices = range(ngram.rows, ngram.rows + missing + 1)
    return choices[bisect_left(choices, wanted, key=total)]


def _memories(depth: int) -> dict[str, NgramConfig]:
    """The memories of a backbone by the end of their preset's name; matched controls are computed on demand."""
    full = deep(depth).gpt.model_width // 2
    tables = {f"x{times}": (times * VOCAB, full) for times in CAPACITIES[depth]}
    narrow = {f"x5-w{width}": (5 * VOCAB, width) for width in WIDTHS[depth]}
    found = {"": NgramConfig(), "-cose-x0": NgramConfig("cose", 0, full)}
    for variant in VARIANTS:
        for name, size in {"one-row": (1, full), **tables, **narrow}.items():
            found[f"-{variant}-{name}"] = NgramConfig(variant, *size)
    return found | {f"-engram-{name}-matched": NgramConfig("engram", *size) for name, size in tables.items()}


TINY = {f"-{variant}": NgramConfig(variant, 4 * 2048, 64, layers=(1, 2)) for variant in VARIANTS}
MEMORIES = {"lm-d12": _memories(12), "lm-d20": _memories(20), "lm-tiny": {"": NgramConfig(), **TINY}}
# Name -> name of its backbone, and its memory.
LM_PRESETS = {
    f"{base}{end}": (base, memory) for base, some in MEMORIES.items() for end, memory in some.items()
}


def lm_preset(name: str) -> LMConfig:
    if name not in LM_PRESETS:
        raise CharmError(
            f"there is no preset {name}; the names are lm-d12, lm-d20 and lm-tiny, alone or followed by a memory as in "
            f"lm-d12-cose-x5, and `charm params lm- --all` lists them"
        )
    base, memory = LM_PRESETS[name]
    config = tiny() if base == "lm-tiny" else deep(int(base.removeprefix("lm-d")))
    if name.endswith("-matched"):
        memory = replace(memory, rows=matched_rows(config.gpt, memory))
    return replace(config, ngram=memory)


def count_lm(name: str, config: LMConfig, data_rows: bool, data: Path | None) -> Counted:
    counts = components(config.gpt, config.ngram)
    sums = [number for number, part in enumerate(counts) if part in ("backbone", "memory", "total")]
    rows = [
        [part if number in sums else f"  {part}", f"{count:,}"]
        for number, (part, count) in enumerate(counts.items())
    ]
    table = Table(["component", "parameters"], rows, f"Parameters of {name}", totals=sums)
    return Counted({"preset": name, **counts}, table, counts["memory"], counts["total"])
