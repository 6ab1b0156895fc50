import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from charm.evaluation import writing
from charm.evaluation.placing import AskedBatch
from charm.evaluation.writing import answer_limit, at_once, likely_lengths, write_answers
from charm.models.model import CharmModel
from charm.models.writer.network import Writer
from charm.tasks.batch import view_tokens
from charm.tasks.canvas import BOUNDARY, PAD
from charm.tasks.dataset import DataConfig, load_dataset
from charm.tasks.keys import ArcKey, MemoryConfig
from charm.tasks.sequences import ANSWER, END, LONGEST_ANSWER, START
from tests.models.writer.test_network import SMALL

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

    monkeypatch.setattr(writing, "write", copy)
    canvas_NT, sure_N = write_answers(
        model.reasoner, AskedBatch(bank, keys, question_N, row_N, model.task(row_N))
    )
    inputs_NT, _ = view_tokens(bank, keys, question_N, row_N, origin_N, origin_N, 30, outputs=False)
    assert torch.equal(canvas_NT, torch.where(inputs_NT == BOUNDARY, PAD, inputs_NT))
    odds = [math.exp(-n) / (1 - math.exp(-n)) if n else math.inf for n in range(len(row_N))]
    assert sure_N.exp().tolist() == pytest.approx(odds)


def test_answers_written_together_fit_the_memory() -> None:
    writer = Writer(SMALL)
    per_token = 2 * SMALL.layers * SMALL.recurrences * SMALL.width * 4  # keys and values, float32
    assert answer_limit(50) == 228
    assert answer_limit(900) == LONGEST_ANSWER
    fits = 2**30 // (per_token * (LONGEST_ANSWER + 228))
    assert at_once(writer, np.full(10**6, 50), CPU, 10**6) == fits
    assert at_once(writer, np.full(10**6, 50), CPU, 100) == 100
    longer = at_once(writer, np.r_[np.full(100, 50), np.full(10**6, 900)], CPU, 10**6)
    assert longer == 2**30 // (per_token * 2 * LONGEST_ANSWER)  # the longest makes room for all
