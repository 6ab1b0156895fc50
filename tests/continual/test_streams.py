import json
from pathlib import Path

import pytest

from charm.continual.streams import load_stream
from charm.errors import CharmError
from charm.tasks.reading import read_tasks, unusable_tests
from charm.tasks.sources import load_source


@pytest.mark.parametrize(("name", "count"), [("arc2-training", 233), ("arc2-evaluation", 114)])
def test_the_papers_streams(name: str, count: int) -> None:
    """As many tasks as the paper says, none of which is a task of ARC-AGI-1."""
    stream = load_stream(name)
    old = {task.id for split in ("arc1/training", "arc1/evaluation") for task in load_source(split).tasks}
    assert len(stream.tasks) == len(set(stream.ids)) == count
    assert not old & set(stream.ids)
    assert stream.skipped == {}


def test_order_is_seeded_and_recorded(unseen: Path, tmp_path: Path) -> None:
    stream = load_stream(str(unseen), seed=1)
    assert load_stream(str(unseen), seed=1).ids == stream.ids
    assert sorted(stream.ids) == ["new0", "new1", "new2", "new3"]
    assert len({load_stream(str(unseen), seed=seed).ids for seed in range(8)}) > 1
    assert load_stream(str(unseen), seed=1, limit=2).ids == stream.ids[:2]
    stream.save(tmp_path / "stream.json")
    assert load_source(tmp_path / "stream.json").tasks == stream.tasks


def test_the_order_of_files_does_not_matter(unseen: Path, tmp_path: Path) -> None:
    """The same tasks in one file, in any order, or in a folder, are the same stream."""
    tasks = {path.stem: json.loads(path.read_text()) for path in sorted(unseen.glob("*.json"))}
    for seed in range(4):
        expected = load_stream(str(unseen), seed=seed).ids
        for names in (sorted(tasks), sorted(tasks, reverse=True), ["new2", "new0", "new3", "new1"]):
            file = tmp_path / "some.json"
            file.write_text(json.dumps({name: tasks[name] for name in names}))
            assert load_stream(str(file), seed=seed).ids == expected
            kept = load_stream(str(file), seed=seed, known=("new1",), limit=2)
            assert set(kept.ids) < {"new0", "new2", "new3"}
            assert kept.source_sha256 == load_stream(str(unseen)).source_sha256
    tasks["new1"]["test"][0]["output"] = [[1]]
    file.write_text(json.dumps(tasks))
    assert load_stream(str(file)).source_sha256 != load_stream(str(unseen)).source_sha256


def test_a_malformed_file_is_reported_and_skipped(unseen: Path) -> None:
    (unseen / "new1.json").write_text('{"train": [')
    content = json.loads((unseen / "new2.json").read_text())
    content["train"][1]["output"] = [[1, 2], [3]]
    (unseen / "new2.json").write_text(json.dumps(content))
    stream = load_stream(str(unseen))
    assert sorted(stream.ids) == ["new0", "new3"]
    assert "invalid JSON" in stream.skipped[str(unseen / "new1.json")]
    reason = stream.skipped[str(unseen / "new2.json")]
    assert "train pair 1, output: the grid is ragged" in reason


def test_a_malformed_task_of_a_challenges_file_is_skipped_alone(unseen: Path, tmp_path: Path) -> None:
    tasks = {path.stem: json.loads(path.read_text()) for path in sorted(unseen.glob("*.json"))}
    solutions = {name: [pair.pop("output") for pair in task["test"]] for name, task in tasks.items()}
    tasks["new1"]["train"] = []
    solutions["new2"] = []
    file = tmp_path / "some_challenges.json"
    file.write_text(json.dumps(tasks))
    (tmp_path / "some_solutions.json").write_text(json.dumps(solutions))
    found, skipped = read_tasks([file])
    assert [task.id for task in found] == ["new0", "new3"]
    assert found[1].test[0].output is not None
    assert found[1].test[0].output.tolist() == solutions["new3"][0]
    assert skipped["new1"] == f"{file}: task new1 has no demonstrations"
    assert "0 solutions for 1 test inputs" in skipped["new2"]
    # Solving needs no solutions.
    found, skipped = read_tasks([file], unsolved=True)
    assert [(task.id, task.test[0].output is None) for task in found] == [
        *(("new0", False), ("new2", True), ("new3", False))
    ]
    assert list(skipped) == ["new1", skipped[list(skipped)[1]]]
    assert "0 solutions for 1 test inputs" in list(skipped)[1]


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_wrong_with_a_whole_file_is_reported(count: int, unseen: Path, tmp_path: Path) -> None:
    """Its tasks are read nevertheless."""
    tasks = {f"new{n}": json.loads((unseen / f"new{n}.json").read_text()) for n in range(count)}
    file, solutions = tmp_path / "some_challenges.json", tmp_path / "some_solutions.json"
    file.write_text(json.dumps(tasks))
    for content, reason in (("{", "invalid JSON"), ('{"new7": []}', "task new7 is not among the challenges")):
        solutions.write_text(content)
        found, skipped = read_tasks([file])
        assert [task.id for task in found] == list(tasks)
        assert [f"{solutions}: {reason}" in text for text in skipped.values()] == [True]


