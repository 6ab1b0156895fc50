"""Named language-model runs: the paper's two backbones and a tiny one, each alone or with a memory.

`lm-d12-cose-x5-w24` has tables of just over 5 x 32,768 rows, 24 wide; docs/language.md lists all names.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from charm.errors import CharmError
from charm.language.config import GPTConfig, LMConfig, LMOptimizerConfig, NgramConfig
from charm.language.gpt import components
from charm.language.ngram import table_sizes
from charm.tables import Table, count_table


def paper_backbone(depth: int) -> LMConfig:
    """Train a stock backbone of the paper, with the same number of updates in every variant."""
    if depth == 12:
        return LMConfig(GPTConfig(12), steps=2270, batch=2**19, device_rows=32)
    # Weight decay falls with the tokens of the run: 0.28 x sqrt(2) x 1.156 / 4.569.
    slower = LMOptimizerConfig(weight_decay=0.100)
    return LMConfig(GPTConfig(20), optimizer=slower, steps=4425, batch=2**20, device_rows=16)


def tiny() -> LMConfig:
    """Train minutes on a CPU, on Python's own documentation: `charm lm prepare --python --vocab 2048`."""
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
    """Find the smallest number of rows with which Engram has at least as many parameters as CoSE with these tables."""
    modules, columns = len(ngram.layers_in(gpt.depth)), ngram.width // ngram.heads
    cose, engram = (components(gpt, replace(ngram, variant=one))["memory"] for one in ("cose", "engram"))
    missing = cose - engram

    def total(rows: int) -> int:
        return int(table_sizes(replace(ngram, rows=rows), modules).sum())

    wanted = total(ngram.rows) + -(-missing // columns)
    choices = range(ngram.rows, ngram.rows + missing + 1)
    return choices[bisect_left(choices, wanted, key=total)]


NAMED = re.compile(
    r"(?P<variant>engram|cose|mixture)-(?:one-row|x(?P<times>\d+)(?:-w(?P<width>\d+))?(?P<matched>-matched)?)"
)


LM_PRESETS: dict[str, Callable[[], LMConfig]] = {
    "lm-d12": partial(paper_backbone, 12),
    "lm-d20": partial(paper_backbone, 20),
    "lm-tiny": tiny,
}


def lm_preset(name: str) -> LMConfig:
    """Return a preset; its name may be followed by that of a memory, as in lm-d12-cose-x5 and lm-tiny-cose."""
    if name in LM_PRESETS:
        return LM_PRESETS[name]()
    base = next((one for one in LM_PRESETS if name.startswith(f"{one}-")), "")
    is_tiny, memory = base == "lm-tiny", name.removeprefix(f"{base}-")
    found = NAMED.fullmatch(f"{memory}-x4" if is_tiny else memory)
    if not base or found is None:
        raise CharmError(
            f"there is no preset {name}; the names are {', '.join(LM_PRESETS)}, alone or followed by a memory as in "
            f"lm-d12-cose-x5 and lm-tiny-cose"
        )
    config = LM_PRESETS[base]()
    rows = 1 if found["times"] is None else int(found["times"]) * config.gpt.vocab
    width = int(found["width"] or config.gpt.model_width // 2)
    ngram = NgramConfig(found["variant"], rows, width, layers=(1, 2) if is_tiny else ())  # type: ignore[arg-type]
    return replace(config, ngram=replace(ngram, rows=matched_rows(config.gpt, ngram)) if found["matched"] else ngram)


def count_lm(name: str, config: LMConfig, data_rows: bool, data: Path | None) -> tuple[dict[str, Any], Table]:
    """Count the parameters of a preset, for `charm params`."""
    counts = components(config.gpt, config.ngram)
    return {"preset": name, **counts}, count_table(name, counts.items(), ("backbone", "memory", "total"))
