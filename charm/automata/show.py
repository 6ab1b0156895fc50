"""Rollouts, and a model's predictions compared with the truth."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from charm.automata.benchmark import HELD_OUT
from charm.automata.dataset import Combination, answer_key, question_set
from charm.automata.rules import Rule
from charm.automata.run import asked_of, read_car_config, wrong_cells
from charm.automata.simulator import Grids, evolve
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.ballots import ballots_of
from charm.evaluation.predict import Request, predict
from charm.evaluation.protocols import Protocol
from charm.evaluation.ranking import rank
from charm.model import CharmModel
from charm.runs.checkpoint import newest_checkpoint
from charm.tasks.task import Grid, Question


class Prediction(NamedTuple):
    """A model's answer for one held-out example, with the truth."""

    combination: Combination
    input: Grid
    truth: Grid
    answer: Grid  # 0 x 0 for a prediction without a grid
    votes: int
    voters: int

    @property
    def wrong(self) -> int:
        return wrong_cells(self.answer, self.truth)

    def __str__(self) -> str:
        seen = "trained" if self.combination.trained else "never trained"
        size = ""
        if self.answer.shape != self.truth.shape:
            size = ", its size is {} x {}".format(*self.answer.shape)
        wrong = f"{self.wrong} of {self.truth.size} cells wrong{size}"
        return f"T={self.combination.horizon} ({seen}): {wrong}; {self.votes} of {self.voters} votes"


def rollout(start: Grid, rule: Rule, steps: int) -> Grids:
    """The grid at times 0, 1, ..., `steps`."""
    if steps < 1:
        return start[None]
    return np.concatenate([start[None], evolve(start[None], rule, range(1, steps + 1))[:, 0]])


def predictions(
    run: Path, rule: Rule, example: int, place: Place, data_folder: Path | None = None
) -> list[Prediction]:
    """The first answer of a run's newest checkpoint at every horizon, voted by the eight views."""
    if not 0 <= example < HELD_OUT:
        raise CharmError(f"the example must be in 0..{HELD_OUT - 1}, got {example}")
    config = read_car_config(run, data_folder)
    benchmark, asked = asked_of(config)
    chosen = [one for one in asked if one.rule == rule]
    if not chosen:
        raise CharmError(f"rule {rule} is not one of the {len(benchmark.rules)} rules of {run}")
    model = CharmModel.from_pretrained(newest_checkpoint(run), place.device)
    examples = range(example, example + 1)
    data = question_set(benchmark, chosen, model.instances, config.data.canvas, examples)
    protocol = Protocol(window="current", loops=config.evaluate_loops[-1:])
    ballots = ballots_of(predict(Request(model, data, protocol.loops), place), protocol)
    questions = data.questions
    ranking = rank(ballots, questions)
    truths = answer_key(benchmark, chosen)
    start = benchmark.inputs(rule, slice(example, example + 1))[0]
    found = []
    for one in sorted(chosen, key=lambda one: one.horizon):
        question = Question(one.id, example)
        number = questions.index(question)
        voters = int((ballots[0].votes.question_V == number).sum())
        best = ranking.top(number, 1)
        answer, votes = (best[0].grid, best[0].votes) if best else (np.zeros((0, 0), np.uint8), 0)
        found.append(Prediction(one, start, truths[question], answer, votes, voters))
    return found
