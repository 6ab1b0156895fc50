"""Draw the paper's figures by name, from run folders or recorded results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from charm.automata.page import car_steps
from charm.automata.presets import CAR_MEMORIES
from charm.automata.run import CarConfig, read_car_config
from charm.config import to_json
from charm.continual import results
from charm.domains import domain_of
from charm.drawing import figures
from charm.drawing.figures import Point, Series, common_points
from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.evaluation.protocols import Protocol
from charm.evaluation.run import evaluate_votes
from charm.files import read_json, read_sealed, unseal
from charm.memory.cose import CoSEConfig
from charm.paper.tables import published
from charm.report import folder
from charm.report.html import names_of
from charm.runs.archive import passes, require_whole_votes
from charm.runs.settings import TrainConfig, read_config

if TYPE_CHECKING:
    from charm.drawing.figures import Figure

Config = TypeVar("Config", TrainConfig, CarConfig)


def draw_figure(name: str, sources: Sequence[Path], out: Path, data: Path | None = None) -> Path:
    """Draw a figure of the paper from run folders or results, and return its path.

    `data` overrides the configurations' folder of downloaded data.
    """
    if name not in FIGURES:
        raise CharmError(f"figure must be one of {', '.join(FIGURES)}; got {name}")
    if not sources:
        raise CharmError(f"figure {name} needs run folders or results to draw from")
    with charm_errors(
        f"{', '.join(map(str, sources))}: figure {name} cannot be drawn from this", *ODD_VALUES
    ):
        figure = FIGURES[name](sources, data)
    return figures.save(figure, out)


def memory_label(memory: CoSEConfig) -> str:
    key = {"puzzle": "", "rule-horizon": "two-factor ", "rule+horizon": "three-factor "}[memory.key]
    if memory.design == "table" and memory.key != "puzzle":
        key = ""
    if memory.design == "cose" and memory.rank == 0 and not to_json(memory).get("task_width"):
        return f"{key}composition"
    return f"{key}{results.memory_name(to_json(memory))}{', gated' if memory.gate else ''}"


def arc_runs(sources: Sequence[Path], data: Path | None = None) -> dict[Path, TrainConfig]:
    return {run: read_config(_of(run, "arc", "ARC's tasks"), data) for run in sources}


def _of(run: Path, domain: str, what: str) -> Path:
    if domain_of(run).name != domain:
        raise CharmError(f"{run} is not a run on {what}")
    return run


def labelled(configs: Mapping[Path, Config]) -> dict[str, list[Path]]:
    """Groups of runs that differ only in their seed, by the name of their memory or, if these repeat, of the run."""
    groups: dict[Config, list[Path]] = {}
    for run, config in configs.items():
        alike = replace(config, seed=0, device="", data=replace(config.data, data=None))
        groups.setdefault(alike, []).append(run)
    labels = [memory_label(config.memory) for config in groups]
    if len(set(labels)) < len(labels):
        labels = names_of([members[0] for members in groups.values()])
    return dict(zip(labels, groups.values(), strict=True))


# Runs on ARC's tasks


SPLITS = {
    "arc1/evaluation": "ARC-AGI-1, public evaluation",
    "arc2/evaluation": "ARC-AGI-2, public evaluation",
}


def read_overall(runs: Sequence[Path]) -> dict[str, Series]:
    """pass@1 and pass@2 of the newest evaluation, by benchmark and group of seeds. The x of a point is k."""
    configs = arc_runs(runs)
    benchmarks: dict[str, dict[str, Sequence[Point]]] = {}
    for label, members in labelled(configs).items():
        found = {run: folder.newest_evaluation(run) for run in members}
        title = _benchmark(configs[members[0]], found[members[0]]["puzzles"])
        benchmarks.setdefault(title, {})[label] = [
            Point(k, tuple(_percent(found[run], run, f"pass@{k}") for run in members)) for k in (1, 2)
        ]
    return {**benchmarks}


def _benchmark(config: TrainConfig, puzzles: int) -> str:
    """The benchmark of a run. Only a complete split has the name under which scores are published."""
    data = config.data
    if len(data.evaluate) == 1 and data.evaluate[0] in SPLITS and not data.tasks:
        return SPLITS[data.evaluate[0]]
    return f"{puzzles} puzzles of {', '.join(data.evaluate)}"


def read_pareto(sources: Sequence[Path]) -> Series:
    """pass@2 against the memory's parameters: of the newest evaluation of each group of seeds, or of recorded runs."""
    recorded: dict[str, dict[int, Point]] = {}  # of each variant, the seeds one by one
    for path in (source for source in sources if source.is_file()):
        for run in _raw(path):
            kinds = (KeyError, TypeError, AttributeError)
            with charm_errors(f"{path}: not runs with a variant, its parameters and its scores", *kinds):
                point = Point(run["parameters"]["memory"], (run["scores"]["pass@2"],))
                recorded.setdefault(run["variant"].rpartition(".")[2], {})[run["seed"]] = point
    series: dict[str, list[Point]] = {
        variant: [Point(next(iter(seeds.values())).x, tuple(one.values[0] for one in seeds.values()))]
        for variant, seeds in recorded.items()
    }
    runs = [source for source in sources if not source.is_file()]
    for label, members in labelled(arc_runs(runs)).items() if runs else ():
        scores = tuple(_percent(folder.newest_evaluation(run), run) for run in members)
        series[label] = [Point(max(_memory(run) for run in members), scores)]
    return series


