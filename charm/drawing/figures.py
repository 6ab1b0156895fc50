"""Draw the paper's figures from series of points, each with one value for every seed.

Colours are Okabe and Ito's, which most people with a colour vision deficiency can distinguish. Every series also has
its own marker. Error bars and bands are sample standard deviations. `charm.report.measurements` reads the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, NamedTuple

from charm.errors import CharmError
from charm.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Seven of the eight; the yellow is too pale on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "os^DvPX<>*h"  # 11 x 7 series before a combination repeats
LINES = ("-", "--", ":")  # solid for the first seven series
GREY = "#9a9a9a"
BAR = 0.38  # width of a bar; bars come in pairs
BARS = ((COLORS[5], -BAR / 2), (COLORS[0], BAR / 2))  # colour and offset of pass@1 and pass@2
FORMATS = ("pdf", "svg", "png")


class Point(NamedTuple):
    x: float
    values: tuple[float, ...]  # one value for each seed

    @property
    def mean(self) -> float:
        return mean(self.values)

    @property
    def deviation(self) -> float:
        """Sample standard deviation; 0 for a single seed."""
        return stdev(self.values) if len(self.values) > 1 else 0.0


Series = Mapping[str, Sequence[Point]]  # label -> its points


def common_points(curves: Sequence[Mapping[int, float]]) -> list[Point]:
    """Return the points of curves, one for each seed, at every x that all of them have."""
    return [Point(x, tuple(one[x] for one in curves)) for x in sorted(set.intersection(*map(set, curves)))]


def overall(benchmarks: Mapping[str, Series], published: Mapping[str, Series]) -> Figure:
    """Draw bars of pass@1 and pass@2 (the x of a point is k), a panel for each benchmark; the published are hatched."""
    from matplotlib.patches import Patch

    figure, panels = new_figure(len(benchmarks))
    for axes, (title, ours) in zip(panels, benchmarks.items(), strict=True):
        theirs = published.get(title, {})
        systems = [*theirs.items(), *ours.items()]
        for number, (_, points) in enumerate(systems):
            for point, (color, side) in zip(sorted(points), BARS, strict=True):
                bar = axes.bar(
                    number + side,
                    point.mean,
                    BAR,
                    color=color,
                    edgecolor="white",
                    hatch="//" if number < len(theirs) else None,
                    yerr=point.deviation if len(point.values) > 1 else None,
                    capsize=3,
                )
                axes.bar_label(bar, fmt="%.1f", fontsize="x-small", padding=2)
        axes.set_xticks(range(len(systems)), [label for label, _ in systems], fontsize="small")
        for tick in axes.get_xticklabels() if len(systems) > 2 else ():
            tick.set(rotation=20, ha="right", rotation_mode="anchor")
        axes.grid(visible=False, axis="x")
        axes.set_axisbelow(True)
        axes.set(title=title, ylabel="solved (%)")
        axes.set_xlim(-0.6, max(len(systems), 3) - 0.4)  # a single bar does not fill the panel
        axes.set_ylim(0, max(5.0, 1.05 * axes.get_ylim()[1]))
    kinds = [Patch(color=color, label=f"pass@{k}") for k, (color, _) in enumerate(BARS, start=1)]
    if any(title in published for title in benchmarks):
        kinds.append(Patch(facecolor=GREY, edgecolor="white", hatch="//", label="published"))
    everything = {f"{title} {label}": points for title, ours in benchmarks.items() for label, points in ours.items()}
    return with_legend(figure, everything, handles=kinds)


def pareto(series: Series) -> Figure:
    """Draw accuracy against parameters of the task memory. A line joins the designs on the Pareto frontier."""
    figure, (axes,) = new_figure(1)
    draw_points(axes, series, joined=False)
    front = frontier([point for points in series.values() for point in points])
    axes.plot([p.x for p in front], [p.mean for p in front], color=GREY, linestyle="--", zorder=1)
    axes.set(xscale="log", xlabel="task-memory parameters", ylabel="pass@2 (%)")
    return with_legend(figure, series)


def car_emergence(seen: Series, unseen: Series) -> Figure:
    """Draw accuracy during training on seen and on unseen combinations of rule and horizon."""
    figure, panels = new_figure(2)
    labels = list(dict.fromkeys([*seen, *unseen]))
    for axes, title, series in zip(panels, ("seen", "unseen"), (seen, unseen), strict=True):
        draw_bands(axes, series, labels)
        axes.set(title=f"{title} combinations", xlabel="updates", ylabel="pass@2 (%)")
        start_at_zero(axes)
    return with_legend(figure, seen, panels[0])


def cl_tradeoff(series: Series, hollow: Sequence[str] = ()) -> Figure:
    """Draw final accuracy against parameters updated for each task; `hollow` series have no single final model."""
    # Methods that update the same number of parameters stand side by side, each shifted to the right by a tenth.
    taken: set[float] = set()
    apart: dict[str, list[Point]] = {}
    for label, points in series.items():
        apart[label] = []
        for point in points:
            x = point.x
            while any(abs(x / other - 1) < 0.03 for other in taken):
                x *= 1.1
            taken.add(x)
            apart[label].append(point._replace(x=x))
    return _scattered(apart, hollow, xscale="log", xlabel="updated parameters per task", ylabel="final pass@2 (%)")


def cl_retained(series: Series) -> Figure:
    """Draw accuracy on the whole stream as its tasks are learned."""
    figure, (axes,) = new_figure(1)
    draw_bands(axes, series, list(series))
    axes.set(xlabel="tasks learned", ylabel="pass@2 on the whole stream (%)")
    axes.locator_params(axis="x", integer=True)
    start_at_zero(axes)
    return with_legend(figure, series)


def lm_scaling(series: Series, stock: Sequence[float] = ()) -> Figure:
    """Draw bits per byte against parameters of the n-gram memory; `stock` are the values of each seed without one."""
    figure, (axes,) = new_figure(1)
    draw_points(axes, series, joined=True)
    if stock:
        axes.axhline(mean(stock), color=GREY, linestyle="--", label="no memory")
        if len(stock) > 1:
            axes.axhspan(mean(stock) - stdev(stock), mean(stock) + stdev(stock), color=GREY, alpha=0.2, lw=0)
    axes.set(xscale="log", xlabel="n-gram memory parameters", ylabel="validation bits per byte")
    return with_legend(figure, series)


def frontier(points: Sequence[Point]) -> list[Point]:
    """Return the points that beat every point with as many or fewer parameters, smallest first."""
    kept: list[Point] = []
    for point in sorted(points, key=lambda p: (p.x, -p.mean)):
        if not kept or point.mean > kept[-1].mean:
            kept.append(point)
    return kept


def save(figure: Figure, path: Path) -> Path:
    """Write the figure in the format of the file's extension. The same data give the same bytes."""
    import matplotlib

    ending = path.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise CharmError(f"{path}: a figure's file name must end in .{', .'.join(FORMATS)}")
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[ending]
    # Type 42 fonts keep the text of a PDF searchable; the salt makes the ids in an SVG depend on its content only.
    with matplotlib.rc_context({"pdf.fonttype": 42, "svg.hashsalt": "charm"}):
        write_atomically(path, lambda file: figure.savefig(file, format=ending, dpi=150, metadata=undated))
    return path


