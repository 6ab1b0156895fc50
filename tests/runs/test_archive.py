import io
import json
import os
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from charm.errors import CharmError
from charm.files import write_atomically
from charm.runs import archive
from charm.runs.archive import Header, is_finished, passes, read_pass, read_votes, write_votes
from charm.tasks.task import Question
from tests.toy import hand
from tests.toy.hand import random_predictions

QUESTIONS = tuple(Question("task", index) for index in range(4))
HEADER = Header(500, 16, 0, 1, QUESTIONS, complete=True, inputs=("a", "b", "c", "d"))


def test_read_returns_what_was_written_without_pickle(tmp_path: Path) -> None:
    votes = hand.predict(random_predictions(seed=0, count=60))
    path = write_votes(tmp_path, HEADER, votes)
    assert path == tmp_path / "step_500" / "loops_16" / "rank_0.npz"
    header, read = read_votes(path)
    assert header == HEADER
    assert hand.listed(read) == hand.listed(votes)
    with np.load(path, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "iuf" for name in arrays.files)
    assert [file.name for file in path.parent.iterdir()] == ["rank_0.npz"]  # no temporary file stays


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    votes = hand.predict(random_predictions(seed=0, count=60))
    first = write_votes(tmp_path / "a", HEADER, votes).read_bytes()
    assert first == write_votes(tmp_path / "b", HEADER, votes).read_bytes()


def test_ranks_unite_to_the_single_file(tmp_path: Path) -> None:
    predictions = random_predictions(seed=1, count=64)
    write_votes(tmp_path / "one", HEADER, hand.predict(predictions))
    for rank in range(4):
        header = replace(HEADER, rank=rank, ranks=4)
        write_votes(tmp_path / "four", header, hand.predict(predictions[rank::4]))
    one, four = (read_pass(tmp_path / name, 500, 16) for name in ("one", "four"))
    assert hand.listed(one.votes) == hand.listed(four.votes)
    assert len(one.votes.candidates) == len(four.votes.candidates)
    assert one.missing == four.missing == ()
    assert four.header.questions == QUESTIONS


def test_missing_and_unfinished_ranks_are_reported(tmp_path: Path) -> None:
    votes = hand.votes((0, "1", 0, 0.5))
    write_votes(tmp_path, replace(HEADER, rank=1, ranks=4), votes)
    write_votes(tmp_path, replace(HEADER, rank=3, ranks=4, complete=False), votes)
    assert read_pass(tmp_path, 500, 16).missing == (0, 2, 3)


def test_a_pass_is_finished_when_every_rank_has_voted_to_the_end(tmp_path: Path) -> None:
    votes = hand.votes((0, "1", 0, 0.5))

    def finished(**question: object) -> bool:
        return is_finished(tmp_path, 500, (16,), **question)  # type: ignore[arg-type]

    assert not finished()
    write_votes(tmp_path, replace(HEADER, rank=0, ranks=2, views=6), votes)
    assert not finished()  # the other rank has not begun
    write_votes(tmp_path, replace(HEADER, rank=1, ranks=2, views=6, complete=False), votes)
    assert not finished()  # nor ended
    write_votes(tmp_path, replace(HEADER, rank=1, ranks=2, views=6), votes)
    assert finished()
    assert not is_finished(tmp_path, 500, (16, 24))
    assert not is_finished(tmp_path, 501, (16,))
    assert [finished(views=views) for views in (0, 1, 6, 7)] == [False, True, True, False]
    assert finished(like=HEADER)
    assert not finished(like=replace(HEADER, questions=QUESTIONS[:3]))
    assert not finished(like=replace(HEADER, inputs=("a", "b", "c", "other")))
    assert not finished(like=replace(HEADER, blank=True))
    (tmp_path / "step_500" / "loops_16" / "rank_1.npz").write_bytes(b"damaged")
    assert not finished()


def test_passes_lists_steps_and_depths_in_order(tmp_path: Path) -> None:
    votes = hand.votes((0, "1", 0, 0.5))
    for step, loops in ((1000, 24), (1000, 16), (90, 16)):
        write_votes(tmp_path, replace(HEADER, step=step, loops=loops), votes)
    (tmp_path / "step_7" / "loops_16").mkdir(parents=True)  # begun, nothing written
    (tmp_path / "step_x" / "loops_16").mkdir(parents=True)
    assert list(passes(tmp_path).items()) == [(90, (16,)), (1000, (16, 24))]
    assert passes(tmp_path / "nowhere") == {}


def test_mixed_runs_are_refused(tmp_path: Path) -> None:
    votes = hand.votes((0, "1", 0, 0.5))
    write_votes(tmp_path / "a", replace(HEADER, rank=0, ranks=2), votes)
    write_votes(tmp_path / "a", replace(HEADER, rank=3, ranks=4), votes)
    with pytest.raises(CharmError, match="2 and 4 ranks"):
        read_pass(tmp_path / "a", 500, 16)
    write_votes(tmp_path / "b", replace(HEADER, rank=0, ranks=2), votes)
    for other in ({"questions": QUESTIONS[:2]}, {"inputs": ("a", "b", "c", "other")}, {"blank": True}):
        write_votes(tmp_path / "b", replace(HEADER, rank=1, ranks=2, **other), votes)
        with pytest.raises(CharmError, match="different questions"):
            read_pass(tmp_path / "b", 500, 16)
    path = write_votes(tmp_path / "c", HEADER, votes)
    path.rename(path.with_name("rank_5.npz"))
    with pytest.raises(CharmError, match="names rank 0"):
        read_pass(tmp_path / "c", 500, 16)
    with pytest.raises(CharmError, match="no votes for step 1 with 16 loops"):
        read_pass(tmp_path, 1, 16)


