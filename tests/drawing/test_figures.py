"""What the figures draw, against folders and numbers made by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from benchmarks.continual_stages import costs_figure
from benchmarks.continual_study import learning_forgetting_figure
from charm.accounting import account
from charm.arc.presets import preset
from charm.cli import main
from charm.config import to_json
from charm.continual.results import write_json
from charm.drawing import figures
from charm.drawing.figures import Point, frontier, save
from charm.errors import CharmError
from charm.paper.runs import VARIANTS
from charm.report.measurements import (
    FIGURES,
    draw_figure,
    measured,
    memory_label,
    read_streams,
)
from charm.runs.settings import read_config
from charm.tasks.instances import Instances
from charm.tasks.keys import MemoryConfig
from tests.toy.hand import cast, grid, predict
from tests.toy.pages import PREDICTIONS, QUESTIONS, TESTS, write_car, write_config, write_lm, write_tasks
from tests.toy.streams import write_stream_run

ROOT = Path(__file__).parents[2]
SERIES = {"a": [Point(10, (1.0, 3.0)), Point(1000, (8.0, 8.0))], "b": [Point(100, (5.0,))]}


def write_scored(run: Path, name: str, scores: dict[int, float], seed: int = 0) -> Path:
    """A run folder of a preset with evaluations made while training."""
    (run / "eval").mkdir(parents=True)
    (run / "config.json").write_text(
        json.dumps(to_json(replace(VARIANTS[name].full() if name in VARIANTS else preset(name), seed=seed)))
    )
    for step, value in scores.items():
        found = {"step": step, "puzzles": 400, "metrics": {"pass@1": value / 2, "pass@2": value}}
        (run / "eval" / f"step_{step:09d}.json").write_text(json.dumps(found))
        (run / "eval" / f"step_{step:09d}.submission.json").write_text("{}")
    return run


# Drawing


def drawn(figure: Figure, axes: int = 0) -> dict[str, tuple[list[float], list[float]]]:
    """Label -> xs and ys of what is on the axes."""
    found = {}
    for container in figure.axes[axes].containers:
        assert isinstance(container, ErrorbarContainer)
        line = container.lines[0]
        found[str(container.get_label())] = (list(line.get_xdata()), list(line.get_ydata()))
    for line in figure.axes[axes].lines:
        if not str(line.get_label()).startswith("_"):
            found[str(line.get_label())] = (list(line.get_xdata()), list(line.get_ydata()))
    return found


def test_means_and_error_bars() -> None:
    figure = figures.horizon(SERIES)
    assert drawn(figure) == {"a": ([10, 1000], [2.0, 8.0]), "b": ([100], [5.0])}
    bars = figure.axes[0].containers[0].lines[2][0].get_segments()
    half = stdev([1.0, 3.0])
    np.testing.assert_allclose(bars[0], [[10, 2 - half], [10, 2 + half]])
    assert figure.legends[0].get_title().get_text() == "mean and standard\ndeviation of 1 to 2 seeds"
    assert figures.horizon({"b": SERIES["b"]}).legends[0].get_title().get_text() == "single runs"


def test_the_frontier_is_what_nothing_smaller_beats() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        points = [Point(float(x), (float(y),)) for x, y in rng.integers(0, 9, (12, 2))]
        # A point is on it if no other has at most its parameters and at least its accuracy.
        slow = {
            p
            for p in points
            if not any(q.x <= p.x and q.mean >= p.mean and (q.x, q.mean) != (p.x, p.mean) for q in points)
        }
        assert set(frontier(points)) == slow
        assert [p.x for p in frontier(points)] == sorted(p.x for p in slow)


def test_bands_are_one_standard_deviation() -> None:
    figure = figures.cl_retained({"a": [Point(0, (0.0, 0.0)), Point(4, (10.0, 20.0))]})
    assert drawn(figure) == {"a": ([0, 4], [0.0, 15.0])}
    (band,) = figure.axes[0].collections
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx(15 + stdev([10, 20]))
    two = figures.car_emergence({"a": [Point(1, (2.0,))]}, {"b": [Point(1, (3.0,))]})
    colors = [axes.lines[0].get_color() for axes in two.axes]
    assert colors[0] != colors[1]  # styles go by the label and not by the place on each side


def test_learning_is_drawn_against_forgetting_with_one_style_for_a_method() -> None:
    stream = {"a": [Point(10, (50.0,)), Point(5, (40.0,))], "b": [Point(0, (30.0,))]}
    figure = learning_forgetting_figure({"the stream": stream, "the base": {"b": [Point(1, (30.0,))]}})
    left, right = figure.axes
    assert drawn(figure)["a"] == ([5, 10], [40.0, 50.0])  # along what is forgotten
    assert left.get_xlabel() == "forgetting of the stream (points)"
    colors = [[line.get_color() for line in axes.lines if len(line.get_xdata())] for axes in (left, right)]
    assert colors[0][-1] == colors[1][-1] != colors[0][0]


def test_costs_have_a_panel_each() -> None:
    lengths = {"10 stages": [Point(1, (2.0,)), Point(9, (2.5,))]}
    figure = costs_figure({"seconds": lengths, "bytes": lengths})
    assert [axes.get_ylabel() for axes in figure.axes] == ["seconds", "bytes"]
    assert all(axes.get_ylim()[0] == 0 for axes in figure.axes)


def test_equal_counts_stand_side_by_side() -> None:
    series = {name: [Point(100, (50.0,))] for name in "abc"}
    xs = [x for (x,), _ in drawn(figures.cl_tradeoff(series, hollow=["c"])).values()]
    assert xs[0] == 100
    assert xs == sorted(set(xs))


def test_styles_differ_and_colours_are_okabe_and_itos() -> None:
    published = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
    assert set(figures.COLORS) <= published
    styles = [figures._style(n)[:2] for n in range(40)]
    assert len(set(styles)) == 40


def test_formats(tmp_path: Path) -> None:
    def made() -> Figure:
        return figures.lm_scaling(SERIES, stock=(9.0, 9.5))

    for ending, start in (("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")):
        path = save(made(), tmp_path / "deep" / f"f.{ending}")
        first = path.read_bytes()
        assert first.startswith(start)
        assert save(made(), path).read_bytes() == first  # no date, no random id
    svg = (tmp_path / "deep" / "f.svg").read_text()
    assert "<image" not in svg  # vectors only
    assert "no memory" in svg
    with pytest.raises(CharmError, match=r"f\.jpg: a figure's file name must end in \.pdf, \.svg, \.png"):
        save(made(), tmp_path / "f.jpg")
    assert matplotlib.rcParams["svg.hashsalt"] is None  # nothing global has changed


# Reading


def test_sweeps_are_compared_at_the_latest_shared_step(tmp_path: Path) -> None:
    runs = [
        write_scored(tmp_path / "u2", "sweep.L48-U2", {10: 0.1, 20: 0.2, 30: 0.9}),
        write_scored(tmp_path / "u4", "sweep.L48-U4", {10: 0.2, 20: 0.4}),
        write_scored(tmp_path / "u4b", "sweep.L48-U4", {10: 0.2, 20: 0.5}, seed=1),
        write_scored(tmp_path / "l12", "sweep.L12-U2", {30: 0.3}),
    ]
    assert measured("isoflop", runs)[0] == {
        "L=12": [Point(2, (30.0,))],
        "L=48": [Point(2, (20.0,)), Point(4, (40.0, 50.0))],
    }
    horizons = [write_scored(tmp_path / f"h{h}", f"sweep.U2-H{h}", {10: h / 100}) for h in (6, 12)]
    assert measured("horizon", horizons)[0] == {"U=2, R=12": [Point(6, (6.0,)), Point(12, (12.0,))]}
    late = write_scored(tmp_path / "late", "sweep.L48-U6", {40: 0.3})
    with pytest.raises(CharmError, match="no step at which all of these were evaluated"):
        measured("isoflop", [*runs, late])


def test_overall_is_bars_beside_the_published_ones(tmp_path: Path) -> None:
    runs = [
        write_scored(tmp_path / "a", "arc1", {10: 0.1, 20: 0.5}),
        write_scored(tmp_path / "b", "arc1", {20: 0.7}, seed=1),
        write_scored(tmp_path / "c", "arc2", {20: 0.3}),
        write_scored(tmp_path / "d", "quickstart", {20: 0.9}),
    ]
    found, published = measured("overall", runs)
    first, second = (f"ARC-AGI-{n}, public evaluation" for n in (1, 2))
    assert found[first] == {"CoSE (r=32), gated": [Point(1, (25.0, 35.0)), Point(2, (50.0, 70.0))]}
    assert found[second] == {"CoSE (r=32)": [Point(1, (15.0,)), Point(2, (30.0,))]}
    # Some tasks of a split are another benchmark, on which nothing is published.
    assert list(found)[2].startswith("400 puzzles of arc1/training")
    assert set(published) == {first, second}
    figure = figures.overall(found, published)
    bars = [[bar.get_height() for bar in axes.patches] for axes in figure.axes]
    assert bars[0] == [34.4, 40.3, 40.0, 44.6, 53.8, 61.8, 55.1, 60.4, 78.6, 84.0, 30.0, 60.0]
    assert bars[1] == [3.8, 5.0, 4.6, 7.8, 16.0, 18.2, 9.4, 11.1, 39.3, 46.7, 15.0, 30.0]
    assert bars[2] == [45.0, 90.0]
    hatched = [bar.get_hatch() is not None for bar in figure.axes[0].patches]
    assert hatched == [True] * 10 + [False] * 2
    names = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert names == ["HRM", "TRM", "URM", "VARC", "CHARM", "CoSE (r=32), gated"]
    spreads = [one for one in figure.axes[0].containers if isinstance(one, ErrorbarContainer)]
    assert len(spreads) == 2  # single runs and published numbers have none
    (spread,) = spreads[0].lines[2][0].get_segments()
    assert spread[1][1] - spread[0][1] == pytest.approx(2 * stdev([25, 35]))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["pass@1", "pass@2", "published"]
    alone = figures.overall({"mine": found[first]}, published)
    assert [text.get_text() for text in alone.legends[0].get_texts()] == ["pass@1", "pass@2"]


def test_pareto_counts_the_memory_of_the_newest_checkpoint(tmp_path: Path) -> None:
    runs = []
    for seed, value in ((0, 0.5), (1, 0.75)):
        run = write_scored(tmp_path / f"run{seed}", "arc1", {10: 0.1, 20: value}, seed)
        made = run / "checkpoints" / "step_000000020"
        made.mkdir(parents=True)
        instances = Instances()
        instances.add("a", np.arange(99, dtype=np.uint32))
        instances.save(made / "instances.npz")
        runs.append(run)
    memory = account(read_config(runs[0]).model, 1, 100).memory
    assert measured("pareto", runs)[0] == {"CoSE (r=32), gated": [Point(memory, (50.0, 75.0))]}
    # An evaluation of the same step under the standard protocol is what counts; one of an older step is not.
    for name, step, value in (("standard", 20, 0.6), ("extra", 10, 0.9)):
        found = {"step": step, "puzzles": 400, "metrics": {"pass@2": value}}
        (runs[0] / "eval" / f"{name}.json").write_text(json.dumps(found))
    assert measured("pareto", runs[:1])[0] == {"CoSE (r=32), gated": [Point(memory, (60.0,))]}
    bare = write_scored(tmp_path / "bare", "arc1", {10: 0.1})
    with pytest.raises(CharmError, match="bare: no checkpoint in the run"):
        measured("pareto", [bare])


def test_pareto_of_recorded_runs_counts_a_seed_once(tmp_path: Path) -> None:
    def run(variant: str, seed: int, score: float) -> dict[str, Any]:
        return {"variant": variant, "seed": seed, "parameters": {"memory": 7}, "scores": {"pass@2": score}}

    first, second = tmp_path / "first.json", tmp_path / "second.json"
    first.write_text(json.dumps({"runs": [run("train.cose", 0, 1.0), run("train.cose", 1, 2.0)]}))
    second.write_text(json.dumps({"runs": [run("plain.cose", 1, 2.0), run("plain.table", 0, 3.0)]}))
    expected = {"cose": [Point(7, (1.0, 2.0))], "table": [Point(7, (3.0,))]}
    assert measured("pareto", [first, second])[0] == expected
    second.write_text(json.dumps({"runs": [{"seed": 1}]}))
    with pytest.raises(CharmError, match=r"second.json: not runs with a variant"):
        measured("pareto", [first, second])


def test_depth_ranks_each_depth_alone(tmp_path: Path) -> None:
    write_tasks(tmp_path / "tasks.json", TESTS)
    run = tmp_path / "run"
    write_config(run, tmp_path / "tasks.json")
    for loops, step in ((4, 100), (16, 200)):
        votes = predict([(q, grid(cells), view, row, sure) for q, cells, view, row, sure in PREDICTIONS[step]])
        cast(run, 200, QUESTIONS, votes, loops)
    # By hand: the votes of "100" solve "solved" and one of two tests of "near"; those of "200" only "solved".
    assert measured("depth", [run])[0] == {"CoSE (r=32)": [Point(4, (30.0,)), Point(16, (20.0,))]}
    write_config(tmp_path / "none", tmp_path / "tasks.json")
    with pytest.raises(CharmError, match="no votes"):
        measured("depth", [tmp_path / "none"])


def test_automata_over_seeds(tmp_path: Path) -> None:
    runs = [
        write_car(tmp_path / "a0", curve={300: 0.0, 600: 0.1}),
        write_car(tmp_path / "a1", seed=1, curve={300: 0.02, 600: 0.2, 900: 0.3}),
        write_car(tmp_path / "t", "full-table", curve={300: 0.0}),
    ]
    seen, unseen = measured("car-emergence", runs)
    assert unseen == {
        "three-factor composition": [Point(300, (0.0, 2.0)), Point(600, (10.0, 20.0))],
        "Table (r=256)": [Point(300, (0.0,))],
    }
    assert seen["three-factor composition"][1] == Point(600, (20.0, 40.0))
    with pytest.raises(CharmError, match="lm is not a run on cellular automata"):
        measured("car-emergence", [write_lm(tmp_path / "lm", 1.0)])


def test_the_record_of_automata_is_drawn_as_its_numbers() -> None:
    path = ROOT / "benchmarks" / "results" / "car_small.json"
    numbers = json.loads(path.read_text())["numbers"]
    seen, unseen = measured("car-emergence", [path])
    for label, name in (("three-factor composition", "composition"), ("three-factor CoSE (r=16)", "CoSE")):
        assert list(seen[label][-1].values) == pytest.approx(numbers[f"{name} seen"])
        assert list(unseen[label][-1].values) == pytest.approx(numbers[f"{name} unseen"])


def test_the_curves_of_a_reproduction_are_drawn(tmp_path: Path) -> None:
    def run(memory: str, seed: int, *unseen: float) -> dict[str, Any]:
        lines = [{"step": 100 * n, "evaluation/seen pass@2": 0.5} for n in range(1, 3)]
        for line, share in zip(lines, unseen, strict=False):
            line["evaluation/unseen pass@2"] = share
        return {"variant": f"car.{memory}", "seed": seed, "curve": [{"step": 50, "loss": 1.0}, *lines]}

    runs = [run("three-factor", 0, 0.0, 0.1), run("three-factor", 1, 0.02, 0.2), run("two-factor", 0)]
    write_json(tmp_path / "record.json", {"what": "x", "runs": runs})
    seen, unseen = measured("car-emergence", [tmp_path / "record.json"])
    assert unseen == {"three-factor composition": [Point(100, (0.0, 2.0)), Point(200, (10.0, 20.0))]}
    assert seen["two-factor composition"] == [Point(100, (50.0,)), Point(200, (50.0,))]
    write_json(tmp_path / "record.json", {"what": "x", "runs": [{"variant": "car.three-factor", "seed": 0}]})
    with pytest.raises(CharmError, match="not runs on cellular automata with their evaluations"):
        measured("car-emergence", [tmp_path / "record.json"])


def test_transfer_is_unseen_against_seen(tmp_path: Path) -> None:
    """The paper's fig:cose-generalization(b)."""
    runs = [
        write_car(tmp_path / "a", "three-factor", seed=0, curve={300: 0.0, 600: 0.1}),
        write_car(tmp_path / "b", "three-factor", seed=1, curve={300: 0.02, 600: 0.2}),
    ]
    assert measured("car-transfer", runs)[0] == {"three-factor composition": [Point(30.0, (10.0, 20.0))]}