def new_figure(panels: int) -> tuple[Figure, Sequence[Axes]]:
    from matplotlib.figure import Figure  # not pyplot: no window, no global state

    figure = Figure(figsize=(8, 4.6) if panels == 1 else (5.5 * panels, 4.6), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for one in axes:
        one.grid(alpha=0.3)
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _style(n: int) -> tuple[str, str, str]:
    return COLORS[n % len(COLORS)], MARKERS[n % len(MARKERS)], LINES[n // len(COLORS) % len(LINES)]


def draw_points(axes: Axes, series: Series, joined: bool, hollow: Sequence[str] = ()) -> None:
    """Draw means, with error bars where there are several seeds."""
    for number, (label, unordered) in enumerate(series.items()):
        color, marker, line = _style(number)
        points = sorted(unordered)
        spread = [point.deviation for point in points]
        axes.errorbar(
            [point.x for point in points],
            [point.mean for point in points],
            spread if any(len(point.values) > 1 for point in points) else None,
            color=color,
            marker=marker,
            markersize=7,
            markerfacecolor="white" if label in hollow else color,
            markeredgecolor=color if label in hollow else "black",
            markeredgewidth=1.5 if label in hollow else 0.5,
            linestyle=line if joined else "none",
            capsize=3,
            label=label,
        )


def draw_bands(axes: Axes, series: Series, labels: Sequence[str]) -> None:
    """Draw mean curves over bands of one standard deviation. The index of a label in `labels` sets its style."""
    for label, unordered in series.items():
        color, marker, line = _style(labels.index(label))
        points = sorted(unordered)
        xs, means = [point.x for point in points], [point.mean for point in points]
        every = max(1, len(points) // 15)
        axes.plot(xs, means, line, color=color, marker=marker, markersize=6, markevery=every, label=label)
        if any(len(point.values) > 1 for point in points):
            low = [point.mean - point.deviation for point in points]
            high = [point.mean + point.deviation for point in points]
            axes.fill_between(xs, low, high, alpha=0.15, color=color, linewidth=0)


def _over_whole_numbers(series: Series, **words: str) -> Figure:
    """Draw lines of pass@2 with a tick at every x that there is."""
    figure, (axes,) = new_figure(1)
    draw_points(axes, series, joined=True)
    axes.set(ylabel="pass@2 (%)", **words)
    xs = sorted({point.x for points in series.values() for point in points})
    axes.set_xticks(xs, [f"{x:g}" for x in xs])
    axes.set_xticks([], minor=True)
    return with_legend(figure, series)


# Accuracy against the number of refinement steps in evaluation; against the number of layers with gradients, one line
# for each forward shape; and against the number of unique layers, one line for each total depth.
depth = partial(_over_whole_numbers, xscale="log", xlabel="refinement steps")
horizon = partial(_over_whole_numbers, xlabel="learning horizon (layers)")
isoflop = partial(_over_whole_numbers, xscale="log", xlabel="unique layers U, each applied L/U times")


def _scattered(series: Series, hollow: Sequence[str] = (), **words: str) -> Figure:
    """Draw single points over an axis that begins at zero."""
    figure, (axes,) = new_figure(1)
    draw_points(axes, series, joined=False, hollow=hollow)
    axes.set(**words)
    start_at_zero(axes)
    return with_legend(figure, series)


# Accuracy on unseen against seen combinations of rule and horizon; and on the base's own puzzles against the stream,
# both at its end.
car_transfer = partial(_scattered, xlabel="seen combinations, pass@2 (%)", ylabel="unseen combinations, pass@2 (%)")
cl_retention = partial(_scattered, xlabel="final pass@2 on the stream (%)", ylabel="pass@2 on the base's puzzles (%)")


def start_at_zero(axes: Axes) -> None:
    top = max(5.0, axes.get_ylim()[1])  # a visible axis even if all values are zero
    axes.set_ylim(-0.02 * top, top)  # so that a curve at zero is fully visible


def with_legend(figure: Figure, series: Series, axes: Axes | None = None, handles: Sequence[Artist] = ()) -> Figure:
    """Add a legend of `handles`, by default of everything on the axes. Its title gives the number of seeds."""
    counts = {len(point.values) for points in series.values() for point in points}
    seeds = str(max(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    title = f"mean and standard\ndeviation of {seeds} seeds" if max(counts) > 1 else "single runs"
    shown = handles or (axes or figure.axes[0]).get_legend_handles_labels()[0]
    figure.legend(handles=shown, loc="outside right upper", fontsize="small", title=title, title_fontsize="small")
    return figure
