"""Named runs on cellular automata: the paper's two splits and a small one, each with every memory it compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from charm.automata.benchmark import BenchmarkConfig
from charm.automata.dataset import CarData
from charm.automata.keys import CarMemory
from charm.automata.run import CarConfig
from charm.errors import CharmError
from charm.models.canvas.config import car as reasoner
from charm.runs.settings import SHORT_RUN, OptimizerConfig

CAR_MEMORIES = {
    "full-table": CarMemory(key="rule-horizon", design="table", rank=256),
    "low-rank": CarMemory(key="rule-horizon", design="table", rank=16),
    "two-factor": CarMemory(key="rule-horizon", rank=0),
    "two-factor-cose": CarMemory(key="rule-horizon", rank=16),
    "three-factor": CarMemory(key="rule+horizon", rank=0),
    "three-factor-cose": CarMemory(key="rule+horizon", rank=16),
}


def car_single(memory: CarMemory) -> CarConfig:
    """The paper's single-horizon split: each of 1,500 rules at one horizon, 500k updates."""
    return CarConfig(
        reasoner=reasoner(),
        memory=memory,
        optimizer=OptimizerConfig(dense="adamw", factors="adamw", factor_lr=1e-2),
        steps=500_000,
        batch=1536,
        checkpoint_every=20_000,
        evaluate_every=20_000,
        evaluate_loops=(4,),
    )


def car_all(memory: CarMemory) -> CarConfig:
    """The paper's control: all 6,000 combinations are trained, 280k updates."""
    return replace(car_single(memory), data=CarData(split="all"), steps=280_000)


def car_small(memory: CarMemory) -> CarConfig:
    """The same comparison on one GPU in a minute or two: Life-like rules, two horizons, canvases filled by the torus.

    Positions are two-dimensional, which makes neighbourhoods easier to learn; all recurrences carry gradients, and
    every update sees fresh examples.
    """
    return replace(
        car_single(memory),
        data=CarData(BenchmarkConfig(families=("life",)), horizons=(1, 2), canvas=16),
        reasoner=replace(
            reasoner(), recurrences=4, horizon=4, refinement_steps=1, prefix=1, rope="2d", rope_base=100.0
        ),
        optimizer=replace(SHORT_RUN, cooldown=0.4, ema=0.99),
        steps=1_500,
        batch=512,
        checkpoint_every=300,
        evaluate_every=300,
        evaluate_loops=(1,),
    )


CAR_PRESETS: dict[str, Callable[[], CarConfig]] = {
    f"{name}-{memory}": partial(make, design)
    for name, make in (("car-single", car_single), ("car-all", car_all), ("car-small", car_small))
    for memory, design in CAR_MEMORIES.items()
}


def car_preset(name: str) -> CarConfig:
    """A preset of CAR; without the name of a memory it is three-factor CoSE."""
    full = f"{name}-three-factor-cose" if f"{name}-three-factor-cose" in CAR_PRESETS else name
    if full not in CAR_PRESETS:
        raise CharmError(
            f"there is no preset {name}; the names are car-single, car-all and car-small, alone or followed by "
            f"-{', -'.join(CAR_MEMORIES)}"
        )
    return CAR_PRESETS[full]()
