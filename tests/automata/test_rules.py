import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from charm.automata.rules import FAMILIES, Rule, draw_rule, parse_rule
from charm.errors import CharmError
from charm.tasks import keyed


@pytest.mark.parametrize(
    "text",
    ["B3/S23", "B/S", "B2/S/C3", "B2/S345/C4", "R5,C0,M1,S33..57,B34..45", "R2,C0,M0,S3..3,B6..8"],
)
def test_notations_read_and_write_back(text: str) -> None:
    assert str(parse_rule(text)) == text


def test_other_spellings_name_the_same_rule() -> None:
    assert parse_rule("b33/s32") == parse_rule("B3/S23") == Rule((3,), (2, 3))
    assert str(parse_rule("R5,C2,M1,S33..57,B34..45")) == "R5,C0,M1,S33..57,B34..45"


@given(st.sampled_from(FAMILIES), st.integers(0, 2**30), st.integers(0, 10_000))
def test_every_drawn_rule_is_of_its_family_and_has_a_name(family: str, seed: int, number: int) -> None:
    rule = draw_rule(family, seed, number)  # type: ignore[arg-type]
    assert rule.family == family
    assert parse_rule(str(rule)) == rule
    assert 0 not in rule.births


def test_a_table_says_what_the_definition_says() -> None:
    rule = parse_rule("B2/S345/C4")
    for state in range(4):
        for count in range(9):
            if state == 0:
                wanted = 1 if count == 2 else 0
            elif state == 1:
                wanted = 1 if count in (3, 4, 5) else 2
            else:
                wanted = (state + 1) % 4
            assert rule.table[state, count] == wanted


def test_rules_that_are_none_are_told_so() -> None:
    for text, complaint in (
        ("B3S23", "is not a rule"),
        ("B9/S2", "is not a rule"),
        ("B3/S23/C11", "2 to 10 states"),
        ("B3/S23/C1", "2 to 10 states"),
        ("R8,C0,M1,S3..4,B5..6", "radius must be in 1..7, got 8"),
        ("R2,C0,M0,S3..4,B24..25", r"0\.\.24"),
        ("R2,C0,M0,S4..3,B5..6", "one interval"),
        ("R1,C0,M1,S3..4,B5..6", "must not count the cell itself"),
    ):
        with pytest.raises(CharmError, match=complaint):
            parse_rule(text)
    with pytest.raises(CharmError, match="Larger-than-Life needs a torus side"):
        draw_rule("larger", 0, 0, side=4)


def test_larger_than_life_has_two_states_and_intervals() -> None:
    with pytest.raises(CharmError, match="must have 2 states"):
        Rule((5, 6), (5, 6), states=3, radius=2)
    for radius in (0, 8):
        with pytest.raises(CharmError, match="radius"):
            Rule((5,), (5,), radius=radius)
    for births, survivals, word in (
        ((5, 7), (5,), "births"),
        ((), (5,), "births"),
        ((5,), (5, 7), "survivals"),
        ((5,), (), "survivals"),
    ):
        with pytest.raises(CharmError, match=word):
            Rule(births, survivals, radius=2)
    for counts in ((3, 2), (3, 3), (9,), (-1,)):  # a cell has eight neighbours
        with pytest.raises(CharmError, match="births"):
            Rule(counts, (2, 3))
        with pytest.raises(CharmError, match="survivals"):
            Rule((3,), counts)
    assert Rule((8,), (8,), states=10).family == "generations"
    assert Rule((25,), (1,), radius=2, middle=True).counts == 26
    with pytest.raises(CharmError, match="births"):
        Rule((25,), (1,), radius=2)


def test_drawn_intervals_are_shares_of_the_neighbourhood() -> None:
    """Against the neighbourhood counted cell by cell: where an interval begins and how long it is, rounded."""
    for number in range(200):
        u = keyed.uniform(keyed.key_of("car rule", "larger", 5), number * 32 + np.arange(6))
        rule = draw_rule("larger", 5, number)
        assert rule.radius == (2, 3, 4, 5)[int(4 * u[0])]
        assert rule.middle == (u[1] < 0.5)
        around = range(-rule.radius, rule.radius + 1)
        cells = sum(rule.middle or (i, j) != (0, 0) for i in around for j in around)
        for counts, start, length in (
            (rule.births, 0.1 + 0.35 * u[2], 0.03 + 0.3 * u[3]),
            (rule.survivals, 0.05 + 0.45 * u[4], 0.05 + 0.4 * u[5]),
        ):
            first = max(1, round(start * cells))
            last = min(cells, first + round(length * cells))
            assert (counts[0], counts[-1]) == (first, last)


def test_drawn_radii_fit_the_torus() -> None:
    """A neighbourhood of side 2r + 1 may just fill the torus."""
    for side, largest in ((5, 2), (6, 2), (7, 3), (10, 4), (11, 5), (16, 5)):
        radii = {draw_rule("larger", 0, number, side).radius for number in range(60)}
        assert radii == set(range(2, largest + 1))