def test_a_damaged_file_is_one_clear_error(tmp_path: Path) -> None:
    votes = hand.predict(random_predictions(seed=2, count=60))
    path = write_votes(tmp_path, HEADER, votes)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    with pytest.raises(CharmError, match="no such votes file"):
        read_votes(tmp_path / "rank_9.npz")
    for length in (0, 1, 10, len(good) // 2, len(good) - 1, *rng.integers(0, len(good), 60).tolist()):
        path.write_bytes(good[:length])
        with pytest.raises(CharmError, match=r"rank_0\.npz: the votes file is damaged or cut short"):
            read_votes(path)
    told = 0
    for _ in range(400):  # one byte flipped: either reported, or in a place that is not ours
        bad = bytearray(good)
        bad[rng.integers(len(good))] ^= int(rng.integers(1, 256))
        path.write_bytes(bad)
        try:
            header, read = read_votes(path)
        except CharmError:
            told += 1
        else:
            assert header == HEADER
            assert hand.listed(read) == hand.listed(votes)
    assert told > 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("candidate", np.array([99], np.int32)),
        ("candidate", np.array([-1], np.int32)),
        ("question", np.array([4], np.int32)),
        ("cells", np.array([10], np.uint8)),
        ("cells", np.array([1, 1], np.uint8)),
        ("shape", np.array([[1, 31]], np.uint8)),
        ("row", np.array([1, 2], np.int32)),
        ("logit", np.array([0.5], np.float64)),
        ("hash", np.array([], np.uint64)),
    ],
)
def test_columns_that_contradict_each_other_are_refused(tmp_path: Path, name: str, value: np.ndarray) -> None:
    path = write_votes(tmp_path, HEADER, hand.votes((0, "1", 0, 0.5)))
    with np.load(path) as arrays:
        columns = {**arrays, name: value}
    np.savez_compressed(path, **columns)
    with pytest.raises(CharmError, match=r"contradict each other|logit: expected 1 dimensions of float32"):
        read_votes(path)


def test_a_file_that_claims_more_than_it_holds_is_refused_before_memory_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2 kB that claim 16 TB, and 10 kB that unpack to more than is allowed."""
    monkeypatch.setattr(archive, "MOST", 2**20)
    path = write_votes(tmp_path, HEADER, hand.votes((0, "1", 0, 0.5)))
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    shape = str({"descr": "<f4", "fortran_order": False, "shape": (2**42,)}).encode()
    claim = b"\x93NUMPY\x01\x00v\x00" + shape.ljust(117) + b"\n"
    large = io.BytesIO()
    np.save(large, np.zeros(2**23, np.uint8))
    for name, content in (("logit.npy", claim), ("cells.npy", large.getvalue())):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for one, part in parts.items():
                file.writestr(one, content if one == name else part)
        tracemalloc.start()
        with pytest.raises(CharmError, match=r"damaged .*(not match its shape|over the limit of 1,048,576)"):
            read_votes(path)
        assert tracemalloc.get_traced_memory()[1] < 2**20
        tracemalloc.stop()


def test_another_format_is_named(tmp_path: Path) -> None:
    path = write_votes(tmp_path, HEADER, hand.votes((0, "1", 0, 0.5)))
    with np.load(path) as arrays:
        columns = dict(arrays)
    written = json.loads(columns["header"].tobytes())
    for change, problem in (
        ({"format": 7}, "format 4, got 7"),
        ({"format": 3}, "format 4, got 3"),  # has no hash of the test inputs
        ({"step": "500"}, r"rank_0\.npz\.step: expected int, got '500'"),
        ({"questions": 3}, r"rank_0\.npz\.questions: expected a list, got 3"),
    ):
        header = np.frombuffer(json.dumps(written | change).encode(), np.uint8)
        np.savez_compressed(path, **columns | {"header": header})
        with pytest.raises(CharmError, match=problem):
            read_votes(path)
    with zipfile.ZipFile(path, "w") as empty:
        empty.writestr("nothing", "")
    with pytest.raises(CharmError, match="damaged"):
        read_votes(path)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    with open(path, "rb") as reader:  # one who reads while the file is replaced
        write_atomically(path, b"new")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"

    def fail(file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError("disk full")

    with pytest.raises(CharmError, match=r"file cannot be written \(disk full\)"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A rename would replace them: `--out /dev/null` must not turn the device into a file."""
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(tmp_path / "file")
    os.mkfifo(pipe)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"
    with pytest.raises(CharmError, match="pipe cannot be written"):
        write_atomically(pipe, b"new")
    assert pipe.is_fifo()
