"""The Re-ARC2 workbench: find task packages, draw pairs from them and build the data set.

A package is one file `tasks/<id>.py` under the root (see docs/rearc2.md); the pair of attempt `index` depends on
(seed, task, index) alone.
"""

from __future__ import annotations

import dataclasses
import hashlib
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

import rearc2
from charm.errors import CharmError
from charm.synthesis.build import TIME_LIMIT, Rejected, Sample, Summary, build_pairs
from charm.tasks.pairs_file import MANIFEST, Manifest, Plan, read_manifest, write_manifest
from charm.tasks.sources import load_source
from charm.tasks.task import Pair, Task
from rearc2.helpers import Retry, retrying

ROOT = Path(rearc2.__file__).parent
SPLIT = "arc2/training"

GAVE_UP, OFFICIAL = "no draw fitted", "official input"
GENERATOR_FAILED, VERIFIER_FAILED, MISMATCH = "generator exception", "verifier exception", "verifier mismatch"

Cells = npt.NDArray[np.int64]
GridRule = Callable[[Cells], Cells]


@dataclass(frozen=True)
class Package:
    """A loaded task package. Optional declarations are empty if the file does not have them."""

    id: str
    path: Path
    sha256: str  # of the file
    rule: str  # its docstring
    generate: Callable[[Random], tuple[Cells, Cells]]
    verify: GridRule
    rivals: dict[str, GridRule]  # functions `rival...`: other readings, which agree on generated inputs
    cap: int | None  # CAP: number of pairs that exist at all, not counting official ones
    wrong: dict[str, str]  # WRONG: official pairs that break the rule ("train 2") -> why
    exceptions: dict[str, str]  # EXCEPTIONS: name of a failed finding -> why it is acceptable


def listed_ids(root: Path = ROOT) -> list[str]:
    """List the ids that Re-ARC2 covers."""
    return (root / "ids.txt").read_text("utf-8").split()


def package_ids(root: Path = ROOT) -> list[str]:
    """List the ids that have a package, by folder scan, in the list's order."""
    found = {path.stem for path in (root / "tasks").glob("[!_]*.py")}
    listed = listed_ids(root)
    if unknown := sorted(found - set(listed)):
        raise CharmError(f"{root / 'tasks'}: {unknown[0]}.py is not a task of Re-ARC2's list")
    return [task for task in listed if task in found]


def package_sha256(task: str, root: Path = ROOT) -> str | None:
    """Hash a package's file, if there is one."""
    path = root / "tasks" / f"{task}.py"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


@cache
def load_package(task: str, root: Path = ROOT) -> Package:
    """Load the package of a task; a file that cannot be imported or lacks a part is reported with the reason."""
    path, sha256 = root / "tasks" / f"{task}.py", package_sha256(task, root)
    if sha256 is None:
        if task not in listed_ids(root):
            raise CharmError(f"{task} is not a task of Re-ARC2")
        raise CharmError(f"{path}: the package does not exist yet")
    loader = SourceFileLoader(f"rearc2.tasks.{task}", str(path))
    module = ModuleType(loader.name)
    try:
        loader.exec_module(module)
    except Exception as error:
        raise CharmError(f"{path}: cannot be imported ({describe(error, path)})") from error
    for name in ("generate", "verify"):
        if not callable(getattr(module, name, None)):
            raise CharmError(f"{path}: function {name} is missing")
    if not (module.__doc__ or "").strip():
        raise CharmError(f"{path}: the docstring that states the rule is missing")
    names = (name for name in vars(module) if name.startswith("rival"))
    return Package(
        id=task,
        path=path,
        sha256=sha256,
        rule=" ".join((module.__doc__ or "").split()),
        generate=module.generate,
        verify=module.verify,
        rivals={name: getattr(module, name) for name in names},
        cap=_declared(module, path, "CAP", int, None),
        wrong=_declared(module, path, "WRONG", dict, {}),
        exceptions=_declared(module, path, "EXCEPTIONS", dict, {}),
    )


@cache
def official_task(task: str) -> Task:
    for one in load_source(SPLIT).tasks:
        if one.id == task:
            return one
    raise CharmError(f"there is no task {task} in ARC-AGI-2's training set")


def official_pairs(task: str) -> dict[str, Pair]:
    """Return the official pairs by name: "train 0", ..., "test 0", ..."""
    return official_task(task).named_pairs()


@cache
def _official_inputs(task: str) -> frozenset[bytes]:
    return frozenset(_content(pair.input) for pair in official_task(task).pairs)


