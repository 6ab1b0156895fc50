from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation import predict
from charm.evaluation.archive import pass_folder, passes, read_pass, read_votes
from charm.evaluation.predict import jobs, predict_votes
from charm.evaluation.protocols import Protocol
from charm.evaluation.run import evaluate_run, evaluate_votes
from charm.model import CharmModel
from charm.reasoner.refine import refine
from charm.tasks.canvas import crop, place
from charm.tasks.dataset import Dataset, assemble
from charm.tasks.task import Grid
from charm.training.loop import train
from tests.test_model import shake
from tests.toy import toy_config, write_toy_tasks

HERE = Place(torch.device("cpu"))


@pytest.fixture
def setting(tmp_path: Path) -> tuple[CharmModel, Dataset]:
    config = toy_config(write_toy_tasks(tmp_path / "tasks"))
    data = assemble(config.data)
    return shake(CharmModel(config.model, data.instances)), data


def candidates(folder: Path, loops: int) -> dict[tuple[int, int], bytes]:
    """(question, row) -> the grid that was voted for."""
    votes = read_pass(folder, 0, loops).votes
    found = {}
    for v in range(len(votes)):
        grid = votes.candidates.grid(votes.candidate_V[v])
        found[int(votes.question_V[v]), int(votes.row_V[v])] = bytes(grid.shape) + grid.tobytes()
    return found


def test_votes_equal_one_prediction_at_a_time(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    """Against the plain path: view of the input on a canvas, refine, crop, invert the view; at both depths."""
    model, data = setting
    predict_votes(model, data, tmp_path, 0, (2, 3), None, HERE, batch=5)
    for depth in (2, 3):
        found = candidates(tmp_path, depth)
        assert len(found) == sum(len(data.question_rows(question)) for question in data.questions)
        for (question, row), grid_bytes in found.items():
            puzzle, view = data.instances.key(row)
            assert puzzle == data.questions[question].task_id
            seen = place(view.apply(data.question_bank.pair(question).input), 11)
            tokens = torch.from_numpy(seen).reshape(1, -1)
            with torch.no_grad():
                task = model.task(torch.tensor([row]))
            logits, _ = list(refine(model.reasoner, tokens, task, depth))[-1]
            answer: Grid = crop(logits.argmax(-1).reshape(11, 11).numpy().astype(np.uint8))
            grid = view.invert(answer) if answer.size else answer
            assert grid_bytes == bytes(grid.shape) + grid.tobytes()


def test_ranks_share_the_work(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    model, data = setting
    predict_votes(model, data, tmp_path / "one", 0, (3,), None, HERE)
    for rank in range(3):
        predict_votes(model, data, tmp_path / "three", 0, (3,), None, Place(torch.device("cpu"), rank, 3))
    assert candidates(tmp_path / "one", 3) == candidates(tmp_path / "three", 3)
    assert read_pass(tmp_path / "three", 0, 3).missing == ()


def test_a_killed_evaluation_goes_on(
    setting: tuple[CharmModel, Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data = setting
    predict_votes(model, data, tmp_path / "whole", 0, (2, 3), None, HERE, batch=4)
    monkeypatch.setattr(predict, "SAVE_SECONDS", 0.0)

    def dies(done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_votes(model, data, tmp_path / "parts", 0, (2, 3), None, HERE, batch=4, advance=dies)
    assert read_pass(tmp_path / "parts", 0, 3).missing == (0,)
    seen: list[int] = []
    predict_votes(
        model,
        data,
        tmp_path / "parts",
        0,
        (2, 3),
        None,
        HERE,
        batch=4,
        advance=lambda done, total: seen.append(done),
    )
    assert seen[0] > 0
    for depth in (2, 3):
        assert candidates(tmp_path / "parts", depth) == candidates(tmp_path / "whole", depth)
    assert read_pass(tmp_path / "parts", 0, 3).missing == ()


def test_a_damaged_votes_file_is_made_again(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    model, data = setting
    predict_votes(model, data, tmp_path, 0, (3,), 2, HERE)
    file = pass_folder(tmp_path, 0, 3) / "rank_0.npz"
    before = candidates(tmp_path, 3)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(CharmError):
        read_votes(file)
    predict_votes(model, data, tmp_path, 0, (3,), 2, HERE)
    assert candidates(tmp_path, 3) == before


def test_views_are_the_first_of_each_puzzle(setting: tuple[CharmModel, Dataset]) -> None:
    _, data = setting
    question, row, side = jobs(data, 2)
    assert len(row) == 2 * len(data.questions)
    for number, one in enumerate(data.questions):
        assert row[question == number].tolist() == data.instances.rows(one.task_id)[:2].tolist()
    assert set(side.tolist()) == {11}


def test_a_run_is_evaluated_ranked_again_and_without_its_memory(tmp_path: Path) -> None:
    config = toy_config(
        write_toy_tasks(tmp_path / "tasks"), evaluate_every=6, evaluate_views=4, keep_checkpoints=0
    )
    run = tmp_path / "run"
    train(config, run, HERE, say=lambda text: None)
    assert passes(run / "votes") == {6: (3,), 12: (3,)}
    assert (run / "eval" / "step_000000012.json").is_file()
    wider = Protocol(views=6, window="all", loops=(2, 3))
    found = evaluate_run(run, "mine", wider, HERE)
    assert found is not None
    assert found["puzzles"] == 3
    assert found["protocol"]["window"] == "all"
    assert passes(run / "votes") == {6: (2, 3), 12: (2, 3)}
    again = evaluate_votes(run / "votes", replace(wider, window="current"), config.data)
    assert again.step == 12
    blank = evaluate_run(run, "mine", wider, HERE, blank_memory=True)
    assert blank is not None
    assert blank["protocol"]["name"] == "blank"
    with pytest.raises(CharmError, match="no votes of step 12 with 7 loops"):
        evaluate_run(run, "deep", replace(wider, loops=(7,)), HERE, rank_only=True)


def test_blank_memory_forgets_the_task(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    """Without memory all rows are alike: a view is told from another only by its input."""
    model, data = setting
    predict_votes(model, data, tmp_path, 0, (3,), 1, HERE, blank_memory=True)
    votes = candidates(tmp_path, 3)
    for question in range(len(data.questions)):
        tokens = torch.from_numpy(place(data.question_bank.pair(question).input, 11)).reshape(1, -1)
        logits, _ = list(refine(model.reasoner, tokens, torch.zeros(1, 32), 3))[-1]
        grid = crop(logits.argmax(-1).reshape(11, 11).numpy().astype(np.uint8))
        row = int(data.question_rows(data.questions[question])[0])
        assert votes[question, row] == bytes(grid.shape) + grid.tobytes()
