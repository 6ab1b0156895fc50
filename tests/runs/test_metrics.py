from pathlib import Path

import numpy as np
import pytest

from charm.errors import CharmError
from charm.runs.metrics import mean_around, read_metrics, write_line


def test_the_mean_around_a_step_is_that_of_its_hundred_updates(tmp_path: Path) -> None:
    """Updates 1..400 with a loss each, and scores among the lines."""
    losses = np.random.default_rng(0).random(400)
    for step, loss in enumerate(losses, start=1):
        write_line(tmp_path, step, {"loss": float(loss)})
        if step % 100 == 0:
            write_line(tmp_path, step, {"evaluation/pass@2": 0.5})
    lines = read_metrics(tmp_path)
    mean, updates = mean_around(lines, "loss", 200)
    assert updates == 100
    assert mean == pytest.approx(np.mean([losses[update - 1] for update in range(150, 250)]))
    mean, updates = mean_around(lines, "loss", 400)  # the run ends there
    assert (updates, mean) == (51, pytest.approx(losses[-51:].mean()))
    with pytest.raises(CharmError, match="no loss between steps 850 and 949"):
        mean_around(lines, "loss", 900)


def test_longer_lines_count_by_their_updates_in_the_window() -> None:
    lines = [{"step": 100, "loss": 1.0}, {"step": 200, "loss": 3.0}, {"step": 249, "loss": 5.0}]
    mean, updates = mean_around(lines, "loss", 200)
    assert (updates, mean) == (100, pytest.approx((51 * 3.0 + 49 * 5.0) / 100))
    assert mean_around(lines[:1], "loss", 60) == (1.0, 91)
