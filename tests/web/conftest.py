from collections.abc import Iterator
from pathlib import Path

import pytest

from charm.tasks.keys import MemoryConfig
from charm.tasks.sources import load_source
from charm.web.api import Library
from charm.web.samples import available
from charm.web.server import Viewer
from tests.toy import write_rearc_package, write_toy_tasks
from tests.toy.runs import toy_run
from tests.toy.viewer import serving

# A package of Re-ARC's shape. 1 is good, 2 contradicts its verifier, 3 never ends, 4 fails, 5 is no grid, 6 ends all.
GENERATORS = """
import os

def generate_00000001(rng, diff_lb, diff_ub):
    grid = tuple(tuple(rng.randrange(10) for _ in range(4)) for _ in range(3))
    return {"input": grid, "output": grid[::-1]}

def generate_00000002(rng, diff_lb, diff_ub):
    return {"input": ((1,), (2,)), "output": ((1,), (2,))}

def generate_00000003(rng, diff_lb, diff_ub):
    while True:
        pass

def generate_00000004(rng, diff_lb, diff_ub):
    raise IndexError("<b>no</b>")

def generate_00000005(rng, diff_lb, diff_ub):
    return {"input": ((11,),), "output": ((11,),)}

def generate_00000006(rng, diff_lb, diff_ub):
    os._exit(3)
"""
VERIFIERS = """
def verify_00000001(grid):
    return grid[::-1]

verify_00000002 = verify_00000003 = verify_00000004 = verify_00000005 = verify_00000006 = verify_00000001
"""


@pytest.fixture(scope="session")
def rearc_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rearc_package(tmp_path_factory.mktemp("data"), GENERATORS, VERIFIERS)


@pytest.fixture(scope="session")
def toy_tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy_tasks(tmp_path_factory.mktemp("tasks"), 4)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy run with a checkpoint."""
    return toy_run(tmp_path_factory.mktemp("view"), MemoryConfig(rank=8, gate=True))


@pytest.fixture(scope="session")
def library(toy_tasks: Path, run: Path, rearc_package: Path) -> Library:
    return Library(
        {"toys": load_source(toy_tasks), "arc2/training": load_source("arc2/training")},
        {"a run": run},
        {"a run": run},
        available(rearc_package),
    )


@pytest.fixture(scope="module")
def viewer(library: Library) -> Iterator[Viewer]:
    with serving(library) as made:
        yield made
