"""What `charm bench solve votes` measures, on the CPU with a few tasks."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks.writer_solve import merge_into
from charm.bench.solving import SolveBench, bench_solving
from charm.cli import main
from charm.devices import Place
from charm.errors import CharmError


def test_both_parts_are_measured() -> None:
    options = SolveBench(tasks=1, views=2, seconds=0.01)
    found, table, line = bench_solving(["solve", "votes"], options, Place(torch.device("cpu")))
    solve, votes = found["solve"], found["votes"]
    assert solve["updates/s"] > 0
    assert solve["tokens/s"] > 100 * solve["updates/s"]
    assert "of ceiling" not in solve  # a CPU's product may be slower than the library that updates use
    assert votes["votes/s"] * votes["seconds"] == pytest.approx(2)  # one test input under two views
    assert votes["writing, s"] + votes["judging, s"] == pytest.approx(votes["seconds"])
    assert votes["tokens/s"] * votes["writing, s"] >= 2 * 2  # a cell and an END at least
    assert votes["TFLOP/s"] > 0
    assert "ratio" not in votes  # a CPU has one way alone
    assert 0 < solve["first update, s"] < 60
    assert [row[0] for row in table.rows] == ["solve"] * len(solve) + ["votes"] * len(votes)
    assert "TFLOP/s" in line


def test_a_record_keeps_the_numbers_of_other_parts(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    merge_into(path, {"date": "1", "numbers": {"votes: ratio": 2}, "runs": {"votes": {"ratio": 2}}})
    merge_into(path, {"date": "2", "numbers": {"solve learning: ratio": 1}, "runs": {"solve learning": {}}})
    merge_into(path, {"date": "3", "numbers": {"votes: ratio": 3}, "runs": {"votes": {"ratio": 3}}})
    found = json.loads(path.read_text())
    assert found["numbers"] == {"votes: ratio": 3, "solve learning: ratio": 1}
    assert found["runs"] == {"votes": {"ratio": 3}, "solve learning": {}}
    assert found["date"] == "3"


def test_bad_options_are_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CharmError, match="seconds must be positive, got 0"):
        SolveBench(seconds=0.0)
    with pytest.raises(SystemExit):
        main(["bench", "votes", "--views", "-1"])
    assert "views must be >= 1, got -1" in capsys.readouterr().err
