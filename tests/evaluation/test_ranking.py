import math
import random
from dataclasses import replace
from functools import reduce
from math import fsum
from operator import add
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charm.errors import CharmError
from charm.evaluation.decode import hash_grid
from charm.evaluation.protocols import ORDERS, PROTOCOLS, Ballot, Protocol, load_ballots
from charm.evaluation.ranking import Ranking, rank
from charm.evaluation.scoring import score
from charm.runs.archive import Header, write_votes
from charm.runs.votes import probability
from charm.tasks.task import Question
from tests.toy import hand
from tests.toy.hand import Voter, voters

QUESTIONS = tuple(Question("task", index) for index in range(3))
QUARTER, THREE_QUARTERS = probability(hand.logits(0.25, 0.75)).tolist()
Entry = tuple[int, str, int, float]  # question, grid, row, confidence


def order(ranking: Ranking, question: int) -> list[str]:
    """A question's candidates as text, best first."""
    candidates = ranking.top(question, 1000)
    return ["/".join("".join(map(str, row)) for row in candidate.grid) for candidate in candidates]


def by_hash(*texts: str) -> list[str]:
    return sorted(texts, key=lambda text: hash_grid(hand.grid(text)))


def test_votes_come_before_confidence_and_confidence_before_content() -> None:
    votes = hand.votes(
        (0, "1", 0, 0.1), (0, "1", 1, 0.1), (0, "1", 2, 0.1),  # most votes, least sure
        (0, "2", 3, 0.2), (0, "2", 4, 0.6),  # mean 0.4
        (0, "3", 5, 0.5), (0, "3", 6, 0.5),  # mean 0.5
        (0, "4", 7, 1.0),
        (1, "44/44", 0, 0.5), (1, "5", 1, 0.5), (1, "55", 2, 0.5),  # equal in all but content
    )  # fmt: skip
    ranking = rank([Ballot(votes, 10)], QUESTIONS)
    assert order(ranking, 0) == ["1", "3", "2", "4"]
    assert order(ranking, 1) == by_hash("44/44", "5", "55")
    assert order(ranking, 2) == []
    likely = rank([Ballot(votes, 10)], QUESTIONS, "likelihood")
    assert order(likely, 0) == ["3", "4", "2", "1"]
    assert order(likely, 1) == by_hash("44/44", "5", "55")
    surest = {**ORDERS, "surest": lambda weight_K, confidence_K: np.where(weight_K > 1, confidence_K, 0.0)}
    with patch.dict(ORDERS, surest):  # what remains equal is ordered by votes, then by confidence
        assert order(rank([Ballot(votes, 10)], QUESTIONS, "surest"), 0) == ["3", "2", "1", "4"]
    first = ranking.top(0, 1)[0]
    assert (first.votes, first.weight, first.confidence) == (3, 3.0, pytest.approx(0.1))
    assert len(ranking.top(0, 2)) == 2


def test_an_empty_prediction_is_a_candidate_like_any_other() -> None:
    votes = hand.votes((0, "", 0, 0.9), (0, "", 1, 0.9), (0, "7", 2, 0.1), (1, "", 0, 0.9))
    ranking = rank([Ballot(votes, 10), Ballot(votes, 20)], QUESTIONS)
    assert order(ranking, 0) == ["", "7"]
    assert order(ranking, 1) == [""]
    assert [(one.votes, one.grid.shape) for one in ranking.top(0, 2)] == [(4, (0, 0)), (2, (1, 1))]
    assert len(voters(ranking, ranking.top(0, 1)[0].place)) == 4
    outputs = [output for task in score(ranking, dict.fromkeys(QUESTIONS)).tasks for output in task.outputs]
    assert [output.no_answer_votes for output in outputs] == [4, 2, 0]


def test_decay_lets_new_votes_win() -> None:
    new = hand.votes((0, "1", 0, 0.5), (0, "1", 1, 0.5), (0, "1", 2, 0.5))
    old = hand.votes((0, "2", 0, 0.9), (0, "2", 1, 0.9), (0, "2", 2, 0.9), (0, "2", 3, 0.9))
    assert order(rank([Ballot(new, 20), Ballot(old, 10)], QUESTIONS), 0) == ["2", "1"]
    decayed = rank([Ballot(new, 20), Ballot(old, 10, 0.5)], QUESTIONS)
    assert order(decayed, 0) == ["1", "2"]
    assert [candidate.weight for candidate in decayed.top(0, 2)] == [3.0, 2.0]


