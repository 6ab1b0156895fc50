"""The reproduction table: generated from records, which say what was measured."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import tyro

from charm.arc.presets import preset
from charm.arc.run import ArcEvaluation
from charm.bench.training import ArcBench
from charm.commands import adapt, params, rearc2, report
from charm.commands.presets import parse_options, parse_preset
from charm.domains import domain_of_preset
from charm.errors import CharmError
from charm.paper.costs import MEASURED, Speed
from charm.paper.records import ResultRecord, read_record, read_records
from charm.paper.reproduction import BEGIN, END, cost_text, measured_speed, render, tell, updated
from charm.paper.tables import ARC1, SECTIONS, Row, StreamCost, TrainingCost
from charm.report.measurements import FIGURES
from charm.training.config import TrainConfig

ROOT = Path(__file__).parents[2]
ROWS = [row for rows in SECTIONS.values() for row in rows]
COMMANDS: dict[tuple[str, ...], Any] = {
    ("report",): report.report,
    ("adapt",): adapt.adapt,
    ("params",): params.params,
    ("rearc2", "check"): rearc2.check,
}
GOOD: dict[str, Any] = {
    "what": "w",
    "command": "c",
    "size": "s",
    "machine": "m",
    "date": "2026-11-15",
    "seeds": [0, 1],
    "numbers": {"a": [1, 3], "b": 5},
}


@pytest.fixture(scope="module")
def records() -> dict[str, ResultRecord]:
    return read_records(ROOT / "benchmarks" / "results")


def test_the_page_is_what_the_records_generate(records: dict[str, ResultRecord]) -> None:
    page = (ROOT / "docs" / "reproduce.md").read_text()
    assert updated(page, records) == page, "run python -m charm.paper.reproduction"
    other = replace(records["car_small"], numbers={**records["car_small"].numbers, "CoSE seen": (12.5, 12.5)})
    assert "CoSE 12.5 ± 0.0" in updated(page, {**records, "car_small": other})
    with pytest.raises(CharmError, match="lacks one of the marks"):
        updated("nothing", records)
    assert updated(f"a{BEGIN}old{END}b", records) == f"a{BEGIN}\n{render(records)}{END}b"


def test_every_table_and_figure_has_a_row() -> None:
    labels = [row.label for row in ROWS]
    assert len(set(labels)) == len(labels)
    assert sum(label.startswith("tab:") for label in labels) == 46
    assert sum(label.startswith("fig:") for label in labels) == 12


def test_rows_without_a_run_say_so(records: dict[str, ResultRecord]) -> None:
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in render(records).splitlines()}
    for row in ROWS:
        cells = lines[row.label].removesuffix(" |").split(" | ")
        assert len(cells) == 6
        assert bool(row.ours) == ("benchmarks/results" in lines[row.label])
        assert row.ours or row.instead in lines[row.label]
    assert "| no run |" in lines["tab:component-grid"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_commands_are_ones_that_exist(row: Row) -> None:
    """Presets and flags are parsed by the command line's own types; nothing runs."""
    words = shlex.split(row.command)
    if words[0] == "see":
        return
    if words[0] == "torchrun":
        words = ["charm", *words[words.index("charm") + 1 :]]
    assert words[0] == "charm"
    if words[1] == "train":
        base = domain_of_preset(words[2]).configuration(words[2])
        default, found = (parse_preset("charm train", words[2], base, w) for w in ((), words[3:]))
        assert (len(words) == 3) == (found == default)
    elif words[1] == "eval":
        parse_options("charm eval", ArcEvaluation, words[3:])
    elif words[1] == "bench":
        domain_of_preset(words[2]).configuration(words[2])
        parse_options("charm bench", ArcBench, words[3:])
    else:
        (name, command) = next(
            (name, command) for name, command in COMMANDS.items() if words[1:][: len(name)] == list(name)
        )
        idle = wraps(command)(lambda *args, **kwargs: None)
        tyro.cli(idle, args=words[1 + len(name) :], config=(tyro.conf.FlagCreatePairsOff,))
    if "--figure" in words:
        assert words[words.index("--figure") + 1] in FIGURES


# What the commands of these tables must train, by the equal numbers in the paper's tables: (gate, optimizer of dense
# matrices, of factor tables, evaluation repeats, views of Re-ARC, number of the run).
TRAINED = {
    "tab:arc1-rearc-data-ablations": (False, "adamw", "adamw", 1, 10, "CoSE 76.38"),
    "tab:data-ratio": (False, "adamw", "adamw", 5, 100, "5 74.75"),
    "tab:optimizer-ablations": (False, "adamw", "adamw", 2, 100, "AdamW 79.50"),
    "tab:component-grid": (False, "muon", "muon", 2, 100, "CoSE 80.71"),
    "tab:overall-arc-performance": (True, "muon", "muon", 2, 100, "84.0"),
}


