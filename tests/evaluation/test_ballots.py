from dataclasses import replace
from pathlib import Path

import pytest

from charm.errors import CharmError
from charm.evaluation.protocols import PROTOCOLS, Protocol, first_views, load_ballots
from charm.runs.archive import Header, write_votes
from charm.tasks.task import Question
from tests.toy import hand

QUESTIONS = (Question("a", 0), Question("a", 1), Question("b", 0))


def write(folder: Path, step: int, loops: int, **change: object) -> None:
    header = Header(step, loops, 0, 1, QUESTIONS, True)
    votes = hand.votes((0, "1", 4, 0.5), (0, "2", 5, 0.5), (2, "3", 9, 0.5), loops=loops)
    write_votes(folder, replace(header, **change), votes)


def test_first_views_counts_rows_within_each_question() -> None:
    # Questions 0 and 1 are tests of one task and share its rows; row 7 votes twice for question 0.
    votes = hand.votes(
        (1, "1", 8, 0.5), (0, "2", 8, 0.5), (0, "1", 7, 0.4), (0, "3", 7, 0.5), (1, "2", 7, 0.5),
        (0, "1", 9, 0.5), (2, "1", 30, 0.5),
    )  # fmt: skip
    chosen = [(question, row) for question, _, row, *_ in hand.listed(first_views(votes, 1))]
    assert chosen == [(0, 7), (0, 7), (1, 7), (2, 30)]
    assert len(first_views(votes, 2)) == 6
    assert hand.listed(first_views(votes, 3)) == hand.listed(votes)


def test_a_protocol_reads_its_window_depths_and_views(tmp_path: Path) -> None:
    for step in (100, 200, 300):
        for loops in (16, 24):
            write(tmp_path, step, loops)
    questions, ballots = load_ballots(tmp_path, PROTOCOLS["extra"])
    assert questions == QUESTIONS
    found = [(ballot.step, int(ballot.votes.loops_V[0]), ballot.weight) for ballot in ballots]
    older = 0.5 ** (1 / 10)
    assert found == [(300, 16, 1.0), (300, 24, 1.0), (200, 16, older), (200, 24, older)]
    assert [len(ballot.votes) for ballot in ballots] == [3, 3, 3, 3]
    _, ballots = load_ballots(tmp_path, PROTOCOLS["none"])
    assert [(ballot.step, hand.listed(ballot.votes)) for ballot in ballots] == [
        (300, [(0, "1", 4, 0.0, 16), (2, "3", 9, 0.0, 16)])
    ]
    _, ballots = load_ballots(tmp_path, PROTOCOLS["continual"], steps=[100, 200])  # as if 300 did not exist
    assert [ballot.step for ballot in ballots] == [200]


def test_what_the_protocol_lacks_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="no checkpoint has votes"):
        load_ballots(tmp_path, PROTOCOLS["standard"])
    write(tmp_path, 100, 16)
    with pytest.raises(CharmError, match="no votes for step 100 with 24 loops"):
        load_ballots(tmp_path, PROTOCOLS["urm"])
    with pytest.raises(CharmError, match="no votes for step 200 with 16 loops"):
        load_ballots(tmp_path, PROTOCOLS["standard"], steps=[100, 200])
    write(tmp_path, 200, 16, ranks=3)
    with pytest.raises(CharmError, match="rank 1, 2 are missing or not finished"):
        load_ballots(tmp_path, PROTOCOLS["standard"], steps=[200])
    _, ballots = load_ballots(tmp_path, PROTOCOLS["standard"])  # unasked, an unfinished checkpoint waits
    assert [ballot.step for ballot in ballots] == [100]
    write(tmp_path, 200, 16, questions=(*QUESTIONS, Question("c", 0)))
    with pytest.raises(CharmError, match=r"step_100.*other questions"):
        load_ballots(tmp_path, Protocol(window=2))