def test_confidence_is_a_weighted_mean() -> None:
    new, old = hand.votes((0, "1", 0, 0.25)), hand.votes((0, "1", 0, 1.0), (0, "1", 1, 0.5))
    ranking = rank([Ballot(new, 20), Ballot(old, 10, 0.5)], QUESTIONS)
    expected = (0.25 + 0.5 * 1.5) / (1 + 0.5 * 2)
    assert ranking.top(0, 1)[0].confidence == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("low", "high"), [(16.0, 17.0), (20.0, 30.0), (60.0, 61.0), (-61.0, -60.0)])
def test_the_surer_candidate_wins_although_both_probabilities_round_to_the_same(low: float, high: float) -> None:
    votes = hand.votes((0, "1", 0, 0.5), (0, "2", 1, 0.5))
    for logits, expected in (((low, high), ["2", "1"]), ((high, low), ["1", "2"])):
        ballot = Ballot(replace(votes, logit_V=np.array(logits, np.float32)), 1)
        assert order(rank([ballot], QUESTIONS), 0) == expected


def test_the_mean_is_over_probabilities_and_not_over_logits() -> None:
    """As in the reference: 0.999 and 0.1 lose against two times 0.6, although their mean logit is higher."""
    votes = hand.votes((0, "1", 0, 0.999), (0, "1", 1, 0.1), (0, "2", 2, 0.6), (0, "2", 3, 0.6))
    assert order(rank([Ballot(votes, 1)], QUESTIONS), 0) == ["2", "1"]


def test_voters_of_a_candidate() -> None:
    shallow = hand.votes((0, "1", 5, 0.25), (0, "2", 6, 0.5), (1, "1", 5, 0.75))
    deep = hand.votes((0, "1", 6, 0.5), loops=24)
    old = hand.votes((0, "1", 5, 1.0))
    ranking = rank([Ballot(old, 10, 0.5), Ballot(deep, 20), Ballot(shallow, 20)], QUESTIONS)
    best, second = ranking.top(0, 2)
    assert voters(ranking, best.place) == [
        Voter(20, 16, 5, QUARTER, 1.0),
        Voter(20, 24, 6, 0.5, 1.0),
        Voter(10, 16, 5, 1.0, 0.5),
    ]
    assert voters(ranking, second.place) == [Voter(20, 16, 6, 0.5, 1.0)]
    assert voters(ranking, ranking.top(1, 1)[0].place) == [Voter(20, 16, 5, THREE_QUARTERS, 1.0)]


def test_nothing_to_rank_is_an_error() -> None:
    with pytest.raises(CharmError, match="no votes to rank"):
        rank([], QUESTIONS)
    assert order(rank([Ballot(hand.votes(), 1)], QUESTIONS), 0) == []


def slow_order(ballots: list[tuple[list[Entry], float]], question: int) -> list[tuple[str, int, float, float]]:
    """(grid, votes, weight, confidence), best first, one candidate at a time."""
    texts = {text for entries, _ in ballots for q, text, *_ in entries if q == question}
    found = []
    for text in texts:
        cast = [
            (weight, 1 / (1 + math.exp(-float(hand.logits(confidence)[0]))))
            for entries, weight in ballots
            for q, t, _, confidence in entries
            if (q, t) == (question, text)
        ]
        total = fsum(weight for weight, _ in cast)
        found.append((text, len(cast), total, fsum(weight * confidence for weight, confidence in cast) / total))
    return sorted(found, key=lambda entry: (-entry[2], -entry[3], hash_grid(hand.grid(entry[0]))))


# Weights are dyadic and no two sums of confidences are nearly equal: ties are real ties.
ENTRIES = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["", "0", "1", "00", "0/0", "12/34", "21/43"]),
        st.integers(0, 5),
        st.sampled_from([0.2, 0.5, 0.9]),
    ),
    max_size=14,
)
BALLOTS = st.lists(st.tuples(ENTRIES, st.sampled_from([1.0, 0.5, 0.25])), min_size=1, max_size=4)


@settings(max_examples=80, deadline=None)
@given(BALLOTS)
def test_ranking_equals_the_slow_one(ballots: list[tuple[list[Entry], float]]) -> None:
    ranking = rank([Ballot(hand.votes(*entries), 1, weight) for entries, weight in ballots], QUESTIONS)
    for question in range(3):
        expected = slow_order(ballots, question)
        assert order(ranking, question) == [text for text, *_ in expected]
        found = [(c.votes, c.weight, c.confidence) for c in ranking.top(question, 1000)]
        assert [votes for votes, *_ in found] == [votes for _, votes, *_ in expected]
        np.testing.assert_allclose([f[1:] for f in found], [e[2:] for e in expected], rtol=1e-14)