@pytest.mark.parametrize("label", TRAINED)
def test_commands_train_what_the_papers_numbers_belong_to(label: str) -> None:
    (row,) = [row for row in ROWS if row.label == label]
    words = shlex.split(row.command)
    base = domain_of_preset(words[2]).configuration(words[2])
    found = parse_preset("charm train", words[2], base, words[3:]).config
    assert isinstance(found, TrainConfig)
    *expected, number = TRAINED[label]
    data, optimizer = found.data, found.optimizer
    settings = [found.memory.gate, optimizer.dense, optimizer.factors]
    assert [*settings, data.evaluate_repeats, data.synthetic_view_count] == expected
    assert number in row.paper


def test_costs_by_hand(records: dict[str, ResultRecord]) -> None:
    assert measured_speed(records) == MEASURED
    speed = Speed(500.0, 1000.0, "m", "d")
    learning, asking = speed.hours(preset("arc1"), 600_000, ARC1)
    assert learning == pytest.approx(600_000 * 768 / 500 / 3600)
    assert asking == pytest.approx(60 * 502 * 768 * 24 / 1000 / 3600)
    assert cost_text(speed, TrainingCost(("arc1",), ARC1), records) == "600,000 x 1.54 s + 60 x 2.57 h = 410"
    # Half the layers, half of them with gradients, as in arc1: half of the time but for the heads.
    half, _ = speed.hours(preset("isoflop-L24-U4"), 600_000, ARC1)
    assert half == pytest.approx(learning / 2, rel=0.01)
    assert cost_text(speed, StreamCost(10), records) == "10 x 1,000 updates: 1, checks apart"
    assert "for each of 16 variants" in render(records)


def test_numbers_are_those_of_the_runs(records: dict[str, ResultRecord]) -> None:
    """What a record tells of its raw runs, computed from them another way."""
    streams = records["continual_gpu"]

    def of(memory: str, method: str, scope: str, name: str) -> list[float]:
        chosen = [
            run
            for run in streams.runs
            if run["memory"].startswith(memory) and (run["method"], run["scope"]) == (method, scope)
        ]
        return [100 * run[name] for run in sorted(chosen, key=lambda run: run["seed"])]

    for memory, name in (("CoSE", "CoSE"), ("Table", "table")):
        assert streams.numbers[f"{name} memory-only"] == pytest.approx(
            of(memory, "memory-only", "rows", "final pass@2")
        )
        assert streams.numbers[f"{name} oracle"] == pytest.approx(
            of(memory, "oracle", "full", "final pass@2")
        )
    for method in ("l2sp", "ewc", "naive", "rehearsal"):
        for number, name in (("", "final pass@2"), (" base after", "base after")):
            expected = of("CoSE", method, "composition", name)
            assert streams.numbers[f"{method} composition{number}"] == pytest.approx(expected, abs=1e-4)
    speed = records["speed_arc1"]
    fastest = max(speed.runs, key=lambda run: run["batch"])
    assert speed.number("training samples/s") == pytest.approx(fastest["training"], abs=0.05)
    assert speed.number("seconds a step") == pytest.approx(768 / fastest["training"], abs=0.001)


def test_numbers_are_told_with_their_spread(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(GOOD))
    record = read_record(tmp_path / "r.json")
    assert record.text("a", ".2f") == "2.00 ± 1.41"
    assert record.text("b", ".0f") == "5"
    assert record.number("a") == 2
    (ours,) = [one for row in ROWS for one in row.ours if one.record == "parameters"][:1]
    with pytest.raises(CharmError, match="has no number 'agree'"):
        tell(ours, {"parameters": record})
    with pytest.raises(CharmError, match="there is no record parameters"):
        tell(ours, {})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"what": ""}, "are text"),
        ({"date": "yesterday"}, "yesterday is not a date"),
        ({"seeds": ["a"]}, "seeds are whole numbers"),
        ({"numbers": {"a": "many"}}, "a is not a number"),
        ({"numbers": {"a": [1, 2, 3]}}, "a has 3 values for 2 seeds"),
        ({"extra": 1}, r"a record has the fields what, command.* see extra"),
    ],
)
def test_records_that_are_none(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(CharmError, match=told) as refused:
        read_record(path)
    assert re.match(r".*r\.json: ", str(refused.value))
