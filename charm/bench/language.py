"""How fast language models train on this machine, and what their memories cost: `charm bench lm-d12 ...`.

What is timed is the trainer's own update: packing, forward, backward, all optimizers. Floating-point operations are
counted from the shapes (matrix products and attention within its windows, the backward pass twice the forward one) and
set against a large matrix product timed in the same run.
"""

from __future__ import annotations

import gc
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from charm.bench.training import ceiling_line, machine_and_ceiling, peak_gib, seconds_each
from charm.config import at_least
from charm.devices import Place
from charm.errors import CharmError
from charm.language.config import LMConfig
from charm.language.data import write_prepared
from charm.language.gpt import GPT
from charm.language.ngram import CastLinear
from charm.language.presets import lm_preset
from charm.language.run import LMJob
from charm.progress import say, status
from charm.tables import Table


def flops(config: LMConfig) -> float:
    """Count the operations of a training update for one token."""
    with torch.device("meta"):
        model = GPT(config.gpt, config.ngram, seed=None)
    weights = sum(part.weight.numel() for part in model.modules() if isinstance(part, CastLinear))
    positions = np.arange(config.gpt.length)
    keys = sum(float((np.minimum(positions, model.window(i)) + 1).mean()) for i in range(config.gpt.depth))
    return 3 * (2 * weights + 4 * config.gpt.model_width * keys)


def write_random_text(folder: Path, vocab: int, tokens: int) -> None:
    """Write prepared data without text: documents of tokens as unequal in frequency as words are."""
    rng = np.random.default_rng(0)
    bos = vocab - 1

    def documents(left: int) -> Iterator[np.ndarray]:
        while left > 0:
            size = int(rng.lognormal(6, 1)) + 1
            yield ((vocab - 1) ** rng.random(size)).astype(np.uint16) - 1
            left -= size + 1

    sizes = np.full(vocab, 4)
    sizes[bos] = 0
    shards = [("train", documents(tokens)), ("validation", documents(tokens))]
    write_prepared(folder, sizes, np.arange(vocab) * 3 // 4, bos, shards, {"kind": "random"})


@dataclass(frozen=True)
class LMBench:
    """Tokens per second of language models in training, and the cost of their memories relative to the first preset."""

    batch: int = 0
    """Tokens in an update; 0 is the preset's."""
    device_rows: int = 0
    """Rows computed at once; 0 is the preset's."""
    data: Path | None = None
    """Prepared text; random tokens if not given."""
    seconds: float = 5.0
    """How long each number is timed."""

    def __post_init__(self) -> None:
        at_least(0, self, "batch", "device_rows")
        if self.seconds <= 0:
            raise CharmError(f"seconds must be positive, got {self.seconds}")


def measure_lm(presets: Sequence[str], options: LMBench, place: Place) -> list[dict[str, Any]]:
    """Time updates of the presets in turn, each reported at once: compiling the next one may take long, and fail."""
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in presets:
            base = lm_preset(name)
            batch, rows = options.batch or base.batch, options.device_rows or base.device_rows
            folder = options.data or Path(scratch) / str(base.gpt.vocab)
            if options.data is None and not folder.exists():
                write_random_text(folder, base.gpt.vocab, 4 * batch)
            tokens = place.world * base.gpt.length  # not used
            config = replace(base, data=folder, batch=batch, device_rows=rows, evaluate_tokens=tokens)
            if place.device.type == "cpu":
                config = replace(config, gpt=replace(base.gpt, table_dtype="float32", compute_dtype="float32"))
            about = machine_and_ceiling(place, config.gpt.compute_dtype)
            say(f"{name}: weights and compilation")
            try:
                job = LMJob(config, place, say)
                job.compile()
                each = seconds_each(partial(job.update, 0), options.seconds)
                loss = float(job.update(0)["loss"])
            except torch.OutOfMemoryError as error:
                problem = f"{name} with {rows} rows at once does not fit in the memory of {place.describe()}"
                raise CharmError(f"{problem}; lower --device-rows") from error
            if not math.isfinite(loss):  # a GPU multiplies such numbers faster than real ones
                raise CharmError(f"{name}: the loss is {loss} after a few updates, so nothing was timed")
            # The loss after the updates that were timed is nearly the same for models that start alike.
            speed = {"preset": name, "tokens_per_second": batch / each, "update_seconds": each, "loss": loss}
            speed["cost"] = each / found[0]["update_seconds"] if found else 1.0
            speed["tflops"] = batch / each * flops(config) / 1e12
            speed["share"] = speed["tflops"] / about["ceiling_tflops"]
            found.append({**speed, "peak_gib": peak_gib(place.device), **about})
            say(f"{name}: {speed['tokens_per_second']:,.0f} tokens/s, cost {speed['cost']:.3f}")
            del job
            gc.collect()  # so that the next one has the memory to itself
            torch._dynamo.reset()
            torch.cuda.empty_cache()  # does nothing without CUDA
    return found


def bench_lm(names: Sequence[str], options: LMBench, place: Place) -> tuple[list[dict[str, Any]], Table, str]:
    with status(f"timing {', '.join(names)}"):
        found = measure_lm(names, options, place)
    rows = []
    for one in found:
        speed = (one["preset"], f"{one['tokens_per_second']:,.0f}", f"{one['update_seconds'] * 1000:,.0f} ms")
        shares = (f"{one['cost']:.3f}", f"{one['tflops']:.3g}", f"{one['share']:.0%}")
        rows.append((*speed, *shares, "" if one["peak_gib"] is None else f"{one['peak_gib']:.1f} GiB"))
    columns = ("preset", "tokens/s", "update", "cost", "TFLOP/s", "of ceiling", "memory")
    return found, Table(columns, rows, "Training updates"), ceiling_line(found[0])
