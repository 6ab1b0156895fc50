import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from charm.tasks.keyed import below, bits, key_of, permute, uniform


@given(st.integers(1, 3000), st.integers(0, 2**63))
def test_permute_is_a_permutation(size: int, key: int) -> None:
    assert sorted(permute(key, np.arange(size), size).tolist()) == list(range(size))


def test_any_position_can_be_computed_alone() -> None:
    whole = permute(5, np.arange(10_000), 10_000)
    some = np.array([9_999, 0, 17, 17])
    assert permute(5, some, 10_000).tolist() == whole[some].tolist()


def test_permute_spreads() -> None:
    """Neighbours land anywhere: displacement and parity look uniform, and keys give different orders."""
    size = 40_000_000
    image = permute(1, np.arange(20_000), size)
    assert abs(image.mean() / size - 0.5) < 0.01
    assert abs((image % 2).mean() - 0.5) < 0.02
    assert np.corrcoef(np.arange(20_000), image)[0, 1] < 0.03
    assert (permute(2, np.arange(20_000), size) == image).mean() < 0.001


def test_uniform_and_below_cover_their_range() -> None:
    counters = np.arange(100_000)
    drawn = uniform(3, counters)
    assert 0 <= drawn.min() < 1e-3
    assert 0.999 < drawn.max() < 1
    assert drawn.mean() == pytest.approx(0.5, abs=0.005)
    counts = np.bincount(below(4, counters, np.full(100_000, 7)), minlength=7)
    assert counts.min() > 0.95 * 100_000 / 7


def test_bits_are_fixed_for_ever() -> None:
    """Saved runs depend on these values: a change here would silently change every resumed run."""
    assert key_of("epoch", 0, 1) == 0xB397AE4BC89F54EC
    assert bits(1, np.arange(3)).tolist() == [0x83EC686C1600460A, 0x5C52BD4054E958C9, 0x57F7AF6C0A8E597B]
    assert permute(7, np.arange(5), 1000).tolist() == [285, 284, 646, 367, 737]
    assert key_of("a", "b") != key_of("ab")
    assert key_of(1) != key_of("1")
