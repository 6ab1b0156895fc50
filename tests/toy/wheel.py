"""A wheel of the real one's shape with five toy tasks, so that no test needs the network."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from charm.synthesis.rearc import INSIDE, WHEEL, package_sha256

# The parents must never be imported: in the real wheel they need packages that CHARM does not have.
PARENT = "raise ImportError('the parents of rearc_utils were imported')\n"

DSL = """
def random_grid(rng, height, width, colors):
    return tuple(tuple(rng.randrange(colors) for _ in range(width)) for _ in range(height))

def mirror(grid):
    return tuple(row[::-1] for row in grid)
"""

UTILS = """
from .dsl import *

def sides(rng, diff_lb, diff_ub, largest):
    return tuple(1 + round((largest - 1) * rng.uniform(diff_lb, diff_ub)) for _ in range(2))
"""

GENERATORS = """
import random
from .dsl import *
from .utils import *

# Plain: small grids repeat, and symmetric ones are their own answer.
def generate_00000001(rng, diff_lb, diff_ub):
    grid = random_grid(rng, *sides(rng, diff_lb, diff_ub, 4), 2)
    return {"input": grid, "output": mirror(grid)}

# Every way to go wrong, besides good pairs.
def generate_00000002(rng, diff_lb, diff_ub):
    fault = rng.randrange(8)
    if fault == 0:
        raise IndexError("the generator fails")
    grid = random_grid(rng, 4, 31 if fault == 1 else 5, 11 if fault == 2 else 9)
    if fault == 3:
        grid = ((12,),)  # the verifier fails on it
    return {"input": grid, "output": grid if fault == 4 else mirror(grid)}

# Often an endless loop.
def generate_00000003(rng, diff_lb, diff_ub):
    while rng.random() < 0.5:
        while True:
            pass
    grid = random_grid(rng, 3, 4, 10)
    return {"input": grid, "output": mirror(grid)}

# Only 6 distinct pairs that are not symmetric.
def generate_00000004(rng, diff_lb, diff_ub):
    grid = random_grid(rng, 1, 2, 3)
    return {"input": grid, "output": mirror(grid)}

# Slow enough to be interrupted.
def generate_00000005(rng, diff_lb, diff_ub):
    sum(range(1_000_000))
    grid = random_grid(rng, 5, 7, 10)
    return {"input": grid, "output": mirror(grid)}
"""

VERIFIERS = """
from .dsl import *

def verify_00000001(I):
    return mirror(I)

def verify_00000002(I):
    if I == ((12,),):
        raise ValueError("the verifier fails")
    return mirror(I)

verify_00000003 = verify_00000004 = verify_00000005 = verify_00000001
"""

METADATA = "Metadata-Version: 2.1\nName: reasoning-gym\nVersion: 0.1.25\n"
TAGS = "Wheel-Version: 1.0\nGenerator: toy\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture(scope="session")
def toy_wheel(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The wheel file and the SHA-256 of its sub-package."""
    path = tmp_path_factory.mktemp("wheel") / WHEEL
    files = {
        "reasoning_gym/__init__.py": PARENT,
        "reasoning_gym/arc/__init__.py": PARENT,
        INSIDE + "__init__.py": "",
        INSIDE + "dsl.py": DSL,
        INSIDE + "utils.py": UTILS,
        INSIDE + "generators.py": GENERATORS,
        INSIDE + "verifiers.py": VERIFIERS,
        "reasoning_gym-0.1.25.dist-info/METADATA": METADATA,
        "reasoning_gym-0.1.25.dist-info/WHEEL": TAGS,
        "reasoning_gym-0.1.25.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    sources = {name.removeprefix(INSIDE): text for name, text in files.items() if INSIDE in name}
    return path, package_sha256(sources)
