import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from charm.errors import CharmError
from charm.tasks.view import DIHEDRALS, PERMUTATIONS, VIEWS, View, decode, encode, turn
from tests.toy.pairs import GRIDS

views = st.builds(
    lambda dihedral, tail: View(dihedral, (0, *tail)),
    st.integers(0, DIHEDRALS - 1),
    st.permutations(range(1, 10)),
)


@given(views, GRIDS)
def test_invert_undoes_apply(view: View, grid: np.ndarray) -> None:
    assert np.array_equal(view.invert(view.apply(grid)), grid)
    assert np.array_equal(view.apply(view.invert(grid)), grid)


@given(views)
def test_code_is_a_name(view: View) -> None:
    assert View.from_code(view.code) == view
    assert 0 <= view.code < VIEWS


def test_codes_count_permutations_in_lexicographic_order() -> None:
    first = [(0, *p) for p in itertools.islice(itertools.permutations(range(1, 10)), 1000)]
    assert encode(np.zeros(1000, int), np.array(first)).tolist() == list(range(1000))
    codes = np.arange(0, VIEWS, 9973)
    assert np.array_equal(encode(*decode(codes)), codes)
    assert View.from_code(PERMUTATIONS - 1).colors == (0, 9, 8, 7, 6, 5, 4, 3, 2, 1)


def test_symmetries_as_the_reference_numbers_them() -> None:
    grid = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    expected = [
        [[1, 2, 3], [4, 5, 6]],
        [[3, 6], [2, 5], [1, 4]],
        [[6, 5, 4], [3, 2, 1]],
        [[4, 1], [5, 2], [6, 3]],
        [[3, 2, 1], [6, 5, 4]],
        [[4, 5, 6], [1, 2, 3]],
        [[1, 4], [2, 5], [3, 6]],
        [[6, 3], [5, 2], [4, 1]],
    ]
    assert [turn(grid, d).tolist() for d in range(8)] == expected


@pytest.mark.parametrize(
    ("dihedral", "colors"),
    [(8, range(10)), (-1, range(10)), (0, [1, 0, *range(2, 10)]), (0, [0] * 10), (0, range(9))],
)
def test_what_is_not_a_view_is_refused(dihedral: int, colors: object) -> None:
    with pytest.raises(CharmError):
        View(dihedral, tuple(colors))  # type: ignore[arg-type]
