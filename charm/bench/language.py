"""How fast language models train on this machine, and what their memories cost: `charm bench lm-d12 ...`.

What is timed is the trainer's own update: packing, forward, backward, all optimizers. Floating-point operations are
counted from the shapes (matrix products and attention within its windows, the backward pass twice the forward one) and
set against a large matrix product timed in the same run.
"""

from __future__ import annotations

import gc
import math
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from charm.bench.training import ceiling_line, peak_gib, product_tflops, seconds_each
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


@dataclass(frozen=True)
class LMSpeed:
    """One preset; `cost` is the time of its update over that of the first preset measured."""

    preset: str
    tokens_per_second: float
    update_seconds: float
    loss: float  # after the updates that were timed: of models that start alike, nearly the same
    cost: float
    tflops: float
    ceiling_tflops: float
    share: float  # of the ceiling
    peak_gib: float | None  # of the device's memory; None on the CPU
    machine: str


def flops(config: LMConfig) -> float:
    """Count the operations of a training update for one token."""
    with torch.device("meta"):
        model = GPT(config.gpt, config.ngram, seed=None)
    weights = sum(part.weight.numel() for part in model.modules() if isinstance(part, CastLinear))
    positions = np.arange(config.gpt.length)
    keys = sum(float((np.minimum(positions, model.window(i)) + 1).mean()) for i in range(config.gpt.depth))
    return 3 * (2 * weights + 4 * config.gpt.model_width * keys)


def random_text(folder: Path, vocab: int, tokens: int, seed: int = 0) -> Path:
    """Write prepared data without text: documents of tokens as unequal in frequency as words are."""
    rng = np.random.default_rng(seed)
    bos = vocab - 1

    def documents(left: int) -> list[np.ndarray]:
        found = []
        while left > 0:
            size = int(rng.lognormal(6, 1)) + 1
            found.append(((vocab - 1) ** rng.random(size)).astype(np.uint16) - 1)
            left -= size + 1
        return found

    sizes = np.full(vocab, 4)
    sizes[bos] = 0
    shards = [("train", documents(tokens)), ("validation", documents(tokens))]
    write_prepared(folder, sizes, np.arange(vocab) * 3 // 4, bos, shards, {"kind": "random"})
    return folder


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
        if self.batch < 0 or self.device_rows < 0 or self.seconds <= 0:
            raise CharmError(
                f"batch and device_rows must be >= 0 and seconds must be positive; "
                f"got {self.batch}, {self.device_rows} and {self.seconds}"
            )


def measure_lm(presets: Sequence[str], options: LMBench, place: Place) -> list[LMSpeed]:
    """Time updates of the presets one after the other.

    Every step is reported: compiling a deep model takes long, and earlier measurements must not be lost.
    """
    found: list[LMSpeed] = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in presets:
            base = lm_preset(name)
            folder = options.data or Path(scratch) / str(base.gpt.vocab)
            if options.data is None and not folder.exists():
                random_text(folder, base.gpt.vocab, 4 * (options.batch or base.batch))
            config = _config(base, folder, options, place)
            ceiling = product_tflops(place.device, config.gpt.compute_dtype)
            say(f"{name}: weights and compilation")
            try:
                job = LMJob(config, place, say)
                job.compile()
                each = seconds_each(partial(job.update, 0), options.seconds)
                loss = float(job.update(0)["loss"])
            except torch.OutOfMemoryError as error:
                raise CharmError(
                    f"{name} with {config.device_rows} rows at once does not fit in the memory of "
                    f"{place.describe()}; lower --device-rows"
                ) from error
            if not math.isfinite(loss):  # a GPU multiplies such numbers faster than real ones
                raise CharmError(f"{name}: the loss is {loss} after a few updates, so nothing was timed")
            rate = config.batch / each
            tflops = rate * flops(config) / 1e12
            found.append(
                LMSpeed(
                    preset=name,
                    tokens_per_second=rate,
                    update_seconds=each,
                    loss=loss,
                    cost=each / found[0].update_seconds if found else 1.0,
                    tflops=tflops,
                    ceiling_tflops=ceiling,
                    share=tflops / ceiling,
                    peak_gib=peak_gib(place.device),
                    machine=f"{place.describe()}, torch {torch.__version__}",
                )
            )
            say(f"{name}: {rate:,.0f} tokens/s, cost {found[-1].cost:.3f}")
            del job
            gc.collect()  # so that the next one has the memory to itself
            torch._dynamo.reset()
            torch.cuda.empty_cache()  # does nothing without CUDA
    return found


def _config(base: LMConfig, data: Path, options: LMBench, place: Place) -> LMConfig:
    """Return the preset as timed: on a CPU everything is float32."""
    on_cpu = place.device.type == "cpu"
    return replace(
        base,
        gpt=replace(base.gpt, table_dtype="float32", compute_dtype="float32") if on_cpu else base.gpt,
        data=data,
        evaluate_tokens=place.world * base.gpt.length,  # not used
        batch=options.batch or base.batch,
        device_rows=options.device_rows or base.device_rows,
    )


def lm_table(found: Sequence[LMSpeed]) -> tuple[Table, str]:
    rows = [
        (
            *(speed.preset, f"{speed.tokens_per_second:,.0f}"),
            *(f"{speed.update_seconds * 1000:,.0f} ms", f"{speed.cost:.3f}", f"{speed.tflops:.3g}"),
            *(f"{speed.share:.0%}", "" if speed.peak_gib is None else f"{speed.peak_gib:.1f} GiB"),
        )
        for speed in found
    ]
    columns = ("preset", "tokens/s", "update", "cost", "TFLOP/s", "of ceiling", "memory")
    return Table(columns, rows, "Training updates"), ceiling_line(found[0].machine, found[0].ceiling_tflops)


def bench_lm(names: Sequence[str], options: LMBench, place: Place) -> tuple[Any, ...]:
    with status(f"timing {', '.join(names)}"):
        found = measure_lm(names, options, place)
    return [asdict(speed) for speed in found], *lm_table(found)
