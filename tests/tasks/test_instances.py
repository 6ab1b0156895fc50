from pathlib import Path

import numpy as np
import pytest

from charm.errors import CharmError
from charm.tasks.instances import Instances
from charm.tasks.keys import Keys
from charm.tasks.view import VIEWS
from tests.toy.pairs import key_at, row_of


def some_codes(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).choice(VIEWS, count, replace=False).astype(np.uint32)


def test_row_and_key_are_inverse() -> None:
    instances = Instances()
    for number in range(5):
        instances.add(f"p{number}", some_codes(20, number))
    assert len(instances) == 101  # the blank row too
    for row in range(1, len(instances)):
        assert row_of(instances, *key_at(instances, row)) == row
    puzzle, code = instances.table()
    assert puzzle[0] == -1
    assert code[0] == 0


def test_rows_never_move_when_puzzles_join() -> None:
    old, new = Instances(), Instances()
    old.add("a", some_codes(10, 0))
    old.add("b", some_codes(10, 1))
    new.add("c", some_codes(10, 2))
    new.add("b", np.append(some_codes(10, 1)[::-1], np.uint32(7)))
    before = [key_at(old, row) for row in range(1, len(old))]
    for puzzle in new.puzzles:
        old.add(puzzle, new.codes(puzzle))
    assert [key_at(old, row) for row in range(1, 21)] == before
    assert len(old) == 1 + 20 + 10 + 1
    assert old.puzzles == ["a", "b", "c"]
    assert old.rows("b").tolist() == [*range(11, 21), 31]


def test_known_views_keep_their_rows_in_the_order_asked() -> None:
    instances = Instances()
    codes = some_codes(6, 0)
    rows = instances.add("a", codes)
    assert instances.add("a", codes[::-1]).tolist() == rows[::-1].tolist()
    assert len(instances) == 7


def test_save_and_load(tmp_path: Path) -> None:
    instances = Instances()
    for number in range(40):
        instances.add(f"puzzle {number}", some_codes(1000, number))
    instances.add("puzzle 3", some_codes(5, 99))
    instances.save(tmp_path / "instances.npz")
    assert Instances.load(tmp_path / "instances.npz") == instances
    assert (tmp_path / "instances.npz").stat().st_size < 4 * len(instances)
    assert list(tmp_path.iterdir()) == [tmp_path / "instances.npz"]


def test_bad_requests_are_named(tmp_path: Path) -> None:
    instances = Instances()
    instances.add("a", np.array([0, 5], np.uint32))
    with pytest.raises(CharmError, match="puzzle b"):
        instances.rows("b")
    with pytest.raises(CharmError, match="twice"):
        instances.add("a", np.array([9, 9], np.uint32))
    with pytest.raises(CharmError, match="not a valid view code"):
        instances.add("a", np.array([VIEWS], np.uint32))
    instances.save(tmp_path / "whole.npz")
    cut = tmp_path / "cut.npz"
    cut.write_bytes((tmp_path / "whole.npz").read_bytes()[:-60])
    with pytest.raises(CharmError, match=r"cut\.npz"):
        Instances.load(cut)
    with pytest.raises(CharmError, match=r"none\.npz"):
        Instances.load(tmp_path / "none.npz")


def test_an_index_without_rows_can_be_saved_and_loaded(tmp_path: Path) -> None:
    Instances().save(tmp_path / "instances.npz")
    assert Instances.load(tmp_path / "instances.npz") == Instances()


def test_equal_indexes_have_the_same_puzzle_and_view_in_every_row() -> None:
    def index(*entries: tuple[str, list[int]]) -> Instances:
        instances = Instances()
        for puzzle, codes in entries:
            instances.add(puzzle, np.array(codes, np.uint32))
        return instances

    one = index(("a", [0, 5]), ("b", [0, 9]))
    assert one == index(("a", [0, 5]), ("b", [0, 9]))
    assert one == index(("a", [0]), ("a", [5]), ("b", [0, 9]))  # however the rows came to be there
    for other in (
        index(("a", [0, 6]), ("b", [0, 9])),  # another view
        index(("a", [5, 0]), ("b", [0, 9])),  # the same views in other rows
        index(("a", [0, 5, 7]), ("b", [0])),
        index(("a", [0]), ("b", [0, 9]), ("a", [5])),  # other rows for the same puzzles
        index(("a", [0, 5]), ("c", [0, 9])),  # another name
        index(("a", [0, 5]), ("b", [0, 9, 4])),
    ):
        assert one != other
    assert one != "an index"


def test_an_index_whose_lengths_do_not_add_up_is_refused(tmp_path: Path) -> None:
    """Else its last puzzles would silently have too few rows, and all rows after them would be bound wrongly."""
    instances = Instances()
    instances.add("a", np.array([0, 5], np.uint32))
    instances.add("b", np.array([0, 5, 9], np.uint32))
    instances.save(tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as whole:
        parts = dict(whole)
    assert parts["length"].tolist() == [2, 3]
    for lengths in ([2, 2], [2, 4], [1, 3], [2, 0]):
        np.savez(tmp_path / "damaged.npz", **{**parts, "length": np.array(lengths, np.int32)})
        with pytest.raises(CharmError, match=r"damaged\.npz"):
            Instances.load(tmp_path / "damaged.npz")


def test_decoded_keys_follow_the_rows() -> None:
    """They are decoded once, and again when there are new rows."""
    instances = Instances()
    instances.add("a", np.arange(3, dtype=np.uint32))
    first = Keys.of(instances)
    assert Keys.of(instances) is first
    instances.add("a", np.arange(2, dtype=np.uint32))  # known already
    assert Keys.of(instances) is first
    instances.add("b", np.arange(5, dtype=np.uint32))
    assert Keys.of(instances).puzzle.tolist() == [-1, 0, 0, 0, 1, 1, 1, 1, 1]
    assert Keys.of(instances.copy()).puzzle.tolist() == Keys.of(instances).puzzle.tolist()