def _memory(run: Path) -> int:
    counts = folder.accounting(run)
    if counts is None:
        raise CharmError(f"{run}: no checkpoint in the run, so its parameters cannot be counted")
    return counts.memory


def read_depth(runs: Sequence[Path], data: Path | None = None) -> Series:
    """pass@2 of the newest voting checkpoint at each refinement depth that it voted with."""
    configs = arc_runs(runs, data)
    series = {}
    for label, members in labelled(configs).items():
        found: dict[int, list[float]] = {}
        for run in members:
            require_whole_votes(run / "votes")
            voted = passes(run / "votes")
            if not voted:
                raise CharmError(f"{run}: no votes; run `charm eval {run} --loops 1 2 4 8 16` first")
            step = max(voted)
            for loops in voted[step]:
                protocol = Protocol(window="current", loops=(loops,))
                scores = evaluate_votes(run / "votes", protocol, configs[run].data, [step]).scores
                found.setdefault(loops, []).append(_percent({"metrics": scores.metrics}, run))
        series[label] = [Point(loops, tuple(values)) for loops, values in sorted(found.items())]
    return series


Shape = Callable[[Any], Any]


def read_horizon(runs: Sequence[Path]) -> Series:
    """pass@2 against the learning horizon in layers, for each forward shape."""
    return _families(
        runs, "U={}, R={}", lambda one: (one.layers, one.recurrences), lambda one: one.learning_layers
    )


def read_isoflop(runs: Sequence[Path]) -> Series:
    """pass@2 against the number of unique layers, for each total depth."""
    return _families(runs, "L={}", lambda one: (one.layers * one.recurrences,), lambda one: one.layers)


def _families(runs: Sequence[Path], label: str, family: Shape, x: Shape) -> Series:
    """pass@2 in each family, at the latest step at which all of its runs were evaluated, as in the paper."""
    shapes = {run: config.reasoner for run, config in arc_runs(runs).items()}
    series = {}
    for key in sorted({family(one) for one in shapes.values()}):
        members = [run for run in runs if family(shapes[run]) == key]
        found = {run: folder.evaluations(run, in_training=True).values() for run in members}
        scored = {run: {one["step"]: one for one in some} for run, some in found.items()}
        shared = set.intersection(*(set(steps) for steps in scored.values()))
        if not shared:
            raise CharmError(f"{', '.join(map(str, members))}: no step at which all of these were evaluated")
        values: dict[int, list[float]] = {}
        for run in members:
            values.setdefault(x(shapes[run]), []).append(_percent(scored[run][max(shared)], run))
        series[label.format(*key)] = [Point(at, tuple(one)) for at, one in sorted(values.items())]
    return series


def _percent(found: Mapping[str, Any], run: Path, name: str = "pass@2") -> float:
    if name not in found["metrics"]:
        raise CharmError(f"{run}: the evaluation has no {name}, because none of its tasks has known answers")
    return 100 * float(found["metrics"][name])


# Cellular automata


Scored = Mapping[int, Any]  # step -> evaluation


def read_car(sources: Sequence[Path]) -> tuple[Series, Series]:
    """pass@2 of seen and of unseen combinations during training, over seeds; from runs or recorded results."""
    groups: dict[str, list[Scored]] = {}
    runs = [source for source in sources if not source.is_file()]
    configs = {run: read_car_config(_of(run, "car", "cellular automata")) for run in runs}
    for label, members in labelled(configs).items():
        groups.setdefault(label, []).extend(car_steps(run) for run in members)
    for path in sources:
        for run in _raw(path) if path.is_file() else ():
            problem = f"{path}: not runs on cellular automata with their evaluations"
            with charm_errors(problem, KeyError, TypeError):
                name = run.get("memory") or run["variant"].rpartition(".")[2]
                every = run["evaluations"] if "evaluations" in run else _evaluations(run["curve"])
                groups.setdefault(memory_label(CAR_MEMORIES[name]), []).append(
                    {one["step"]: one for one in every}
                )
    series: dict[str, dict[str, list[Point]]] = {"seen": {}, "unseen": {}}
    for label, scored in groups.items():
        steps = sorted(set.intersection(*(set(one) for one in scored)))
        if not steps:
            raise CharmError(f"{label}: no step at which all of its runs were evaluated")
        for part, curves in series.items():
            if all(part in one[steps[0]] for one in scored):
                shares = [{step: 100 * one[step][part]["all"]["pass@2"] for step in steps} for one in scored]
                curves[label] = common_points(shares)
    return series["seen"], series["unseen"]


