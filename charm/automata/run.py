"""Training and evaluation on cellular automata, with the same loop and votes as on ARC; rollouts and predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from charm.automata import dataset
from charm.automata.benchmark import HELD_OUT, Benchmark
from charm.automata.dataset import CarData, Combination
from charm.automata.keys import CarMemory
from charm.automata.rules import FAMILIES, Grids, Rule, evolve
from charm.config import read_run_config
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.predict import Request, predict
from charm.evaluation.protocols import Ballot, Protocol, load_ballots
from charm.evaluation.ranking import Ranking, rank
from charm.evaluation.run import Voting, vote
from charm.evaluation.scoring import score
from charm.files import write_sealed
from charm.models.model import CharmModel
from charm.runs.archive import Expected, is_finished, passes
from charm.runs.checkpoint import folder_of, newest_checkpoint, run_of, steps_of
from charm.runs.settings import RunConfig
from charm.tables import Table
from charm.tasks.instances import Instances
from charm.tasks.task import Grid, Question
from charm.training.engine import Engine, train
from charm.training.job import ReasonerJob

KS = (1, 2)  # numbers of attempts in the paper's tables
SHARES = (*(f"pass@{k}" for k in KS), "cells")


@dataclass(frozen=True, kw_only=True)
class CarConfig(RunConfig):
    """A run on cellular automata."""

    domain: ClassVar[str] = "car"

    memory: CarMemory = field(default_factory=CarMemory)
    data: CarData = field(default_factory=CarData)


def read_car_config(run: Path, data_folder: Path | None = None) -> CarConfig:
    """The configuration of a run folder; `data_folder` overrides where its benchmark is."""
    config = read_run_config(run, CarConfig)
    return replace(config, data=replace(config.data, data=data_folder or config.data.data))


def transfers(memory: CarMemory) -> bool:
    """Whether the memory can be read for combinations that were never trained.

    With rule and horizon as one factor there is no vector for them. A table gives the blank row, which is intended: it
    shows what a model can do without knowing the rule.
    """
    return memory.design == "table" or memory.key == "rule+horizon"


def asked_of(config: CarConfig) -> tuple[Benchmark, list[Combination]]:
    """The benchmark of a run, and the combinations it is evaluated on."""
    benchmark = dataset.load_benchmark(config.data)
    every = dataset.combinations_of(benchmark, config.data)
    return benchmark, [one for one in every if one.trained or transfers(config.memory)]


def car_job(config: CarConfig, place: Place, say: Callable[[str], None] = print) -> ReasonerJob:
    """The training job of a configuration, with votes on held-out pairs of every evaluated combination."""
    data, schema = dataset.assemble_car(config.data, transfers(config.memory))
    model = CharmModel(config.reasoner, config.memory, schema, config.seed)
    score = partial(_score_checkpoint, config)
    examiner = Voting(config.evaluate_loops, config.evaluate_views, score, data.asked)
    return ReasonerJob(config, place, data, model, examiner, say)


def train_car(
    config: CarConfig, out: Path, place: Place, resume: bool = False, say: Callable[[str], None] = print
) -> Engine[ReasonerJob]:
    """Train and score a whole run in the folder `out`; see `charm.training.engine.train`."""
    return train(config, partial(car_job, config, place, say), out, place, resume, say)


@dataclass(frozen=True)
class CarEvaluation:
    """pass@1 and pass@2 of a run on seen and unseen combinations, by horizon and by family.

    Votes already on disk are reused, so another window over the same votes takes seconds.
    """

    views: int | None = None
    """Which of the eight symmetries vote; all by default."""
    window: int | Literal["current", "half", "all"] = "all"
    """Checkpoints that vote: a number, counted back from the newest, or current, half or all."""
    loops: tuple[int, ...] | None = None
    """Refinement depths that vote; by default as in training."""
    batch: int = 512
    """Predictions computed at once."""
    rank_only: bool = False
    """Make no new votes."""
    data: Path | None = None
    """Folder of downloaded and generated data; by default as in training."""


def evaluate(run: Path, options: CarEvaluation, place: Place) -> tuple[dict[str, Any], Table] | None:
    """Make the votes that the run's checkpoints lack, rank all votes on disk, write eval/car.json and return it."""
    config = read_car_config(run, options.data)
    protocol = Protocol(options.views or "all", options.window, None, options.loops or config.evaluate_loops)
    for step in [] if options.rank_only else steps_of(run):
        if is_finished(run / "votes", step, protocol.loops, 0, run=run_of(run)):
            continue
        model = CharmModel.from_pretrained(folder_of(run, step), place.device)
        benchmark, asked = asked_of(config)
        data = dataset.question_set(benchmark, asked, model.instances, config.data.canvas)
        request = Request(model, data, protocol.loops, batch=options.batch)
        vote(request, place, run / "votes", step, run_of(run))
    place.barrier()
    if not place.is_main:
        return None
    found = _score_run(config, run, protocol, "car")
    return found, scores_table(found)


