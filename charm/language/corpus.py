"""Text to learn from: parquet shards, text files in folders, or the documentation that ships with Python.

A shard is a list of documents in an order that does not depend on the machine: parquet files keep theirs, and other
documents are sorted by a hash of their content, which shuffles them and removes duplicates at once.
"""

import ast
import hashlib
import importlib.util
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from charm.errors import CharmError, charm_errors

SUFFIXES = (".txt", ".md", ".rst", ".py")
SHORTEST = 64  # characters; shorter files are empty `__init__.py`s and the like
LEFT_OUT = ("not_utf8", "unreadable", "short", "duplicate")  # reasons for skipping a file


def require(module: str, reason: str) -> None:
    """Refuse to continue without an optional package."""
    if importlib.util.find_spec(module) is None:
        raise CharmError(f"{reason}; pip install 'charm-arc[language]'")


class ParquetText:
    """The column `text` of a parquet file, a row group at a time."""

    def __init__(self, path: Path) -> None:
        require("pyarrow", f"{path.name}: reading parquet needs pyarrow")
        import pyarrow.parquet

        self.path = path
        with charm_errors(f"{path} is not a readable parquet file", OSError, ValueError), self.open() as file:
            self.rows, schema = int(file.metadata.num_rows), file.schema_arrow
        if "text" not in schema.names:
            raise CharmError(f"{path} has no column 'text', only {', '.join(schema.names)}")
        kind = schema.field("text").type
        if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
            raise CharmError(f"{path}: column 'text' must hold strings, got {kind}")

    def open(self) -> Any:
        import pyarrow.parquet

        return pyarrow.parquet.ParquetFile(self.path)

    def __len__(self) -> int:
        return self.rows

    def __iter__(self) -> Iterator[str]:
        with charm_errors(f"{self.path} is damaged", OSError, ValueError), self.open() as file:
            for batch in file.iter_batches(columns=["text"]):
                yield from filter(None, batch.column("text").to_pylist())


# A name, and documents that are tokenised into one file; every iteration reads them again.
Shard = tuple[str, Sequence[str] | ParquetText]


def python_documents(limit: int | None = None) -> list[str]:
    """Return the first of Python's own texts: its language topics, its licence and the docstrings of its library."""
    return hash_order(_cut(_python_texts(), limit))


def _python_texts() -> Iterator[str]:
    from pydoc_data.topics import topics

    yield from (text for _, text in sorted(topics.items()))
    home = Path(sysconfig.get_path("stdlib"))
    yield from (path.read_text("utf-8") for path in sorted(home.glob("LICENSE*")))
    for path in sorted(home.rglob("*.py")):
        skipped = {"site-packages", "dist-packages", "test", "tests", "lib2to3"} & set(path.relative_to(home).parts)
        if not skipped and len(text := _docstrings(path)) >= SHORTEST:
            yield text


def folder_documents(roots: Iterable[Path], suffixes: Sequence[str] = SUFFIXES) -> tuple[list[str], dict[str, int]]:
    """Read every given file and every text file in the given folders; count those skipped: not UTF-8, short, ..."""
    paths: list[Path] = []
    for root in roots:
        inside = (path for path in sorted(root.rglob("*")) if path.suffix in suffixes)
        found = (path for path in inside if path.is_file() and not path.is_symlink())
        paths += found if root.is_dir() else [root]
    kept: list[str] = []
    counts = {"files": len(paths), **dict.fromkeys(LEFT_OUT, 0)}
    for path in paths:
        try:
            kept.append(path.read_text("utf-8"))
        except UnicodeDecodeError:
            counts["not_utf8"] += 1
        except OSError:  # a folder tree may contain files of other users
            counts["unreadable"] += 1
    long = [text for text in kept if len(text) >= SHORTEST]
    unique = hash_order(long)
    counts |= {"short": len(kept) - len(long), "duplicate": len(long) - len(unique)}
    return unique, counts