def _evaluations(lines: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """The evaluations on a curve that `charm reproduce` recorded, in the form in which runs write them."""
    names = {"seen": "evaluation/seen pass@2", "unseen": "evaluation/unseen pass@2"}
    return [
        {
            "step": line["step"],
            **{part: {"all": {"pass@2": line[name]}} for part, name in names.items() if name in line},
        }
        for line in lines
        if names["seen"] in line
    ]


def read_transfer(sources: Sequence[Path]) -> Series:
    """pass@2 of unseen against seen combinations, at the last step that all seeds share."""
    seen, unseen = read_car(sources)
    return {
        label: [Point(points[-1].mean, unseen[label][-1].values)]
        for label, points in seen.items()
        if label in unseen
    }


# Recorded results


def _raw(path: Path) -> list[Any]:
    """The runs in a JSON file: a list, or an object with a list "runs", such as the files in benchmarks/results."""
    found = unseal(read_json(path), path)
    runs = found.get("runs") if isinstance(found, dict) else found
    if not isinstance(runs, list) or not runs:
        raise CharmError(f"{path}: no runs in it")
    return runs


def read_streams(sources: Sequence[Path]) -> list[list[results.StreamSummary]]:
    """Stream runs in groups of seeds, from result files, folders with a result file, or run folders."""
    found: list[results.StreamSummary] = []
    for source in sources:
        path = source
        if source.is_dir():
            path = source / "results.json" if (source / "results.json").is_file() else source / "result.json"
            if not path.is_file():
                raise CharmError(f"{source}: no results of `charm adapt` in this folder")
        many = [read_sealed(path)] if path.name == "result.json" else _raw(path)
        if not all(isinstance(one, dict) and "retained" in one and "method" in one for one in many):
            raise CharmError(f"{path}: not the results of `charm adapt`")
        found += many
    return results.group(found)


LM_NAMES = {"engram": "Engram", "cose": "CoSE", "mixture": "CoSE-Mixture"}


def read_lm(sources: Sequence[Path]) -> tuple[Series, tuple[float, ...]]:
    """Bits per byte against the memory's parameters, and without a memory; from recorded results."""
    values: dict[str, dict[int, list[float]]] = {}
    stock: list[float] = []
    for path in sources:
        with charm_errors(f"{path}: not results of language models", KeyError, TypeError, ValueError):
            for run in _raw(path):
                if run["variant"] == "stock":
                    stock.append(float(run["bpb"]))
                else:
                    label = LM_NAMES[run["variant"]]
                    values.setdefault(label, {}).setdefault(int(run["memory"]), []).append(float(run["bpb"]))
    if not values:
        raise CharmError(f"{sources[0]}: no run with a memory in it")
    series = {
        label: [Point(memory, tuple(scores)) for memory, scores in sorted(by_memory.items())]
        for label, by_memory in values.items()
    }
    return series, tuple(stock)


def _of_streams(series_of: Callable[[Any], Series], sources: Sequence[Path]) -> Series:
    series = series_of(read_streams(sources))
    if not series:
        raise CharmError(
            f"{sources[0]}: nothing to draw, because the tasks of its streams have no known answers"
        )
    return series


# From the paper's tab:overall-arc-performance, as the series of a benchmark.
PUBLISHED: dict[str, Series] = {title: published(title.partition(",")[0]) for title in SPLITS.values()}

FIGURES: dict[str, Callable[[Sequence[Path], Path | None], Figure]] = {
    "overall": lambda sources, data: figures.overall(read_overall(sources), PUBLISHED),
    "pareto": lambda sources, data: figures.pareto(read_pareto(sources)),
    "depth": lambda sources, data: figures.depth(read_depth(sources, data)),
    "horizon": lambda sources, data: figures.horizon(read_horizon(sources)),
    "isoflop": lambda sources, data: figures.isoflop(read_isoflop(sources)),
    "car-emergence": lambda sources, data: figures.car_emergence(*read_car(sources)),
    "car-transfer": lambda sources, data: figures.car_transfer(read_transfer(sources)),
    "cl-tradeoff": lambda sources, data: figures.cl_tradeoff(
        _of_streams(results.tradeoff, sources), results.hollow_labels(read_streams(sources))
    ),
    "cl-retention": lambda sources, data: figures.cl_retention(_of_streams(results.retention, sources)),
    "cl-retained": lambda sources, data: figures.cl_retained(_of_streams(results.retained, sources)),
    "lm-scaling": lambda sources, data: figures.lm_scaling(*read_lm(sources)),
}
