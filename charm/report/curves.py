"""Learning curves as inline SVG. The page sets the colours."""

import math
from collections.abc import Sequence
from html import escape

import numpy as np

WIDTH, HEIGHT = 300, 190  # size of the drawing; the page scales it
LEFT, RIGHT, TOP, BOTTOM = 48, 20, 32, 36  # margins around the axes
Points = Sequence[tuple[float, float]]
POINTS = 300  # longer curves are averaged down to this many points


def curves_svg(title: str, curves: Sequence[Points], percent: bool = False) -> str:
    """Draw curves of (step, value) on axes that start at zero; `percent` labels shares as percentages.

    A long curve is drawn as the means of consecutive points, over a band from their minimum to their maximum. The n-th
    of several curves has the CSS class s<n>; a single one has its last value in the title.
    """
    opening = (
        f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f'<text class="title" x="{LEFT}" y="18">{escape(title)}</text>'
    )
    middle = (LEFT + WIDTH - RIGHT) / 2
    everything = [point for points in curves for point in points]
    if not everything:
        empty = f'<text x="{middle}" y="{HEIGHT / 2}" text-anchor="middle">nothing logged yet</text>'
        return f"{opening}{empty}</svg>"
    steps, values = zip(*everything, strict=True)
    x_ticks, y_ticks = ticks(0, max(steps)), ticks(min(0, *values), max(0, *values))
    # The axes end at the last tick or at the last point, whichever is further out.
    x_end = max(x_ticks[-1], *steps)
    y_low, y_high = min(y_ticks[0], *values), max(y_ticks[-1], *values)

    def x(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / x_end

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - y_low) / (y_high - y_low)

    def line(corners: Points) -> str:
        return "M" + "L".join(f"{x(step):.1f} {y(value):.1f}" for step, value in corners)

    def draw(points: Points) -> str:
        groups = np.array_split(np.array(points, np.float64), min(len(points), POINTS))
        means = [(group[:, 0].mean(), group[:, 1].mean()) for group in groups]
        parts = []
        if len(points) > POINTS:
            lows = [(step, group[:, 1].min()) for (step, _), group in zip(means, groups, strict=True)]
            highs = [(step, group[:, 1].max()) for (step, _), group in zip(means, groups, strict=True)]
            parts.append(f'<path class="band" d="{line(lows + highs[::-1])}Z"/>')
        parts.append(f'<path class="line" d="{line(means)}"/>')
        if len(means) <= 40:
            parts += [f'<circle cx="{x(step):.1f}" cy="{y(value):.1f}" r="2.5"/>' for step, value in means]
        return "".join(parts)

    parts = [opening]
    if len(curves) == 1:
        last = f"{values[-1]:.1%}" if percent else f"{values[-1]:.3g}"
        parts.append(f'<text class="last" x="{WIDTH - RIGHT}" y="18" text-anchor="end">{last}</text>')
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
    if len(curves) == 1:
        parts.append(draw(curves[0]))
    else:
        parts += [f'<g class="s{n % 8}">{draw(points)}</g>' for n, points in enumerate(curves) if points]
    return "".join([*parts, "</svg>"])


def ticks(low: float, high: float) -> list[float]:
    """Return two to about four round numbers in low..high, where low <= 0 <= high."""
    quarter = ((high - low) or 1.0) / 4
    power = 10.0 ** math.floor(math.log10(quarter))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= quarter * 0.999)
    first, last = math.ceil(low / step), max(math.floor(high / step), 1)
    # Rounding removes the error of multiplying by a negative power of ten.
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def short(value: float) -> str:
    """Format a number in at most four digits: 600000 as 600k."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}"
