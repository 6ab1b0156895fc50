"""Votes of several models, and answers that a search found, with numbers by hand."""

import math

import numpy as np
import pytest

from charm.evaluation.protocols import Ballot
from charm.evaluation.ranking import Found, Judgements, Opinion, pool_opinions, rank
from charm.runs.votes import Candidates, Votes, probability
from charm.tasks.task import Question

QUESTION = Question("t", 0)


def table(*colors: int) -> Candidates:
    """Candidates for the only question: one cell of a colour, which is also the hash."""
    count = len(colors)
    shape, cells = np.ones((count, 2), np.uint8), np.array(colors, np.uint8)
    return Candidates(np.zeros(count, np.int32), np.array(colors, np.uint64), shape, cells)


def votes(**cast: int) -> Votes:
    """Votes with this count for each colour, as in c1=2; their writers found each an even chance."""
    colors = [int(name[1:]) for name in cast]
    candidate_V = np.repeat(np.arange(len(colors), dtype=np.int32), [*cast.values()])
    zeros = np.zeros(len(candidate_V))
    own = candidate_V, np.arange(len(candidate_V), dtype=np.int32), zeros.astype(np.float32), zeros.astype(np.uint8)
    return Votes(table(*colors), *own)


def judged(**likely: tuple[float, ...]) -> Judgements:
    """Probabilities of each colour under the views of one model."""
    return {
        (0, int(name[1:]), row): math.log(one) for name, some in likely.items() for row, one in enumerate(some, start=1)
    }


def ranked(*opinions: Opinion) -> list[tuple[int, int, float, float]]:
    """Colour, votes, weight and confidence of each candidate, best first."""
    pooled, found = pool_opinions(opinions)
    best = rank([Ballot(pooled)], [QUESTION], "likelihood", found).best(9)[QUESTION]
    return [(int(one.grid[0, 0]), one.votes, one.weight, one.confidence) for one in best]


def test_a_candidate_is_as_likely_as_all_views_of_all_models_that_judged_it_find_it() -> None:
    """Colour 1: (0.5 0.5 0.1)^(1/3), since the second model has one judge; colour 3 is judged by that model alone."""
    first = Opinion(votes(c1=3, c2=1), judged(c1=(0.5, 0.5), c2=(0.2, 0.8)), table())
    second = Opinion(votes(c2=2, c3=2), judged(c1=(0.1,), c2=(0.9,), c3=(0.4,)), table())
    one, two, three = (0.5 * 0.5 * 0.1) ** (1 / 3), (0.2 * 0.8 * 0.9) ** (1 / 3), 0.4
    expected = [(2, 3, 3.0, two), (1, 3, 3.0, one), (3, 2, 2.0, three)]
    assert [3 * two, 3 * one, 2 * three] == sorted([3 * two, 3 * one, 2 * three], reverse=True)
    for order in ((first, second), (second, first)):
        assert ranked(*order) == [pytest.approx(line, rel=1e-5) for line in expected]


def test_what_a_search_found_weighs_the_votes_that_could_be_expected() -> None:
    """Colour 5 has 0.4 and 0.2 under the views of a model with 4 votes, and 0.1 under one with 6: 4 x 0.3 + 6 x 0.1."""
    first = Opinion(votes(c1=3, c2=1), judged(c1=(0.5, 0.5), c2=(0.1, 0.1), c5=(0.4, 0.2)), table(5))
    second = Opinion(votes(c1=6), judged(c1=(0.5, 0.5), c5=(0.1, 0.1)), table(1, 5))
    found = ranked(first, second)
    five = (0.4 * 0.2 * 0.1 * 0.1) ** 0.25
    assert found == [pytest.approx(line, rel=1e-5) for line in ((1, 9, 9.0, 0.5), (5, 0, 1.8, five), (2, 1, 1.0, 0.1))]


def test_votes_that_nobody_judged_keep_what_their_writer_thought() -> None:
    late = votes(c1=2)
    pooled, found = pool_opinions([Opinion(late, {}, table(7))])
    assert probability(pooled.logit_V).tolist() == [0.5, 0.5]
    assert not len(found.candidates)  # a candidate that was not judged has no weight


def test_one_model_that_found_nothing_ranks_as_its_votes_do() -> None:
    likely = judged(c1=(0.5, 0.3), c2=(0.2, 0.8))
    mine = votes(c1=3, c2=1)
    pooled, found = pool_opinions([Opinion(mine, likely, table())])
    means = {1: math.log(0.5 * 0.3) / 2, 2: math.log(0.2 * 0.8) / 2}
    expected = [math.exp(means[1 + k]) for k in mine.candidate_V.tolist()]
    assert probability(pooled.logit_V).tolist() == pytest.approx(expected, rel=1e-5)
    assert not len(found.candidates)


def test_a_written_answer_is_not_replaced_by_a_found_one() -> None:
    found = Found(table(1, 2), np.array([9.0, 9.0]), np.array([5.0, 5.0]))
    (one, two) = rank([Ballot(votes(c1=3))], [QUESTION], "likelihood", found).best(9)[QUESTION]
    assert (int(one.grid[0, 0]), one.votes, one.weight) == (2, 0, 9.0)
    assert (int(two.grid[0, 0]), two.votes, two.weight, two.confidence) == (1, 3, 3.0, 0.5)