def test_retention_is_the_base_against_the_stream(tmp_path: Path) -> None:
    """The paper's fig:cose-cl(b): what is left of ARC-AGI-1 over what was learned of ARC-AGI-2."""
    kept = write_stream_run(tmp_path / "a", "memory-only", 0, [1.0, 0.0], 0.5, 0.8)
    lost = write_stream_run(tmp_path / "b", "naive", 0, [0.5, 0.0], 0.25, 0.0)
    (series,) = measured("cl-retention", [kept, lost])
    found = {label: points[0] for label, points in series.items()}
    for folder, label in ((kept, "memory-only"), (lost, "naive")):
        result = json.loads((folder / "result.json").read_text())
        point = next(point for name, point in found.items() if label in name)
        assert point == Point(100 * result["final pass@2"], (100 * result["base after"],))
    axes = figures.cl_retention(series).axes[0]
    assert "stream" in axes.get_xlabel()
    assert "base's puzzles" in axes.get_ylabel()


def test_streams_from_folders_and_files(tmp_path: Path) -> None:
    one = write_stream_run(tmp_path / "a", "memory-only", 0, [1.0, 0.0], 0.5, 0.8)
    two = write_stream_run(tmp_path / "b", "memory-only", 1, [1.0, 0.0], 0.6, 0.8)

    def read(*sources: Path) -> list[list[Any]]:
        return [[result["summary"] for result in design.results] for design in read_streams(sources, None)]

    from_folders = read(one, two)
    assert [[run["seed"] for run in runs] for runs in from_folders] == [[0, 1]]
    write_json(tmp_path / "results.json", from_folders[0])
    assert read(tmp_path) == read(tmp_path / "results.json") == from_folders
    write_json(tmp_path / "record.json", {"what": "x", "runs": from_folders[0]})
    assert read(tmp_path / "record.json") == from_folders
    write_json(tmp_path / "other.json", [{"a": 1}])
    with pytest.raises(CharmError, match="not the results of `charm adapt`"):
        read(tmp_path / "other.json")


