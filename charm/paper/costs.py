"""What runs cost: hours of one GPU, from speeds that were measured and the operations of a model."""

from __future__ import annotations

import math
from dataclasses import dataclass

from charm.arc.presets import arc1
from charm.bench.training import flops
from charm.paper.variants import SizeName, Variant
from charm.tasks.task import MAX_SIDE
from charm.training.config import RunConfig

# Predictions of one evaluation: the paper's iterations of 768; on automata 6,000 combinations x 4 grids x 8 views.
ARC1, ARC2, CAR = 502 * 768, 216 * 768, 6000 * 4 * 8


@dataclass(frozen=True)
class Speed:
    """What was measured for `arc1` on full canvases, in samples a second; others are scaled by their operations."""

    training: float
    forward: float
    machine: str
    date: str

    @property
    def step(self) -> float:
        """Seconds of an update of 768 samples."""
        return 768 / self.training

    @property
    def evaluation(self) -> float:
        """Hours of an evaluation of ARC-AGI-1 by the paper's count of iterations."""
        return ARC1 * 16 / self.forward / 3600

    def hours(self, config: RunConfig, steps: int, predictions: int) -> tuple[float, float]:
        """Of all updates, and of all evaluations on the way."""
        forward, training = flops(config.reasoner, MAX_SIDE)
        base_forward, base_training = flops(arc1().reasoner, MAX_SIDE)
        updates = steps * config.batch / self.training * training / base_training
        evaluations = math.ceil(steps / config.evaluate_every) if config.evaluate_every else 0
        depth = max(config.evaluate_loops)  # one pass serves all depths
        asked = evaluations * predictions * depth / self.forward * forward / base_forward
        return updates / 3600, asked / 3600


# benchmarks/results/speed_arc1.json, which an installed package does not have.
MEASURED = Speed(505.5, 1092.1, "one NVIDIA H200", "2026-11-15")


def hours(variant: Variant, size: SizeName) -> float:
    """Of one run: on one H200, or on two cores at the sizes for a CPU."""
    minutes = variant.size(size).minutes
    if minutes is not None:
        return minutes / 60
    config = variant.at(size)
    asked = ARC2 if "arc2/evaluation" in config.data.evaluate else ARC1
    return sum(MEASURED.hours(config, config.steps, asked))
