"""Trained results hold on other processors and numbers of threads: a few tests again, under other settings of torch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forks

ROOT = Path(__file__).parents[1]
TRAINED = (
    "tests/training/test_loop.py::test_twenty_steps_match_the_stored_curve",
    "tests/training/test_loop.py::test_accumulation_equals_one_batch",
    "tests/language/test_run.py::test_training_lowers_bits_per_byte_and_seeds_share_the_data_order",
    "tests/training/test_adaptation.py::test_an_anchor_holds_shared_weights_back",
)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ATEN_CPU_CAPABILITY", "default"), ("OMP_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "4")],
)
def test_trained_results_hold_elsewhere(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *TRAINED]
    if name == "OMP_NUM_THREADS":
        monkeypatch.chdir(ROOT)
        program = forks.Program(*words, env={name: value})
        assert program.wait() == 0, program.stdout[-4000:]
        return
    # Read as torch is loaded, so a fork would come too late.
    found = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env={**os.environ, name: value}, capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stdout[-4000:]
