"""Estimate the GPU-hours of a run from measured speeds and the operations of its model."""

from __future__ import annotations

import math
from dataclasses import dataclass

from charm.arc.presets import arc1
from charm.automata.run import CarConfig
from charm.continual.run import StreamOptions
from charm.language.config import LMConfig
from charm.language.gpt import components
from charm.paper.sizes import SizeName
from charm.paper.variants import Variant
from charm.runs.settings import RunConfig
from charm.tasks.task import MAX_SIDE

# Predictions of one evaluation: the paper's iterations of 768; on automata 6,000 combinations x 4 grids x 8 views.
ARC1, ARC2, CAR = 502 * 768, 216 * 768, 6000 * 4 * 8


@dataclass(frozen=True)
class Speed:
    """Measured speed of `arc1` on full canvases, in samples per second. Other models are scaled by their operations."""

    training: float
    forward: float
    machine: str
    date: str

    def hours(self, config: RunConfig, steps: int, predictions: int) -> tuple[float, float]:
        """Hours of all updates and of all evaluations during training."""
        forward, training = config.reasoner.flops(MAX_SIDE)
        base_forward, base_training = arc1().reasoner.flops(MAX_SIDE)
        updates = steps * config.batch / self.training * training / base_training
        evaluations = math.ceil(steps / config.evaluate_every) if config.evaluate_every else 0
        depth = max(config.evaluate_loops)  # one pass serves all depths
        asked = evaluations * predictions * depth / self.forward * forward / base_forward
        return updates / 3600, asked / 3600


# From benchmarks/results/speed_arc1.json, which is not part of the installed package.
MEASURED = Speed(505.5, 1092.1, "one NVIDIA H200", "2026-11-15")


# Tokens per second of language models, from benchmarks/results/language_speed.json. d20 was not measured; its speed is
# assumed to fall with the parameters of the backbone.
TOKENS = {"none": 545_335, "engram": 546_035, "cose": 490_660, "mixture": 490_660}
D12_BACKBONE = 286_261_730


def hours(variant: Variant, size: SizeName) -> float:
    """Hours of one run: on one H200, or on two cores at the CPU sizes."""
    minutes = variant.size(size).minutes
    if minutes is not None:
        return minutes / 60
    config = variant.at(size)
    if isinstance(config, StreamOptions):
        tasks = {"arc2-training": 233, "arc2-evaluation": 114}[config.stream]
        return tasks * config.recipe.steps * config.recipe.batch / MEASURED.training / 3600
    if isinstance(config, LMConfig):
        backbone = components(config.gpt, config.ngram)["backbone"]
        rate = TOKENS[config.ngram.variant] * D12_BACKBONE / backbone
        return config.steps * config.batch / rate / 3600
    asked = (
        CAR if isinstance(config, CarConfig) else ARC2 if "arc2/evaluation" in config.data.evaluate else ARC1
    )
    return sum(MEASURED.hours(config, config.steps, asked))
