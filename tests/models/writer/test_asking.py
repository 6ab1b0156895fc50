import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from charm.devices import Place
from charm.evaluation.predict import Request, predict
from charm.models.model import CharmModel
from charm.models.network import AskedBatch
from charm.models.writer import asking
from charm.models.writer.asking import answer_limit, at_once, drafts, likely_lengths, rounds, write_answers
from charm.models.writer.network import Writer
from charm.models.writer.writing import write
from charm.report.film import refinement_film
from charm.runs.votes import Candidates, Votes
from charm.tasks.batch import view_tokens
from charm.tasks.canvas import BOUNDARY, PAD
from charm.tasks.dataset import DataConfig, load_dataset
from charm.tasks.keys import ArcKey, MemoryConfig
from charm.tasks.sequences import ANSWER, END, LONGEST_ANSWER, START
from tests.toy.writer import SMALL, asked_writer

CPU = torch.device("cpu")


def test_lengths_are_judged_by_the_puzzles_own_outputs(tmp_path: Path) -> None:
    def grid(height: int, width: int) -> list[list[int]]:
        return [[1] * width for _ in range(height)]

    task = {
        "train": [{"input": grid(2, 2), "output": grid(2, 5)}, {"input": grid(2, 2), "output": grid(1, 3)}],
        "test": [{"input": grid(9, 9)}],
    }
    (tmp_path / "a.json").write_text(json.dumps(task))
    config = DataConfig(train=(), evaluate=(str(tmp_path),), auxiliary=(), views=4)
    assert likely_lengths(load_dataset(config)).tolist() == [5 * 3 + 1]  # 5 x 2 has more line ends than 2 x 5


def test_a_writer_that_copies_its_question_answers_with_the_input_under_the_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": [{"input": [[3, 4, 0], [5, 6, 7]]}]}
    (tmp_path / "a.json").write_text(json.dumps(task))
    data = load_dataset(DataConfig(train=(), evaluate=(str(tmp_path),), auxiliary=(), views=20))
    model = CharmModel(SMALL, MemoryConfig(rank=0, colors="free"), ArcKey(data.instances))
    bank, keys = data.question_bank, data.keys()
    row_N = torch.from_numpy(data.question_rows(data.questions[0])).long()
    question_N = origin_N = torch.zeros_like(row_N)

    def copy(
        writer: Writer, token_NL: Tensor, place_NL3: Tensor, length_N: Tensor, *rest: Any
    ) -> tuple[Tensor, Tensor]:
        answer_NA = torch.full((len(token_NL), 20), END, dtype=torch.uint8)
        for n, length in enumerate(length_N.tolist()):
            question = token_NL[n, -length:]
            assert (question[0], question[-1]) == (START, ANSWER)
            answer_NA[n, : length - 2] = question[1:-1]
        return answer_NA, torch.arange(len(token_NL)) * -1.0

    monkeypatch.setattr(asking, "write", copy)
    canvas_NT, sure_N = write_answers(model.reasoner, AskedBatch(bank, keys, question_N, row_N, model.task(row_N)))
    inputs_NT, _ = view_tokens(bank, keys, question_N, row_N, origin_N, origin_N, 30, outputs=False)
    assert torch.equal(canvas_NT, torch.where(inputs_NT == BOUNDARY, PAD, inputs_NT))
    odds = [math.exp(-n) / (1 - math.exp(-n)) if n else math.inf for n in range(len(row_N))]
    assert sure_N.exp().tolist() == pytest.approx(odds)
    film = refinement_film(model, data, data.questions[0], 1, CPU)  # which has one answer to show
    assert [grid.tolist() for grid in film] == [[[3, 4, 0], [5, 6, 7]]]


def test_answers_written_together_fit_the_memory() -> None:
    writer = Writer(SMALL)
    per_token = 2 * SMALL.layers * SMALL.recurrences * SMALL.width * 4  # keys and values, float32
    assert answer_limit(50) == 228
    assert answer_limit(900) == LONGEST_ANSWER
    fits = 2**30 // (per_token * (LONGEST_ANSWER + 228))
    assert at_once(writer, np.full(10**6, 50), CPU, 10**6) == fits
    assert at_once(writer, np.full(10**6, 50), CPU, 100) == 100
    longer = at_once(writer, np.r_[np.full(100, 50), np.full(10**6, 132)], CPU, 10**6)
    assert longer == 2**30 // (per_token * (LONGEST_ANSWER + 392))  # the longest makes room for all
    # A CPU does not pad short answers to far longer ones.
    assert at_once(writer, np.r_[np.full(100, 50), np.full(10**6, 133)], CPU, 10**6) == 100


def test_a_questions_first_view_is_answered_before_the_others() -> None:
    question_N = np.array([5, 5, 7, 5, 7, 5, 5, 9, 5])
    assert [part.tolist() for part in rounds(question_N)] == [[0, 2, 7], [1, 3, 4, 5], [6, 8]]


def test_drafts_are_the_candidates_with_most_votes_or_the_inputs(tmp_path: Path) -> None:
    _, data = asked_writer(tmp_path, questions=3)
    # Question 0: 1 x 2 with one vote, 2 x 1 with two. Question 1: no grid. Question 2: nothing.
    cells, shapes = np.array([1, 2, 3, 4], np.uint8), np.array([[1, 2], [2, 1], [0, 0]], np.uint8)
    question_K = np.array([0, 0, 1], np.int32)
    candidates = Candidates(question_K, np.arange(3, dtype=np.uint64), shapes, cells)
    voted = np.array([1, 0, 1, 2], np.int32)
    zeros = np.zeros(4)
    votes = Votes(candidates, voted, zeros.astype(np.int32), zeros.astype(np.float32), zeros.astype(np.uint8))
    found = drafts(data, votes.leading())
    for number, guess in enumerate(([[3], [4]], [[3, 4, 0], [5, 6, 1]], [[3, 4, 0], [5, 6, 2]])):
        pair = found.pair(number)
        assert pair.input.tolist() == [[3, 4, 0], [5, 6, number]]
        assert pair.output is not None
        assert pair.output.tolist() == guess


def test_votes_are_those_of_plain_writing_token_by_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = asked_writer(tmp_path)
    written = []

    def both(*about: Any) -> tuple[Tensor, Tensor]:
        *asked, draft_NA = about
        found, plain = write(*asked, draft_NA), write(*asked)
        assert torch.equal(found[0], plain[0])
        torch.testing.assert_close(found[1], plain[1], rtol=1e-4, atol=1e-3)
        written.append(draft_NA.shape)
        return found

    monkeypatch.setattr(asking, "write", both)
    votes = predict(Request(model, data, (1,), views=6), Place(CPU))[1]
    assert len(votes) == 12
    assert [len(shape) for shape in written] == [2, 2, 2]
    assert [shape[0] for shape in written] == [2, 6, 4]
