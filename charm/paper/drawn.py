"""Draw the paper's figures from the results of `charm reproduce`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from charm.drawing import figures
from charm.drawing.figures import Point, Series, common_points
from charm.errors import CharmError
from charm.paper.comparison import Comparison
from charm.paper.tables import PaperLine, published

if TYPE_CHECKING:
    from charm.drawing.figures import Figure

Lines = list[tuple[PaperLine, Mapping[int, Any]]]  # lines of a table with their results by seed


def draw(label: str, comparisons: Mapping[str, Comparison], folder: Path) -> list[Path]:
    """Draw all panels of a figure that have a finished run; return the files."""
    written = []
    for panel, (table, make) in FIGURES[label].items():
        if table not in comparisons:
            continue
        results = comparisons[table].results
        lines: Lines = [
            (line, results[line.key]) for line in comparisons[table].table.runs if results.get(line.key)
        ]
        if lines:
            name = label.replace("fig:", "") + (f"-{panel}" if panel else "")
            written.append(figures.save(make(lines), folder / f"{name}.pdf"))
    if not written:
        raise CharmError(f"{label}: no finished run to draw")
    return written


def tables_of(label: str) -> list[str]:
    """The tables whose runs a figure uses."""
    return list(dict.fromkeys(table for table, _ in FIGURES[label].values()))


def _values(results: Mapping[int, Any], name: str) -> tuple[float, ...]:
    return tuple(one["scores"][name] for one in results.values() if name in one["scores"])


def _scatter(lines: Lines, x: str, y: str) -> Series:
    """The mean of one score against another; lines that lack one of them are left out."""
    found = {line.title: (_values(results, x), _values(results, y)) for line, results in lines}
    return {title: [Point(mean(xs), ys)] for title, (xs, ys) in found.items() if xs and ys}


def _over_parameters(lines: Lines, parameter: str, measure: str) -> Series:
    return {
        line.title: [
            Point(mean(one["parameters"][parameter] for one in results.values()), _values(results, measure))
        ]
        for line, results in lines
        if _values(results, measure)
    }


def _overall(lines: Lines) -> Figure:
    """Our systems next to the published ones."""
    benchmarks: dict[str, dict[str, list[Point]]] = {}
    for line, results in lines:
        system, _, benchmark = line.title.partition(", ")
        points = [Point(k, _values(results, f"pass@{k}")) for k in (1, 2)]
        benchmarks.setdefault(benchmark, {})[f"{system}, ours"] = points
    return figures.overall(benchmarks, {benchmark: published(benchmark) for benchmark in benchmarks})


def _families(lines: Lines, family: Callable[[Any], str], x: Callable[[Any], int]) -> Series:
    """pass@2 against a property of the reasoner's shape."""
    series: dict[str, list[Point]] = {}
    for line, results in lines:
        shape = line.variant.full().reasoner
        series.setdefault(family(shape), []).append(Point(x(shape), _values(results, "pass@2")))
    return series


def _isoflop(lines: Lines) -> Figure:
    return figures.isoflop(
        _families(lines, lambda one: f"L={one.layers * one.recurrences}", lambda one: one.layers)
    )


def _horizon(lines: Lines) -> Figure:
    series = _families(
        lines, lambda one: f"U={one.layers}, R={one.recurrences}", lambda one: one.learning_layers
    )
    return figures.horizon(series)


def _emergence(lines: Lines) -> Figure:
    """pass@2 during training, at the steps at which all seeds of a variant were evaluated."""
    parts: dict[str, dict[str, list[Point]]] = {"seen": {}, "unseen": {}}
    for line, results in lines:
        for part, series in parts.items():
            name = f"evaluation/{part} pass@2"
            curves = [
                {entry["step"]: 100 * entry[name] for entry in one["curve"] if name in entry}
                for one in results.values()
            ]
            if points := common_points(curves):
                series[line.title] = points
    return figures.car_emergence(parts["seen"], parts["unseen"])


def _text(lines: Lines) -> Figure:
    """Bits per byte against the memory's parameters, for each kind of memory."""
    series: dict[str, list[Point]] = {}
    stock: tuple[float, ...] = ()
    names = {"engram": "Engram", "cose": "CoSE", "mixture": "CoSE-Mixture"}
    for line, results in lines:
        kind = line.variant.full().ngram.variant
        values = _values(results, "bits per byte")
        if kind == "none":
            stock = values
        else:
            memory = next(iter(results.values()))["parameters"]["memory"]
            series.setdefault(names[kind], []).append(Point(memory, values))
    return figures.lm_scaling(series, stock)


def _adapted(lines: Lines, group: str) -> Figure:
    """Final accuracy against updated parameters on one stream; oracles have no final model."""
    chosen = [(line, results) for line, results in lines if line.variant.group == group]
    series = _over_parameters(chosen or lines, "updated", "final pass@2")
    return figures.cl_tradeoff(series, [title for title in series if "oracle" in title])


def _retained(lines: Lines) -> Figure:
    """Accuracy on the whole stream as it is learned, for the oracle and for methods that do not change the reasoner."""
    series = {}
    for line, results in lines:
        if "full model" in line.title:
            continue
        retained = (one["summary"]["retained"] for one in results.values())
        series[line.title] = common_points([{stage: 100 * share for stage, share in one} for one in retained])
    return figures.cl_retained(series)


# Figure -> panel -> the table whose runs it draws, and the function that draws it.
FIGURES: dict[str, dict[str, tuple[str, Callable[[Lines], Figure]]]] = {
    "fig:overall-arc-performance": {"": ("tab:overall-arc-performance", _overall)},
    "fig:embedding-pareto": {
        "": (
            "tab:full-cose-ablation",
            lambda lines: figures.pareto(_over_parameters(lines, "memory", "pass@2")),
        )
    },
    "fig:recurrent-backbone-design": {"b": ("tab:scaling", _isoflop), "c": ("tab:scaling-tbptt", _horizon)},
    "fig:car-late-emergence": {"": ("fig:car-late-emergence", _emergence)},
    "fig:lm-memory-scaling": {
        "rows": ("tab:nanochat-d12", _text),
        "width": ("tab:nanochat-d12-width", _text),
    },
    "fig:cose-generalization": {
        "a": ("tab:nanochat-d12", _text),
        "b": (
            "tab:car-single-horizon",
            lambda lines: figures.car_transfer(_scatter(lines, "seen pass@2", "unseen pass@2")),
        ),
    },
    "fig:cose-cl": {
        "a": ("tab:cose-cl-core", lambda lines: _adapted(lines, "stream1")),
        "b": (
            "tab:cose-cl-baselines",
            lambda lines: figures.cl_retention(_scatter(lines, "final pass@2", "base after")),
        ),
    },
    "fig:cl-param-efficiency-eval": {"": ("tab:cose-cl-core", lambda lines: _adapted(lines, "stream2"))},
    "fig:cl-baseline-param-efficiency": {
        "": ("tab:cose-cl-baselines", lambda lines: _adapted(lines, "stream1"))
    },
    "fig:cl-stream-dynamics": {"": ("tab:cose-cl-baselines", _retained)},
}
