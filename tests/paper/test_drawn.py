"""Figures from results of `charm reproduce`, against the scores that were stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from charm.cli import main
from charm.drawing import figures
from charm.drawing.figures import Point, Series
from charm.errors import CharmError
from charm.paper.plans import Reproduction
from charm.paper.runs import VARIANTS
from charm.paper.tables import TABLES
from charm.paper.work import Shelf, identity
from charm.report.measurements import draw_reproduced
from charm.runs.folder import write_result


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path, "full")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Series]:
    """What each kind of figure was asked to draw."""
    found: dict[str, Series] = {}
    for name in (
        "pareto",
        "isoflop",
        "horizon",
        "car_transfer",
        "cl_tradeoff",
        "cl_retention",
        "cl_retained",
        "lm_scaling",
    ):
        real = getattr(figures, name)

        def spy(series: Series, *more: Any, name: str = name, real: Any = real) -> Any:
            found[name] = series
            return real(series, *more)

        monkeypatch.setattr(figures, name, spy)
    return found


def store(shelf: Shelf, key: str, seed: int, scores: dict[str, float], **more: Any) -> None:
    variant = VARIANTS[key]
    settings = identity(variant.at(shelf.size, seed))
    counts = {"updated": 1, "memory": 1}
    result = {"scores": scores, "settings": settings, "curve": [], "parameters": counts}
    if variant.base:
        options = variant.at(shelf.size, seed)
        summary = {"method": options.method, "memory": "", "scope": options.scope, "halt_weight": 0.0, "retained": []}
        summary |= {name: None if name not in scores else scores[name] / 100 for name in ("final pass@2", "base after")}
        result["summary"] = {**summary, "updated_parameters": 1, **more.pop("summary", {})}
    run = shelf.run(variant, seed)
    write_result(run.result_path, {**result, **more}, run.folder)


def figure(shelf: Shelf, label: str) -> list[str]:
    plan = Reproduction.of([label], shelf.size, None, (), shelf.out, None)
    return [path.name for path in draw_reproduced(plan)]


def test_retention_on_arc1_against_arc2(shelf: Shelf, drawn: dict[str, Series]) -> None:
    """fig:cose-cl(b)."""
    for seed, (kept, learned) in enumerate([(80.0, 43.0), (80.0, 44.0)]):
        store(shelf, "stream1.cose-r32-memory-only-h0", seed, {"final pass@2": learned, "base after": kept})
    store(shelf, "stream1.naive-composition-h0.5", 0, {"final pass@2": 10.6, "base after": 0.0})
    store(shelf, "stream1.cose-r32-oracle-h0", 0, {"final pass@2": 46.0})  # keeps no model: no point
    assert figure(shelf, "fig:cose-cl") == ["cose-cl-a.pdf", "cose-cl-b.pdf"]
    assert drawn["cl_retention"] == {
        "Memory-only": [Point(43.5, (80.0, 80.0))],
        "Naive, composition": [Point(10.6, (0.0,))],
    }


def test_car_seen_against_unseen_and_text(shelf: Shelf, drawn: dict[str, Series]) -> None:
    """fig:cose-generalization."""
    store(shelf, "car.full-table", 0, {"seen pass@2": 54.0, "unseen pass@2": 0.0})
    store(shelf, "car.three-factor", 0, {"seen pass@2": 58.0, "unseen pass@2": 3.7})
    store(shelf, "text.d12-cose-x5", 0, {"bits per byte": 0.84}, parameters={"memory": 258, "total": 544})
    store(shelf, "text.d12", 0, {"bits per byte": 0.85}, parameters={"memory": 0, "total": 286})
    assert figure(shelf, "fig:cose-generalization") == [
        "cose-generalization-a.pdf",
        "cose-generalization-b.pdf",
    ]
    assert drawn["car_transfer"] == {
        "Full table": [Point(54.0, (0.0,))],
        "Three-factor composition": [Point(58.0, (3.7,))],
    }
    assert drawn["lm_scaling"] == {"CoSE": [Point(258, (0.84,))]}


def test_frontier_sweeps_and_streams(shelf: Shelf, drawn: dict[str, Series]) -> None:
    store(shelf, "arc1.cose", 0, {"pass@2": 80.7}, parameters={"memory": 30, "total": 43})
    store(shelf, "sweep.L48-U6", 0, {"pass@2": 46.0})
    store(shelf, "sweep.U2-H18", 0, {"pass@2": 56.8})
    summary = {"retained": [[0, 0.0], [15, 0.2], [30, 0.4]], "updated_parameters": 31_760}
    for key in ("cose-r32-memory-only-h0", "l2sp-full-h0"):
        scores = {"final pass@2": 43.0}
        store(shelf, f"stream1.{key}", 0, scores, summary=summary)
    assert figure(shelf, "fig:embedding-pareto") == ["embedding-pareto.pdf"]
    assert drawn["pareto"] == {"CoSE (rank-32 residual)": [Point(30, (80.7,))]}
    figure(shelf, "fig:recurrent-backbone-design")
    assert drawn["isoflop"] == {"L=48": [Point(6, (46.0,))]}
    assert drawn["horizon"] == {"U=2, R=12": [Point(18, (56.8,))]}
    figure(shelf, "fig:cl-stream-dynamics")
    assert drawn["cl_retained"] == {"Memory-only": [Point(0, (0.0,)), Point(15, (20.0,)), Point(30, (40.0,))]}
    figure(shelf, "fig:cl-baseline-param-efficiency")
    assert drawn["cl_tradeoff"]["Memory-only"] == [Point(31_760, (43.0,))]


def test_emergence_and_overall(shelf: Shelf) -> None:
    for seed in (0, 1):
        curve = [
            {"step": step, "evaluation/seen pass@2": 0.5, "evaluation/unseen pass@2": 0.1 * seed} for step in (1, 2)
        ]
        variant = VARIANTS["car.three-factor"]
        result = {"scores": {}, "settings": identity(variant.at("full", seed)), "curve": curve}
        run = shelf.run(variant, seed)
        write_result(run.result_path, result, run.folder)
    assert figure(shelf, "fig:car-late-emergence") == ["car-late-emergence.pdf"]
    store(shelf, "systems.charm-arc1", 0, {"pass@1": 78.0, "pass@2": 84.0})
    assert figure(shelf, "fig:overall-arc-performance") == ["overall-arc-performance.pdf"]


def test_nothing_to_draw_is_one_sentence(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    for label in (one.label for one in TABLES.values() if one.panels):
        with pytest.raises(CharmError, match="no finished run to draw"):
            figure(shelf, label)
    for label, told in {
        "fig:cose-detail": "fig:cose-detail has nothing to run: a diagram",
        "tab:param-arc1-exact": "no runs of this kind; `charm params --paper` makes or checks it",
        "fig:none": "the paper has no table or figure 'fig:none'",
    }.items():
        with pytest.raises(SystemExit):
            main(["reproduce", label, "--out", str(shelf.out)])
        assert told in capsys.readouterr().err
