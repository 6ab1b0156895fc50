"""The table of shares and right answers follows from its record, and holds on tasks it was not fitted to."""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from charm.evaluation.calibration import RIGHT, chance

RECORD = Path(__file__).parents[2] / "benchmarks" / "results" / "votes_speedrun.json"
VIEWS = 4


def answers() -> list[tuple[str, float, bool]]:
    """Task, share of the votes and whether it is right, of every attempt with votes."""
    found = json.loads(RECORD.read_text())["runs"][0]["answers"]
    assert len(found) == 416
    both = [
        (task, votes, right)
        for task, _, *cast in found
        for votes, right in zip(cast[:2], cast[2:], strict=True)
    ]
    return [(task, votes / VIEWS, bool(right)) for task, votes, right in both if votes]


def fitted(some: Iterable[tuple[str, float, bool]]) -> dict[float, float]:
    groups: dict[float, list[bool]] = defaultdict(list)
    for _, share, right in some:
        groups[share].append(right)
    return {share: sum(group) / len(group) for share, group in sorted(groups.items())}


def test_the_table_is_the_records() -> None:
    assert dict(RIGHT[1:]) == pytest.approx(fitted(answers()), abs=5e-4)
    assert [right for _, right in RIGHT] == sorted(right for _, right in RIGHT)
    for share, right in RIGHT:
        assert chance(share) == pytest.approx(right)
    assert chance(0.625) == pytest.approx((RIGHT[2][1] + RIGHT[3][1]) / 2)
    assert chance(1.5) == RIGHT[-1][1]


def test_it_is_calibrated_on_tasks_that_it_was_not_fitted_to() -> None:
    """Fitted to four fifths of the tasks: on the others, the expected calibration error is small."""
    every = answers()
    tasks = sorted({task for task, *_ in every})
    error = 0.0
    for fold in range(5):
        held = {task for number, task in enumerate(tasks) if number % 5 == fold}
        table = fitted(one for one in every if one[0] not in held)
        out = [one for one in every if one[0] in held]
        for share, right in fitted(out).items():
            error += sum(one[1] == share for one in out) * abs(table[share] - right)
    assert error / len(every) < 0.05
    assert max(abs(chance(share) - right) for share, right in fitted(every).items()) < 1e-3
