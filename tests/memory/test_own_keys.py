"""The example in the documentation runs and shows what it says."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_keys.py"


def test_the_example_shows_cose_ahead(capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()[1:]
    seen = {line[:16].strip(): float(line.split()[-2]) for line in lines}
    assert list(seen) == ["low-rank table", "composition", "CoSE"]
    assert seen["CoSE"] < 0.2 * min(seen["composition"], seen["low-rank table"])
