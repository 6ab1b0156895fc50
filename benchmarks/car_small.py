"""The CAR comparison at CPU size: what each task memory knows of trained and of untrained combinations.

    python -m benchmarks.car_small [--seeds 3] [--steps 1500]            (or: charm bench car_small)

Life-like rules on a torus of 5 x 5 and two horizons; each rule is trained at one of them and asked about at both. The
claims, which the paper makes at its scale: independent tables know nothing of untrained combinations, composition does,
and CoSE is at least as good as the tables on trained ones. So few updates solve few whole grids, so cells are counted
too: a model that knows nothing of the rule gets as many right as guessing does. docs/car.md has the numbers.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

from charm.automata.benchmark import BenchmarkConfig, build, write_benchmark
from charm.automata.dataset import CarData
from charm.automata.keys import CarMemory
from charm.automata.run import CarConfig, train_car
from charm.devices import place
from charm.reasoner.config import ReasonerConfig
from charm.training.config import OptimizerConfig

BENCHMARK = BenchmarkConfig(families=("life",), rules=32, examples=500, side=5, horizons=(1, 2))
MEMORIES = {
    "full table": CarMemory(key="rule-horizon", design="table", rank=64),
    "three-factor composition": CarMemory(key="rule+horizon", rank=0),
    "three-factor CoSE": CarMemory(key="rule+horizon", rank=8),
}


PARTS = ("seen", "unseen")


def tiny(home: Path, memory: CarMemory, steps: int, seed: int) -> CarConfig:
    """Four recurrences, all with gradients, and no refinement: fresh examples count most here."""
    return CarConfig(
        data=CarData(BENCHMARK, canvas=BENCHMARK.side, data=home),
        reasoner=ReasonerConfig(
            width=64,
            heads=4,
            layers=1,
            recurrences=4,
            horizon=4,
            prefix=1,
            ffn="swiglu",
            inner_multiple=32,
            rope="2d",
            rope_base=100.0,
            refinement_steps=1,
            compute_dtype="float32",
        ),
        memory=memory,
        optimizer=OptimizerConfig(
            lr=5e-3,
            factors="adamw",
            factor_lr=2e-2,
            factor_weight_decay=0.0,
            row_lr=2e-2,
            warmup=50,
            cooldown=0.3,
            ema=0.99,
        ),
        steps=steps,
        batch=32,
        checkpoint_every=steps,
        evaluate_every=steps,
        evaluate_loops=(1,),
        device="cpu",
        seed=seed,
    )


def measure(steps: int = 1500, seeds: int = 3) -> dict[str, dict[str, list[float]]]:
    """pass@2 and right cells on seen and unseen combinations, and CPU seconds, for each memory and seed."""
    found: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as scratch, place("cpu") as here:
        home = Path(scratch)
        write_benchmark(home / "car", build(BENCHMARK))
        for name, memory in MEMORIES.items():
            found[name] = {f"{part} {share}": [] for part in PARTS for share in ("pass@2", "cells")}
            found[name]["cpu_seconds"] = []
            for seed in range(seeds):
                began = time.process_time()
                out = home / f"{name}-{seed}"
                config = replace(tiny(home, memory, steps, seed), log_every=max(1, steps // 20))
                train_car(config, out, here, say=lambda text: None)
                scores = json.loads((out / "eval" / f"step_{steps:09d}.json").read_text())
                for part in PARTS:
                    for share in ("pass@2", "cells"):
                        found[name][f"{part} {share}"].append(scores[part]["all"][share])
                found[name]["cpu_seconds"].append(round(time.process_time() - began, 1))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    found = measure(options.steps, options.seeds)
    for name, columns in found.items():
        spread = {k: stdev(v) if len(v) > 1 else 0.0 for k, v in columns.items()}
        print(name, {k: f"{mean(v):.4f} +- {spread[k]:.4f}" for k, v in columns.items()})
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
