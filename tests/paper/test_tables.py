import pytest

from charm.errors import CharmError
from charm.paper.tables import PaperClaim, read_tables

TEXT = '''
["tab:made-up"]
section = "Invented"
measures = "pass@1 | pass@2"
lines = """
train.cose      | CoSE  | 1.5 ± 0.1 | 2.5 | n=3
train.table@T=1 | Table |           | 3.0
-               | GPT   | 4.0       | 5.0
"""
claims = """
pass@2: train.cose - train.table@T=1
pass@2: (train.cose - train.table) - (train.add - train.film) = -0.5 ± 0.1
"""
counts = """
CoSE: rows  | ARC-AGI-1 | arc1.cose | rows  | 0.876M
CoSE: total | ARC-AGI-1 | arc1.cose | total | 1M | differs | ours is larger
"""
'''


def test_a_table_is_read_as_it_is_written() -> None:
    (table,) = read_tables(TEXT).values()
    cose, simple, foreign = table.lines
    assert (cose.key, cose.paper, cose.seeds) == ("train.cose", {"pass@1": "1.5 ± 0.1", "pass@2": "2.5"}, 3)
    assert (simple.key, simple.run, simple.prefix) == ("train.table@T=1", "train.table", "T=1 ")
    assert simple.paper == {"pass@2": "3.0"}
    assert table.runs == [cose, simple]
    assert foreign.run == ""
    first, second = table.claims
    assert table.paper_difference(first) == -0.5
    assert second == PaperClaim("train.cose - train.table", "train.add - train.film", "pass@2", "-0.5 ± 0.1")
    assert [count.standing for count in table.counts] == ["given", "differs"]
    assert table.counts[1].note == "ours is larger"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("section", "sektion", "has no field 'sektion'"),
        ("| 2.5 |", "| 2.5 | 7 |", "cannot be read"),
        (" - train.table@T=1", "", "cannot be read"),
        ("differs", "perhaps", "may be marked as differs, got 'perhaps'"),
    ],
)
def test_a_slip_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(CharmError, match=message):
        read_tables(TEXT.replace(old, new))
