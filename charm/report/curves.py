"""Learning curves as inline SVG that takes its colours from the page around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

WIDTH, HEIGHT = 300, 190  # of the drawing; the page scales it
LEFT, RIGHT, TOP, BOTTOM = 40, 20, 32, 36  # margins around the axes
POINTS = 300  # more would not be seen: longer curves are averaged down to so many


def curve_svg(title: str, points: Sequence[tuple[float, float]], percent: bool = False) -> str:
    """A curve of (step, value) over axes that begin at zero; `percent` labels shares as percentages.

    A long curve is drawn as means of consecutive points over a band from their least to their greatest.
    """
    opening = (
        f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f'<text class="title" x="{LEFT}" y="18">{escape(title)}</text>'
    )
    middle = (LEFT + WIDTH - RIGHT) / 2
    if not points:
        empty = f'<text x="{middle}" y="{HEIGHT / 2}" text-anchor="middle">nothing logged yet</text>'
        return f"{opening}{empty}</svg>"
    groups = np.array_split(np.array(points, np.float64), min(len(points), POINTS))
    means = [(group[:, 0].mean(), group[:, 1].mean()) for group in groups]
    steps, values = zip(*points, strict=True)
    x_ticks, y_ticks = ticks(0, max(steps)), ticks(min(0, *values), max(0, *values))
    # The axes end at their outermost ticks or at the data, whichever is further.
    x_end = max(x_ticks[-1], *steps)
    y_low, y_high = min(y_ticks[0], *values), max(y_ticks[-1], *values)

    def x(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / x_end

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - y_low) / (y_high - y_low)

    def line(corners: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{x(step):.1f} {y(value):.1f}" for step, value in corners)

    last = f"{values[-1]:.1%}" if percent else f"{values[-1]:.3g}"
    parts = [opening, f'<text class="last" x="{WIDTH - RIGHT}" y="18" text-anchor="end">{last}</text>']
    for value in y_ticks:
        label = f"{100 * value:g}%" if percent else short(value)
        place = f'x="{LEFT - 6}" y="{y(value) + 3.5:.1f}"'  # lowered to the middle of the digits
        parts.append(f'<path class="rule" d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="y" {place} text-anchor="end">{label}</text>')
    for step in x_ticks:
        place = f'x="{x(step):.1f}" y="{HEIGHT - BOTTOM + 16}"'
        parts.append(f'<path class="rule" d="M{x(step):.1f} {HEIGHT - BOTTOM}v4"/>')
        parts.append(f'<text class="x" {place} text-anchor="middle">{short(step)}</text>')
    parts.append(f'<text class="name" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">step</text>')
    if len(points) > POINTS:
        lows = [(step, group[:, 1].min()) for (step, _), group in zip(means, groups, strict=True)]
        highs = [(step, group[:, 1].max()) for (step, _), group in zip(means, groups, strict=True)]
        parts.append(f'<path class="band" d="{line(lows + highs[::-1])}Z"/>')
    parts.append(f'<path class="line" d="{line(means)}"/>')
    if len(means) <= 40:
        parts += [f'<circle cx="{x(step):.1f}" cy="{y(value):.1f}" r="2.5"/>' for step, value in means]
    return "".join([*parts, "</svg>"])


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Two to about `count` round numbers from at or above `low` to at or below `high`; low <= 0 <= high."""
    span = (high - low) or 1.0
    power = 10.0 ** math.floor(math.log10(span / count))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= span / count * 0.999)
    first, last = math.ceil(low / step), max(math.floor(high / step), 1)
    # A product with a negative power of ten is rarely the nearest float of the number meant.
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def short(value: float) -> str:
    """Four digits at most: 600000 as 600k."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}"