def draw(package: Package, seed: int, index: int) -> tuple[Cells, Cells]:
    """Draw the pair that the package generates at one attempt, independent of earlier draws; Retry if nothing fits."""
    key = f"rearc2/{seed}/{package.id}/{index}".encode()
    rng = Random(int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little"))
    before, after = retrying(lambda: package.generate(rng))
    return _grid(before, "generate's input"), _grid(after, "generate's output")


def apply_rule(rule: GridRule, grid: npt.NDArray[Any]) -> Cells:
    """Return the rule's output for a read-only input. Cells are signed, so that differences do not wrap around."""
    cells = np.array(grid, np.int64)
    cells.setflags(write=False)
    return _grid(rule(cells), "the result")


def same(one: npt.NDArray[Any] | None, other: npt.NDArray[Any] | None) -> bool:
    """Return whether two grids exist and are equal."""
    return one is not None and other is not None and np.array_equal(one, other)


@dataclass(frozen=True)
class ReArc2:
    """The provider for the shared builder. It pickles small; each process loads the packages that it needs."""

    root: Path = ROOT
    seed: int = 0

    def make(self, task: str, index: int) -> Sample | Rejected:
        """Make attempt `index` of a task: a pair that `verify` confirms, or the reason for a rejection."""
        package = load_package(task, self.root)
        try:
            before, after = draw(package, self.seed, index)
        except Retry:
            return Rejected(GAVE_UP)
        except Exception:
            return Rejected(GENERATOR_FAILED)
        if _content(before) in _official_inputs(task):
            return Rejected(OFFICIAL)
        try:
            expected = apply_rule(package.verify, before)
        except Exception:
            return Rejected(VERIFIER_FAILED)
        return (before, after) if same(expected, after) else Rejected(MISMATCH)


@dataclass(frozen=True)
class CorrectedReArc2(ReArc2):
    """The provider for building a set: corrections of official pairs that break the rule come first.

    The corrections are part of Re-ARC2 only; the official tasks are not changed.
    """

    def make(self, task: str, index: int) -> Sample | Rejected:
        corrected = corrected_pairs(task, self.root)
        if index < len(corrected):
            return corrected[index]
        return super().make(task, index - len(corrected))


def corrected_pairs(task: str, root: Path = ROOT) -> list[tuple[Cells, Cells]]:
    """Return the official pairs that a package declares wrong, with the rule's output."""
    package = load_package(task, root)
    official = official_pairs(task) if package.wrong else {}
    inputs = [np.array(official[name].input, np.int64) for name in package.wrong]
    return [(grid, apply_rule(package.verify, grid)) for grid in inputs]


def helpers_version() -> str:
    """Hash the helpers, which every package may use."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "helpers").glob("*.py")):
        digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"helpers {digest.hexdigest()[:16]}"


def built_version(task: str, root: Path = ROOT) -> str:
    """Return the version of a task's built pairs, which is not in the plan; empty if there is no package.

    Sets built before corrected pairs were included are made again.
    """
    version = (package_sha256(task, root) or "")[:16]
    return f"{version}+corrected" if version and load_package(task, root).wrong else version


def build_rearc2(
    folder: Path,
    tasks: Sequence[str],
    seed: int = 0,
    pairs: int = 1000,
    workers: int = 1,
    replace: bool = False,
    root: Path = ROOT,
) -> Summary:
    """Fill `folder` with pairs of the given tasks, resuming an earlier build; pairs of changed packages are made again.

    Pairs of another seed or version of the helpers are refused, or dropped first with `replace`. More pairs than
    before extend every task of the folder.
    """
    # Problems of a package show before anything is written.
    packages = {task: load_package(task, root) for task in tasks}
    plan = Plan("rearc2", helpers_version(), seed, pairs, TIME_LIMIT)
    if (folder / MANIFEST).exists():
        held = read_manifest(folder)
        if dataclasses.replace(held.plan, pairs=pairs) != plan:
            if not replace:
                raise CharmError(
                    f"{folder}: contains other pairs ({held.plan.version}); use --replace to overwrite them"
                )
            # Remove the manifest first; without it the files of pairs are ignored.
            (folder / MANIFEST).unlink()
            for task in held.tasks:
                (folder / f"{task}.npz").unlink(missing_ok=True)
        else:
            kept = {
                task: record
                for task, record in held.tasks.items()
                if record.version == built_version(task, root)
            }
            if len(kept) < len(held.tasks):
                write_manifest(folder, Manifest(held.plan, held.unfinished, kept))
            if pairs > held.plan.pairs:  # these are extended too
                packages |= {task: load_package(task, root) for task in kept if task not in packages}
    versions = {task: built_version(task, root) for task in tasks}
    caps = {
        task: package.cap + len(package.wrong)
        for task, package in packages.items()
        if package.cap is not None
    }
    return build_pairs(folder, plan, CorrectedReArc2(root, seed).make, tasks, workers, versions, caps)


def describe(error: BaseException, path: Path) -> str:
    """Describe an exception in one line, with the last line of `path` in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    where = f", line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}: {error}{where}"


def _grid(value: Any, what: str) -> Cells:
    """Return the value if it is an array of rows; the builder checks its legality."""
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
        raise TypeError(f"{what} must be a grid, got {type(value).__name__}{shape}")
    return value


def _content(grid: npt.NDArray[Any]) -> bytes:
    return f"{grid.shape}".encode() + grid.astype(np.uint8).tobytes()


def _declared(module: ModuleType, path: Path, name: str, kind: type, default: Any) -> Any:
    value = getattr(module, name, default)
    if value is not default and not isinstance(value, kind):
        raise CharmError(f"{path}: {name} must be of type {kind.__name__}")
    if isinstance(value, dict) and not all(one and isinstance(one, str) for one in (*value, *value.values())):
        raise CharmError(f"{path}: {name} must map each finding to its reason")
    return value
