import numpy as np
import pytest
import torch

from charm.errors import CharmError
from charm.evaluation.decode import collect, hash_grid
from charm.runs.votes import distinct, merge
from tests.toy import hand
from tests.toy.hand import random_predictions


@pytest.mark.parametrize("side", [12, 30])
def test_collect_recovers_what_was_drawn(side: int) -> None:
    predictions = random_predictions(seed=side, count=120)
    found = hand.predict(predictions, side)
    expected = [
        (
            question,
            "/".join("".join(map(str, row)) for row in cells),
            row,
            float(hand.logits(confidence)[0]),
            16,
        )
        for question, cells, _, row, confidence in predictions
    ]
    assert hand.listed(found) == sorted(expected)
    # Each (question, grid) is stored once, under the hash of the plain grid.
    assert len(found.candidates) == len({(question, text) for question, text, *_ in expected})
    for k in range(len(found.candidates)):
        assert int(found.candidates.hash_K[k]) == hash_grid(found.candidates.grid(k))


def test_merge_of_batches_equals_one_batch() -> None:
    predictions = random_predictions(seed=1, count=90)
    whole = hand.predict(predictions)
    parts = merge([hand.predict(predictions[start : start + 20]) for start in range(0, 90, 20)])
    assert hand.listed(parts) == hand.listed(whole)
    assert len(parts.candidates) == len(whole.candidates)
    assert len(merge([])) == 0


def test_select_drops_candidates_without_votes() -> None:
    found = hand.predict(random_predictions(seed=2, count=50))
    kept = found.select(found.row_V % 7 == 0)
    assert hand.listed(kept) == [vote for vote in hand.listed(found) if vote[2] % 7 == 0]
    assert sorted(set(kept.candidate_V.tolist())) == list(range(len(kept.candidates)))


def test_distinct_against_a_dictionary() -> None:
    rng = np.random.default_rng(3)
    question = rng.integers(0, 5, 400).astype(np.int32)
    hashes = rng.integers(0, 20, 400).astype(np.uint64) * np.uint64(2**59)  # beyond int64 too
    is_first, place = distinct(question, hashes)
    places: dict[tuple[int, int], int] = {}
    expected = [places.setdefault(key, len(places)) for key in zip(question.tolist(), hashes.tolist(), strict=True)]
    assert place.tolist() == expected
    assert np.flatnonzero(is_first).tolist() == [expected.index(p) for p in range(len(places))]


def test_a_canvas_that_is_no_square_is_refused() -> None:
    one = torch.zeros(1, dtype=torch.long)
    with pytest.raises(CharmError, match="899 tokens"):
        collect(torch.zeros(1, 899, dtype=torch.uint8), one.float(), one, one, one, loops=16)
