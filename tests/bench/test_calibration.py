"""From the log of a solve to the record of a model: made-up votes whose true chances are known."""

import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.calibration import MOST_ERROR, Case, calibration, calibration_error, count, held_out, main
from benchmarks.records import read_record
from charm.evaluation.calibration import calibration_of
from charm.evaluation.ranking import Candidate
from charm.files import fingerprint, read_json
from charm.models.model import CALIBRATION, CharmModel
from charm.solving.solution import Solution
from charm.solving.vote_log import VoteLog, begin_course, read_course, round_json
from charm.tasks.keys import ArcKey, MemoryConfig
from charm.tasks.sources import load_source
from charm.tasks.task import Question
from tests.toy.models import REASONER, some_instances

CAST, TASKS = 64, 400


def made_up(seed: int, chance: float | None = None) -> list[Case]:
    """Attempts at 400 tasks; the chance of each follows from its share and kind, or is the same for all."""
    rng = random.Random(seed)
    found = []
    for task in range(TASKS):
        first = rng.random()
        second = rng.random() * min(first, 1 - first)
        close = second >= 0.5 * first
        p = first**2 * (0.7 if close else 1.0) if chance is None else chance
        right = rng.random() < p
        found.append(Case(str(task), "close" if close else "ahead", first, right))
        p = 0.5 * second if chance is None else chance
        found.append(Case(str(task), "second", second, not right and rng.random() < p))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_counts_hold_on_tasks_that_were_left_out(seed: int) -> None:
    """What is said comes true as often as it says; the shares themselves, taken for chances, do not."""
    cases = made_up(seed)
    held = held_out(cases)
    assert held.cases == 2 * TASKS
    assert held.calibration_error < MOST_ERROR
    assert held.square_error < 0.75 * held.square_error_of_one_number
    shares, right = (np.array([getattr(case, name) for case in cases], float) for name in ("share", "right"))
    assert calibration_error(shares, right) > 1.5 * MOST_ERROR


def test_the_counts_are_the_true_chances() -> None:
    """Within three standard errors, in blocks of at least 20 of 20,000 cases."""
    cases = [case for seed in range(50) for case in made_up(seed)]
    for kind, factor in (("ahead", 1.0), ("close", 0.7)):
        own = [case for case in cases if case.kind == kind]
        blocks = getattr(calibration(cases, "", "", ""), kind)
        ends = [*(block.share for block in blocks[1:]), 2.0]
        off = []
        for block, end in zip(blocks, ends, strict=True):
            true = np.mean([factor * case.share**2 for case in own if block.share <= case.share < end])
            off.append(abs(block.right / block.of - true) / max(np.sqrt(true * (1 - true) / block.of), 1e-3))
        assert np.quantile(off, 0.9) < 3


def test_a_task_is_left_out_with_all_of_its_attempts() -> None:
    """Its own answers would say too much of it: here all attempts of a task are right or all wrong, by chance."""
    rng = random.Random(1)
    tasks = [rng.random() < 0.5 for _ in range(20)]
    cases = [Case(str(task), "ahead", task / 20, right) for task, right in enumerate(tasks) for _ in range(20)]
    held = held_out(cases)
    assert held.square_error > held.square_error_of_one_number