def grouped_scores(
    ranking: Ranking, answers: Mapping[Question, Grid], combinations: Sequence[Combination]
) -> dict[str, dict[str, dict[str, float]]]:
    """pass@k of trained ("seen") and other combinations: over all of them, by horizon and by family.

    As in the paper, the held-out pairs of a combination are averaged first, then combinations. "cells" is the share of
    right cells in first answers, which distinguishes a near miss from a guess long before whole grids are right.
    """
    number = {question: q for q, question in enumerate(ranking.questions)}
    every = score(ranking, answers)
    cells = dict.fromkeys(answers, 0.0)
    for question, truth in answers.items():
        if question in number and (best := ranking.top(number[question], 1)):
            cells[question] = 1 - wrong_cells(best[0].grid, truth) / truth.size
    found: dict[str, dict[str, dict[str, float]]] = {}
    for part, trained in (("seen", True), ("unseen", False)):
        here = [one for one in combinations if one.trained == trained]
        groups = {"all": here}
        horizons = sorted({one.horizon for one in here})
        groups |= {f"T={t}": [one for one in here if one.horizon == t] for t in horizons}
        groups |= {family: [one for one in here if one.rule.family == family] for family in FAMILIES}
        found[part] = {}
        for name, members in groups.items():
            ids = {one.id for one in members}
            scores = every.of(ids)
            if scores.puzzles:
                passed = {f"pass@{k}": scores.metrics[f"pass@{k}"] for k in KS}
                right = [share for question, share in cells.items() if question.task_id in ids]
                found[part][name] = {"combinations": scores.puzzles, **passed, "cells": float(np.mean(right))}
    return {part: groups for part, groups in found.items() if groups}


def wrong_cells(answer: Grid, truth: Grid) -> int:
    """Number of cells of the truth that are missing or different in the answer."""
    height, width = np.minimum(answer.shape, truth.shape)
    return truth.size - int((answer[:height, :width] == truth[:height, :width]).sum())


def scores_table(found: dict[str, Any]) -> Table:
    parts = [part for part in ("seen", "unseen") if part in found]
    columns = ["", *(f"{part}\n{name}" for part in parts for name in ("count", *SHARES))]
    rows = []
    for group in found["seen"]:
        cells = [group]
        for one in (found[part][group] for part in parts if group in found[part]):
            cells += [f"{one['combinations']:,}", *(f"{one[name]:.2%}" for name in SHARES)]
        rows.append(cells)
    title = f"combinations at step {found['step']}, votes of {found['checkpoints']} checkpoints"
    return Table(columns, rows, title, narrow=True)


def _score_checkpoint(config: CarConfig, out: Path, step: int) -> dict[str, float]:
    """By the paper's protocol for CAR: eight views of every checkpoint so far, all votes with equal weight."""
    votes, made_by = out / "votes", run_of(out)
    voted = [one for one in passes(votes) if is_finished(votes, one, config.evaluate_loops, run=made_by)]
    protocol = Protocol(views="all", window="all", loops=config.evaluate_loops)
    found = _score_run(config, out, protocol, f"step_{step:09d}", voted)
    parts = [part for part in ("seen", "unseen") if part in found]
    return {f"{part} pass@{k}": found[part]["all"][f"pass@{k}"] for part in parts for k in KS}


def _score_run(
    config: CarConfig, run: Path, protocol: Protocol, name: str, steps: Sequence[int] | None = None
) -> dict[str, Any]:
    benchmark, asked = asked_of(config)
    data = dataset.question_set(benchmark, asked, Instances(), config.data.canvas)
    questions, ballots = load_ballots(run / "votes", protocol, steps, run_of(run), Expected(data.asked))
    ranking = rank(ballots, questions)
    found = {
        "protocol": asdict(protocol),
        "step": max(ballot.step for ballot in ballots),
        "checkpoints": len({ballot.step for ballot in ballots}),
        "run": run_of(run),
        **grouped_scores(ranking, dataset.answer_key(benchmark, asked), asked),
    }
    write_sealed(run / "eval" / f"{name}.json", found)
    return found


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
    return evolve(start[None], rule, range(max(steps, 0) + 1))[:, 0]


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
    data = dataset.question_set(benchmark, chosen, model.instances, config.data.canvas, examples)
    (votes_V,) = predict(Request(model, data, config.evaluate_loops[-1:]), place).values()
    questions = data.questions
    ranking = rank([Ballot(votes_V)], questions)
    truths = dataset.answer_key(benchmark, chosen)
    start = benchmark.inputs(rule, slice(example, example + 1))[0]
    found = []
    for one in sorted(chosen, key=lambda one: one.horizon):
        question = Question(one.id, example)
        number = questions.index(question)
        voters = int((votes_V.question_V == number).sum())
        best = ranking.top(number, 1)
        answer, votes = (best[0].grid, best[0].votes) if best else (np.zeros((0, 0), np.uint8), 0)
        found.append(Prediction(one, start, truths[question], answer, votes, voters))
    return found
