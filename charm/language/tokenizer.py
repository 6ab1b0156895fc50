"""Byte-level BPE with Hugging Face's tokenizers, and the bytes and canonical id of each token."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError, charm_errors
from charm.language.corpus import require

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NEEDED = "tokenizing text needs Hugging Face's tokenizers"
BOS = "<|bos|>"
SPECIALS = (BOS, *(f"<|reserved_{number}|>" for number in range(1, 9)))
# GPT-4's pattern for splitting text before merging, with numbers in groups of one or two digits.
SPLIT = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
MOST_TOKENS = 2**16  # ids are stored as uint16
LONGEST_DOCUMENT = 10_000  # characters per document that the tokenizer learns from
MOST_CHARACTERS = 2_000_000_000  # that it learns from in total


def train_tokenizer(documents: Iterable[str], vocab: int, characters: int = MOST_CHARACTERS) -> Tokenizer:
    """Train a tokenizer of at most `vocab` tokens: 256 bytes, merges, 9 specials; fewer if the merges run out."""
    require("tokenizers", NEEDED)
    from tokenizers import Regex, Tokenizer
    from tokenizers.decoders import ByteLevel as ByteLevelDecoder
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
    from tokenizers.trainers import BpeTrainer

    if not 256 + len(SPECIALS) <= vocab <= MOST_TOKENS:
        raise CharmError(f"the vocabulary must be in {256 + len(SPECIALS)}..{MOST_TOKENS}, got {vocab}")
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = Sequence(
        [Split(Regex(SPLIT), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = ByteLevelDecoder()
    trainer = BpeTrainer(
        vocab_size=vocab - len(SPECIALS), initial_alphabet=sorted(ByteLevel.alphabet()), show_progress=False
    )
    tokenizer.train_from_iterator(_beginnings(documents, characters), trainer)
    tokenizer.add_special_tokens(list(SPECIALS))  # after the merges, so that the bytes come first
    return tokenizer


def load_tokenizer(path: Path) -> Tokenizer:
    require("tokenizers", NEEDED)
    from tokenizers import Tokenizer

    if not path.is_file():
        raise CharmError(f"{path}: no such tokenizer file")
    with charm_errors(f"{path} is not a readable tokenizer", Exception):  # nothing narrower is raised
        tokenizer = Tokenizer.from_file(str(path))
    bos_id(tokenizer)
    return tokenizer


def bos_id(tokenizer: Tokenizer) -> int:
    found = tokenizer.token_to_id(BOS)
    if found is None:
        raise CharmError(f"the tokenizer has no token {BOS}")
    return found


def token_bytes(tokenizer: Tokenizer) -> list[bytes]:
    """Return the raw bytes of each token by id; none for specials."""
    from tokenizers.pre_tokenizers import ByteLevel

    # Byte-level BPE writes printable Latin-1 unchanged, and the other bytes in order from U+0100 on.
    letters = sorted(ByteLevel.alphabet())
    byte_of = {letter: ord(letter) for letter in letters if ord(letter) < 256}
    others = [byte for byte in range(256) if chr(byte) not in byte_of]
    byte_of |= dict(zip(letters[len(byte_of) :], others, strict=True))
    vocabulary = tokenizer.get_vocab()
    if sorted(vocabulary.values()) != list(range(len(vocabulary))) or len(vocabulary) > MOST_TOKENS:
        raise CharmError(f"token ids must be 0, 1, 2, ... without gaps, and at most {MOST_TOKENS:,} of them")
    found = [b""] * len(vocabulary)
    for token, number in vocabulary.items():
        if token in SPECIALS:
            continue
        if not set(token) <= byte_of.keys():
            raise CharmError(
                f"the tokenizer's token {token!r} is neither bytes, as byte-level BPE writes them, "
                f"nor one of our special tokens"
            )
        found[number] = bytes(byte_of[character] for character in token)
    return found


def canonical_ids(tokens: list[bytes]) -> npt.NDArray[np.int64]:
    """Return the id that n-grams use for each token: the same for tokens that differ only in case, accents or spacing.

    Bytes that are not valid text alone are their own keys, and so are specials, which have no bytes.
    """
    normalize = canonical_text()
    keys: dict[str | bytes | int, int] = {}
    found = np.zeros(len(tokens), dtype=np.int64)
    for number, raw in enumerate(tokens):
        text = raw.decode("utf-8", errors="replace")
        key = number if not raw else raw if "\ufffd" in text else normalize(text) or text
        found[number] = keys.setdefault(key, len(keys))
    return found


def canonical_text() -> Callable[[str], str]:
    """Normalise compatibility forms, accents, case and runs of spaces; a lone space is kept."""
    require("tokenizers", NEEDED)
    from tokenizers import Regex, normalizers

    lone = "\ue000"  # holds the place of a lone space while spaces are trimmed
    steps = [
        *(normalizers.NFKC(), normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()),
        normalizers.Replace(Regex(r"[ \t\r\n]+"), " "),
        normalizers.Replace(Regex(r"^ $"), lone),
        normalizers.Strip(),
        normalizers.Replace(lone, " "),
    ]
    return normalizers.Sequence(steps).normalize_str


def _beginnings(documents: Iterable[str], characters: int) -> Iterator[str]:
    for text in documents:
        if characters <= 0:
            return
        characters -= min(len(text), LONGEST_DOCUMENT)
        yield text[:LONGEST_DOCUMENT]
