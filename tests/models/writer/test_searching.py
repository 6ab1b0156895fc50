"""Search against every answer there is: each is read as a whole, without a cache."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from charm.evaluation.decode import hash_grid
from charm.evaluation.predict import SEARCHED, contested, log_likelihoods, search_answers
from charm.models.writer import asking
from charm.models.writer.network import Writer, turned
from charm.models.writer.searching import search
from charm.models.writer.writing import questions
from charm.runs.votes import Candidates, Votes
from charm.tasks.canvas import BOUNDARY
from charm.tasks.sequences import END, SEQUENCE_VOCABULARY, Pack
from tests.toy.writer import asked_writer, make_pack, trained_like

LONGEST = 4  # tokens of an answer: 14 + 14^2 + 14^3 of them continue


class Brief(Writer):
    """Tends to close a row after a cell, and to end after a row, so that answers of a few tokens are probable."""

    def forward(self, token: Tensor, place: Tensor, after: Tensor, task: Tensor, *rest: Any) -> Tensor:
        logits = super().forward(token, place, after, task, *rest)
        after = rest[-1].pick(after) if len(rest) == 2 and rest[-1] is not None else after
        row, column, _ = after.unbind(-1)
        logits[..., BOUNDARY] += 6.0 * (column > 1)
        logits[..., END] += 9.0 * (row > 1)
        return logits


def brief(writer: Writer) -> Writer:
    writer.__class__ = Brief
    return writer


def places(tokens: tuple[int, ...]) -> list[tuple[int, int, int]]:
    found, row, column = [(1, 1, 1)], 1, 1
    for token in tokens:
        row, column = (row + 1, 1) if token == BOUNDARY else (row, column + 1)
        found.append((row, column, 1))
    return found


def all_answers(writer: Writer, pack: Pack, number: int, task_D: Tensor) -> dict[tuple[int, ...], float]:
    """Return the log-probability of every answer to a question, END included, of at most LONGEST tokens."""
    begin, end = int(pack.edges_N2[number]), int(pack.answers_N[number])
    others = [token for token in range(SEQUENCE_VOCABULARY) if token != END]
    strings = [*itertools.product(others, repeat=LONGEST - 1)]
    asked, count = end - begin, len(strings)
    token_NL = torch.cat([pack.token_L[begin:end].expand(count, -1), torch.tensor(strings)], dim=1)
    stand_N3 = torch.tensor([places(one) for one in strings])
    place_NL3 = torch.cat([pack.place_L3[begin:end].expand(count, -1, -1), stand_N3[:, :-1]], dim=1)
    after_NL3 = torch.cat([pack.place_L3[begin + 1 : end].expand(count, -1, -1), stand_N3], dim=1)
    sees = torch.ones(token_NL.shape[1], token_NL.shape[1], dtype=torch.bool).tril()
    if writer.config.reads == "whole":
        sees[:asked, :asked] = True

    def attend(q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=sees).transpose(1, 2)

    logits = writer(token_NL, place_NL3, after_NL3, task_D.expand(count, 1, -1), turned(attend))
    likely_NAV = logits[:, asked - 1 :].log_softmax(-1).double()
    found: dict[tuple[int, ...], float] = {}
    for string, likely_AV in zip(strings, likely_NAV, strict=True):
        total = 0.0
        for at, token in enumerate((*string, END)):
            found[(*string[:at], END)] = total + float(likely_AV[at, END])
            total += float(likely_AV[at, token])
    return found


@pytest.mark.parametrize("least", [0.1, 0.01, 0.002])
@pytest.mark.parametrize(
    "changes", [{}, {"reads": "whole"}, {"recipe": ("film", "steps")}, {"recipe": ("next-place",), "recurrences": 1}]
)
@torch.no_grad()
def test_search_finds_every_answer_above_the_least_probability(changes: dict[str, Any], least: float) -> None:
    writer, pack = brief(trained_like(3, **changes)), make_pack(1, asked=True, count=3)
    task_ND = torch.randn(3, writer.config.width, generator=torch.Generator().manual_seed(2))
    limit_N = torch.tensor([LONGEST, LONGEST - 1, LONGEST])
    number_M, answer_MA, likely_M = search(writer, *questions(pack), task_ND, limit_N, least)
    found: dict[int, dict[tuple[int, ...], float]] = {0: {}, 1: {}, 2: {}}
    for number, tokens, likely in zip(number_M.tolist(), answer_MA.tolist(), likely_M.tolist(), strict=True):
        ended = tokens.index(END)
        assert set(tokens[ended:]) == {END}
        assert (*tokens[:ended], END) not in found[number]
        found[number][(*tokens[:ended], END)] = likely
    for number, limit in enumerate(limit_N.tolist()):
        every = all_answers(writer, pack, number, task_ND[number])
        expected = {one: likely for one, likely in every.items() if likely >= math.log(least) and len(one) <= limit}
        assert found[number] == pytest.approx(expected, abs=1e-4)
    assert any(found.values())
    if least < 0.01:
        assert sum(map(len, found.values())) > 6
        assert len({len(one) for some in found.values() for one in some}) > 1


def test_searched_answers_are_grids_in_the_tasks_own_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is at least as probable under a view, by reading it; and what a view writes is found if it is."""
    model, data = asked_writer(tmp_path)
    assert isinstance(model.reasoner, Writer)
    brief(model.reasoner)
    monkeypatch.setattr(asking, "answer_limit", lambda likely_N: np.full_like(likely_N, 3))  # one cell
    questions_Q, least = np.array([0, 1]), 0.01
    found = search_answers(model, data, questions_Q, least)
    assert len(found) > 2
    names = [*zip(found.question_K.tolist(), found.hash_K.tolist(), strict=True)]
    assert len({*names}) == len(names)
    likely_KJ = log_likelihoods(model, data, found, SEARCHED)
    assert (likely_KJ.max(1) >= math.log(least) - 1e-4).all()
    grids = [np.full((1, 1), color, np.uint8) for color in range(10)] * 2
    every = Candidates(
        np.repeat(questions_Q, 10).astype(np.int32),
        np.array([hash_grid(grid) for grid in grids], np.uint64),
        np.ones((20, 2), np.uint8),
        np.concatenate([grid.ravel() for grid in grids]),
    )
    probable = log_likelihoods(model, data, every, SEARCHED).max(1) >= math.log(least)
    expected = {(int(q), int(h)) for q, h in zip(every.question_K[probable], every.hash_K[probable], strict=True)}
    assert {*names} == expected
    assert not len(search_answers(model, data, questions_Q, least, lambda: True))
    assert not len(search_answers(model, data, questions_Q[:0], least))


def test_questions_are_contested_by_hand() -> None:
    """2 of 4 votes for one answer; 1 of 3; none; one of one; and two for no grid at all."""
    candidate_V = np.array([0, 0, 1, 2, 3, 4, 5, 6, 7, 7], np.int32)
    question_K, count = np.array([0, 0, 0, 1, 1, 1, 3, 4], np.int32), 8
    shape_K2 = np.ones((count, 2), np.uint8)
    shape_K2[7] = 0
    table = Candidates(question_K, np.arange(count, dtype=np.uint64), shape_K2, np.zeros(count - 1, np.uint8))
    zeros = np.zeros(len(candidate_V), np.int32)
    votes = Votes(table, candidate_V, zeros, zeros.astype(np.float32), zeros.astype(np.uint8))
    assert contested(votes, 5).tolist() == [1, 2, 4]