ANY_CONFIDENCE = st.floats(0, 1, width=32)
ROUGH_ENTRIES = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(["", "0", "1", "2"]), st.integers(0, 5), ANY_CONFIDENCE),
    max_size=20,
)
ROUGH_BALLOTS = st.lists(st.tuples(ROUGH_ENTRIES, st.integers(0, 3)), min_size=1, max_size=4)


@settings(max_examples=80, deadline=None)
@given(ROUGH_BALLOTS, st.randoms(use_true_random=False))
def test_ranking_is_bit_for_bit_the_same_in_any_order(
    ballots: list[tuple[list[Entry], int]], rng: random.Random
) -> None:
    """Shuffle the votes of each ballot, cut it into ranks, shuffle the ballots: nothing may change."""
    weights = [0.5 ** (age / 10) for age in range(4)]
    straight = rank([Ballot(hand.votes(*entries), 9 - age, weights[age]) for entries, age in ballots], QUESTIONS)
    pieces = []
    for entries, age in ballots:
        shuffled = rng.sample(entries, len(entries))
        cut = rng.randint(0, len(entries))
        pieces += [Ballot(hand.votes(*part), 9 - age, weights[age]) for part in (shuffled[:cut], shuffled[cut:])]
    rng.shuffle(pieces)
    other = rank(pieces, QUESTIONS)
    for name in ("start", "hash_K", "shape_K2", "votes_K", "weight_K", "confidence_K"):
        np.testing.assert_array_equal(getattr(straight, name), getattr(other, name))
    for place in range(len(straight.hash_K)):
        np.testing.assert_array_equal(straight.grid(place), other.grid(place))
        assert voters(straight, place) == voters(other, place)


def test_ties_between_depths_are_real_ties() -> None:
    """3 + 2 votes and 5 votes of one weight weigh exactly the same, although 3w + 2w and 5w differ as floats."""
    weight = 0.5 ** (7 / 10)
    assert 3 * weight + 2 * weight != 5 * weight
    shallow = hand.votes(*((0, "1", row, 0.5) for row in range(3)), *((0, "2", row, 0.5) for row in range(3, 8)))
    deep = hand.votes(*((0, "1", row, 0.5) for row in range(2)), loops=24)
    ranking = rank([Ballot(shallow, 1, weight), Ballot(deep, 1, weight)], QUESTIONS)
    assert ranking.weight_K[0] == ranking.weight_K[1]
    assert order(ranking, 0) == by_hash("1", "2")


def test_confidences_add_up_the_same_in_any_order() -> None:
    """A little less than 2^-53 is lost when it is added to 1 and counts when two of them come first."""
    confidences = [1.0, 1e-16, 1e-16]
    assert reduce(add, confidences) != reduce(add, reversed(confidences))  # sum compensates since Python 3.12
    entries = [(0, "1", row, confidence) for row, confidence in enumerate(confidences)]
    straight, turned = (rank([Ballot(hand.votes(*e), 1)], QUESTIONS) for e in (entries, entries[::-1]))
    assert straight.confidence_K[0] == turned.confidence_K[0] == (1 + 2.0**-52) / 3


def test_ranking_from_disk_equals_ranking_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ballots = {}
    for step in (1, 2, 3, 4):
        entries = [
            (int(rng.integers(3)), str(rng.integers(4)), row, float(np.float32(rng.random()))) for row in range(40)
        ]
        ballots[step] = hand.votes(*entries)
        for part in range(2):
            header = Header(step, 16, part, 2, QUESTIONS, True)
            write_votes(tmp_path, header, hand.votes(*entries[part::2]))
    for protocol in (PROTOCOLS["standard"], PROTOCOLS["continual"], Protocol(window="half", half_life=1.0)):
        questions, read = load_ballots(tmp_path, protocol)
        weights = protocol.weights(ballots)
        here = rank([Ballot(ballots[step], step, weight) for step, weight in weights.items()], QUESTIONS)
        there = rank(read, questions)
        for name in ("start", "hash_K", "votes_K", "weight_K", "confidence_K"):
            np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
        assert voters(there, 0) == voters(here, 0)
