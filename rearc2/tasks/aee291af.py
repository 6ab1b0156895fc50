"""Square plates with a red pattern lie among noise; all patterns are the same but for one. The answer is the plate
with the odd pattern."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, background, canvas, fill, grow, label, paint, place, scatter

BACKGROUND, PLATE, RED = 1, 8, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    inner = rng.choice([2, 3, 3, 4])
    side = rng.randint(14 + 2 * inner - 4, 24)
    usual, odd = _pattern(rng, inner), _pattern(rng, inner)
    if (usual == odd).all():
        raise Retry
    patterns = [odd] + [usual] * rng.randint(2, 3 + (side > 17) + (side > 20))
    size = inner + 2
    noise = scatter(rng, (side, side), rng.uniform(0.1, 0.22))
    before = np.where(noise, PLATE, BACKGROUND)
    for pattern, (top, left) in zip(
        patterns, place(rng, (side, side), [(size, size)] * len(patterns)), strict=True
    ):
        fill(before, top, left, size, size, PLATE)
        paint(before, pattern, top + 1, left + 1, RED)
    if background(before) != BACKGROUND:
        raise Retry
    after = canvas(size, size, PLATE)
    paint(after, odd, 1, 1, RED)
    return before, after


def _pattern(rng: Random, inner: int) -> Mask:
    """Cells that touch all four sides of the plate's inside, so that the plate's place is certain."""
    pattern = scatter(rng, (inner, inner), rng.choice([0.5, 0.65]))
    if not (pattern.any(axis=0).all() and pattern.any(axis=1).all()):
        raise Retry
    return pattern


def verify(grid: Grid) -> Grid:
    red = grid == RED
    numbers, count = label(grow(red))  # cells of one pattern may be apart, but their surroundings meet
    patterns = []
    for number in range(1, count + 1):
        rows, columns = np.nonzero(red & (numbers == number))
        patterns.append(red[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1])
    counts = Counter(pattern.tobytes() for pattern in patterns)
    (odd,) = [pattern for pattern in patterns if counts[pattern.tobytes()] == 1]
    return np.pad(np.where(odd, RED, PLATE), 1, constant_values=PLATE)
