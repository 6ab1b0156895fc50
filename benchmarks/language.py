"""Engram against CoSE at a small size: paired seeds, one order of the data, two sizes of table.

    charm lm prepare /usr/share /usr/lib/python3 "$(python -c 'import sys; print(sys.base_prefix)')/lib" \\
        --vocab 8192 --limit 80000000 --validation 0.04 --out DATA
    python -m benchmarks.language --data DATA --results results.json --seconds 60

The text is what a Linux system with Python holds: manuals, licences, sources; 80 MB of it, each file once. All runs
take as many updates: as fit into `--seconds` for the slowest memory, measured first, but no more than `--epochs` passes
over the text. A run that the results file already has is not made again, so the work can be spread over several calls.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from charm.devices import Place, place
from charm.files import write_atomically
from charm.language.config import Dtype, GPTConfig, LMConfig, LMOptimizerConfig, NgramConfig
from charm.language.data import Prepared
from charm.language.gpt import components
from charm.language.run import LMJob

DEPTH, WIDTH, LENGTH, LOOKUP = 6, 384, 512, 192
TOKENS_D12 = 1.156e9  # of the run for which a weight decay of 0.28 is right
MARKS = 4  # evaluations of a run, evenly spread
WARM_UP, TIMED = 5, 20  # updates when the speed is measured


def configure(
    data: Prepared,
    options: argparse.Namespace,
    variant: str,
    capacity: int,
    seed: int,
    steps: int,
    device: str,
) -> LMConfig:
    """A run; the weight decay follows the batch and the length of the run, as learning rates follow the batch."""
    batch = options.batch
    decay = 0.28 * math.sqrt(batch / 2**19) * TOKENS_D12 / (steps * batch)
    kind = "none" if variant == "stock" else variant
    dtype: Dtype = "float32" if device == "cpu" else "bfloat16"
    return LMConfig(
        gpt=GPTConfig(
            DEPTH, WIDTH, 128, data.vocab, LENGTH, LENGTH // 4, compute_dtype=dtype, table_dtype="float32"
        ),
        ngram=NgramConfig(kind, capacity * data.vocab, LOOKUP),  # type: ignore[arg-type]
        optimizer=LMOptimizerConfig(weight_decay=decay),
        data=data.folder,
        tails="keep",
        steps=steps,
        batch=batch,
        device_rows=64,
        seed=seed,
        evaluate_tokens=options.evaluate_tokens,
        device=device,
    )


def choose_steps(data: Prepared, options: argparse.Namespace, here: Place) -> int:
    """Updates that fit into the time with the slowest memory, within the passes over the text."""
    slowest = "cose" if "cose" in options.variants else options.variants[-1]
    config = configure(data, options, slowest, max(options.capacities), 0, 1000, here.device.type)
    job = LMJob(config, here)
    job.compile()
    for _ in range(WARM_UP):
        job.update(0)
    began = _now(here)
    for _ in range(TIMED):
        job.update(0)
    each = (_now(here) - began) / TIMED
    tokens = sum(shard["tokens"] for shard in data.manifest["shards"][:-1])
    return max(MARKS, min(int(options.seconds / each), int(options.epochs * tokens / options.batch)))


def run(config: LMConfig, here: Place) -> dict[str, Any]:
    """Bits per byte along a run and at its end, and the seconds it took without evaluation and compilation."""
    torch._dynamo.reset()  # else the models of earlier runs count against the limit of compiled versions
    curve, seconds, step = {}, 0.0, 0
    job = LMJob(config, here)
    job.compile()
    for mark in range(1, MARKS + 1):
        began = _now(here)
        while step < config.steps * mark // MARKS:
            job.update(step)
            step += 1
        seconds += _now(here) - began
        curve[step] = job.bits_per_byte()["bpb"]
    counts = components(config.gpt, config.ngram)
    return {
        "bpb": curve[config.steps],
        "curve": curve,
        "seconds": round(seconds, 1),
        "steps": config.steps,
        "tokens": config.steps * config.batch,
        "memory": counts["memory"],
        "backbone": counts["backbone"],
    }


def paired(results: dict[str, Any]) -> list[str]:
    """Lines to read: each memory, then the differences of equal seeds."""
    by_memory: dict[tuple[str, int], dict[int, float]] = {}
    for one in results["runs"]:
        by_memory.setdefault((one["variant"], one["capacity"]), {})[one["seed"]] = one["bpb"]
    lines = []
    for (variant, capacity), scores in sorted(by_memory.items()):
        lines.append(f"{variant:>8} x{capacity:<3} {_spread(list(scores.values()))}")
    for (variant, capacity), scores in sorted(by_memory.items()):
        base = by_memory.get(("stock", 0) if variant == "engram" else ("engram", capacity), {})
        both = sorted(set(scores) & set(base))
        if variant != "stock" and both:
            against = "stock" if variant == "engram" else f"engram x{capacity}"
            differences = [scores[seed] - base[seed] for seed in both]
            lines.append(f"{variant} x{capacity} minus {against}: {_spread(differences)}")
    return lines


def _spread(values: list[float]) -> str:
    each = ", ".join(f"{value:+.5f}" if value < 0.2 else f"{value:.5f}" for value in values)
    spread = f" +- {stdev(values):.5f}" if len(values) > 1 else ""
    return f"{mean(values):.5f}{spread} (n={len(values)}: {each})"


def _now(here: Place) -> float:
    if here.device.type != "cpu":
        torch.accelerator.synchronize()
    return time.perf_counter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="a folder of `charm lm prepare`")
    parser.add_argument("--results", type=Path, default=Path("language.json"))
    parser.add_argument("--variants", nargs="+", default=["stock", "engram", "cose"])
    parser.add_argument("--capacities", nargs="+", type=int, default=[5, 20], help="rows over the vocabulary")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--batch", type=int, default=2**15, help="tokens in an update")
    parser.add_argument("--seconds", type=float, default=60, help="for the updates of a run, at most")
    parser.add_argument("--epochs", type=float, default=2, help="passes over the text, at most")
    parser.add_argument("--evaluate-tokens", type=int, default=1536 * LENGTH, help="of the validation shard")
    parser.add_argument("--steps", type=int, default=0, help="updates of a run, instead of measuring")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    data = Prepared.read(options.data)
    results: dict[str, Any] = {"runs": []}
    if options.results.is_file():
        results = json.loads(options.results.read_text())
    with place(options.device) as here:
        if "steps" not in results:
            results["steps"] = options.steps or choose_steps(data, options, here)
            results |= {"batch": options.batch, "machine": here.describe(), "torch": torch.__version__}
            results["data"] = data.manifest
        if results["data"] != data.manifest or results["batch"] != options.batch:
            raise SystemExit(f"{options.results} was begun with other data or another batch")
        done = {(one["variant"], one["capacity"], one["seed"]) for one in results["runs"]}
        print(f"{results['steps']} updates of {options.batch} tokens on {here.describe()}", flush=True)
        for seed in options.seeds:
            for variant in options.variants:
                for capacity in [0] if variant == "stock" else options.capacities:
                    if (variant, capacity, seed) in done:
                        continue
                    config = configure(
                        data, options, variant, capacity, seed, results["steps"], here.device.type
                    )
                    found = run(config, here)
                    results["runs"].append({"variant": variant, "capacity": capacity, "seed": seed, **found})
                    write_atomically(options.results, json.dumps(results, indent=2) + "\n")
                    print(
                        f"{variant} x{capacity} seed {seed}: {found['bpb']:.5f}, {found['seconds']} s",
                        flush=True,
                    )
    print("\n".join(paired(results)))


if __name__ == "__main__":
    main()
