"""A benchmark and a run on cellular automata, small enough for tests that train."""

from dataclasses import replace
from pathlib import Path

from charm.automata.benchmark import BenchmarkConfig, build, write_benchmark
from charm.automata.dataset import CarData
from charm.automata.keys import CarMemory
from charm.automata.run import CarConfig
from charm.runs.settings import OptimizerConfig
from tests.toy import CANVAS

TOY = BenchmarkConfig(rules=2, examples=8, side=8, horizons=(1, 2))

# The paper's six memories at width 32.
MEMORIES = {
    "full table": CarMemory(key="rule-horizon", design="table", rank=32),
    "low-rank table": CarMemory(key="rule-horizon", design="table", rank=4),
    "two-factor composition": CarMemory(key="rule-horizon", rank=0),
    "two-factor CoSE": CarMemory(key="rule-horizon", rank=4),
    "three-factor composition": CarMemory(key="rule+horizon", rank=0),
    "three-factor CoSE": CarMemory(key="rule+horizon", rank=4),
}


def write_toy_benchmark(folder: Path) -> Path:
    write_benchmark(folder / "car", build(TOY))
    return folder


def toy_config(home: Path, **changes: object) -> CarConfig:
    config = CarConfig(
        data=CarData(TOY, canvas=8, data=home),
        reasoner=replace(CANVAS, ffn="swiglu", refinement_steps=2),
        memory=MEMORIES["three-factor CoSE"],
        optimizer=OptimizerConfig(dense="adamw", factors="adamw", lr=3e-3, factor_lr=1e-2, warmup=2, ema=0.9),
        steps=6,
        batch=8,
        checkpoint_every=3,
        evaluate_every=3,
        evaluate_loops=(2,),
        log_every=3,
        device="cpu",
    )
    return replace(config, **changes)
