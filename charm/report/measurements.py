"""Draw the paper's figures by name: from run folders, recorded results, or the results of `charm reproduce`.

Every source is read as designs, whose results have the form in which `charm reproduce` stores them. One function for
each figure makes its points from them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from charm.automata.presets import CAR_MEMORIES
from charm.automata.run import PARTS, car_steps, read_car_config
from charm.config import to_json
from charm.continual import results as streams
from charm.continual.records import StreamSummary, memory_name
from charm.domains import DOMAINS, domain_of
from charm.drawing import figures
from charm.drawing.figures import Point, Series, common_points
from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.evaluation.evaluate import evaluate_votes
from charm.evaluation.protocols import Protocol
from charm.files import read_json, read_sealed, unseal
from charm.memory.cose import CoSEConfig
from charm.paper.plans import Reproduction
from charm.paper.tables import TABLES
from charm.paper.work import Result
from charm.report import folder
from charm.report.html import names_of
from charm.runs.archive import whole_passes
from charm.runs.settings import TrainConfig, read_config

Measured = tuple[Any, ...]  # arguments of the function in `charm.drawing.figures` with the figure's name
Record = Callable[[Any], tuple[str, Result]]  # of a recorded run: the label of its design, and its result
LM_NAMES = {"none": "no memory", "engram": "Engram", "cose": "CoSE", "mixture": "CoSE-Mixture"}


@dataclass(frozen=True, eq=False)
class Design:
    """Runs that differ only in their seed."""

    label: str
    results: list[Result]  # one for each seed: "scores" in percent, "parameters", a "curve", the "summary" of a stream
    config: Any = None

    def values(self, score: str) -> tuple[float, ...]:
        """Return a score of all seeds that have it."""
        return tuple(one["scores"][score] for one in self.results if score in one.get("scores", {}))


def draw_figure(name: str, sources: Sequence[Path], out: Path, data: Path | None = None) -> Path:
    """Draw a figure of the paper from run folders or results, and return its path."""
    if name not in FIGURES:
        raise CharmError(f"figure must be one of {', '.join(FIGURES)}; got {name}")
    if not sources:
        raise CharmError(f"figure {name} needs run folders or results to draw from")
    with charm_errors(f"{', '.join(map(str, sources))}: figure {name} cannot be drawn from this", *ODD_VALUES):
        return _save(name, measured(name, sources, data), out)


def draw_reproduced(plan: Reproduction) -> list[Path]:
    """Draw the figures that a reproduction was asked for, all panels with a finished run; return the files."""
    found = {one.table.label: one for one in plan.comparisons()}
    written: list[Path] = []
    for label in plan.figures:
        before = len(written)
        for end, table, name, runs in TABLES[label].panels:
            designs = [
                Design(line.title, list(some.values()), line.variant.full())
                for line in found[table].table.runs
                if re.match(runs, line.run) and (some := found[table].results.get(line.key))
            ]
            path = plan.shelf.out / plan.shelf.size / "figures" / f"{'-'.join(filter(None, (label[4:], end)))}.pdf"
            if designs:
                written.append(_save(name, FIGURES[name][1](designs), path))
        if len(written) == before:
            raise CharmError(f"{label}: no finished run to draw")
    return written


def _save(name: str, given: Measured, out: Path) -> Path:
    return figures.save(getattr(figures, name.replace("-", "_"))(*given), out)


def measured(name: str, sources: Sequence[Path], data: Path | None = None) -> Measured:
    """Return what a figure shows of run folders or results."""
    read, points = FIGURES[name]
    return points(read(sources, data))


# Reading


def read_runs(
    result: Callable[[Path, Any], Result],
    sources: Sequence[Path],
    data: Path | None,
    domain: str = "arc",
    records: Callable[[Sequence[Path]], dict[str, list[Result]]] | None = None,
) -> list[Design]:
    """Read run folders of a domain, and files with `records` of such runs.

    Folders whose runs differ only in their seed are a design. It is named by the memory or, if that repeats, the run.
    """
    files = [one for one in sources if records and one.is_file()]
    groups: dict[Any, dict[Path, Any]] = {}  # of run folders, with their configurations
    for run in sources:
        if run not in files:
            if domain_of(run).name != domain:
                raise CharmError(f"{run} is not a run on {DOMAINS[domain].learns_from}")
            config: Any = read_config(run, data) if domain == "arc" else read_car_config(run)
            alike = replace(config, seed=0, device="", data=replace(config.data, data=None))
            groups.setdefault(alike, {})[run] = config
    labels = [memory_label(config.memory) for config in groups]
    if len(set(labels)) < len(labels):
        labels = names_of([next(iter(runs)) for runs in groups.values()])
    designs = {
        label: Design(label, [result(run, config) for run, config in runs.items()], alike)
        for label, (alike, runs) in zip(labels, groups.items(), strict=True)
    }
    for label, results in records(files).items() if records else ():
        designs.setdefault(label, Design(label, [])).results.extend(results)
    return list(designs.values())


def read_records(kind: str, record: Record, files: Sequence[Path]) -> dict[str, list[Result]]:
    """Read recorded runs of a kind, each as a label and a result; one that is in two files counts once."""
    found: dict[str, list[Result]] = {}
    for path in files:
        for run in _raw(path):
            with charm_errors(f"{path}: not {kind}", *ODD_VALUES):
                label, result = record(run)
                result = {"seed": run.get("seed"), **result}
            if result not in found.setdefault(label, []):
                found[label].append(result)
    return found


def _raw(path: Path) -> list[Any]:
    """Return the runs in a JSON file: a list, or an object with a list "runs", such as files in benchmarks/results."""
    found = unseal(read_json(path), path)
    runs = found.get("runs") if isinstance(found, dict) else found
    if not isinstance(runs, list) or not runs:
        raise CharmError(f"{path}: no runs in it")
    return runs


def memory_label(memory: CoSEConfig) -> str:
    """Return a short name of a memory."""
    key = {"puzzle": "", "rule-horizon": "two-factor ", "rule+horizon": "three-factor "}[memory.key]
    if memory.design == "table" and memory.key != "puzzle":
        key = ""
    if memory.design == "cose" and memory.rank == 0 and not to_json(memory).get("task_width"):
        return f"{key}composition"
    return f"{key}{memory_name(to_json(memory))}{', gated' if memory.gate else ''}"


def evaluated(run: Path, config: TrainConfig) -> Result:
    """Return the newest scores of a run."""
    found = folder.find_evaluation(run)
    if found is None:
        raise CharmError(f"{run}: the run has no evaluation yet; run `charm eval {run}` first")
    return {"scores": _percent(found["metrics"], run), "puzzles": found["puzzles"]}


def _percent(metrics: Mapping[str, float], run: Path) -> dict[str, float]:
    """Return the scores of an evaluation in percent; raise if it has none."""
    if "pass@2" not in metrics:
        raise CharmError(f"{run}: the evaluation has no pass@2, because none of its tasks has known answers")
    return {name: 100 * float(value) for name, value in metrics.items()}


def counted(run: Path, config: TrainConfig) -> Result:
    """Return the newest scores of a run, and its memory's parameters."""
    counts = folder.accounting(run)
    if counts is None:
        raise CharmError(f"{run}: no checkpoint in the run, so its parameters cannot be counted")
    return {**evaluated(run, config), "parameters": {"memory": counts.memory}}


