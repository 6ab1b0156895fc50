"""examples/sudoku.py: a domain of one file is served by every command, and its puzzles are what it says."""

import json
import random
import shutil
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from charm.cli import main
from charm.domains import DOMAINS
from charm.errors import CharmError
from charm.runs import checkpoint

EXAMPLE = Path(__file__).parents[1] / "examples" / "sudoku.py"
SMALL = "--steps 6 --batch 4 --puzzles 12 --held-out 5 --checkpoint-every 3 --evaluate-every 3 --log-every 2"
SMALL += " --reasoner.width 16 --reasoner.heads 2 --reasoner.recurrences 1 --reasoner.horizon 1 --device cpu"


@pytest.fixture
def sudoku(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    spec = spec_from_file_location("sudoku", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "sudoku", module)  # where flags look for the texts of fields
    spec.loader.exec_module(module)
    yield vars(module)
    del DOMAINS["sudoku"]


def by_hand(puzzle: list[int]) -> list[list[int]]:
    """All solutions of a 4 x 4 puzzle: every way to fill every row, looked at one by one."""
    found: list[list[int]] = [[]]
    for row in range(4):
        given = puzzle[4 * row : 4 * row + 4]
        fitting = [
            list(one) for one in permutations((1, 2, 3, 4)) if all(g in (0, d) for g, d in zip(given, one, strict=True))
        ]
        found = [[*before, *one] for before in found for one in fitting]
    boxes = [(0, 1, 4, 5), (2, 3, 6, 7), (8, 9, 12, 13), (10, 11, 14, 15)]
    lines = [range(column, 16, 4) for column in range(4)] + boxes
    return [one for one in found if all(len({one[cell] for cell in line}) == 4 for line in lines)]


def test_puzzles_have_one_solution_and_no_digit_too_many(sudoku: dict[str, Any]) -> None:
    rng = random.Random(1)
    for _ in range(10):
        puzzle, solution = sudoku["make_puzzle"](2, rng)
        assert by_hand(puzzle) == [solution]
        for cell in range(16):
            if puzzle[cell]:
                assert len(by_hand([*puzzle[:cell], 0, *puzzle[cell + 1 :]])) > 1
    kept, _ = sudoku["make_puzzle"](2, rng, givens=9)
    assert sum(map(bool, kept)) == 9


def test_held_out_puzzles_are_new_under_any_names(sudoku: dict[str, Any]) -> None:
    learned, held_out = sudoku["boards"](sudoku["SudokuConfig"](puzzles=40, held_out=20))
    seen = set()
    for puzzle, _ in learned.tolist():
        for names in permutations((1, 2, 3, 4)):
            seen.add(tuple((0, *names)[digit] for digit in puzzle))
    assert not any(tuple(puzzle) in seen for puzzle, _ in held_out.tolist())
    with pytest.raises(CharmError, match="fewer than 10 different puzzles"):
        sudoku["boards"](sudoku["SudokuConfig"](puzzles=5, held_out=5, box=1))


def test_every_command_serves_it(sudoku: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    main(["train", "sudoku-4x4", "--out", run, *SMALL.split()])
    capsys.readouterr()
    main(["eval", run, "--json", "--device", "cpu"])
    scores = json.loads(capsys.readouterr().out)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert scores == {"step": 6, "solved": lines[-1]["evaluation/solved"]}
    main(["report", run])
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Held-out puzzles solved" in page
    main(["params", "sudoku-4x4", "--json"])
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["total"] > 0
    with pytest.raises(SystemExit):
        main(["bench", "sudoku-4x4"])
    assert "cannot time presets on sudoku" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["train", "sudoku-5x5"])
    assert "the names are sudoku-4x4, sudoku-9x9" in capsys.readouterr().err


def test_a_resumed_run_is_the_whole_one(sudoku: dict[str, Any], tmp_path: Path) -> None:
    for name in ("whole", "parts"):
        main(["train", "sudoku-4x4", "--out", str(tmp_path / name), *SMALL.split()])
    shutil.rmtree(checkpoint.folder_of(tmp_path / "parts", 6))
    main(["train", "sudoku-4x4", "--out", str(tmp_path / "parts"), "--resume", *SMALL.split()])
    files = [checkpoint.folder_of(tmp_path / name, 6) / "model.safetensors" for name in ("whole", "parts")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_file_is_short() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 200


def test_a_preset_for_a_gpu_is_trained_on_a_cpu_with_a_warning(
    sudoku: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The configuration of such a domain has no data, where commands might look for a canvas."""
    small = f"{SMALL} --box 2 --givens 0 --reasoner.layers 1 --reasoner.refinement-steps 1".split()
    main(["train", "sudoku-9x9", *small, "--out", str(tmp_path / "run")])
    assert "meant for a GPU" in capsys.readouterr().out
    assert checkpoint.steps_of(tmp_path / "run")[-1] == 6
