"""The record of a piece of the flagship: scores by part, of each solve, of all together, and of the best of them."""

import json
from pathlib import Path

import pytest

from benchmarks.piece_record import best_of, gather, pass_at

FIRST = {"a": [1], "b": [None, 2], "c": [3]}
SECOND = {"a": [4], "b": [1, None], "c": [2]}
TOGETHER = {"a": [2], "b": [1, 5], "c": [None]}


def write_votes(folder: Path, name: str, voters: str, ranks: dict[str, list[int | None]]) -> None:
    tasks = [{"task_id": task, "outputs": [{"rank": rank} for rank in some]} for task, some in ranks.items()]
    (folder / name).write_text(json.dumps({"folder": voters, "tasks": tasks}))


def test_a_score_is_the_mean_over_tasks_of_the_share_of_right_outputs() -> None:
    assert pass_at(1, FIRST, FIRST) == pytest.approx(100 / 3, abs=0.01)
    assert pass_at(2, FIRST, FIRST) == pytest.approx(100 * (1 + 0.5 + 0) / 3, abs=0.01)
    assert pass_at(1000, FIRST, ["b", "c"]) == 75.0


def test_the_best_rank_of_each_answer_counts() -> None:
    assert best_of([FIRST, SECOND]) == {"a": [1], "b": [1, 2], "c": [2]}


def test_a_folder_becomes_numbers(tmp_path: Path) -> None:
    views = {f"{view}: {what}": 1.5 for view in ("original view", "random view") for what in ("exact", "loss")}
    zero = {f"{view}: rules at zero": 3 for view in ("original view", "random view")}
    (tmp_path / "piece").mkdir()
    piece = {"variant": "large", "seed": 7, "updates": 10, "seconds": 2.0, "lines": [{**views, **zero}]}
    (tmp_path / "piece" / "record.json").write_text(json.dumps(piece))
    for seed, ranks in enumerate((FIRST, SECOND)):
        folder = tmp_path / f"solve-{seed}"
        folder.mkdir()
        solve = {"variant": "solve", "seed": seed, "updates": 5, "lines": [{"loss": 1.0, "exact by output": [1.0]}]}
        (folder / "record.json").write_text(json.dumps(solve))
        write_votes(folder, "votes_32.json", folder.name, ranks)
    write_votes(tmp_path / "solve-0", "votes_32_solve-1.json", "solve-0+solve-1", TOGETHER)
    parts = {"49-100": {"a"}, "251-400": {"b"}, "1-48": {"c"}}

    found = gather(tmp_path, "large-9", parts)

    assert found["seeds"] == [0, 1]
    numbers = found["numbers"]
    assert numbers["large-9: updates"] == 10
    assert numbers["large-9, fresh pairs, random view: rules at zero"] == 3
    assert numbers["solve-0: pass@2"] == 50.0
    assert numbers["solve-1: pass@2"] == 50.0
    assert numbers["mean: pass@1"] == pytest.approx((100 / 3 + 50 / 3) / 2, abs=0.01)
    assert numbers["solve-0, untouched 2: pass@2"] == 75.0
    assert numbers["mean, 1-48: pass@2"] == 50.0
    assert numbers["solve-0+solve-1: pass@2"] == 50.0
    assert numbers["either in its first two: pass@2"] == 100.0
    assert numbers["solve-0: complete"] == 1
    assert found["runs"]["solve-0"]["ranks of the answers"] == FIRST
    assert found["runs"]["solve-0"]["lines"] == [{"loss": 1.0}]
