"""The list of mutations stays current, and a run separates what was caught from what was not."""

from pathlib import Path

import pytest

from benchmarks.mutations import MUTATIONS, Mutation, files_of, judge, places


def test_every_mutation_has_one_place_and_its_tests() -> None:
    """Its text occurs exactly once, what replaces it is another program, and the named test files exist."""
    assert len({mutation.mistake for mutation in MUTATIONS}) == len(MUTATIONS)
    for mutation in MUTATIONS:
        found = places(mutation)
        assert len(found) == 1, f"{mutation.mistake}: its text occurs {len(found)} times; update the entry"
        before = found[0].read_text("utf-8")
        after = before.replace(mutation.old, mutation.new)
        assert after != before, mutation.mistake
        compile(after, str(found[0]), "exec")
        assert files_of(mutation)


def test_a_mutation_is_judged_by_its_tests(tmp_path: Path) -> None:
    (tmp_path / "charm").mkdir()
    (tmp_path / "charm" / "__init__.py").touch()  # or an installed charm would be found first
    (tmp_path / "tests").mkdir()
    source = tmp_path / "charm" / "sums.py"
    source.write_text("def add(a, b):\n    return a + b\n\n\ndef spare():\n    return 1\n")
    test = "from charm.sums import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
    (tmp_path / "tests" / "test_sums.py").write_text(test)
    before = source.read_text()
    expected = {
        Mutation("wrong", "a + b", "a - b", ("test_sums.py",)): "caught",
        Mutation("not tested", "return 1", "return 2", ("test_sums.py",)): "survived",
        Mutation("gone", "a * b", "a - b", ("test_sums.py",)): "text found 0 times",
        Mutation("twice", "return", "yield", ("test_sums.py",)): "text found 2 times",
        Mutation("no program", "a + b", "a +", ("test_sums.py",)): "pytest ended with status 2",
    }
    assert {mutation: judge(mutation, tmp_path) for mutation in expected} == expected
    assert source.read_text() == before
    with pytest.raises(SystemExit, match=r"0 files under tests/ are named test_none\.py"):
        files_of(Mutation("untested", "a + b", "a - b", ("test_none.py",)), tmp_path)