def test_language_results(tmp_path: Path) -> None:
    runs = [
        {"variant": variant, "capacity": 5, "seed": seed, "memory": memory, "bpb": bpb + seed}
        for variant, memory, bpb in (
            ("stock", 0, 1.0),
            ("engram", 50, 0.9),
            ("engram", 20, 0.95),
            ("cose", 60, 0.8),
        )
        for seed in (0, 1)
    ]
    write_json(tmp_path / "lm.json", {"steps": 4, "runs": runs})
    series, stock = measured("lm-scaling", [tmp_path / "lm.json"])
    assert stock == (1.0, 2.0)
    assert series == {
        "Engram": [Point(20, (0.95, 1.95)), Point(50, (0.9, 1.9))],
        "CoSE": [Point(60, (0.8, 1.8))],
    }
    assert mean(stock) == figures.lm_scaling(series, stock).axes[0].lines[-1].get_ydata()[0]
    write_json(tmp_path / "bad.json", {"runs": [{"variant": "other", "bpb": 1, "memory": 2}]})
    with pytest.raises(CharmError, match=r"bad\.json: not results of language models"):
        measured("lm-scaling", [tmp_path / "bad.json"])


def test_memories_have_names() -> None:
    assert memory_label(MemoryConfig(design="table", rank=512)) == "Table (r=512)"
    assert memory_label(MemoryConfig(rank=0)) == "composition"
    assert memory_label(MemoryConfig(rank=0, key="rule-horizon")) == "two-factor composition"
    assert memory_label(MemoryConfig(rank=16, key="rule+horizon")) == "three-factor CoSE (r=16)"


