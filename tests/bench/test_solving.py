"""What `charm bench solve votes` measures, on the CPU with a few tasks."""

import pytest
import torch

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
    assert votes["cells/s"] >= votes["votes/s"]
    assert [row[0] for row in table.rows] == ["solve"] * len(solve) + ["votes"] * len(votes)
    assert "TFLOP/s" in line


def test_bad_options_are_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CharmError, match="seconds must be positive, got 0"):
        SolveBench(seconds=0.0)
    with pytest.raises(SystemExit):
        main(["bench", "votes", "--views", "0"])
    assert "views must be >= 1" in capsys.readouterr().err
