"""Means, spreads and paired differences over seeds, and whether they support the paper's claims."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Literal

from charm.solving.scores import interval

Verdict = Literal["same order", "opposite", "higher", "lower", "undecided"]
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Difference:
    """The paired difference of two variants over their common seeds."""

    seeds: int
    mean: float
    half_width: float
    """Half the width of the 95 % interval; infinite with fewer than two seeds."""

    @property
    def interval(self) -> tuple[float, float]:
        return self.mean - self.half_width, self.mean + self.half_width


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> Difference | None:
    """First minus second, seed by seed; None without a common seed."""
    common = sorted(first.keys() & second.keys())
    if not common:
        return None
    differences = [first[seed] - second[seed] for seed in common]
    count = len(differences)
    if count < 2:
        return Difference(count, differences[0], math.inf)
    half = t_quantile(count - 1) * stdev(differences) / math.sqrt(count)
    return Difference(count, mean(differences), half)


def verdict(claimed: float | None, found: Difference | None) -> Verdict:
    """Whether the interval of the difference is on the same side of zero as the paper's difference, if it has one.

    Seeds that all differ by the same amount show no spread to judge by: too few tasks were asked.
    """
    if found is None or not math.isfinite(found.half_width) or not found.half_width or claimed == 0:
        return "undecided"
    low, high = found.interval
    if low <= 0 <= high:
        return "undecided"
    if claimed is None:
        return "higher" if found.mean > 0 else "lower"
    return "same order" if (found.mean > 0) == (claimed > 0) else "opposite"


def by_counts(first: Mapping[int, float], second: Mapping[int, float], asked: int, more: bool = True) -> str:
    """Describe two scores in percent of `asked` answers if every seed alone decides that the first has more (or less).

    In each seed Wilson's 95 % intervals of the two must be apart. "" if they are not.
    """
    common = sorted(first.keys() & second.keys())
    hits = [[round(side[seed] * asked / 100) for seed in common] for side in (first, second)]
    larger, smaller = hits if more else hits[::-1]
    for many, few in zip(larger, smaller, strict=True):
        bounds = interval(many, asked), interval(few, asked)
        if bounds[0] is None or bounds[1] is None or bounds[0][0] <= bounds[1][1]:
            return ""
    spans = [f"{min(side):,} to {max(side):,}" for side in hits if side]
    return f"{spans[0]} of {asked:,} against {spans[1]} in every seed" if spans else ""


def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The t for which |T| <= t has the probability `confidence`, for Student's t distribution."""
    low, high = 0.0, 1.0
    while _inside(high, freedom) < confidence:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if _inside(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return high


def _inside(t: float, freedom: int) -> float:
    """The probability that |T| <= t, by the finite sums for integer degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    term, total = (cosine, cosine) if freedom % 2 else (1.0, 1.0)
    for k in range(3 if freedom % 2 else 2, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if freedom % 2 == 0:
        return sine * total
    return 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0))
