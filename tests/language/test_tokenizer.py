"""Tokens are bytes, and n-grams know them by canonical ids: checked against plain Python."""

import re
import sys
import unicodedata
from pathlib import Path

import pytest

from charm.errors import CharmError
from charm.language.corpus import python_documents

tokenizers = pytest.importorskip("tokenizers")

from charm.language.tokenizer import (  # noqa: E402
    BOS,
    SPECIALS,
    bos_id,
    canonical_ids,
    canonical_text,
    load_tokenizer,
    token_bytes,
    train_tokenizer,
)

WHITE = "".join(map(chr, [*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]))
WHITE += "".join(map(chr, [0x2028, 0x2029, 0x202F, 0x205F, 0x3000]))

# Case, spacing, accents whole and in parts, compatibility forms, letters whose case is special.
EDGES = [
    "Hello",
    "hello",
    "HELLO",
    " Hello",
    "hello ",
    "\thello\r\n",
    "don't",
    "a  b",
    "a\tb",
    "a b",
    "a \n b",
]
EDGES += [
    "\u00e9",
    "e\u0301",
    "\u00c9",
    "e",
    "\ufb01",
    "fi",
    "\u00c5",
    "\u212b",
    "a",
    "\uff21",
    "\u2460",
    "1",
    "\u00bd",
]
EDGES += [
    "\u00df",
    "\u1e9e",
    "ss",
    "\u0130",
    "\u0131",
    "i",
    "\u212a",
    "k",
    "\u01c5",
    "\u03a3",
    "\u03c2",
    "\u03c3",
    "\ufdfa",
]
# White space of many kinds, marks alone, Hangul whole and in parts, Arabic with a vowel, emoji, what is not seen.
EDGES += [
    " ",
    "  ",
    "\n",
    "\n\n\t",
    "\u00a0",
    "\u3000",
    "\u2009",
    "\x0b",
    "\x1c",
    "",
    "\u0301",
    " \u0301",
    "\u0488",
    "\u0903",
]
EDGES += [
    "\ud55c",
    "\u1112\u1161\u11ab",
    "\u0627\u064b",
    "\U0001f642",
    "\U0001f469\u200d\U0001f467",
    "\u200b",
    "\ufeff",
    "\ufffd",
]


def plain_key(text: str) -> str:
    """The definition, with Python's own Unicode tables."""
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    text = "".join(character for character in text if not unicodedata.category(character).startswith("M")).lower()
    text = re.sub(r"[ \t\r\n]+", " ", text)
    return text if text == " " else text.strip(WHITE)


def plain_ids(tokens: list[bytes]) -> list[int]:
    keys: dict[object, int] = {}
    found = []
    for raw in tokens:
        try:
            text = raw.decode()
            key: object = raw if "\ufffd" in text else (plain_key(text) or text)
        except UnicodeDecodeError:
            key = raw
        found.append(keys.setdefault(key, len(keys)))
    return found


@pytest.mark.parametrize("text", EDGES)
def test_canonical_text_on_edge_cases(text: str) -> None:
    assert canonical_text()(text) == plain_key(text)


def test_canonical_text_on_all_letters_that_old_tables_know() -> None:
    """Every code point of Unicode 3.2 (Python keeps that table): later ones depend on a library's age."""
    normalize, old = canonical_text(), unicodedata.ucd_3_2_0
    differing = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if not 0xD800 <= code < 0xF900  # surrogates, and private use
        and old.category(chr(code)) != "Cn"
        and normalize(chr(code)) != plain_key(chr(code))
    ]
    assert differing == []


def test_canonical_ids_follow_the_definition() -> None:
    whole = [edge.encode() for edge in EDGES if edge]
    pieces = [bytes([byte]) for byte in range(256)] + [b"\xc3", b"\xa9", b"\xe2\x80", b"a\xff", b"A\xff"]
    tokens = whole + pieces + whole
    found = canonical_ids(tokens)
    assert found.tolist() == plain_ids(tokens)
    assert sorted(set(found.tolist())) == list(range(found.max() + 1))  # dense
    assert canonical_ids([b"\xff", "ÿ".encode(), b"a", b"A"]).tolist() == [0, 1, 2, 2]
    assert canonical_ids([b"", b"", b"a"]).tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def trained() -> "tokenizers.Tokenizer":
    return train_tokenizer(python_documents(60_000), 400)


def test_tokens_join_to_the_bytes_of_any_text(trained: "tokenizers.Tokenizer") -> None:
    raw = token_bytes(trained)
    assert len(raw) == 400
    assert sum(not token for token in raw) == len(SPECIALS)
    trained.encode_special_tokens = True
    for text in [*EDGES, f"a{BOS}b", *python_documents(5_000)]:
        ids = trained.encode(text).ids
        assert b"".join(raw[number] for number in ids) == text.encode()
        assert trained.decode(ids) == text
        assert bos_id(trained) not in ids


def test_numbers_are_cut_into_groups_of_two_digits(trained: "tokenizers.Tokenizer") -> None:
    pieces = [text for text, _ in trained.pre_tokenizer.pre_tokenize_str("12345 I'm  here\n x=7")]
    assert pieces == ["12", "34", "5", "ĠI", "'m", "Ġ", "Ġhere", "Ċ", "Ġx", "=", "7"]


def test_training_is_deterministic_and_bounds_are_told(tmp_path: Path) -> None:
    documents = python_documents(30_000)
    assert train_tokenizer(documents, 300).to_str() == train_tokenizer(documents, 300).to_str()
    with pytest.raises(CharmError, match="must be in 265"):
        train_tokenizer(documents, 100)
    with pytest.raises(CharmError, match="no such tokenizer file"):
        load_tokenizer(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(CharmError, match="not a readable tokenizer"):
        load_tokenizer(tmp_path / "bad.json")


def test_the_tokenizer_learns_from_the_beginnings_of_documents() -> None:
    long = "ab" * 5_000 + "xyz" * 5_000
    found = token_bytes(train_tokenizer([long], 270))
    assert b"ab" in found
    assert not any(b"xy" in token for token in found)
    found = token_bytes(train_tokenizer(["ab" * 10, "xyz" * 10], 270, characters=20))
    assert b"ab" in found
    assert not any(b"xy" in token for token in found)


def test_tokenizers_of_another_kind_are_refused() -> None:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"one": 0, "two three": 1}, unk_token="one"))
    with pytest.raises(CharmError, match="'two three' is neither bytes"):
        token_bytes(words)
    gap = tokenizers.Tokenizer(tokenizers.models.WordLevel({"one": 0, "two": 2}, unk_token="one"))
    with pytest.raises(CharmError, match="ids must be 0, 1, 2"):
        token_bytes(gap)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(CharmError, match=r"charm-arc\[language\]"):
        train_tokenizer(["text"], 300)