def test_of_two_tasks_with_one_id_none_is_read(unseen: Path, tmp_path: Path) -> None:
    """Python's own reader would keep the last. The other tasks of the file are read; of two files the first counts."""
    tasks = {f"new{n}": json.loads((unseen / f"new{n}.json").read_text()) for n in range(2)}
    again = json.dumps(tasks["new0"])
    file, other = tmp_path / "some.json", tmp_path / "two.json"
    file.write_text(json.dumps(tasks)[:-1] + f', "new0": {again}}}')
    found, skipped = read_tasks([file])
    assert [task.id for task in found] == ["new1"]
    assert skipped == {"new0": f"{file}: task id new0 appears twice"}
    assert unusable_tests([file], skipped) == {"new0": 1}
    other.write_text(json.dumps(tasks))
    assert list(read_tasks([other, other])[1]) == [f"{other}: task id {name} appears twice" for name in tasks]
    solutions = tmp_path / "some_solutions.json"
    file = file.rename(tmp_path / "some_challenges.json")
    file.write_text(json.dumps(tasks))
    outputs = {name: [pair["output"] for pair in task["test"]] for name, task in tasks.items()}
    solutions.write_text(json.dumps(outputs)[:-1] + f', "new0": {outputs["new0"]}}}')
    assert [task.id for task in read_tasks([file])[0]] == ["new1"]
    file.write_text(json.dumps(tasks).replace('"train"', '"train": [], "train"', 1))
    solutions.unlink()
    assert [task.id for task in read_tasks([file])[0]] == ["new1"]


def test_a_file_without_a_usable_task_is_reported_once(unseen: Path) -> None:
    """Such as a submission under another name, which has an entry for each of many tasks."""
    other = unseen / "other.json"
    other.write_text(json.dumps({f"new{number}": [] for number in range(4)}))
    found, skipped = read_tasks([unseen])
    assert len(found) == 4
    assert skipped == {str(other): f"{other}: task new0 is not a JSON object with 'train' and 'test'"}


def test_hidden_files_and_solutions_are_no_tasks(unseen: Path, tmp_path: Path) -> None:
    """As in a source: an editor's files next to the tasks are not read, nor are solutions that are also named."""
    (unseen / ".old").mkdir()
    (unseen / ".old" / "new0.json").write_text((unseen / "new0.json").read_text())
    task = json.loads((unseen / "new0.json").read_text())
    challenges, solutions = tmp_path / "x_challenges.json", tmp_path / "x_solutions.json"
    solutions.write_text(json.dumps({"x": [pair.pop("output") for pair in task["test"]]}))
    challenges.write_text(json.dumps({"x": task}))
    found, skipped = read_tasks([unseen, challenges, solutions])
    assert [task.id for task in found] == ["new0", "new1", "new2", "new3", "x"]
    assert skipped == {}


def test_known_and_repeated_tasks_are_left_out(unseen: Path, tmp_path: Path) -> None:
    stream = load_stream(str(unseen), known={"new0"})
    assert sorted(stream.ids) == ["new1", "new2", "new3"]
    assert "already knows" in stream.skipped["new0"]
    (unseen / "more").mkdir()
    (unseen / "more" / "new0.json").write_text((unseen / "new1.json").read_text())
    found, skipped = read_tasks([unseen])
    assert len(found) == 4
    assert "appears twice" in next(iter(skipped.values()))
    with pytest.raises(CharmError, match="has not seen"):
        load_stream(str(unseen), known={f"new{number}" for number in range(4)})
    with pytest.raises(CharmError, match="there is no stream nowhere"):
        load_stream("nowhere")