def test_figures_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = str(ROOT / "benchmarks" / "results" / "continual_gpu.json")
    for name in ("cl-tradeoff", "cl-retained", "cl-retention"):
        main(["report", "--figure", name, "--out", str(tmp_path / f"{name}.svg"), record])
        assert capsys.readouterr().out.strip() == str(tmp_path / f"{name}.svg")
    assert "CoSE (r=16) memory-only" in (tmp_path / "cl-retained.svg").read_text()
    with pytest.raises(CharmError, match=r"figure must be one of overall, pareto.* got pie"):
        draw_figure("pie", [Path(record)], tmp_path / "pie.pdf")
    with pytest.raises(CharmError, match="needs run folders or results"):
        draw_figure("pareto", [], tmp_path / "a.pdf")
    with pytest.raises(CharmError, match="is not a run on ARC's tasks"):
        draw_figure("pareto", [write_lm(tmp_path / "lm", 1.0)], tmp_path / "a.pdf")
    forged = tmp_path / "forged" / "result.json"
    for odd in ({"method": 5, "retained": 3}, {"method": "replay", "retained": {"a": []}, "memory": None}):
        write_json(forged, odd)
        with pytest.raises(CharmError, match=r"forged: figure cl-retained cannot be drawn from this"):
            draw_figure("cl-retained", [forged.parent], tmp_path / "a.pdf")
    assert len(FIGURES) == 11
    with pytest.raises(SystemExit):
        main(["report", "--figure", "pareto", "--films", "2", record])
    assert "are for pages" in capsys.readouterr().err
