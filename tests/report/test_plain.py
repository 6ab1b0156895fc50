"""Pages of runs on cellular automata and on text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from charm.accounting import account_car
from charm.arc.presets import quickstart
from charm.automata.presets import car_preset
from charm.config import to_json
from charm.domains import PageOptions, domain_of
from charm.errors import CharmError
from charm.report.pages import write_pages
from tests.toy.pages import read, write_car, write_lm


def test_a_run_on_automata_has_its_own_page(tmp_path: Path) -> None:
    run = write_car(tmp_path / "<i>car")
    path = write_pages([run])
    assert path == run / "report.html"
    page = read(path)
    text = " ".join(page.text)
    assert "<i>car 600 4.00% 16.00% 75.00% 4.00% 8.00% 75.00%" in text  # seen, then unseen: @1, @2, cells
    assert "T=1 500 6.00% 24.00% 75.00% 500 6.00% 12.00% 75.00%" in text
    assert "Unseen combinations, pass@2" in text
    config = car_preset("car-small-three-factor")
    assert f"{account_car(config.model, config.data.sizes).memory:,}" in text
    assert page.scripts == []
    assert "script-src 'none'" in path.read_text()


def test_runs_on_automata_side_by_side(tmp_path: Path) -> None:
    runs = [write_car(tmp_path / "a"), write_car(tmp_path / "b", "full-table", curve={300: 0.0})]
    path = write_pages(runs, tmp_path / "both.html")
    text = " ".join(read(path).text)
    assert "a 600 4.00% 16.00%" in text
    assert "b 300 0.00% 0.00%" in text
    assert "pass@2 all T=1 T=2 a 16.00% 24.00% 8.00% b 0.00% 0.00% 0.00%" in text
    assert path.read_text().count('<g class="s1">') == 4  # loss, accuracy, seen, unseen


def test_an_unfinished_run_on_automata(tmp_path: Path) -> None:
    run = write_car(tmp_path / "car")
    for path in (run / "eval").iterdir():
        path.unlink()
    assert "car not evaluated yet" in " ".join(read(write_pages([run])).text)
    (run / "eval" / "step_000000001.json").write_text('{"step": 1, "seen": {"all": {"pass@2": "many"}}}')
    with pytest.raises(CharmError, match=r"step_000000001\.json: not an evaluation on cellular automata"):
        write_pages([run])


def test_a_run_on_text_has_its_own_page(tmp_path: Path) -> None:
    text = " ".join(read(write_pages([write_lm(tmp_path / "lm", 1.23456)])).text)
    assert "lm cose" in text
    assert "20 1.23456" in text
    assert "Bits per byte" in text
    runs = [tmp_path / "lm", write_lm(tmp_path / "other", 1.5)]
    text = " ".join(read(write_pages(runs, tmp_path / "both.html")).text)
    assert "20 1.23456" in text
    assert "20 1.50000" in text


def test_kinds_do_not_mix(tmp_path: Path) -> None:
    car, lm, arc = write_car(tmp_path / "car"), write_lm(tmp_path / "lm", 1.0), tmp_path / "arc"
    arc.mkdir()
    (arc / "config.json").write_text(json.dumps(to_json(quickstart())))
    assert [domain_of(run).name for run in (car, lm, arc)] == ["car", "lm", "arc"]
    with pytest.raises(CharmError, match=r"one page cannot show runs of different domains: .*lm learned from text"):
        write_pages([car, lm])
    with pytest.raises(CharmError, match=r"a protocol ranks answers to ARC's tasks; .*car"):
        write_pages([car], options=PageOptions("standard"))
    with pytest.raises(CharmError, match="films are made for one run on ARC's tasks"):
        write_pages([lm], options=PageOptions(films=1))
