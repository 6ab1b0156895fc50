"""The measures of continual learning on matrices worked by hand."""

import numpy as np
import pytest

from charm.continual.measures import MEASURES, measures

NAN = float("nan")
STREAM = np.array([1, 2, 3])

# Three tasks: the first is half forgotten and comes back, the second transfers forward and is lost at the end.
R = np.array(
    [
        [0.0, 0.1, 0.2],  # before the stream
        [0.8, 0.3, 0.2],
        [0.4, 0.9, 0.5],
        [0.6, 0.5, 1.0],
    ]
)


def test_by_hand() -> None:
    found = measures(R, STREAM)
    assert found["ACC"] == pytest.approx((0.6 + 0.5 + 1.0) / 3)
    assert found["AIA"] == pytest.approx((0.8 + (0.4 + 0.9) / 2 + 0.7) / 3)
    assert found["BWT"] == pytest.approx(((0.6 - 0.8) + (0.5 - 0.9)) / 2)
    assert found["FWT"] == pytest.approx(((0.3 - 0.1) + (0.5 - 0.2)) / 2)
    assert found["forgetting"] == pytest.approx(((0.8 - 0.6) + (0.9 - 0.5)) / 2)
    assert found["WC-ACC"] == pytest.approx((0.4 + 0.5 + 1.0) / 3)


def test_forgetting_looks_for_the_best_moment_and_not_for_the_first() -> None:
    """Task 0 was at its best, 0.9, a stage after it was learned: backward transfer 0.1, forgetting 0.2."""
    r = np.array([[0.0, 0.0, 0.0], [0.6, 0.0, 0.0], [0.9, 0.5, 0.0], [0.7, 0.5, 0.5]])
    found = measures(r, STREAM)
    assert found["BWT"] == pytest.approx(((0.7 - 0.6) + 0.0) / 2)
    assert found["forgetting"] == pytest.approx((0.2 + 0.0) / 2)


def test_nothing_is_forgotten_where_nothing_changes() -> None:
    r = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
    assert measures(r, STREAM) == {
        "ACC": 1.0,
        "AIA": 1.0,
        "BWT": 0.0,
        "FWT": 0.0,
        "forgetting": 0.0,
        "WC-ACC": 1.0,
    }


def test_the_bases_own_tasks_were_learned_before_the_stream() -> None:
    """Two puzzles, asked before, in the middle and at the end; there is nothing to transfer forward to."""
    r = np.array([[1.0, 0.5], [0.0, 0.75], [0.5, 0.25]])
    found = measures(r, np.array([0, 0]))
    assert found["ACC"] == pytest.approx(0.375)
    assert found["AIA"] == pytest.approx((0.375 + 0.375) / 2)
    assert found["BWT"] == pytest.approx((-0.5 - 0.25) / 2)
    assert found["FWT"] is None
    assert found["forgetting"] == pytest.approx((0.5 + 0.5) / 2)
    assert found["WC-ACC"] == pytest.approx((0.0 + 0.25) / 2)


def test_what_was_not_asked_is_not_made_up() -> None:
    """Only the start, each task right after its stage, and the end."""
    r = np.array([[0.0, 0.1, 0.2], [0.8, NAN, NAN], [NAN, 0.9, NAN], [0.6, 0.5, 1.0]])
    found = measures(r, STREAM)
    assert found["ACC"] == pytest.approx(0.7)
    assert found["BWT"] == pytest.approx(-0.3)
    assert found["FWT"] is None  # no task was evaluated right before it was learned
    assert found["forgetting"] == pytest.approx(0.3)
    assert found["AIA"] == pytest.approx((0.8 + 0.7) / 2)  # the second stage was not asked about the first task
    assert found["WC-ACC"] == pytest.approx((0.6 + 0.5 + 1.0) / 3)
    r[1, 0] = NAN
    assert measures(r, STREAM)["BWT"] is measures(r, STREAM)["forgetting"] is None


def test_tasks_without_answers_do_not_count() -> None:
    blind = np.column_stack([R, np.full(4, NAN)])
    assert measures(blind, np.array([1, 2, 3, 3])) == measures(R, STREAM)
    assert measures(np.full((4, 3), NAN), STREAM) == dict.fromkeys(MEASURES)


def test_a_stream_of_one_task_has_nothing_to_forget() -> None:
    found = measures(np.array([[0.0], [0.5]]), np.array([1]))
    assert (found["ACC"], found["AIA"], found["WC-ACC"]) == (0.5, 0.5, 0.5)
    assert found["BWT"] is found["FWT"] is found["forgetting"] is None
