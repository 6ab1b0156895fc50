"""Prompts for language models, and the score of answers to them."""

import json
from pathlib import Path

import numpy as np
import pytest

from charm.automata.benchmark import read_benchmark
from charm.automata.dataset import CarData, combinations_of
from charm.cli import main
from tests.toy.automata import write_toy_benchmark


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write_toy_benchmark(tmp_path)


def exported(home: Path, *words: str) -> list[dict]:
    main(["car", "export", "--out", str(home / "prompts.jsonl"), "--data", str(home), *words])
    return [json.loads(line) for line in (home / "prompts.jsonl").read_text().splitlines()]


def scored(home: Path, answers: list[dict], capsys: pytest.CaptureFixture[str]) -> dict:
    (home / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
    capsys.readouterr()
    main(["car", "score", str(home / "prompts.jsonl"), str(home / "answers.jsonl"), "--json"])
    return json.loads(capsys.readouterr().out)


def truth_of(home: Path, puzzle: dict) -> np.ndarray:
    benchmark = read_benchmark(home / "car")
    [one] = [c for c in combinations_of(benchmark, CarData(benchmark.config)) if c.id == puzzle["id"]]
    assert one.trained
    return benchmark.outputs(one.rule, one.horizon, slice(4))


def rows(grids: np.ndarray) -> list[list[str]]:
    return [["".join(map(str, row)) for row in grid.tolist()] for grid in grids]


def test_a_prompt_holds_demonstrations_and_inputs_and_never_an_answer(home: Path) -> None:
    lines = exported(home, "--puzzles", "2", "--demonstrations", "3")
    assert [line["horizon"] for line in lines] == [1, 1, 2, 2]
    assert len({line["id"] for line in lines}) == 4
    benchmark = read_benchmark(home / "car")
    for line in lines:
        [rule] = [rule for rule in benchmark.rules if str(rule) == line["rule"]]
        assert line["tests"] == rows(benchmark.inputs(rule, slice(4)))
        for grids in (
            benchmark.inputs(rule, slice(4)),
            benchmark.inputs(rule, slice(4, 7)),
            benchmark.outputs(rule, line["horizon"], slice(4, 7)),
        ):
            assert all("\n".join(grid) in line["prompt"] for grid in rows(grids))
        assert "Example 3, output" in line["prompt"]
        assert "Example 4" not in line["prompt"]
        assert line["rule"] not in line["prompt"]
        assert not any("\n".join(grid) in json.dumps(line) for grid in rows(truth_of(home, line)))
    assert exported(home, "--puzzles", "2", "--demonstrations", "3") == lines  # the same every time


def test_scores_are_those_counted_by_hand(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other, third, last = exported(home, "--puzzles", "2", "--demonstrations", "1")
    right = {line["id"]: truth_of(home, line) for line in (one, other, third, last)}
    half = right[one["id"]].copy()
    half[2:] = 9 - half[2:]
    text = f"Thinking [1, 2] ...\n```json\n{json.dumps(rows(right[other['id']]))}\n```\nDone."
    found = scored(
        home,
        [
            {"id": one["id"], "answer": half.tolist()},  # two of four right
            {"id": other["id"], "answer": text},  # all
            {"id": one["id"], "answer": rows(right[one["id"]][[0, 1, 3, 2]])},  # the same two
            {"id": third["id"], "answer": "I do not know"},
            {"id": third["id"], "answer": json.dumps(rows(right[third["id"]]))},
        ],
        capsys,
    )
    assert found == {
        "T=1": {
            "puzzles": 2,
            "pass@1": (0.5 + 0.5) / 2,
            "pass@2": (0.5 + 1) / 2,
            "missing": 1,
            "unreadable": 0,
        },
        "T=2": {"puzzles": 2, "pass@1": 0.25, "pass@2": 0.5, "missing": 2, "unreadable": 1},
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: not readable"),
        ("[" * 100_000, "line 1: not readable"),
        ('{"id": "a", "id": "b"}', "line 1: not readable"),
        ("[]", "line 1: expected a JSON object, got list"),
        ('{"id": "B1/S1 T9", "answer": ""}', "'B1/S1 T9' is not among the 2 puzzles"),
        ('{"id": [1], "answer": ""}', "[1] is not among the 2 puzzles"),
        ('{"answer": ""}', 'expected the fields "id" and "answer"'),
    ],
)
def test_bad_answers_are_named(home: Path, capsys: pytest.CaptureFixture[str], line: str, message: str) -> None:
    exported(home, "--puzzles", "1")
    (home / "answers.jsonl").write_text(line)
    with pytest.raises(SystemExit):
        main(["car", "score", str(home / "prompts.jsonl"), str(home / "answers.jsonl")])
    assert message in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["car", "score", str(home / "answers.jsonl"), str(home / "answers.jsonl")])
    assert "answers.jsonl, line 1: " in capsys.readouterr().err


def test_more_attempts_or_puzzles_than_there_are(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [line, _] = exported(home, "--puzzles", "1")
    with pytest.raises(SystemExit):
        scored(home, [{"id": line["id"], "answer": ""}] * 3, capsys)
    assert "more than 2 attempts" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        exported(home, "--puzzles", "4")
    assert "3 seen combinations at T=1, but 4 were requested" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        exported(home, "--demonstrations", "9")
    assert "demonstrations in 1..8" in capsys.readouterr().err