def counted_record(run: Any) -> tuple[str, Result]:
    counts, scores = {"memory": run["parameters"]["memory"]}, {"pass@2": run["scores"]["pass@2"]}
    return run["variant"].rpartition(".")[2], {"scores": scores, "parameters": counts}


def ranked_by_depth(run: Path, config: TrainConfig) -> Result:
    """Rank the votes of the newest voting checkpoint at each refinement depth that it voted with."""
    voted = whole_passes(run / "votes")
    if not voted:
        raise CharmError(f"{run}: no votes; run `charm eval {run} --loops 1 2 4 8 16` first")
    depths = {}
    for loops in voted[max(voted)]:
        protocol = Protocol(window="current", loops=(loops,))
        scores = evaluate_votes(run / "votes", protocol, config.data, [max(voted)]).scores
        depths[loops] = _percent(scores.metrics, run)["pass@2"]
    return {"depths": depths}


def evaluated_in_training(run: Path, config: TrainConfig) -> Result:
    every = folder.evaluations(run, in_training=True).values()
    return {"steps": {one["step"]: _percent(one["metrics"], run)["pass@2"] for one in every}}


def car_curve(evaluations: Iterable[Any]) -> Result:
    """Return evaluations on cellular automata as lines of a curve."""
    lines = []
    for one in evaluations:
        scores = {f"evaluation/{part} pass@2": one[part]["all"]["pass@2"] for part in PARTS if part in one}
        lines.append({"step": one["step"], **scores})
    return {"curve": lines}


