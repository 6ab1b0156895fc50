"""Named runs on cellular automata: the paper's two splits and a small one, and the memories that it compares."""

from collections.abc import Callable
from dataclasses import replace

from charm.automata.benchmark import BenchmarkConfig
from charm.automata.dataset import CarData
from charm.automata.keys import CarMemory
from charm.automata.run import CarConfig
from charm.errors import CharmError
from charm.models.canvas.config import CAR
from charm.runs.settings import SHORT_RUN, OptimizerConfig

CAR_MEMORIES = {
    "full-table": CarMemory(key="rule-horizon", design="table", rank=256),
    "low-rank": CarMemory(key="rule-horizon", design="table", rank=16),
    "two-factor": CarMemory(key="rule-horizon", rank=0),
    "two-factor-cose": CarMemory(key="rule-horizon", rank=16),
    "three-factor": CarMemory(key="rule+horizon", rank=0),
    "three-factor-cose": CarMemory(key="rule+horizon", rank=16),
}


def car_single() -> CarConfig:
    """Train on the paper's single-horizon split: each of 1,500 rules at one horizon, 500k updates."""
    return CarConfig(
        reasoner=CAR,
        memory=CAR_MEMORIES["three-factor-cose"],
        optimizer=OptimizerConfig(dense="adamw", factors="adamw", factor_lr=1e-2),
        steps=500_000,
        batch=1536,
        checkpoint_every=20_000,
        evaluate_every=20_000,
        evaluate_loops=(4,),
    )


def car_all() -> CarConfig:
    """Train the paper's control: all 6,000 combinations, 280k updates."""
    return replace(car_single(), data=CarData(split="all"), steps=280_000)


def car_small() -> CarConfig:
    """Train a minute or two on one GPU: Life-like rules, two horizons, the torus as the canvas.

    Positions are two-dimensional, which makes neighbourhoods easier to learn; all recurrences carry gradients, and
    every update sees fresh examples.
    """
    return replace(
        car_single(),
        data=CarData(BenchmarkConfig(families=("life",)), horizons=(1, 2), canvas=16),
        reasoner=replace(CAR, recurrences=4, horizon=4, refinement_steps=1, prefix=1, rope="2d", rope_base=100.0),
        optimizer=replace(SHORT_RUN, cooldown=0.4, ema=0.99),
        steps=1_500,
        batch=512,
        checkpoint_every=300,
        evaluate_every=300,
        evaluate_loops=(1,),
    )


CAR_PRESETS: dict[str, Callable[[], CarConfig]] = {"car-single": car_single, "car-all": car_all, "car-small": car_small}


def car_preset(name: str) -> CarConfig:
    """Return a preset; its name may be followed by that of a memory, and has three-factor CoSE without."""
    for base, make in CAR_PRESETS.items():
        for memory in ("", *CAR_MEMORIES):
            if name == "-".join(filter(None, (base, memory))):
                return make() if not memory else replace(make(), memory=CAR_MEMORIES[memory])
    raise CharmError(
        f"there is no preset {name}; the names are {', '.join(CAR_PRESETS)}, alone or followed by "
        f"-{', -'.join(CAR_MEMORIES)}"
    )