def solve(folder: Path, chance: float | None = None) -> Path:
    """Write tasks, a model and the files of a solve in which votes say how often an answer is right."""
    rng = random.Random(0)
    tasks, model = folder / "tasks", folder / "model"
    tasks.mkdir(parents=True)
    CharmModel(REASONER, MemoryConfig(rank=0), ArcKey(some_instances())).save(model)
    for n in range(120):
        pair = {"input": [[n % 10, n // 10 % 10, n // 100]], "output": [[1, 2]]}
        (tasks / f"t{n}.json").write_text(json.dumps({"train": [pair], "test": [pair]}))
    loaded = load_source(str(tasks)).tasks
    weights = fingerprint(model / "model.safetensors")["sha256"]
    about = {
        "model": "model",
        "mode": "auto",
        "budget": 60.0,
        "charm": "0",
        "settings": {"weights": weights, "seed": 7},
    }
    out = folder / "submission.json"
    log = VoteLog(out, about, {task.id: begin_course(task) for task in loaded})
    passed = 0
    for task in loaded:
        first = rng.randint(1, CAST)
        right = rng.random() < (first / CAST if chance is None else chance)
        later = not right and rng.random() < 0.3
        votes = [first, *([CAST - first] if first < CAST else [])]
        passed += right or (later and len(votes) > 1)
        grids = [np.array([[1, 2]] if hit else [[0, place]], np.uint8) for place, hit in enumerate((right, later))]
        ranked = [Candidate(grid, 0, some, some, 0.5) for grid, some in zip(grids, votes, strict=False)]
        asked = Question(task.id, 0)
        for views, candidates in ((1, ranked[:1]), (CAST, ranked)):  # the first round does not count
            log.add(task.id, round_json(Solution({asked: candidates}, 9, views, 0.1, 1.0, 1.0), [asked]))
        log.add(task.id, {"ended": ""})
    log.begin()
    log.flush()
    scores = {"metrics": {"pass@2/outputs": passed / 120}, "device_seconds_per_task": 2.5, "hardware": "a toy"}
    out.with_suffix(".scores.json").write_text(json.dumps(scores))
    return out


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    monkeypatch.setattr(sys, "argv", ["calibration.py", *map(str, words)])
    main()


def test_from_a_solve_to_what_the_next_one_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, model, kept = solve(tmp_path), tmp_path / "model", tmp_path / "votes.json"
    run(monkeypatch, out, tmp_path / "tasks", "--model", model, "--record", kept)
    found = calibration_of(CharmModel.from_pretrained(model), "auto")
    assert found is not None
    assert f"wrote {model / CALIBRATION}" in capsys.readouterr().out
    assert "120 tasks of" in found.tasks
    assert "with 2.5 s of a toy each" in found.tasks
    cases = count(read_course(out)[1], [load_source(str(tmp_path / "tasks"))]).cases
    assert sum(block.of for block in (*found.ahead, *found.close, *found.second)) == len(cases)

    asked = Question("new", 0)
    grids = [Candidate(np.full((1, 1), n, np.uint8), n, votes, votes, 0.26) for n, votes in enumerate((50, 6, 2))]
    solution = Solution({asked: grids}, 30, CAST, 0.1, 1.0, 60.0, calibration=found)
    block = next(one for one in reversed(found.ahead) if one.share <= 50 / CAST)
    often = f"{block.word}: answers with such votes were right in {block.right} of {block.of} cases"
    assert solution.often(asked, 0) == often
    assert [bool(solution.often(asked, n)) for n in range(3)] == [True, True, False]
    monkeypatch.setenv("COLUMNS", "40")  # one attempt below the other
    for text in (str(solution), solution._repr_html_()):
        assert often in " ".join(text.split())
        assert "counted on 120 tasks of" in text

    record = read_record(kept)
    assert record.seeds == (7,)
    assert record.runs[0]["attempts"] == [[*case[:2], round(case.share, 6), int(case.right)] for case in cases]
    assert record.number("held out: cases") == len(cases)
    assert record.number("ahead: attempts") == sum(block.of for block in found.ahead)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("weights", "was not solved with the weights"),
        ("scores", "the votes give"),
        ("unfinished", "was not finished"),
        ("tasks", "is in none of"),
        ("chance", "do not hold on tasks left out"),
        ("missing", "not readable"),
    ],
)
def test_what_does_not_hold_writes_nothing(
    damage: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, model = solve(tmp_path, 0.5 if damage == "chance" else None), tmp_path / "model"
    scores, log = out.with_suffix(".scores.json"), out.with_suffix(".votes.jsonl")
    if damage == "weights":
        (model / "model.safetensors").write_bytes(b"others")
    if damage == "scores":
        found = read_json(scores)
        found["metrics"]["pass@2/outputs"] += 0.01
        scores.write_text(json.dumps(found))
    if damage == "unfinished":
        log.write_text("".join(line for line in log.read_text().splitlines(True) if '"ended"' not in line))
    if damage == "tasks":
        (tmp_path / "tasks" / "t7.json").unlink()
    if damage == "missing":
        scores.unlink()
    with pytest.raises(SystemExit, match=message):
        run(monkeypatch, out, tmp_path / "tasks", "--model", model)
    assert not (model / CALIBRATION).exists()


def test_answers_without_learning_are_not_counted(tmp_path: Path) -> None:
    out = solve(tmp_path)
    courses, sources = read_course(out)[1], [load_source(str(tmp_path / "tasks"))]
    before = len(count(courses, sources).cases)
    for name, exact, updates in (("t1", 0.0, 9), ("t2", 0.49, 9), ("t3", 0.5, 9), ("t4", None, 9), ("t5", 1.0, 0)):
        courses[name].rounds[-1] |= {"exact": exact, "updates": updates}
    after = {case.task for case in count(courses, sources).cases}
    assert {"t1", "t2", "t3", "t4", "t5"} - after == {"t1", "t2", "t5"}
    assert before - 6 <= len(count(courses, sources).cases) <= before - 3
