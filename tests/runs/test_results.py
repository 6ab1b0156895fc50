"""A result names the versions of CHARM and of its data."""

from pathlib import Path

import pytest

import charm
from charm.files import read_sealed, write_sealed
from charm.runs.folder import write_result


def test_a_result_has_the_versions_and_hashes_of_its_data(tmp_path: Path) -> None:
    source = {"role": "evaluate", "name": "arc1/training", "version": "v1", "sha256": "ab", "tasks": 400}
    write_sealed(tmp_path / "data.json", {"config": {"views": 16}, "sources": [source], "pairs_sha256": "cd"})
    found = write_result(tmp_path / "eval" / "a.json", {"step": 3}, tmp_path)
    kept = {"sources": [{"name": "arc1/training", "version": "v1", "sha256": "ab"}], "pairs_sha256": "cd"}
    assert found == {"step": 3, "charm": charm.__version__, "data": kept}
    assert read_sealed(tmp_path / "eval" / "a.json") == found
    other = write_result(tmp_path / "b.json", {}, tmp_path, {"vocab": 300, "sha256": {"tokenizer.json": "ef"}})
    assert other["data"] == {"sha256": {"tokenizer.json": "ef"}}


def test_a_result_without_a_record_of_the_data_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write_result(tmp_path / "result.json", {"score": 1}, tmp_path)["data"] == {}
    assert "data.json is missing: the result does not name the data of its run" in capsys.readouterr().err
    write_sealed(tmp_path / "data.json", {"pairs_sha256": "a" * 64})
    found = write_result(tmp_path / "result.json", {"score": 1}, tmp_path)
    assert (found["data"], read_sealed(tmp_path / "result.json")["data"]) == ({"pairs_sha256": "a" * 64},) * 2
    assert read_sealed(tmp_path / "data.json") == {"pairs_sha256": "a" * 64}
    assert capsys.readouterr().err == ""
