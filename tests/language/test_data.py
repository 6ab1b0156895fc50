"""Prepared files and packing: every token once, nothing added but BOS, the same rows for everybody."""

import json
import random
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charm.errors import CharmError
from charm.language.data import Documents, Piece, Prepared, pack, prepare, training_rows, validation_rows
from tests.toy.language import VOCAB


def slow_pack(lengths: list[int], room: int, tails: str, buffer: int, refill: int) -> list[list[Piece]]:
    """The rule, by looking at every waiting document; they come in batches, as from nanochat's reader."""
    numbered = [Piece(n, 0, size) for n, size in enumerate(lengths)]
    batches = [numbered[at : at + refill] for at in range(0, len(numbered), refill)]
    waiting, rows = [], []
    while True:
        row, left = [], room
        while left:
            while batches and (len(waiting) < buffer or sum(piece.size + 1 for piece in waiting) < left):
                for number, _, size in batches.pop(0):
                    most = room - 1 if tails == "keep" else size
                    waiting += [Piece(number, at, min(most, size - at)) for at in range(0, size, most)]
            if sum(piece.size + 1 for piece in waiting) < left:
                return rows
            fitting = [piece for piece in waiting if piece.size + 1 <= left]
            if fitting:
                best = max(fitting, key=lambda piece: piece.size)  # the first of equals
                waiting.remove(best)
                row.append(best)
                left -= best.size + 1
            else:
                shortest = min(waiting, key=lambda piece: piece.size)
                waiting.remove(shortest)
                row.append(Piece(shortest.document, shortest.first, left - 1))
                if tails == "keep":
                    rest = shortest.size - left + 1
                    waiting.append(Piece(shortest.document, shortest.first + left - 1, rest))
                left = 0
        rows.append(row)


lengths_and_room = (
    st.lists(st.integers(1, 40), min_size=1, max_size=60),
    st.integers(2, 25),
    st.sampled_from(["drop", "keep"]),
    st.integers(1, 12),
    st.integers(1, 9),
)


@settings(max_examples=150, deadline=None)
@given(*lengths_and_room)
def test_packing_is_the_slow_rule(lengths: list[int], room: int, tails: str, buffer: int, refill: int) -> None:
    found = list(pack(enumerate(lengths), room, tails, buffer, refill))
    assert found == slow_pack(lengths, room, tails, buffer, refill)


def nanochats_rows(lengths: list[int], room: int) -> list[list[Piece]]:
    """nanochat's loader line by line, numbers of documents in place of tokens, until documents run out."""
    batches = iter([list(enumerate(lengths))[at : at + 128] for at in range(0, len(lengths), 128)])
    buffer: list[tuple[int, int]] = []
    rows: list[list[Piece]] = []
    while True:
        row, position = [], 0
        while position < room:
            while len(buffer) < 1000:
                batch = next(batches, None)
                if batch is None:
                    return rows
                buffer.extend((number, size + 1) for number, size in batch)  # with BOS
            remaining = room - position
            best_index, best_length = -1, 0
            for index, (_, size) in enumerate(buffer):
                if best_length < size <= remaining:
                    best_index, best_length = index, size
            if best_index >= 0:
                number, size = buffer.pop(best_index)
            else:
                number, size = buffer.pop(min(range(len(buffer)), key=lambda index: buffer[index][1]))
            size = min(size, remaining)
            row.append(Piece(number, 0, size - 1))
            position += size
        rows.append(row)


def test_rows_are_nanochats() -> None:
    """Long documents would clog a buffer that takes one at a time: almost none of these rows would be the same."""
    rng = np.random.default_rng(0)
    lengths = np.maximum(rng.lognormal(4.0, 1.2, 3000), 1).astype(int).tolist()
    expected = nanochats_rows(lengths, 129)
    found = list(pack(enumerate(lengths), 129, "drop"))
    assert len(expected) > 500
    assert found[: len(expected)] == expected
    one_by_one = list(pack(enumerate(lengths), 129, "drop", refill=1))
    assert sum(a == b for a, b in zip(one_by_one, expected, strict=False)) < len(expected) / 2


