import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from charm.evaluation.predict import JUDGES, Judgements, judge_votes, log_likelihoods
from charm.models.model import CharmModel
from charm.models.writer import asking
from charm.models.writer.network import Writer, turned
from charm.runs.votes import Candidates, probability
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR
from charm.tasks.dataset import DataConfig, load_dataset
from charm.tasks.keys import ArcKey, MemoryConfig
from charm.tasks.sequences import ANSWER, END, START
from charm.tasks.task import Grid
from charm.tasks.view import View
from tests.toy import hand
from tests.toy.writer import SMALL, count_judged


def slow(model: CharmModel, view: View, question: Grid, answer: Grid, row: int) -> float:
    """The log-probability of an answer, token by token from grids that were turned and recoloured one by one."""
    assert isinstance(model.reasoner, Writer)
    tokens, places = [START], [(0, 0, 0)]
    for part, grid in enumerate((view.apply(question), view.apply(answer))):
        for r, line in enumerate(grid.tolist()):
            tokens += [*(cell + FIRST_COLOR for cell in line), BOUNDARY]
            places += [(r + 1, c + 1, part) for c in range(len(line) + 1)]
        tokens.append((ANSWER, END)[part])
        places.append((0, 0, 1) if part == 0 else (len(grid) + 1, 1, 1))
    begins = tokens.index(ANSWER)

    def attend(q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
        q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1)

    place = torch.tensor(places)
    read = (torch.tensor(tokens), place, place.roll(-1, 0), model.task(torch.tensor([row])))
    logits = model.reasoner(*read, turned(attend))
    likely = logits.double().log_softmax(-1)
    return sum(float(likely[at, tokens[at + 1]]) for at in range(begins, len(tokens) - 1))


def test_what_is_known_is_not_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More candidates and more judges in a second round: the same numbers, and only what is new is read."""
    task = {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": [{"input": [[3, 4]]}]}
    (tmp_path / "a.json").write_text(json.dumps(task))
    data = load_dataset(DataConfig(train=(), evaluate=(str(tmp_path),), auxiliary=(), views=6))
    model = CharmModel(SMALL, MemoryConfig(rank=0, colors="free"), ArcKey(data.instances))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))

    def candidates(*numbers: int) -> Candidates:
        grids = [np.full((1, number + 1), number, np.uint8) for number in numbers]
        return Candidates(
            np.zeros(len(grids), np.int32),
            np.array(numbers, np.uint64),
            np.array([grid.shape for grid in grids], np.uint8),
            np.concatenate([grid.ravel() for grid in grids]),
        )

    counts = count_judged(monkeypatch)
    known: Judgements = {}
    log_likelihoods(model, data, candidates(1, 2), 2, known)
    assert sum(counts) == 2 * 2
    counts.clear()
    found = log_likelihoods(model, data, candidates(2, 3, 1), 4, known)
    assert sum(counts) == 3 * 4 - 2 * 2
    counts.clear()
    assert np.array_equal(log_likelihoods(model, data, candidates(2, 3, 1), 4, known), found)
    assert not counts
    assert found == pytest.approx(log_likelihoods(model, data, candidates(2, 3, 1), 4), abs=1e-4)
    assert sum(counts) == 3 * 4


def test_likelihoods_are_those_of_the_answers_read_token_by_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "JUDGED_CPU", 70)  # several packs
    for name, size in (("a", 3), ("b", 2)):
        question = [[(r * size + c) % 10 for c in range(size)] for r in range(2)]
        task = {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": [{"input": question}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(task))
    data = load_dataset(DataConfig(train=(), evaluate=(str(tmp_path),), auxiliary=(), views=6))
    model = CharmModel(SMALL, MemoryConfig(rank=0, colors="free"), ArcKey(data.instances))
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    grids = [np.array(grid, np.uint8) for grid in ([[5, 6, 7]], [[0], [1]], [[9, 9], [8, 3], [1, 1]])]
    candidates = Candidates(
        np.array([0, 0, 1, 1], np.int32),
        np.arange(4, dtype=np.uint64),
        np.array([*(grid.shape for grid in grids), (0, 0)], np.uint8),
        np.concatenate([grid.ravel() for grid in grids]),
    )
    found = log_likelihoods(model, data, candidates, 4)
    assert found.shape == (4, 4)
    assert (found[3] == -np.inf).all()  # no grid at all
    codes = data.instances.table()[1]
    for k, grid in enumerate(grids):
        number = int(candidates.question_K[k])
        question = data.question_bank.pair(number).input
        for j, row in enumerate(data.question_rows(data.questions[number], 4).tolist()):
            with torch.no_grad():
                expected = slow(model, View.from_code(int(codes[row])), question, grid, row)
            assert found[k, j] == pytest.approx(expected, rel=1e-4)


def test_a_candidate_is_as_likely_as_the_geometric_mean_of_its_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against float64, one view after the other: the ranking behind every score of a writer."""
    for name, cells in (("a", [[3, 4, 5]]), ("b", [[0]])):  # "b" is the same under every view
        pair = {"input": cells, "output": cells[::-1]}
        (tmp_path / f"{name}.json").write_text(json.dumps({"train": [pair], "test": [{"input": cells}]}))
    data = load_dataset(DataConfig(train=(), evaluate=(str(tmp_path),), auxiliary=(), views=JUDGES + 4))
    model = CharmModel(SMALL, MemoryConfig(rank=0, colors="free"), ArcKey(data.instances))
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    rows = [data.question_rows(question).tolist() for question in data.questions]
    assert [len(some) for some in rows] == [JUDGES + 4, 1]
    votes = hand.votes((0, "54", 1, 0.9), (0, "345", 2, 0.1), (0, "54", 3, 0.2), (0, "", 4, 0.9), (1, "0", 5, 0.5))
    codes = data.instances.table()[1]

    def expected(views: int) -> list[float]:
        found = []
        for k, question in enumerate(votes.candidates.question_K.tolist()):
            grid = votes.candidates.grid(k)
            if not grid.size:
                found.append(0.0)
                continue
            asked = data.question_bank.pair(question).input
            with torch.no_grad():
                likely = [
                    slow(model, View.from_code(int(codes[row])), asked, grid, row) for row in rows[question][:views]
                ]
            found.append(math.exp(math.fsum(likely) / len(likely)))
        return [found[k] for k in votes.candidate_V.tolist()]

    counts = count_judged(monkeypatch)
    for views, judges in ((None, JUDGES), (JUDGES + 4, JUDGES), (3, 3)):
        counts.clear()
        found = judge_votes(model, data, votes, views)
        assert probability(found.logit_V) == pytest.approx(expected(judges), rel=1e-4)
        assert sum(counts) == 2 * judges + 1
        assert np.array_equal(found.candidate_V, votes.candidate_V)
    assert JUDGES == 16
    first, hashed = rows[0][:2], int(votes.candidates.hash_K[int(votes.candidate_V[0])])
    sure = {(0, hashed, first[0]): -0.1, (0, hashed, first[1]): -0.7}  # with these, close to 1
    likely = probability(judge_votes(model, data, votes, 2, sure).logit_V[0])
    assert float(likely) == pytest.approx(math.exp(-0.4), rel=1e-5)
    # Judges differ, so that the mean of probabilities is another number.
    spread = log_likelihoods(model, data, votes.candidates, 3)[0]
    assert np.exp(spread).mean() > 1.02 * np.exp(spread.mean())
