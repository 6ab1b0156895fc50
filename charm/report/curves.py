"""Learning curves as inline SVG that takes its colours from the page around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

WIDTH, HEIGHT = 380, 210  # of the drawing; the page scales it
LEFT, RIGHT, TOP, BOTTOM = 44, 16, 30, 36  # margins around the axes
POINTS = 300  # more would not be seen: longer curves are averaged down to so many


def curve_svg(title: str, points: Sequence[tuple[float, float]], percent: bool = False) -> str:
    """A curve of (step, value) over axes that begin at zero; `percent` labels shares as percentages.

    A long curve is drawn as means of consecutive points over a band from their least to their greatest.
    """
    groups = np.array_split(np.array(points, np.float64).reshape(-1, 2), min(len(points), POINTS) or 1)
    means = [group.mean(axis=0) for group in groups if len(group)]
    last = points[-1][1] if points else math.nan
    x_ticks = ticks(0, max((step for step, _ in points), default=1))
    values = [value for _, value in points]
    y_ticks = ticks(min([0, *values]), max([0, *values]))
    # The axes end at their outermost ticks or at the data, whichever is further.
    x_end = max([x_ticks[-1], *(step for step, _ in points)])
    y_low, y_high = min([y_ticks[0], *values]), max([y_ticks[-1], *values])

    def x(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / x_end

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - y_low) / (y_high - y_low)

    def line(corners: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{x(step):.1f} {y(value):.1f}" for step, value in corners)

    shown = f"{last:.1%}" if percent else f"{last:.3g}"
    parts = [
        f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        f'<text class="title" x="{LEFT}" y="16">{escape(title)}</text>',
    ]
    if points:
        parts.append(f'<text class="last" x="{WIDTH - RIGHT}" y="16" text-anchor="end">{shown}</text>')
    for value in y_ticks:
        label = f"{100 * value:g}%" if percent else short(value)
        parts.append(f'<path class="rule" d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(
            f'<text class="y" x="{LEFT - 6}" y="{y(value) + 3.5:.1f}" text-anchor="end">{label}</text>'
        )
    for step in x_ticks:
        parts.append(f'<path class="rule" d="M{x(step):.1f} {HEIGHT - BOTTOM}v4"/>')
        parts.append(
            f'<text class="x" x="{x(step):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
            f"{short(step)}</text>"
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text class="name" x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">step</text>')
    if len(points) > POINTS:
        lows = [(group[:, 0].mean(), group[:, 1].min()) for group in groups]
        highs = [(group[:, 0].mean(), group[:, 1].max()) for group in groups]
        parts.append(f'<path class="band" d="{line(lows + highs[::-1])}Z"/>')
    if len(means) > 1:
        parts.append(f'<path class="line" d="{line([(m[0], m[1]) for m in means])}"/>')
    if len(means) <= 40:
        parts += [f'<circle cx="{x(m[0]):.1f}" cy="{y(m[1]):.1f}" r="2.5"/>' for m in means]
    if not points:
        parts.append(f'<text x="{middle}" y="{HEIGHT / 2}" text-anchor="middle">nothing logged yet</text>')
    return "".join([*parts, "</svg>"])


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Two to about `count` round numbers from at or above `low` to at or below `high`; low <= 0 <= high."""
    span = (high - low) or 1.0
    power = 10.0 ** math.floor(math.log10(span / count))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= span / count * 0.999)
    first, last = math.ceil(low / step), max(math.floor(high / step), 1)
    # A product with a negative power of ten is rarely the nearest float of the number meant.
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def short(value: float) -> str:
    """600000 as 600k."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
