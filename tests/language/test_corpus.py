"""Text comes in an order that no machine decides, without doubles, and what is left out is counted."""

import __future__

from pathlib import Path
from pydoc_data.topics import topics

import pytest

from charm.errors import CharmError
from charm.language.corpus import (
    ParquetText,
    _docstrings,
    folder_documents,
    gather,
    hash_order,
    python_documents,
    split_validation,
)


def test_python_documents_are_deterministic_and_within_the_limit() -> None:
    few = python_documents(20_000)
    assert few == python_documents(20_000)
    assert 10_000 < sum(map(len, few)) <= 20_000
    assert len(set(few)) == len(few)
    more = python_documents(500_000)
    assert set(few) <= set(more)
    assert sum(map(len, more)) > 400_000


def test_what_python_ships_is_in_it() -> None:
    documents = python_documents(900_000)  # its topics and licence, and the first of its library
    assert any("PYTHON SOFTWARE FOUNDATION LICENSE" in text for text in documents)
    assert topics["assert"] in documents
    assert _docstrings(Path(__future__.__file__)) in documents


def test_docstrings_are_found_in_order(tmp_path: Path) -> None:
    source = '"""Top."""\nclass A:\n  """Class."""\n  def f(self):\n    """Method."""\nasync def g():\n  """Last."""\n'
    (tmp_path / "one.py").write_text(source)
    assert _docstrings(tmp_path / "one.py") == "Top.\n\nClass.\n\nMethod.\n\nLast."
    (tmp_path / "two.py").write_text("def (:")
    assert _docstrings(tmp_path / "two.py") == ""


def test_folders_are_read_deduplicated_and_counted(tmp_path: Path) -> None:
    text = "A document that is long enough to be taken, which means sixty-four characters. "
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_text(text)
    (tmp_path / "two.md").write_text(text)
    (tmp_path / "three.py").write_text(text + "more")
    (tmp_path / "short.txt").write_text("no")
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1") * 100)
    (tmp_path / "other.bin").write_text(text + "not looked at")
    (tmp_path / "link.txt").symlink_to(tmp_path / "three.py")
    documents, counts = folder_documents([tmp_path])
    assert sorted(documents) == [text, text + "more"]
    assert counts == {"files": 5, "not_utf8": 1, "unreadable": 0, "short": 1, "duplicate": 1}
    assert documents == hash_order(reversed(documents))  # the order is the content's, not the folder's


def test_why_there_is_too_little_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("x" * 64)
    (tmp_path / "short.txt").write_text("no")
    for number in range(3):
        (tmp_path / f"latin{number}.txt").write_bytes("é".encode("latin-1") * 100)
    with pytest.raises(CharmError, match="only 1 of 5 could be used; left out: 3 not utf8, 1 short"):
        gather([tmp_path])


def test_a_file_that_is_named_is_taken_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "one.text").write_text("x" * 64)
    (tmp_path / "link").symlink_to(tmp_path / "one.text")
    assert folder_documents([tmp_path])[0] == []
    for name in ("one.text", "link"):
        assert folder_documents([tmp_path / name])[0] == ["x" * 64]


def test_the_last_documents_validate() -> None:
    documents = ["x" * 100] * 10
    assert [len(part) for part in split_validation(documents, 0.25)] == [7, 3]
    assert [len(part) for part in split_validation(documents, 0.999)] == [1, 9]
    named = [f"{number:0100}" for number in range(10)]
    assert split_validation(named, 0.25) == (named[:7], named[7:])


def test_parquet_shards_are_taken_as_they_are(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = [[f"shard {s} document {d}" for d in range(5)] for s in range(3)]
    for number, some in enumerate(texts):
        parquet.write_table(pyarrow.table({"text": some}), tmp_path / f"shard_{number:05d}.parquet", row_group_size=2)
    shards, record = gather([tmp_path])
    assert [list(documents) for _, documents in shards] == texts
    assert record["files"] == [f"shard_{n:05d}.parquet" for n in range(3)]
    parquet.write_table(pyarrow.table({"body": ["x"]}), tmp_path / "shard_00003.parquet")
    with pytest.raises(CharmError, match="no column 'text', only body"):
        gather([tmp_path])
    parquet.write_table(pyarrow.table({"text": [1, 2]}), tmp_path / "shard_00003.parquet")
    with pytest.raises(CharmError, match="must hold strings, got int64"):
        gather([tmp_path])


def test_parquet_shards_are_not_mixed_up_with_other_text(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        parquet.write_table(pyarrow.table({"text": [name]}), tmp_path / name / "same.parquet")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "one.txt").write_text("x" * 100)
    shards, _ = gather([tmp_path / "a", tmp_path / "b"])
    assert [list(documents) for _, documents in shards] == [["a"], ["b"]]
    with pytest.raises(CharmError, match="at least 2 parquet shards and nothing else"):
        gather([tmp_path / "texts", tmp_path / "a", tmp_path / "b"])
    with pytest.raises(CharmError, match="given twice"):
        gather([tmp_path / "a", tmp_path / "b", tmp_path / "a" / "same.parquet"])
    with pytest.raises(CharmError, match="--limit is for text files"):
        gather([tmp_path / "a", tmp_path / "b"], limit=100)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: gather([]), "name parquet files"),
        (lambda folder: gather([folder / "nowhere"]), "no such file or folder"),
        (lambda folder: gather([folder]), "at least 2 documents are needed"),
        (lambda folder: gather([], python=True, limit=0), "must be >= 1 character, got 0"),
        (lambda folder: split_validation(["a", "b"], 0), "between 0 and 1, got 0"),
    ],
)
def test_bad_sources_are_named(tmp_path: Path, make: object, sentence: str) -> None:
    with pytest.raises(CharmError, match=sentence):
        make(tmp_path)  # type: ignore[operator]


def test_a_broken_parquet_file_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for name in ("a", "b"):
        (tmp_path / f"{name}.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(CharmError, match=r"a\.parquet is not a readable parquet file"):
        gather([tmp_path])


def test_parquet_that_is_damaged_inside_is_named(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"text": ["hello world " * 20] * 3}), path)
    raw = bytearray(path.read_bytes())
    raw[10:60] = b"\xff" * 50
    path.write_bytes(raw)
    with pytest.raises(CharmError, match=r"a\.parquet is damaged"):
        list(ParquetText(path))
