"""How often answers with such votes are right: the counts, their pooling, and where they are said."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.calibration import LEAST, Case, calibration, cases_of, fitted
from charm.config import from_json, to_json
from charm.errors import CharmError
from charm.evaluation.calibration import FEWEST, Calibration, RightCount, calibration_of, kind_of
from charm.files import write_sealed
from charm.models.model import CALIBRATION, CharmModel, weights_sha256
from charm.paths import RELEASED
from charm.tasks.keys import ArcKey, MemoryConfig
from tests.toy.models import REASONER, shake, some_instances

COUNTED = Calibration(
    *("0" * 64, "auto", "all tasks of a test"),
    ahead=(RightCount(0.2, 10, 40), RightCount(0.6, 45, 50)),
    close=(RightCount(0.1, 3, 20),),
    second=(RightCount(0.05, 1, 60), RightCount(0.3, 8, 20)),
)


def cases(*counts: tuple[float, int, int]) -> list[Case]:
    """For each (share, right, of)."""
    return [Case(f"{share} {n}", "ahead", share, n < right) for share, right, of in counts for n in range(of)]


def test_answers_with_more_votes_are_right_at_least_as_often() -> None:
    """0.4 and 0.6 contradict that, so they are counted together; 0.9 is not."""
    found = fitted(cases((0.2, 2, 40), (0.4, 30, 40), (0.6, 20, 40), (0.9, 38, 40)))
    assert found == (RightCount(0.2, 2, 40), RightCount(0.4, 50, 80), RightCount(0.9, 38, 40))
    assert fitted([]) == ()
    assert fitted(cases((0.5, 1, 3))) == (RightCount(0.5, 1, 3),)


def test_pooling_goes_back_as_far_as_needed() -> None:
    """The last has fewer than both before it, which had ascended."""
    assert fitted(cases((0.2, 10, 20), (0.4, 15, 20), (0.9, 2, 20))) == (RightCount(0.2, 27, 60),)


def test_no_block_has_few_cases() -> None:
    rng = random.Random(3)
    shares = [rng.random() for _ in range(500)]
    found = fitted(Case("t", "ahead", share, rng.random() < share) for share in shares)
    assert len(found) > 4
    assert min(block.of for block in found) >= LEAST
    assert sum(block.of for block in found) == 500
    assert found[0].share == min(shares)
    rates = [block.right / block.of for block in found]
    assert rates == sorted(rates)


@pytest.mark.parametrize(
    ("votes", "attempt", "kind"),
    [
        ((64,), 0, "ahead"),
        ((64, 31), 0, "ahead"),
        ((64, 32), 0, "close"),
        ((20, 10, 30), 0, "close"),  # ranked by votes x likelihood
        ((64, 64), 1, "second"),
    ],
)
def test_the_kinds_of_attempts(votes: tuple[int, ...], attempt: int, kind: str) -> None:
    assert kind_of(votes, attempt) == kind


@pytest.mark.parametrize(
    ("votes", "attempt", "said"),
    [
        ((128,), 0, "45 of 50"),
        ((77, 4), 0, "45 of 50"),
        ((76, 4), 0, "10 of 40"),
        ((10, 1), 0, "10 of 40"),  # fewer than any that were counted
        ((30, 30), 0, "3 of 20"),  # a tie is not as good as the same share alone
        ((30, 30), 1, "1 of 60"),
        ((60, 50), 1, "8 of 20"),
        ((60,), 1, ""),
        ((60, 0), 1, ""),
    ],
)
def test_what_is_said_of_an_attempt(votes: tuple[int, ...], attempt: int, said: str) -> None:
    found = COUNTED.text(votes, attempt, 128)
    assert found.partition(": ")[2] == (f"answers with such votes were right in {said} cases" if said else "")


def test_the_words_of_counts() -> None:
    words = {20: "almost certain", 18: "very likely", 14: "likely", 9: "possible", 3: "unlikely", 0: "very unlikely"}
    for right in range(21):
        assert RightCount(0.5, right, 20).word == words[next(most for most in (0, 3, 9, 14, 18, 20) if right <= most)]


def test_shares_of_a_few_votes_are_neither_counted_nor_told() -> None:
    assert COUNTED.text((FEWEST - 1,), 0, FEWEST - 1) == ""
    assert COUNTED.text((FEWEST,), 0, FEWEST)
    assert cases_of("a", [7], [True], 7) == []
    counted = cases_of("a", [60, 30, 8], [False, True, False], 128)
    assert counted == [Case("a", "close", 60 / 128, False), Case("a", "second", 30 / 128, True)]
    assert cases_of("a", [8, 0], [True, False], 8) == [Case("a", "ahead", 1.0, True)]


def test_nothing_is_said_where_a_kind_was_not_counted() -> None:
    found = calibration(cases((0.5, 15, 30)), "", "auto", "")
    assert found.ahead == (RightCount(0.5, 15, 30),)
    assert found.close == found.second == ()
    assert found.text((60, 50), 0, 128) == ""


@pytest.fixture
def model() -> CharmModel:
    """A model whose weights were counted."""
    made = shake(CharmModel(REASONER, MemoryConfig(rank=0), ArcKey(some_instances())))
    made.calibration = to_json(replace(COUNTED, weights=weights_sha256(made.state_dict())))
    return made


def test_counts_are_of_a_mode(model: CharmModel) -> None:
    """ "auto" is a name for what the network has by default, in the question and in the record."""
    for mode in ("auto", "memory"):
        assert calibration_of(model, mode) == from_json(Calibration, model.calibration)
    for mode in ("full", "composition"):
        assert calibration_of(model, mode) is None
    assert model.calibration is not None
    model.calibration["mode"] = "memory"
    assert calibration_of(model, "auto") is not None
    model.calibration = None
    assert calibration_of(model, "auto") is None


def test_counts_go_with_the_weights_and_not_with_others(model: CharmModel, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path / "same")
    same = CharmModel.from_pretrained(tmp_path / "same")
    assert calibration_of(same, "auto") == calibration_of(model, "auto") == from_json(Calibration, model.calibration)
    model.save(tmp_path / "rounded", dtype=torch.bfloat16)  # these are other weights
    assert CharmModel.from_pretrained(tmp_path / "rounded").calibration is None
    with torch.no_grad():
        next(same.memory.parameters())[0] += 1.0
    assert calibration_of(same, "auto") is None
    same.save(tmp_path / "other")
    assert not (tmp_path / "other" / CALIBRATION).exists()
    (tmp_path / "same" / CALIBRATION).rename(tmp_path / "other" / CALIBRATION)
    other = CharmModel.from_pretrained(tmp_path / "other")
    assert other.calibration is not None
    assert calibration_of(other, "auto") is None


def test_a_hash_of_weights_is_of_their_values(model: CharmModel, tmp_path: Path) -> None:
    """The type of the file makes no difference; a name, a shape or a value does."""
    weights = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor([1, 2])}
    found = weights_sha256(weights)
    for same in (dict(reversed(weights.items())), {**weights, "a": weights["a"].bfloat16()}):
        assert weights_sha256(same) == found
    for a in (weights["a"].view(3, 2), weights["a"] + 1e-6):
        assert weights_sha256({**weights, "a": a}) != found
    assert weights_sha256({"c": weights["a"], "b": weights["b"]}) != found


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ahead", [{"share": 0.5, "right": 3, "of": 2}], "3 of 2 right"),
        ("ahead", [{"share": 1.5, "right": 1, "of": 2}], "share of 1.5"),
        ("ahead", [{"share": 0.5, "right": 0, "of": 0}], "0 of 0 right"),
        ("close", [{"share": 0.5, "right": 1, "of": 2}, {"share": 0.4, "right": 2, "of": 2}], "blocks of 'close'"),
        ("close", [{"share": 0.4, "right": 2, "of": 2}, {"share": 0.5, "right": 1, "of": 2}], "blocks of 'close'"),
        ("second", "x", "expected a list"),
        ("more", 1, "no field 'more'"),
    ],
)
def test_a_damaged_record_is_refused(name: str, value: object, message: str, model: CharmModel, tmp_path: Path) -> None:
    model.save(tmp_path)
    write_sealed(tmp_path / CALIBRATION, {**to_json(COUNTED), name: value})
    with pytest.raises(CharmError, match=message) as caught:
        calibration_of(CharmModel.from_pretrained(tmp_path), "auto")
    assert CALIBRATION in str(caught.value)
    content = (tmp_path / CALIBRATION).read_text().replace("all tasks", "few tasks")
    (tmp_path / CALIBRATION).write_text(content)
    with pytest.raises(CharmError, match="does not match its hash"):
        CharmModel.from_pretrained(tmp_path)


def test_records_of_released_models_are_of_their_weights() -> None:
    """A record next to other weights would never be shown."""
    records = list(RELEASED.glob(f"**/{CALIBRATION}"))
    assert records
    for record in records:
        found = calibration_of(CharmModel.from_pretrained(record.parent), "full")
        assert found is not None, record
        assert min(block.of for block in (*found.ahead, *found.second)) >= LEAST
        assert np.mean([block.right / block.of for block in found.ahead]) > found.second[0].right / found.second[0].of
