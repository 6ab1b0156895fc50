"""One file with all generated pairs of a folder, to keep or share."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

from charm.arrays import ZIP_ERRORS
from charm.errors import CharmError, charm_errors
from charm.files import whole_folder, write_atomically
from charm.tasks.pairs_file import MANIFEST, Manifest, load_pairs, read_listed, read_manifest


def write_archive(folder: Path, file: Path) -> str:
    """Put a whole folder of pairs into one file, the same bytes for the same pairs; returns its SHA-256.

    The manifest comes first and has the hash of each task's pairs, which are stored as in the folder.
    """
    load_pairs(folder)  # raises if anything is missing or damaged
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:  # the parts are compressed already
        for name in (MANIFEST, *(f"{task}.npz" for task in sorted(read_manifest(folder).tasks))):
            archive.writestr(zipfile.ZipInfo(name), (folder / name).read_bytes())  # always dated 1980
    write_atomically(file, buffer.getvalue())
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def read_archive(file: Path, folder: Path) -> Manifest:
    """Unpack such a file into a new folder, which is created only if every pair matches the manifest."""
    if folder.exists() and any(folder.iterdir()):
        raise CharmError(f"{folder}: folder is not empty; remove it first, or choose another with --data")
    damage = (OSError, ValueError, RuntimeError, EOFError, *ZIP_ERRORS)
    with whole_folder(folder) as scratch, charm_errors(f"{file}: not a readable archive of pairs", *damage):
        with zipfile.ZipFile(file) as archive:
            _check_entries(file, archive.infolist())
            for name in archive.namelist():
                (scratch / name).write_bytes(archive.read(name))
        manifest = read_manifest(scratch)
        if manifest.unfinished:
            raise CharmError(f"{file}: {len(manifest.unfinished)} of its tasks were never built")
        for task in manifest.tasks:  # one by one: together they may not fit in memory
            read_listed(scratch, task, manifest)
    return read_manifest(folder)


def _check_entries(file: Path, entries: Sequence[zipfile.ZipInfo]) -> None:
    """Check names and sizes: an archive must not write elsewhere, nor a small file unpack to a huge one."""
    for entry in entries:
        if entry.filename != MANIFEST and not re.fullmatch(r"[0-9a-zA-Z_-]+\.npz", entry.filename):
            raise CharmError(f"{file}: not an archive of pairs: it holds {entry.filename!r}")
        if entry.compress_type != zipfile.ZIP_STORED:
            raise CharmError(f"{file}: not an archive of pairs: {entry.filename} is compressed a second time")
    if len({entry.filename for entry in entries}) < len(entries):
        raise CharmError(f"{file}: not an archive of pairs: it contains a name twice")
    if sum(entry.file_size for entry in entries) > file.stat().st_size:
        raise CharmError(f"{file}: not an archive of pairs: its parts are larger than the whole")
