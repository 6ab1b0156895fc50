import pytest
from hypothesis import given
from hypothesis import strategies as st

from charm.automata.rules import FAMILIES, Rule, draw_rule, parse_rule
from charm.errors import CharmError


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
        ("B3S23", "is no rule"),
        ("B9/S2", "is no rule"),
        ("B3/S23/C11", "2 to 10 states"),
        ("B3/S23/C1", "2 to 10 states"),
        ("R8,C0,M1,S3..4,B5..6", "radius lies in 1..7"),
        ("R2,C0,M0,S3..4,B24..25", r"0\.\.24"),
        ("R2,C0,M0,S4..3,B5..6", "one interval"),
        ("R1,C0,M1,S3..4,B5..6", "does not count the cell itself"),
    ):
        with pytest.raises(CharmError, match=complaint):
            parse_rule(text)
    with pytest.raises(CharmError, match="too small for Larger-than-Life"):
        draw_rule("larger", 0, 0, side=4)