def car_record(run: Any) -> tuple[str, Result]:
    name = run.get("memory") or run["variant"].rpartition(".")[2]
    result = car_curve(run["evaluations"]) if "evaluations" in run else {"curve": run["curve"]}
    return memory_label(CAR_MEMORIES[name]), result


def lm_record(run: Any) -> tuple[str, Result]:
    kind = {"stock": "none"}.get(run["variant"], run["variant"])
    scores, counts = {"bits per byte": float(run["bpb"])}, {"memory": int(run["memory"])}
    return LM_NAMES[kind], {"scores": scores, "parameters": counts}


def read_lm(sources: Sequence[Path], data: Path | None) -> list[Design]:
    """Read recorded results of language models, by the kind of memory."""
    found = read_records("results of language models", lm_record, sources)
    if not found.keys() - {LM_NAMES["none"]}:
        raise CharmError(f"{sources[0]}: no run with a memory in it")
    return [Design(label, results) for label, results in found.items()]


def read_streams(sources: Sequence[Path], data: Path | None) -> list[Design]:
    """Read stream runs from result files, folders with a result file, or run folders."""
    found: list[StreamSummary] = []
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
    groups = streams.group(found)
    named = zip(streams.labels_of(groups), groups, strict=True)
    return [Design(label, [{"summary": run} for run in runs]) for label, runs in named]


# What a figure shows


def overall(designs: Sequence[Design]) -> Measured:
    """Return pass@1 and pass@2 by benchmark and system, ours and the published ones. The x of a point is k."""
    ours: dict[str, dict[str, list[Point]]] = {}
    for one in designs:
        if "puzzles" in one.results[0]:
            label, benchmark = one.label, _benchmark(one.config, one.results[0]["puzzles"])
        else:  # the title of a line, "CHARM, ARC-AGI-1"
            system, _, benchmark = one.label.partition(", ")
            label = f"{system}, ours"
        ours.setdefault(benchmark, {})[label] = [Point(k, one.values(f"pass@{k}")) for k in (1, 2)]
    theirs: dict[str, dict[str, list[Point]]] = {}
    for title, line in product(ours, TABLES["tab:overall-arc-performance"].lines):
        system, _, benchmark = line.title.partition(", ")
        if benchmark == title.partition(",")[0]:
            points = [Point(k, (line.printed_mean(f"pass@{k}"),)) for k in (1, 2)]
            theirs.setdefault(title, {})[system] = points
    return ours, theirs


def _benchmark(config: TrainConfig, puzzles: int) -> str:
    """Return the benchmark of a run. Only a complete split has the name under which scores are published."""
    names = {(f"arc{n}/evaluation",): f"ARC-AGI-{n}, public evaluation" for n in (1, 2)}
    evaluated = config.data.evaluate
    if evaluated in names and not config.data.tasks:
        return names[evaluated]
    return f"{puzzles} puzzles of {', '.join(evaluated)}"


def _series(values: Iterable[tuple[str, float, float]]) -> dict[str, list[Point]]:
    """Group values, each with its label and x."""
    found: dict[str, dict[float, list[float]]] = {}
    for label, x, value in values:
        found.setdefault(label, {}).setdefault(x, []).append(value)
    return {label: [Point(x, tuple(some)) for x, some in sorted(points.items())] for label, points in found.items()}


def against_memory(score: str, designs: Sequence[Design]) -> dict[str, list[Point]]:
    """Return a score against the memory's parameters."""
    every = ((one.label, result) for one in designs for result in one.results if score in result["scores"])
    return _series((label, result["parameters"]["memory"], result["scores"][score]) for label, result in every)


def lm_scaling(designs: Sequence[Design]) -> Measured:
    """Return bits per byte against the memory's parameters for each kind of memory, and without one."""
    kinds = [replace(one, label=LM_NAMES[one.config.ngram.variant]) if one.config else one for one in designs]
    series = against_memory("bits per byte", kinds)
    stock = series.pop(LM_NAMES["none"], [Point(0, ())])
    return series, stock[0].values


def depth(designs: Sequence[Design]) -> Measured:
    """Return pass@2 against the number of refinement steps."""
    every = ((one.label, result) for one in designs for result in one.results)
    return (_series((label, at, score) for label, result in every for at, score in result["depths"].items()),)