def hash_order(documents: Iterable[str]) -> list[str]:
    """Return the documents without duplicates, sorted by a hash of their content."""
    by_hash = {hashlib.sha256(text.encode()).digest(): text for text in documents}
    return [text for _, text in sorted(by_hash.items())]


def split_validation(documents: Sequence[str], share: float) -> tuple[list[str], list[str]]:
    """Split into training documents and the last ones (at least one) with `share` of all characters."""
    if not 0 < share < 1:
        raise CharmError(f"the validation share must be between 0 and 1, got {share}")
    if len(documents) < 2:
        raise CharmError(
            f"at least 2 documents are needed, one for training and one for validation; got {len(documents)} "
            f"(a file of {SHORTEST} characters or more is one document)"
        )
    wanted, held, first = share * sum(map(len, documents)), 0, len(documents)
    while held < wanted and first > 1:
        first -= 1
        held += len(documents[first])
    return list(documents[:first]), list(documents[first:])


def gather(
    sources: Sequence[Path],
    python: bool = False,
    suffixes: Sequence[str] = SUFFIXES,
    limit: int | None = None,
    validation: float = 0.05,
) -> tuple[list[Shard], dict[str, Any]]:
    """Gather shards, the last for validation, and a record of their sources. A parquet file is one shard."""
    for source in sources:
        if not source.exists():
            raise CharmError(f"{source}: no such file or folder")
    if limit is not None and limit < 1:
        raise CharmError(f"limit must be >= 1 character, got {limit}")
    by_source = [[one] if one.suffix == ".parquet" else sorted(one.glob("*.parquet")) for one in sources]
    parquet = [path for found in by_source for path in found]
    if parquet:
        if len(parquet) < 2 or python or not all(by_source):
            raise CharmError(
                "give at least 2 parquet shards and nothing else: the last is for validation, the others for training"
            )
        if limit is not None:
            raise CharmError("--limit is for text files; to use less parquet data, give fewer shards")
        if len({path.resolve() for path in parquet}) < len(parquet):
            raise CharmError("a parquet file is given twice; the validation shard must not be trained on")
        shards: list[Shard] = [(path.stem, ParquetText(path)) for path in parquet]
        return shards, {"kind": "parquet", "files": [path.name for path in parquet]}
    if not sources and not python:
        raise CharmError("name parquet files, text files or folders, or use Python's own documentation with --python")
    documents, counts = folder_documents(sources, suffixes)
    if python:
        own = python_documents(limit)
        counts["python_documents"] = len(own)
        documents += own
    documents = _cut(hash_order(documents), limit)
    if len(documents) < 2 and any(counts[name] for name in LEFT_OUT):
        reasons = ", ".join(f"{counts[name]} {name.replace('_', ' ')}" for name in LEFT_OUT if counts[name])
        raise CharmError(
            f"at least 2 text files are needed, but only {len(documents)} of {counts['files']} could be used; left "
            f"out: {reasons} (text must be UTF-8, with {SHORTEST} characters or more)"
        )
    training, held_out = split_validation(documents, validation)
    sizes = {"documents": len(documents), "characters": sum(map(len, documents))}
    record = {"kind": "text", "suffixes": list(suffixes), **sizes, **counts}
    return [("shard_00000", training), ("shard_00001", held_out)], record


def _docstrings(path: Path) -> str:
    """Return all docstrings of a source file, in order."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:  # Python ships a few files with deliberate errors
        return ""
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    nodes.sort(key=lambda node: getattr(node, "lineno", 0))
    return "\n\n".join(filter(None, (ast.get_docstring(node) for node in nodes)))


def _cut(documents: Iterable[str], limit: int | None) -> list[str]:
    """Return the first documents that fit in `limit` characters in total."""
    kept, total = [], 0
    for text in documents:
        total += len(text)
        if limit is not None and total > limit:
            break
        kept.append(text)
    return kept