@settings(max_examples=150, deadline=None)
@given(*lengths_and_room)
def test_packing_covers_every_token_once(lengths: list[int], room: int, tails: str, buffer: int, refill: int) -> None:
    rows = list(pack(enumerate(lengths), room, tails, buffer, refill))
    assert all(sum(piece.size + 1 for piece in row) == room for row in rows)  # no padding
    seen = [np.zeros(length, dtype=int) for length in lengths]
    for piece in (piece for row in rows for piece in row):
        seen[piece.document][piece.first : piece.first + piece.size] += 1
    assert max(one.max() for one in seen) <= 1  # never twice
    missing = sum(int((one == 0).sum()) for one in seen)
    if tails == "keep":
        assert missing < room  # only what cannot fill another row
    else:
        assert all(piece.first == 0 for row in rows for piece in row)


def test_the_packer_chooses_among_the_first_multiple_of_128_above_a_thousand() -> None:
    row = next(pack(enumerate([3] * 1023 + [9, 9]), 10, "drop"))
    assert row == [Piece(1023, 0, 9)]
    row = next(pack(enumerate([3] * 1024 + [9, 9]), 10, "drop"))
    assert row[0] == Piece(0, 0, 3)


def test_rows_hold_the_tokens_of_the_documents_and_begin_with_bos(data: Path) -> None:
    prepared = Prepared.read(data)
    documents = prepared.documents("validation")
    raw = np.fromfile(data / "shard_00001.bin", dtype="<u2")
    assert documents.lengths.sum() + len(documents.lengths) == len(raw)
    length = 24
    numbered = [(n, int(size)) for n, size in enumerate(documents.lengths)]
    rows = [documents.row(pieces) for pieces in pack(numbered, length + 1, "keep")]
    assert all(row[0] == prepared.bos for row in rows)
    # Put together again, documents are what is on disk, but for what no longer fills a row.
    again = {n: np.zeros(size, dtype=np.uint16) for n, size in numbered}
    for pieces in pack(numbered, length + 1, "keep"):
        row, at = documents.row(pieces), 0
        for piece in pieces:
            again[piece.document][piece.first : piece.first + piece.size] = row[at + 1 : at + 1 + piece.size]
            at += piece.size + 1
    whole = np.concatenate([np.concatenate([[prepared.bos], one]) for one in again.values()])
    assert (whole != raw).sum() < length + 1
    assert validation_rows(documents, length, "keep", 10 * length).tolist() == np.stack(rows[:10]).tolist()


def test_training_rows_go_round_and_any_position_can_be_found_again(data: Path) -> None:
    documents = Prepared.read(data).documents("train")
    rows = list(islice(training_rows(documents, 24, "keep"), 3000))
    assert rows[2000:] == list(islice(training_rows(documents, 24, "keep"), 2000, 3000))
    used = [piece.document for row in rows for piece in row if piece.first == 0]
    assert set(used) == set(range(len(documents.lengths)))
    assert len(used) > len(set(used))


def test_the_text_comes_back(data: Path) -> None:
    from charm.language.tokenizer import canonical_ids, load_tokenizer, token_bytes

    tokenizer, prepared = load_tokenizer(data / "tokenizer.json"), Prepared.read(data)
    assert prepared.vocab == VOCAB == len(prepared.canonical) == len(prepared.token_bytes)
    raw = token_bytes(tokenizer)
    assert prepared.token_bytes.tolist() == [len(token) for token in raw]
    assert prepared.canonical.tolist() == canonical_ids(raw).tolist()
    assert prepared.canonical[raw.index(b"A")] == prepared.canonical[raw.index(b"a")] != prepared.canonical[0]
    documents = prepared.documents("train")
    originals = {path.read_text("utf-8") for path in (data.parent / "texts").iterdir()}
    total = 0
    for number, size in enumerate(documents.lengths):
        ids = documents.row([Piece(number, 0, int(size))])[1:]
        text = tokenizer.decode(ids.tolist())
        assert text in originals
        assert prepared.token_bytes[ids].sum() == len(text.encode())
        total += len(text.encode())
    assert total == prepared.manifest["shards"][0]["bytes"]


