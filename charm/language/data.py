"""Prepared text: token files that training reads with numpy alone, and rows packed from them.

DATA/ tokenizer.json      for `charm lm prepare` and `sample`
      token_bytes.npy     how many bytes of text each token is; 0 for specials
      canonical.npy       the id that n-grams use for each token
      shard_00000.bin ... token ids, uint16, a BOS before each document; the last shard is for validation
      manifest.json       written last: sizes, hashes, sources of the text
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from charm.config import checked
from charm.errors import CharmError, charm_errors
from charm.files import fingerprint, read_sealed, whole_folder, write_sealed
from charm.language.corpus import Shard
from charm.paths import data_dir

MANIFEST = "manifest.json"
FORMAT = 1
BUFFER = 1000  # minimum number of documents the packer chooses from
REFILL = 128  # documents added at a time
ENCODE_AT_ONCE = 1024  # documents

TokenIds = npt.NDArray[np.uint16]
Integers = npt.NDArray[np.int64]
Tails = Literal["drop", "keep"]


class LmShard(TypedDict):
    name: str


class LmManifest(TypedDict):
    """What is read of a manifest."""

    vocab: int
    bos: int
    shards: list[LmShard]
    sha256: dict[str, str]


def prepare(
    shards: Sequence[Shard],
    record: dict[str, Any],
    out: Path,
    vocab: int = 32_768,
    tokenizer: Path | None = None,
    say: Callable[[str, int], None] = lambda text, documents: None,  # documents finished since its last call
) -> dict[str, Any]:
    """Train a tokenizer on all shards but the last (or use an existing one), tokenise all, write the folder `out`."""
    from charm.language import tokenizer as bpe

    if out.exists() and not out.is_dir():
        raise CharmError(f"{out} is not a folder")
    if out.is_dir() and any(out.iterdir()):
        raise CharmError(f"{out} is not empty; choose another folder, or remove it first")
    if tokenizer is None:
        say(f"training a tokenizer of {vocab:,} tokens", 0)
        model = bpe.train_tokenizer((text for _, documents in shards[:-1] for text in documents), vocab)
    else:
        model = bpe.load_tokenizer(tokenizer)
    model.encode_special_tokens = True  # text that spells a special token stays text
    raw = bpe.token_bytes(model)

    def tokenise(name: str, documents: Iterable[str]) -> Iterator[list[int]]:
        coming = iter(documents)
        while texts := list(islice(coming, ENCODE_AT_ONCE)):
            say(f"tokenising {name}", len(texts))
            yield from (one.ids for one in model.encode_batch(texts, add_special_tokens=False))

    return write_prepared(
        out,
        np.array([len(token) for token in raw]),
        bpe.canonical_ids(raw),
        bpe.bos_id(model),
        [(name, tokenise(name, documents)) for name, documents in shards],
        record,
        model.to_str(),
    )


def write_prepared(
    out: Path,
    token_bytes: Integers,
    canonical: Integers,
    bos: int,
    shards: Iterable[tuple[str, Iterable[Sequence[int] | TokenIds]]],
    record: dict[str, Any],
    tokenizer: str = "",
) -> dict[str, Any]:
    """Write the folder `out` whole or not at all, with documents as token ids without BOS; return its manifest."""
    described: list[dict[str, Any]] = []
    with charm_errors(f"{out} cannot be written", OSError), whole_folder(out) as folder:
        (folder / "tokenizer.json").write_text(tokenizer, "utf-8")
        np.save(folder / "token_bytes.npy", token_bytes.astype(np.uint16))
        np.save(folder / "canonical.npy", canonical.astype(np.int32))
        for number, (source, documents) in enumerate(shards):
            name, counts = f"shard_{number:05d}.bin", Counter[str]()
            with (folder / name).open("wb") as file:
                for ids in documents:
                    if len(ids):
                        tokens = np.array([bos, *ids], dtype="<u2")
                        file.write(tokens.tobytes())
                        counts.update(documents=1, tokens=len(tokens), bytes=int(token_bytes[tokens].sum()))
            if not counts:
                raise CharmError(f"{source}: the shard is empty")
            described.append({"name": name, "source": source, **counts})
        manifest = {
            "format": FORMAT,
            "vocab": len(token_bytes),
            "bos": bos,
            "canonical_ids": int(canonical.max()) + 1,
            "source": record,
            "shards": described,
            "sha256": {file.name: fingerprint(file)["sha256"] for file in sorted(folder.iterdir())},
        }
        write_sealed(folder / MANIFEST, manifest)
    return manifest


@dataclass(frozen=True)
class Prepared:
    """A folder of prepared text, checked against its manifest."""

    folder: Path
    manifest: dict[str, Any]
    vocab: int
    bos: int

    @classmethod
    def read(cls, folder: Path | None, vocab: int | None = None) -> Prepared:
        """Read and check a folder; `vocab` is that of the model that will read its text."""
        folder = folder or data_dir() / "lm"
        if not (folder / MANIFEST).is_file():
            raise CharmError(f"{folder}: no prepared text here; run `charm lm prepare` first")
        manifest = read_sealed(folder / MANIFEST)
        if manifest.get("format") != FORMAT:
            raise CharmError(f"{folder} was prepared in another format; prepare it again")
        manifest = checked(LmManifest, manifest, str(folder / MANIFEST))
        shards = [one["name"] for one in manifest["shards"]]
        if len(shards) < 2 or len(set(shards)) < len(shards) or not manifest["sha256"].keys() >= set(shards):
            raise CharmError(f"{folder / MANIFEST}: expected two or more different shards, each with a hash")
        for name, digest in manifest["sha256"].items():
            if not (folder / name).is_file() or fingerprint(folder / name)["sha256"] != digest:
                raise CharmError(f"{folder / name} is missing or damaged")
        if vocab not in (None, manifest["vocab"]):
            raise CharmError(
                f"{folder} has a vocabulary of {manifest['vocab']}, but the model has {vocab}; "
                f"train with --gpt.vocab {manifest['vocab']}"
            )
        return cls(folder, manifest, int(manifest["vocab"]), int(manifest["bos"]))

    @cached_property
    def token_bytes(self) -> Integers:
        return np.load(self.folder / "token_bytes.npy").astype(np.int64)

    @cached_property
    def canonical(self) -> Integers:
        return np.load(self.folder / "canonical.npy").astype(np.int64)

    def documents(self, split: Literal["train", "validation"]) -> Documents:
        names = [self.folder / one["name"] for one in self.manifest["shards"]]
        return Documents(names[:-1] if split == "train" else names[-1:], self.bos)


class Documents:
    """Documents of some token files, by number; `lengths` do not count the BOS."""

    def __init__(self, files: Sequence[Path], bos: int) -> None:
        self.bos = bos
        self.tokens: list[TokenIds] = [np.memmap(file, dtype="<u2", mode="r") for file in files]
        starts = [np.flatnonzero(tokens == bos) for tokens in self.tokens]
        self.shard = np.repeat(np.arange(len(starts)), [len(one) for one in starts])
        self.start = np.concatenate(starts) + 1
        ends = [np.append(one[1:], len(tokens)) for one, tokens in zip(starts, self.tokens, strict=True)]
        self.lengths = np.concatenate(ends) - self.start

    def row(self, pieces: Sequence[Piece]) -> TokenIds:
        """Return the tokens of a row, with a BOS before each piece."""
        parts: list[TokenIds] = []
        for number, first, count in pieces:
            at = int(self.start[number]) + first
            parts += [np.array([self.bos], dtype=np.uint16), self.tokens[self.shard[number]][at : at + count]]
        return np.concatenate(parts)


class Piece(NamedTuple):
    """`size` tokens of a document, starting at `first`; in a row it takes one more place, for the BOS."""

    document: int
    first: int
    size: int


def pack(
    lengths: Iterable[tuple[int, int]], room: int, tails: Tails, buffer: int = BUFFER, refill: int = REFILL
) -> Iterator[list[Piece]]:
    """Fill rows of `room` tokens, without padding, from documents given as (number, length).

    Whenever fewer than `buffer` documents are waiting, `refill` more are added. The largest document that fits is
    packed; if none fits, the shortest is cropped to fill the row. Ties go to the earliest document.
    With tails "drop" the cropped rest is lost. With "keep" it is packed like a separate document, and documents
    longer than a row are split into pieces: otherwise they would wait until nothing shorter is left. Packing stops
    when the documents run out; whatever is still waiting cannot fill another row.
    """
    coming = iter(lengths)
    # Sorted by length; among equal lengths, the latest arrival comes first.
    waiting: list[tuple[int, int, Piece]] = []
    arrival = places = 0

    def put(document: int, first: int, size: int) -> None:
        nonlocal arrival, places
        insort(waiting, (size + 1, -arrival, Piece(document, first, size)))
        arrival += 1
        places += size + 1

    while True:
        row: list[Piece] = []
        left = room
        while left:
            while (len(waiting) < buffer or places < left) and (joining := list(islice(coming, refill))):
                for number, size in joining:
                    most = room - 1 if tails == "keep" else size
                    for first in range(0, size, most):
                        put(number, first, min(most, size - first))
            if places < left:
                return
            longest = max(left, waiting[0][0])  # that fits, or of the shortest ones
            size, _, (number, first, _) = waiting.pop(bisect_right(waiting, (longest, 1)) - 1)
            taken = min(size, left)
            row.append(Piece(number, first, taken - 1))
            left -= taken
            places -= size
            if taken < size and tails == "keep":
                put(number, first + taken - 1, size - taken)
        yield row


def training_rows(documents: Documents, length: int, tails: Tails) -> Iterator[list[Piece]]:
    """Pack rows without end for inputs and targets of `length` tokens: the documents repeat in the same order."""
    numbered = ((number, int(documents.lengths[number])) for number in cycle(range(len(documents.lengths))))
    return pack(numbered, length + 1, tails)


def validation_rows(documents: Documents, length: int, tails: Tails, tokens: int) -> TokenIds:
    """Pack the first rows [N, length + 1] of the validation shard, with `tokens` targets in total."""
    if tokens % length:
        raise CharmError(f"tokens must be a multiple of the row length {length}, got {tokens}")
    packed = pack(enumerate(documents.lengths.tolist()), length + 1, tails)
    rows = [documents.row(pieces) for pieces in islice(packed, tokens // length)]
    if len(rows) * length < tokens:
        raise CharmError(
            f"the validation shard has {len(rows)} rows, {len(rows) * length:,} tokens, but {tokens:,} were requested; "
            f"ask for fewer (--evaluate-tokens, and --tokens of `charm eval`)"
        )
    return np.stack(rows)
