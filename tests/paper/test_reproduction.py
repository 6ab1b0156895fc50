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

from benchmarks.records import ResultRecord, read_record, read_records
from benchmarks.reproduction import (
    BEGIN,
    END,
    by_counts,
    command_of,
    cost_of,
    coverage,
    paper_of,
    render,
    reproduced,
    result_text,
    sections,
    update,
    verdict_of,
)
from charm.arc.presets import preset
from charm.arc.run import ArcEvaluation
from charm.bench.training import ArcBench
from charm.commands import adapt, params, report
from charm.commands.parsing import parse_options
from charm.commands.train import parse_preset
from charm.domains import domain_of_preset
from charm.errors import CharmError
from charm.paper.runs import ARC1_ANSWERS, MEASURED, TOKENS, VARIANTS, Speed, hours
from charm.paper.tables import TABLES, Ours, PaperTable
from charm.report.measurements import FIGURES
from rearc2.workbench import commands as rearc2_commands

ROOT = Path(__file__).parents[2]
ALL = [row for rows in sections().values() for row in rows]
COMMANDS: dict[tuple[str, ...], Any] = {
    ("report",): report.report,
    ("adapt",): adapt.adapt,
    ("params",): params.params,
    ("rearc2", "check"): rearc2_commands.check,
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
    assert update(page, records) == page, "run python -m benchmarks.reproduction"
    other = replace(records["car_small"], numbers={**records["car_small"].numbers, "CoSE seen": (12.5, 12.5)})
    assert "CoSE 12.5 ± 0.0" in update(page, {**records, "car_small": other})
    with pytest.raises(CharmError, match="must contain the marks"):
        update("nothing", records)
    assert update(f"a{BEGIN}old{END}b", records) == f"a{BEGIN}\n{render(records)}{END}b"


def test_every_table_and_figure_has_a_row() -> None:
    labels = [row.label for row in ALL]
    assert len(set(labels)) == len(labels)
    assert sum(label.startswith("tab:") for label in labels) == 46
    assert sum(label.startswith("fig:") for label in labels) == 12


def test_rows_without_a_run_say_so(records: dict[str, ResultRecord]) -> None:
    page = render(records)
    details = {
        label: dict(re.findall(r"^- ([^:]+): (.+)$", text, re.MULTILINE))
        for label, text in re.findall(r"^\*\*(\S+)\*\*\n\n((?:- .+\n)+)", page, re.MULTILINE)
    }
    assert [*details] == [row.label for row in ALL]
    for row in ALL:
        found = details[row.label]
        assert {"Command", "GPU-hours at full size", "The paper", "Ours"} <= found.keys()
        made = bool(row.ours or reproduced(row, records))
        assert made == ("benchmarks/results" in found["Ours"]) == ("Seeds" in found)
        assert made or (row.check or row.instead) in found["Ours"]
    assert details["tab:arc2-rearc-data-ablations"]["Ours"] == "no run"


def test_verdicts_by_hand() -> None:
    """Differences 2 and 4: mean 3, deviation sqrt(2), t of one degree of freedom 12.706, so 3 ± 12.7."""
    numbers = {"a": (5.0, 8.0), "b": (3.0, 4.0), "c": (1.0, 1.1), "d": (0.5, 0.61)}
    record = ResultRecord("w", "c", "s", "m", "2026-11-15", (0, 1), numbers)
    row = PaperTable("fig:x", ours=(Ours("r", "", ("a > b", "d < c", "c < d")),))
    assert verdict_of(row, {"r": record}) == (
        "**undecided**: a - b +3.0 ± 12.7; **same order**: d - c -0.4950 ± 0.0635; **opposite**: c - d +0.4950 ± 0.0635"
    )
    assert verdict_of(PaperTable("fig:y"), {}) == ""
    keys = [f"sweep.L12-U{unique} pass@2" for unique in (2, 6)]
    made = replace(record, numbers=dict(zip(keys, [(30.0, 31.0), (20.0, 21.1)], strict=True)))
    figure = TABLES["fig:recurrent-backbone-design"]
    assert "L12-U2 - L12-U6 pass@2 +9.9 ± 0.6" in verdict_of(figure, {"scaling_small": made})
    assert "size small" in reproduced(figure, {"scaling_small": made})["scaling_small"]
    keys = [f"plain.{name} pass@2" for name in ("cose", "table")]
    name = "full-cose-ablation-no-rearc_small"
    made = replace(record, numbers=dict(zip(keys, [(30.0, 31.0), (20.0, 21.1)], strict=True)))
    assert verdict_of(TABLES["tab:full-cose-ablation-no-rearc"], {name: made}) == (
        "**same order**: cose - table pass@2 +9.9 ± 0.6"
    )


def test_counts_decide_where_every_seed_does() -> None:
    """5 % and 20 % of 1,000 answers are far apart in each seed, though the seeds differ too much for a t-test."""
    many, few = {0: 5.0, 1: 20.0}, {0: 0.0, 1: 0.5}
    assert by_counts(many, few, 1000) == "50 to 200 of 1,000 against 0 to 5 in every seed"
    assert by_counts(few, many, 1000, more=False) == "0 to 5 of 1,000 against 50 to 200 in every seed"
    assert by_counts(few, many, 1000) == ""
    assert by_counts(many, few, 0) == ""
    assert by_counts({0: 5.0, 1: 0.5}, few, 1000) == ""  # the second seed decides nothing


def test_labels_have_our_ranks_and_loops(records: dict[str, ResultRecord]) -> None:
    text = reproduced(TABLES["tab:full-cose-ablation"], records)["full-cose-ablation_small"]
    assert "CoSE (gated r=16)" in text
    assert "32" not in text
    assert "loops 4/6" in reproduced(TABLES["tab:ttc"], records)["ttc_small"]
    stream = reproduced(TABLES["tab:cose-cl-halt-train-frozen"], records)
    assert "CoSE (r=8)" in stream["cose-cl-halt-train-frozen_cpu"]


def test_the_page_says_what_it_covers(records: dict[str, ResultRecord]) -> None:
    text = coverage(ALL, records)
    assert text.startswith(
        "Of 58 rows, 28 are tables with runs in their own setting and 5 tables with runs in another one"
    )
    unseen = verdict_of(TABLES["tab:car-single-horizon"], records)
    assert "139 to 567 of 2,000 against 0 to 9 in every seed" in unseen


@pytest.mark.parametrize("row", [row for row in ALL if row.command], ids=lambda row: row.label)
def test_commands_are_ones_that_exist(row: PaperTable) -> None:
    """Presets and flags are parsed by the command line's own types; nothing runs."""
    words = shlex.split(row.command)
    if words[0] == "see":
        return
    if words[0] == "torchrun":
        words = ["charm", *words[words.index("charm") + 1 :]]
    assert words[0] == "charm"
    if words[1] == "train":
        base = domain_of_preset(words[2]).configuration(words[2])
        default, found = (parse_preset(words[2], base, w) for w in ((), words[3:]))
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


def test_costs_by_hand(records: dict[str, ResultRecord]) -> None:
    arc1 = records["speed_arc1"]
    rates = [arc1.number(f"{kind} samples/s") for kind in ("training", "forward")]
    assert Speed(*rates, arc1.machine, arc1.date) == MEASURED
    for kind, rate in {"none": "lm-d12", "engram": "lm-d12-engram-x5", "cose": "lm-d12-cose-x5"}.items():
        assert TOKENS[kind] == records["language_speed"].number(f"{rate} tokens/s")
    speed = Speed(500.0, 1000.0, "m", "d")
    learning, asking = speed.hours(preset("arc1"), 600_000, ARC1_ANSWERS)
    assert learning == pytest.approx(600_000 * 768 / 500 / 3600)
    assert asking == pytest.approx(60 * 502 * 768 * 24 / 1000 / 3600)
    # Half the layers, half of them with gradients, as in arc1: half of the time but for the heads.
    half, _ = speed.hours(VARIANTS["sweep.L24-U4"].full(), 600_000, ARC1_ANSWERS)
    assert half == pytest.approx(learning / 2, rel=0.01)
    assert hours(VARIANTS["stream2.cose-r32-oracle-h0"], "full") == pytest.approx(114 * 1000 * 128 / 505.5 / 3600)
    assert hours(VARIANTS["text.d12-cose-x5"], "full") == pytest.approx(2270 * 2**19 / 490_660 / 3600)
    assert hours(VARIANTS["train.cose"], "small") == pytest.approx(0.4 / 60)
    # Four tables, three of CoSE and so on: 14 runs at 394 hours.
    assert cost_of(TABLES["tab:full-cose-ablation"]) == "14 runs of 394.4: 5,522"


def test_the_page_shows_the_numbers_that_claims_compare() -> None:
    message = paper_of(TABLES["tab:cose-arc1training-ablations"])
    assert message.startswith("Full task table 49.75 ± 2.50; FiLM-concat + gated residual (r=32) 51.83 ± 0.76; ")
    assert paper_of(TABLES["tab:nanochat-d20"]).startswith("bits per byte: Engram x5 0.73002 ± 0.00031; ")
    assert command_of(TABLES["tab:car-gpt"]) == "`charm reproduce tab:car-gpt --size full`"
    assert command_of(TABLES["tab:param-arc1-exact"]) == "`charm params --paper`"


def test_every_row_is_runs_or_a_command() -> None:
    for row in ALL:
        assert bool(row.command) == (not row.sources), row.label
        assert {panel[2] for panel in row.panels} <= set(FIGURES)
    assert {table.label for table in TABLES.values() if table.sources} <= {row.label for row in ALL}


def test_numbers_are_those_of_the_runs(records: dict[str, ResultRecord]) -> None:
    """A record's summary of its raw runs, computed from them another way."""
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
        assert streams.numbers[f"{name} oracle"] == pytest.approx(of(memory, "oracle", "full", "final pass@2"))
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
    (ours,) = [one for row in ALL for one in row.ours if one.record == "parameters"][:1]
    with pytest.raises(CharmError, match="has no number 'agree'"):
        result_text(ours, {"parameters": record})
    with pytest.raises(CharmError, match="no record parameters"):
        result_text(ours, {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"what": ""}, "must be text"),
        ({"date": "yesterday"}, "date must look like 2026-11-15, got yesterday"),
        ({"seeds": ["a"]}, r"seeds\[0\]: expected int, got 'a'"),
        ({"numbers": {"a": "many"}}, r"numbers.a\[0\]: expected float, got 'many'"),
        ({"numbers": {"a": [1, 2, 3]}}, "a has 3 values for 2 seeds"),
        ({"extra": 1}, "ResultRecord has no field 'extra'"),
    ],
)
def test_records_that_are_none(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(CharmError, match=message) as refused:
        read_record(path)
    assert re.match(r".*r\.json[:.]", str(refused.value))
