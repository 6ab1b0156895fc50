"""Spreads and verdicts against numbers from tables and by hand."""

from __future__ import annotations

import math

import pytest

from charm.paper.comparison import Difference, paired_difference, t_quantile, verdict
from charm.tables import spread_text


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (10, 2.228), (29, 2.045), (120, 1.980)],
)
def test_quantiles_are_those_of_printed_tables(freedom: int, expected: float) -> None:
    assert t_quantile(freedom) == pytest.approx(expected, abs=6e-4)


def test_other_confidences() -> None:
    assert t_quantile(4, 0.99) == pytest.approx(4.604, abs=6e-4)
    assert t_quantile(5, 0.90) == pytest.approx(2.015, abs=6e-4)


def test_a_paired_difference_by_hand() -> None:
    found = paired_difference({0: 10.0, 1: 13.0, 2: 13.0, 7: 99.0}, {0: 9.0, 1: 10.0, 2: 11.0})
    assert found is not None
    assert (found.seeds, found.mean) == (3, 2.0)  # differences 1, 3, 2
    assert found.half_width == pytest.approx(4.30265 * 1 / math.sqrt(3), rel=1e-4)
    assert paired_difference({0: 1.0}, {1: 1.0}) is None
    one = paired_difference({0: 3.0}, {0: 1.0})
    assert one == Difference(1, 2.0, math.inf)


def test_verdicts() -> None:
    assert verdict(+1.5, Difference(3, 2.0, 1.0)) == "same order"
    assert verdict(-1.5, Difference(3, 2.0, 1.0)) == "opposite"
    assert verdict(-1.5, Difference(3, -2.0, 1.0)) == "same order"
    assert verdict(+1.5, Difference(3, 2.0, 2.5)) == "undecided"
    assert verdict(+1.5, Difference(1, 2.0, math.inf)) == "undecided"
    assert verdict(+1.5, Difference(2, 6.25, 0.0)) == "undecided"  # one task of 16, twice
    assert verdict(+1.5, None) == "undecided"
    assert verdict(0.0, Difference(3, 2.0, 1.0)) == "undecided"
    # A line that the paper does not have.
    assert verdict(None, Difference(3, 2.0, 1.0)) == "higher"
    assert verdict(None, Difference(3, -2.0, 1.0)) == "lower"
    assert verdict(None, Difference(3, 2.0, 2.5)) == "undecided"


def test_spread() -> None:
    assert spread_text([1.0, 3.0]) == "2.00 ± 1.41"
    assert spread_text([1.0]) == "1.00"
    assert spread_text([]) == "-"
    assert spread_text([0.5, 0.5], ".5f") == "0.50000 ± 0.00000"
