"""Locks, temporary files and the strict reader of JSON."""

import os
import threading
from pathlib import Path

import pytest

from charm import files
from charm.errors import CharmError


def test_a_lock_changes_no_file_and_follows_no_link(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    (tmp_path / ".lock").write_text("kept")
    with files.lock_folder(tmp_path, "test"):
        assert (tmp_path / ".lock").read_text() == "kept"
        with pytest.raises(CharmError, match="in use by another test"), files.lock_folder(tmp_path, "test"):
            pass
    (tmp_path / ".lock").unlink()
    (tmp_path / ".lock").symlink_to(notes)
    with (
        pytest.raises(CharmError, match=r"is not a regular file .* delete it"),
        files.lock_folder(tmp_path, "test"),
    ):
        pass
    assert notes.read_text() == "mine"
    (tmp_path / ".lock").unlink()
    (tmp_path / ".lock").mkdir()
    with pytest.raises(CharmError, match="is not a regular file"), files.lock_folder(tmp_path, "test"):
        pass


def test_a_temporary_file_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes, path = tmp_path / "notes.txt", tmp_path / "out.json"
    notes.write_text("mine")
    assert len({files._temporary(path) for _ in range(100)}) == 100
    monkeypatch.setattr("secrets.token_hex", lambda count: "guessed")
    files._temporary(path).symlink_to(notes)
    with pytest.raises(CharmError, match="cannot be written"):
        files.write_atomically(path, "theirs")
    assert notes.read_text() == "mine"


def test_threads_that_write_one_file_leave_one_of_them_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    whole = {str(number) * 200_000 for number in range(4)}

    def write(text: str) -> None:
        for _ in range(5):
            files.write_atomically(path, text)

    threads = [threading.Thread(target=write, args=(text,)) for text in whole]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in whole
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "1" * 400,
        "-" + "1" * 5000,
        "[" * 60 + "]" * 60,
        "[" * 100_000,
        '{"a":' * 200 + "1" + "}" * 200,
        b"\xff",
        '{"a": [{"b": 1, "b": 1}]}',
    ],
)
def test_what_no_file_of_ours_contains_is_refused(text: str | bytes) -> None:
    with pytest.raises(CharmError, match="here: not readable"):
        files.parse_json(text, "here")


def test_other_json_is_read_as_python_does() -> None:
    text = '{"a": [1, -2.5e3, null, true, "x"], "b": {"c": 123456789012345678901234567890}}'
    found = files.parse_json(text, "here")
    assert found == {"a": [1, -2500.0, None, True, "x"], "b": {"c": 123456789012345678901234567890}}


def test_a_record_is_an_object(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text("[1]")
    with pytest.raises(CharmError, match="expected a JSON object, got list"):
        files.read_sealed(path)
