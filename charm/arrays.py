"""Arrays from .npz files of unknown origin: their types and sizes are checked before anything is allocated."""

import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error)  # of damaged archives
Array = np.ndarray[Any, np.dtype[Any]]


def read_arrays(path: Path, kinds: Mapping[str, tuple[str, int]], most: int) -> dict[str, Array]:
    """Read the arrays of `kinds` (name -> type, dimensions), read-only; a ValueError if the file has anything else."""
    found, total = {}, 0
    try:
        with zipfile.ZipFile(path) as archive:
            for name, (kind, dimensions) in kinds.items():
                entry = archive.getinfo(f"{name}.npy")
                total += entry.file_size
                if total > most:
                    raise ValueError(f"its arrays need {total:,} bytes, over the limit of {most:,}")
                with archive.open(entry) as file:
                    found[name] = _read(file, name, np.dtype(kind), dimensions, entry.file_size)
    except KeyError as error:
        raise ValueError(f"{error.args[0]} is missing") from None
    except (EOFError, NotImplementedError, *ZIP_ERRORS) as error:
        raise ValueError(str(error) or type(error).__name__) from None
    except (RuntimeError, MemoryError, SyntaxError, TypeError, OverflowError) as error:
        # Encrypted, or a mad header.
        raise ValueError(f"not an array file ({type(error).__name__})") from None
    return found


def _read(file: Any, name: str, kind: np.dtype[Any], dimensions: int, size: int) -> Array:
    if npy.read_magic(file) != (1, 0):  # longer headers, of later versions, are for types that nothing here has
        raise ValueError(f"{name} has an unknown version of the .npy format")
    shape, fortran, dtype = npy.read_array_header_1_0(file)
    if dtype != kind or len(shape) != dimensions or (fortran and dimensions > 1):
        raise ValueError(f"{name}: expected {dimensions} dimensions of {kind}, got {len(shape)} of {dtype}")
    wanted = math.prod(shape) * kind.itemsize
    if min(shape, default=0) < 0 or wanted != size - file.tell():
        raise ValueError(f"the size of {name} does not match its shape {shape}")
    content = file.read(wanted)
    if len(content) != wanted:
        raise ValueError(f"{name} is truncated")
    return np.frombuffer(content, kind).reshape(shape)