def families(label: str, family: Callable[[Any], Any], x: Callable[[Any], int], designs: Sequence[Design]) -> Measured:
    """Return pass@2 against a property of the reasoner's shape, for each family of shapes.

    Evaluations made during training are compared at the latest step at which all of a family have one, as in the paper.
    """
    members: dict[Any, list[tuple[int, Result]]] = {}
    for one in designs:
        shape = one.config.reasoner
        members.setdefault(family(shape), []).extend((x(shape), result) for result in one.results)
    values = []
    for key, some in sorted(members.items()):
        stepwise = [set(result["steps"]) for _, result in some if "steps" in result]
        shared = set.intersection(*stepwise) if stepwise else {0}
        if not shared:
            raise CharmError(f"{label.format(*key)}: no step at which all of these were evaluated")
        for at, result in some:
            score = result["steps"][max(shared)] if "steps" in result else result["scores"]["pass@2"]
            values.append((label.format(*key), at, score))
    return (_series(values),)


def emergence(designs: Sequence[Design]) -> Measured:
    """Return pass@2 of seen and of unseen combinations at the steps at which all seeds were evaluated."""
    series: dict[str, dict[str, list[Point]]] = {part: {} for part in PARTS}
    for one in designs:
        for part in PARTS:
            name = f"evaluation/{part} pass@2"
            every = [{line["step"]: 100 * line[name] for line in r["curve"] if name in line} for r in one.results]
            if points := common_points(every):
                series[part][one.label] = points
        if one.label not in series["seen"]:
            raise CharmError(f"{one.label}: no step at which all of its runs were evaluated")
    return series["seen"], series["unseen"]


def transfer(designs: Sequence[Design]) -> Measured:
    """Return pass@2 of unseen against seen combinations: the scores, or the last step that all seeds share."""
    series = {}
    for one in designs:
        seen, unseen = (one.values(f"{part} pass@2") for part in PARTS)
        if not any("scores" in result for result in one.results):
            curves = emergence([one])
            seen, unseen = (some[one.label][-1].values if one.label in some else () for some in curves)
        if seen and unseen:
            series[one.label] = [Point(mean(seen), unseen)]
    return (series,)


def of_streams(points: Callable[[Any], Series], hollow: bool, designs: Sequence[Design]) -> Measured:
    """Return a series for each design that has one; and the labels of those without a model in the end."""
    series, without = {}, []
    for one in designs:
        runs = [result["summary"] for result in one.results]
        for found in points([runs]).values():
            series[one.label] = found
            without += [one.label] if runs[0]["method"] == "oracle" else []
    if not series:
        raise CharmError(f"{designs[0].label}: nothing to draw, because the tasks of its streams have no known answers")
    return (series, without) if hollow else (series,)


ReadDesigns = Callable[[Sequence[Path], Path | None], list[Design]]
of_memories = partial(read_records, "runs with a variant, its parameters and its scores", counted_record)
of_automata = partial(read_records, "runs on cellular automata with their evaluations", car_record)
read_sweep = partial(read_runs, evaluated_in_training)
read_car = partial(read_runs, lambda run, config: car_curve(car_steps(run).values()), domain="car", records=of_automata)
FIGURES: dict[str, tuple[ReadDesigns, Callable[[Sequence[Design]], Measured]]] = {
    "overall": (partial(read_runs, evaluated), overall),
    "pareto": (partial(read_runs, counted, records=of_memories), lambda designs: (against_memory("pass@2", designs),)),
    "depth": (partial(read_runs, ranked_by_depth), depth),
    "horizon": (
        read_sweep,
        partial(families, "U={}, R={}", lambda one: (one.layers, one.recurrences), lambda one: one.learning_layers),
    ),
    "isoflop": (
        read_sweep,
        partial(families, "L={}", lambda one: (one.layers * one.recurrences,), lambda one: one.layers),
    ),
    "car-emergence": (read_car, emergence),
    "car-transfer": (read_car, transfer),
    "cl-tradeoff": (read_streams, partial(of_streams, streams.tradeoff, True)),
    "cl-retention": (read_streams, partial(of_streams, streams.retention, False)),
    "cl-retained": (read_streams, partial(of_streams, streams.retained, False)),
    "lm-scaling": (read_lm, lm_scaling),
}