def test_text_that_spells_a_special_token_is_text(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    texts = ["one document with <|bos|> inside it and some words", "another document"]
    prepare([("a", texts), ("b", texts)], {}, tmp_path, 280)
    assert len(Prepared.read(tmp_path).documents("train").lengths) == 2


def test_shards_of_one_name_are_all_written_and_a_failure_leaves_nothing(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    shards = [("same", [f"a document with the number {n}"]) for n in range(3)]
    manifest = prepare(shards, {}, tmp_path / "whole", 280)
    assert [shard["name"] for shard in manifest["shards"]] == [f"shard_0000{n}.bin" for n in range(3)]
    assert len(Prepared.read(tmp_path / "whole").documents("train").lengths) == 2
    with pytest.raises(CharmError, match="empty: the shard is empty"):
        prepare([*shards, ("empty", [])], {}, tmp_path / "failed", 280)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["whole"]
    (tmp_path / "file").touch()
    with pytest.raises(CharmError, match="not a folder"):
        prepare(shards, {}, tmp_path / "file", 280)


def test_damage_and_misuse_are_named(data: Path, tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="charm lm prepare"):
        Prepared.read(tmp_path)
    with pytest.raises(CharmError, match="is not empty; choose another folder"):
        prepare([], {}, data)
    for file in data.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    Prepared.read(tmp_path)
    shard = tmp_path / "shard_00000.bin"
    shard.write_bytes(shard.read_bytes()[:-2] + b"\1\0")
    with pytest.raises(CharmError, match=r"shard_00000\.bin is missing or damaged"):
        Prepared.read(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(CharmError, match=r"manifest\.json: not readable"):
        Prepared.read(tmp_path)
    documents = Prepared.read(data).documents("validation")
    with pytest.raises(CharmError, match="ask for fewer"):
        validation_rows(documents, 24, "keep", 24 * 10**6)


def test_a_flipped_bit_never_makes_the_validation_shard_another(data: Path, tmp_path: Path) -> None:
    for file in data.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    path = tmp_path / "manifest.json"
    whole, expected = path.read_bytes(), Prepared.read(tmp_path)
    sealed = json.loads(whole)
    at = whole.index(b'1.bin",\n      "source"')  # the last digit of the shard's name
    for place in (at, *random.Random(0).sample(range(len(whole)), 150)):
        content = bytearray(whole)
        content[place] ^= 1
        path.write_bytes(content)
        try:
            found = Prepared.read(tmp_path)
        except CharmError:
            continue
        # In the white space, or in the name of the seal.
        assert {**expected.manifest, **found.manifest} == found.manifest
    content = bytearray(whole)
    content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(CharmError, match="does not match its hash"):
        Prepared.read(tmp_path)
    # A manifest of an earlier version has no seal.
    plain = {name: value for name, value in sealed.items() if name != "record_sha256"}
    path.write_text(json.dumps(plain))
    assert Prepared.read(tmp_path).manifest == expected.manifest
    path.write_text(json.dumps(plain).replace("shard_00001.bin", "shard_00000.bin"))
    with pytest.raises(CharmError, match="appears twice in an object"):
        Prepared.read(tmp_path)
    # Without a seal, the shards themselves must show that validation text is not trained on.
    first, last = plain["shards"]
    for shards in ([first, {**last, "name": first["name"]}], [first], [first, {**last, "name": "shard_00002.bin"}]):
        path.write_text(json.dumps({**plain, "shards": shards}))
        with pytest.raises(CharmError, match="expected two or more different shards, each with a hash"):
            Prepared.read(tmp_path)


def test_prepared_data_needs_no_extra_library(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tokenizers", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    assert isinstance(Prepared.read(data).documents("train"), Documents)
    assert "sha256" in json.loads((data / "manifest.json").read_text())
