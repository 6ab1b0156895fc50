"""Compare the writer's two ways of attention on a GPU: our kernel, and two passes of FlashAttention with a merge.

python -m benchmarks.writer_attention benchmarks/results/speed_writer.json

1. Results and gradients of both against float64, on random packs. Stops if ours are worse.
2. Seconds of attention forward and backward on a real pack, for several shapes of our blocks.
3. Seconds of a whole update with either, in turns, three times, next to a large matrix product in the same minute.

The first part and the second take less than a minute on one H200, each pair of updates about as long (compilation).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from benchmarks.writer_solve import merge_into
from charm.arc.presets import preset
from charm.arc.run import arc_job
from charm.bench.training import RECORDED, product_tflops, seconds_each
from charm.devices import Place
from charm.errors import CharmError
from charm.models.writer.config import WriterConfig
from charm.models.writer.network import _attend_within, _rotate
from charm.models.writer.packs import Packs
from charm.tasks.sequences import Pack
from charm.training.job import ReasonerJob

UPDATES = {  # of each comparison: width and tokens of an update
    "training width 256": (256, 65_536),
    "training width 512": (512, 65_536),
    "solve learning": (256, 32_768),
}
REPEATS = 3
Kernels = Literal["plain", "fused"]
BOTH: tuple[Kernels, ...] = ("plain", "fused")
# Queries, keys, warps and stages. The first of each are those in use.
FORWARD = [(64, 64, 4, 3), (64, 64, 4, 2), (128, 64, 8, 3), (128, 64, 4, 3), (64, 32, 4, 3), (128, 32, 4, 3)]
QUERIES = [(64, 64, 4, 2), (64, 32, 4, 2), (128, 64, 8, 2), (128, 32, 4, 2)]
KEYS = [(32, 64, 4, 2), (64, 64, 4, 2), (32, 128, 8, 2), (64, 128, 8, 2)]


def whole_update(width: int, tokens: int, kernels: Kernels, place: Place) -> ReasonerJob:
    """Return the training of `base` at this width, with heads of 64 columns."""
    config = preset("base")
    assert isinstance(config.reasoner, WriterConfig)
    reasoner = replace(config.reasoner, width=width, heads=width // 64, kernels=kernels)
    data = replace(config.data, synthetic=(), views=10)
    config = replace(config, data=data, reasoner=reasoner).sized(tokens=tokens)
    return arc_job(config, place, lambda text: None)


def real_pack(tokens: int, place: Place) -> Pack:
    packs = whole_update(256, tokens, "plain", place).learner.examples
    assert isinstance(packs, Packs)
    return packs.prepare(0).pack


def exactly(qkv: Tensor, turn: Tensor, pack: Pack) -> Tensor:
    """Compute attention within each sequence from what its tokens see; zero for padding."""
    q, k, v = _rotate(qkv[:, 0], turn), _rotate(qkv[:, 1], turn), qkv[:, 2]
    edges, mixed = pack.edges_N2.tolist(), torch.zeros_like(v)
    for begin, end, answer in zip(edges[:-2], edges[1:-1], pack.answers_N.tolist(), strict=True):
        at = torch.arange(begin, end, device=qkv.device)
        sees = at <= at.clamp(min=answer - 1)[:, None]
        scores = torch.einsum("qhk,jhk->hqj", q[begin:end], k[begin:end]) * v.shape[-1] ** -0.5
        weights = scores.masked_fill(~sees, -torch.inf).softmax(-1)
        mixed[begin:end] = torch.einsum("hqj,jhk->qhk", weights, v[begin:end])
    return mixed


def old(qkv: Tensor, turn: Tensor, pack: Pack) -> Tensor:
    q, k, v = qkv.unbind(1)
    return _attend_within(pack, "whole")(_rotate(q, turn), _rotate(k, turn), v, 0)


def new(qkv: Tensor, turn: Tensor, pack: Pack) -> Tensor:
    from charm.models.writer.kernels import attend_packed, tables

    return attend_packed(qkv, turn, *tables(pack.edges_N2, pack.answers_N, len(qkv)))[0]


def random_inputs(tokens: int, heads: int, width: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw queries, keys and values, turns, and a gradient of the result."""
    generator = torch.Generator("cuda").manual_seed(seed)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, device="cuda", generator=generator)

    angle = 5 * drawn(tokens, width // 2)
    turn = torch.stack([angle.cos(), angle.sin()]).bfloat16()
    return drawn(tokens, 3, heads, width).bfloat16(), turn, drawn(tokens, heads, width).bfloat16()


def errors(pack: Pack, heads: int, width: int, seed: int) -> dict[str, list[float]]:
    """Return relative errors of result and gradient against float64, without padding."""
    real = int(pack.edges_N2[-2])
    qkv, turn, dout = random_inputs(len(pack.token_L), heads, width, seed)
    dout[real:] = 0
    found = {}
    for name, attend, dtype in (
        ("exact", exactly, torch.float64),
        ("old", old, torch.bfloat16),
        ("new", new, torch.bfloat16),
    ):
        x = qkv.to(dtype, copy=True).requires_grad_()  # a leaf of its own: gradients add up
        mixed = attend(x, turn.to(dtype), pack)
        mixed.backward(dout.to(dtype))
        assert x.grad is not None
        found[name] = [part[:real].double() for part in (mixed.detach(), x.grad)]
    exact = found.pop("exact")
    return {
        name: [float((a - b).norm() / b.norm()) for a, b in zip(both, exact, strict=True)]
        for name, both in found.items()
    }


def event_seconds(work: Callable[[], object], repeats: int = 30) -> float:
    """Return the median seconds of a call by CUDA events, after a warm-up."""
    for _ in range(5):
        work()
    found = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(found)


def time_attention(pack: Pack, heads: int, width: int) -> list[dict[str, Any]]:
    """Time forward and backward: old, compiled as in an update; and ours, one kernel's blocks changed at a time."""
    from charm.models.writer import kernels

    qkv, turn, dout = random_inputs(len(pack.token_L), heads, width, 0)
    qkv.requires_grad_()
    lines: list[dict[str, Any]] = []

    def add(name: str, attend: Callable[..., Tensor]) -> None:
        mixed = attend(qkv, turn, pack)
        forward = event_seconds(lambda: attend(qkv, turn, pack))
        backward = event_seconds(lambda: torch.autograd.grad(mixed, qkv, dout, retain_graph=True))
        lines.append({"what": name, "forward ms": forward * 1e3, "backward ms": backward * 1e3})
        print(f"  {name:<50} forward {forward * 1e3:7.3f} ms   backward {backward * 1e3:7.3f} ms", flush=True)

    compiled_old, compiled_new = (torch.compile(one, dynamic=False) for one in (old, new))
    add("old", compiled_old)
    add("new", compiled_new)
    for name, shapes in (("FORWARD", FORWARD), ("BACKWARD_QUERIES", QUERIES), ("BACKWARD_KEYS", KEYS)):
        before = getattr(kernels, name)
        for queries, keys, warps, stages in shapes[1:]:
            shape = {"QUERIES": queries, "KEYS": keys, "num_warps": warps, "num_stages": stages}
            setattr(kernels, name, shape)
            try:
                add(f"new, {name} {queries} x {keys}, {warps} warps, {stages} stages", new)
            except RuntimeError as error:  # too much shared memory, for example
                print(f"  {name} {shape}: {error}", flush=True)
        setattr(kernels, name, before)
    return lines


def compare_updates(name: str, place: Place) -> dict[str, Any]:
    """Time whole updates with either attention in turns."""
    width, tokens = UPDATES[name]
    jobs = {kernels: whole_update(width, tokens, kernels, place) for kernels in BOTH}
    steps = count()

    def update(kernels: Kernels) -> None:
        jobs[kernels].update(next(steps))

    for kernels, job in jobs.items():
        job.compile()
        seconds_each(partial(update, kernels), 0.1, RECORDED)
    seconds: dict[Kernels, list[float]] = {kernels: [] for kernels in jobs}
    ceilings = []
    for _ in range(REPEATS):
        ceilings.append(product_tflops(place.device, "bfloat16"))
        for kernels, found in seconds.items():
            found.append(seconds_each(partial(update, kernels), 1.0, 1))
    for job in jobs.values():
        job.close()
    old_each, new_each = (statistics.median(seconds[kernels]) for kernels in BOTH)
    rates = {"old tokens/s": tokens / old_each, "new tokens/s": tokens / new_each}
    print(f"  {name}: {old_each * 1e3:.2f} -> {new_each * 1e3:.2f} ms, ratio {old_each / new_each:.3f}")
    return {"ratio": old_each / new_each, **rates, "seconds": seconds, "ceiling TFLOP/s": ceilings}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, help="file to write")
    parser.add_argument("--no-blocks", action="store_true", help="do not time attention alone")
    parser.add_argument("--updates", nargs="*", choices=[*UPDATES], default=[*UPDATES])
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("this compares kernels for NVIDIA GPUs, and torch sees none")
    place, began = Place(torch.device("cuda", torch.cuda.current_device())), time.monotonic()
    pack, small = real_pack(65_536, place), real_pack(8_192, place)
    found = [(width, errors(small, 256 // width, width, seed)) for width in (32, 64) for seed in range(3)]
    for width, both in found:
        print(f"  heads of {width}: errors of result and gradient, old {both['old']}, new {both['new']}")
        if not all(ours < 1.5 * theirs for ours, theirs in zip(both["new"], both["old"], strict=True)):
            raise CharmError(f"our attention is wrong at heads of {width} columns: {both}")
    attention = [] if options.no_blocks else time_attention(pack, 4, 64)
    runs = {name: compare_updates(name, place) for name in options.updates}
    numbers = {f"{name}: ratio": round(run["ratio"], 3) for name, run in runs.items()}
    for name, run in runs.items():
        numbers[f"{name}: tokens/s"] = round(run["new tokens/s"])
    record = {
        "what": "a writer's updates with our attention kernel (new) and with FlashAttention twice (old)",
        "command": "python -m benchmarks.writer_attention",
        "size": f"whole updates of base at its width and at 512, in turns, median of {REPEATS}",
        "machine": f"{place.describe()}, torch {torch.__version__}",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "seeds": [],
        "numbers": numbers,
        "runs": {**runs, "attention": attention, "errors": found},
    }
    merge_into(options.record, record)
    print(f"{options.record} written after {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
