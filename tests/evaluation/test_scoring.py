import json

import numpy as np
import pytest

from charm.evaluation.protocols import Ballot
from charm.evaluation.ranking import rank
from charm.evaluation.scoring import KS, score
from charm.tasks.task import Pair, Question, Task, questions_of
from charm.tasks.view import VIEWS, View
from tests.toy import hand
from tests.toy.hand import ANSWERS, ORDERS, ranking_of


def test_both_conventions_over_the_whole_split() -> None:
    scores = score(ranking_of(ORDERS), ANSWERS)
    assert (scores.puzzles, scores.outputs, scores.blind_outputs) == (6, 7, 0)
    assert scores.metrics["pass@1"] == pytest.approx(0.5 / 6)
    assert scores.metrics["pass@2"] == pytest.approx(1.5 / 6)
    assert scores.metrics["pass@5"] == pytest.approx(2 / 6)
    assert scores.metrics["pass@1/outputs"] == pytest.approx(1 / 7)
    assert scores.metrics["pass@2/outputs"] == pytest.approx(2 / 7)
    assert scores.metrics["pass@1000/outputs"] == pytest.approx(3 / 7)
    assert list(scores.metrics) == [f"pass@{k}{kind}" for k in KS for kind in ("", "/outputs")]


def test_every_task_has_an_outcome() -> None:
    scores = score(ranking_of(ORDERS), ANSWERS)
    assert {task.task_id: task.outcome for task in scores.tasks} == {
        "a": "near miss",  # its worst output
        "b": "solved",
        "c": "wrong cells",
        "d": "wrong size",
        "e": "no answer",
        "f": "no answer",
    }
    outputs = [(o.test_index, o.outcome, o.rank, o.candidates) for o in scores.tasks[0].outputs]
    assert outputs == [(0, "solved", 1, 2), (1, "near miss", 3, 3)]
    assert scores.tasks[4].outputs[0].no_answer_votes == 3


def test_some_of_the_tasks_score_as_if_they_were_all() -> None:
    scores = score(ranking_of(ORDERS), ANSWERS)
    some = {"a", "b", "f"}
    kept = {question: answer for question, answer in ANSWERS.items() if question.task_id in some}
    assert scores.of(some) == score(ranking_of(ORDERS), kept)
    assert scores.of(some).metrics["pass@2"] == pytest.approx(1.5 / 3)


def test_an_empty_candidate_takes_a_place() -> None:
    """As in the reference evaluator: with two of three votes blank, the right answer comes second."""
    orders = {Question("a", 0): ["", "1"], Question("b", 0): ["", "2", "1"]}
    answers = {question: hand.grid("1") for question in orders}
    scores = score(ranking_of(orders), answers)
    assert [task.outputs[0].rank for task in scores.tasks] == [2, 3]
    assert [task.outputs[0].candidates for task in scores.tasks] == [2, 3]
    assert (scores.metrics["pass@1"], scores.metrics["pass@2"], scores.metrics["pass@5"]) == (0.0, 0.5, 1.0)


def test_blind_questions_are_left_out_and_counted() -> None:
    answers = {**ANSWERS, Question("a", 1): None, Question("f", 0): None}
    scores = score(ranking_of(ORDERS), answers)
    assert (scores.puzzles, scores.outputs, scores.blind_puzzles, scores.blind_outputs) == (5, 5, 1, 2)
    assert scores.metrics["pass@1"] == pytest.approx(1 / 5)
    assert (scores.tasks[0].outcome, scores.tasks[5].outcome) == ("solved", "blind")
    assert [output.outcome for output in scores.tasks[0].outputs] == ["solved", "blind"]
    nothing = score(ranking_of(ORDERS), dict.fromkeys(ANSWERS))
    assert nothing.metrics == {}
    assert (nothing.puzzles, nothing.blind_puzzles, nothing.blind_outputs) == (0, 6, 7)


def test_json_is_plain() -> None:
    found = json.loads(json.dumps(score(ranking_of(ORDERS), ANSWERS).to_json(), allow_nan=False))
    assert found["outcomes"] == {
        "solved": 1, "near miss": 1, "wrong cells": 1, "wrong size": 1, "no answer": 2, "blind": 0,
    }  # fmt: skip
    assert found["metrics"]["pass@2"] == pytest.approx(1.5 / 6)
    assert found["tasks"][1]["outputs"][0]["rank"] == 2


def random_tasks(rng: np.random.Generator, count: int) -> list[Task]:
    def pair() -> Pair:
        return Pair(*(rng.integers(0, 10, rng.integers(1, 31, 2)).astype(np.uint8) for _ in range(2)))

    return [Task(f"t{n}", (pair(),), tuple(pair() for _ in range(1 + n % 2))) for n in range(count)]


def test_true_outputs_under_random_views_half_of_them_corrupted() -> None:
    """Errors scatter over many candidates while truth gathers votes: pass@1 is exactly 1, as in the reference."""
    rng = np.random.default_rng(0)
    tasks = random_tasks(rng, 8)
    questions = questions_of(tasks)
    key = dict(zip(questions, (answer for task in tasks for answer in task.answers()), strict=True))
    predictions = []
    for q, question in enumerate(questions):
        truth = key[question]
        for row in range(20):
            cells = truth.copy()
            if row % 2:
                cells.flat[row % cells.size] = (cells.flat[row % cells.size] + 1 + row // 2 % 9) % 10
            view = View.from_code(int(rng.integers(VIEWS)))
            predictions.append((q, cells, view, row, float(rng.random())))
    scores = score(rank([Ballot(hand.predict(predictions), 1)], questions), key)
    assert set(scores.metrics.values()) == {1.0}
    assert {task.outcome for task in scores.tasks} == {"solved"}
    wrong = [prediction for prediction in predictions if prediction[3] % 2]
    assert set(score(rank([Ballot(hand.predict(wrong), 1)], questions), key).metrics.values()) == {0.0}
    # Without any vote for the second half of the questions their puzzles still count.
    half = [prediction for prediction in predictions if prediction[0] < 6]
    scores = score(rank([Ballot(hand.predict(half), 1)], questions), key)
    assert scores.metrics["pass@1"] == 4 / 8
    assert scores.metrics["pass@1/outputs"] == 6 / 12
