"""Training and evaluation on cellular automata, with the same loop and votes as on ARC; predictions, tables, curves."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypedDict

import numpy as np

from charm.automata import dataset
from charm.automata.benchmark import HELD_OUT
from charm.automata.dataset import CarData, Combination
from charm.automata.keys import CarMemory
from charm.automata.rules import FAMILIES, Rule
from charm.config import checked, read_run_config
from charm.devices import Place
from charm.errors import CharmError, charm_errors
from charm.evaluation.evaluate import Voting, vote
from charm.evaluation.predict import Request, predict
from charm.evaluation.protocols import Ballot, Protocol, load_ballots
from charm.evaluation.ranking import Ranking, rank
from charm.evaluation.scoring import score
from charm.files import read_sealed
from charm.models.model import CharmModel
from charm.runs.archive import Expected, is_finished, own_evaluation, passes
from charm.runs.checkpoint import folder_of, newest_checkpoint, run_of, steps_of
from charm.runs.folder import write_result
from charm.runs.settings import RunConfig
from charm.tables import Table, percent
from charm.tasks.instances import Instances
from charm.tasks.task import Grid, Question
from charm.training.engine import Engine, train
from charm.training.job import ReasonerJob

KS = (1, 2)  # numbers of attempts in the paper's tables
PARTS = ("seen", "unseen")
SHARES = ("pass@1", "pass@2", "cells")  # whole grids within 1 or 2 attempts; correct cells of first answers
# Name in metrics.jsonl -> title, and whether it is a share.
CAR_CURVES = {
    "loss": ("Loss", False),
    "exact_accuracy": ("Exact accuracy", True),
    "evaluation/seen pass@2": ("Seen combinations, pass@2", True),
    "evaluation/unseen pass@2": ("Unseen combinations, pass@2", True),
}


Shares = TypedDict("Shares", {"combinations": int, "pass@1": float, "pass@2": float})


class CarScores(TypedDict):
    """What is read of an evaluation."""

    step: int
    checkpoints: int
    seen: dict[str, Shares]
    unseen: dict[str, Shares]


@dataclass(frozen=True, kw_only=True)
class CarConfig(RunConfig):
    """A run on cellular automata."""

    domain: ClassVar[str] = "car"

    memory: CarMemory = field(default_factory=CarMemory)
    data: CarData = field(default_factory=CarData)


def read_car_config(run: Path, data_folder: Path | None = None) -> CarConfig:
    """Read the configuration of a run folder; `data_folder` overrides where its benchmark is."""
    config = read_run_config(run, CarConfig)
    return replace(config, data=replace(config.data, data=data_folder or config.data.data))


def car_job(config: CarConfig, place: Place, say: Callable[[str], None] = print) -> ReasonerJob:
    """Make the training job of a configuration, with votes on held-out pairs of every evaluated combination."""
    data, schema = dataset.assemble_car(config.data, config.memory.transfers)
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
        if is_finished(run / "votes", step, protocol.loops, 0, run_of(run)):
            continue
        model = CharmModel.from_pretrained(folder_of(run, step), place.device)
        benchmark, asked = dataset.load_combinations(config.data, config.memory.transfers)
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
    """Score trained ("seen") and other combinations: over all of them, by horizon and by family.

    As in the paper, the held-out pairs of a combination are averaged first, then combinations.
    """
    every = score(ranking, answers)
    cells = dict.fromkeys(answers, 0.0)
    for number, question in enumerate(ranking.questions):
        if best := ranking.top(number, 1):
            cells[question] = 1 - wrong_cells(best[0].grid, answers[question]) / answers[question].size
    groups: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in combinations:
        for name in ("all", f"T={one.horizon}", one.rule.family):
            groups["seen" if one.trained else "unseen", name].add(one.id)
    names = ("all", *(f"T={t}" for t in sorted({one.horizon for one in combinations})), *FAMILIES)
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for part, name in product(PARTS, names):
        if ids := groups[part, name]:
            scores = every.of(ids)
            passed = {f"pass@{k}": scores.metrics[f"pass@{k}"] for k in KS}
            right = [share for question, share in cells.items() if question.task_id in ids]
            found[part][name] = {"combinations": scores.puzzles, **passed, "cells": float(np.mean(right))}
    return dict(found)


def wrong_cells(answer: Grid, truth: Grid) -> int:
    """Count the cells of the truth that are missing or different in the answer."""
    height, width = np.minimum(answer.shape, truth.shape)
    return truth.size - int((answer[:height, :width] == truth[:height, :width]).sum())


def _score_checkpoint(config: CarConfig, out: Path, step: int) -> dict[str, float]:
    """Score by the paper's protocol for CAR: eight views of every checkpoint so far, all votes with equal weight."""
    votes, made_by = out / "votes", run_of(out)
    voted = [one for one in passes(votes) if is_finished(votes, one, config.evaluate_loops, run=made_by)]
    protocol = Protocol(views="all", window="all", loops=config.evaluate_loops)
    found = _score_run(config, out, protocol, f"step_{step:09d}", voted)
    return {f"{part} pass@{k}": found[part]["all"][f"pass@{k}"] for part in PARTS if part in found for k in KS}


def _score_run(
    config: CarConfig, run: Path, protocol: Protocol, name: str, steps: Sequence[int] | None = None
) -> dict[str, Any]:
    benchmark, asked = dataset.load_combinations(config.data, config.memory.transfers)
    data = dataset.question_set(benchmark, asked, Instances(), config.data.canvas)
    questions, ballots = load_ballots(run / "votes", protocol, steps, Expected(data.asked, run_of(run)))
    found = {
        "protocol": asdict(protocol),
        "step": max(ballot.step for ballot in ballots),
        "checkpoints": len({ballot.step for ballot in ballots}),
        "run": run_of(run),
        **grouped_scores(rank(ballots, questions), dataset.answer_key(benchmark, asked), asked),
    }
    return write_result(run / "eval" / f"{name}.json", found, run)


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
        size = "" if self.answer.shape == self.truth.shape else ", its size is {} x {}".format(*self.answer.shape)
        wrong = f"{self.wrong} of {self.truth.size} cells wrong{size}"
        return f"T={self.combination.horizon} ({seen}): {wrong}; {self.votes} of {self.voters} votes"


def predictions(run: Path, rule: Rule, example: int, place: Place, data_folder: Path | None = None) -> list[Prediction]:
    """Return the first answer of a run's newest checkpoint at every horizon, voted by the eight views."""
    if not 0 <= example < HELD_OUT:
        raise CharmError(f"the example must be in 0..{HELD_OUT - 1}, got {example}")
    config = read_car_config(run, data_folder)
    benchmark, asked = dataset.load_combinations(config.data, config.memory.transfers)
    chosen = sorted((one for one in asked if one.rule == rule), key=lambda one: one.horizon)
    if not chosen:
        raise CharmError(f"rule {rule} is not one of the {len(benchmark.rules)} rules of {run}")
    model = CharmModel.from_pretrained(newest_checkpoint(run), place.device)
    held_out = slice(example, example + 1)
    data = dataset.question_set(benchmark, chosen, model.instances, config.data.canvas, held_out)
    (votes_V,) = predict(Request(model, data, config.evaluate_loops[-1:]), place).values()
    ranking = rank([Ballot(votes_V)], data.questions)
    start = benchmark.inputs(rule, held_out)[0]
    found = []
    for number, one in enumerate(chosen):
        truth = benchmark.outputs(rule, one.horizon, held_out)[0]
        best = ranking.top(number, 1)
        answer, votes = (best[0].grid, best[0].votes) if best else (np.zeros((0, 0), np.uint8), 0)
        voters = int((votes_V.question_V == number).sum())
        found.append(Prediction(one, start, truth, answer, votes, voters))
    return found


def car_steps(run: Path) -> dict[int, dict[str, Any]]:
    """Read the evaluations of a run by step, oldest first."""
    found = {}
    for path in sorted((run / "eval").glob("step_*.json")):
        with charm_errors(f"{path}: not an evaluation on cellular automata", CharmError):
            one = checked(CarScores, {"unseen": {}, **read_sealed(path)}, path.stem)
            if any(part and "all" not in part for part in (one["seen"], one["unseen"])):
                raise CharmError("the scores over all combinations are missing")
        found[one["step"]] = own_evaluation(run, one, path.stem)
    return found


def scores_table(found: dict[str, Any]) -> Table:
    """Lay out one evaluation: a row for all combinations, each horizon and each family; seen next to unseen."""
    parts = [part for part in PARTS if found.get(part)]
    columns = ["", *(f"{part}\n{name}" for part in parts for name in ("count", *SHARES))]
    rows = []
    for label in found["seen"]:
        cells = [label]
        for group in (found[part][label] for part in parts if label in found[part]):
            cells += [f"{group['combinations']:,}", *(percent(group, name) for name in SHARES)]
        rows.append(cells)
    title = f"combinations at step {found['step']}, votes of {found['checkpoints']} checkpoints"
    return Table(columns, rows, title, narrow=True)


def car_tables(runs: Sequence[Path], names: Sequence[str]) -> list[Table]:
    """Lay out the newest scores of each run; then one run by horizon and family, or pass@2 of several."""
    newest = [max(car_steps(run).values(), key=lambda one: one["step"], default={}) for run in runs]
    columns = [(part, share) for part in PARTS for share in SHARES]
    rows = []
    for name, found in zip(names, newest, strict=True):
        step = f"{found['step']:,}" if found else "not evaluated yet"
        rows.append([name, step, *(percent(found.get(part, {}).get("all", {}), share) for part, share in columns)])
    heads = ["run", "step", *(f"{part} {share}" for part, share in columns)]
    lead = "Cellular automata: all checkpoints so far and all eight views vote; combinations are averaged."
    tables = [Table(heads, rows, caption=lead)]
    if len(runs) == 1:
        return [*tables, *(scores_table(found) for found in newest if found)]
    for part in PARTS:
        groups = [found.get(part, {}) for found in newest]
        if labels := list(dict.fromkeys(label for one in groups for label in one)):
            rows = [
                [name, *(percent(one.get(label, {}), "pass@2") for label in labels)]
                for name, one in zip(names, groups, strict=True)
            ]
            tables.append(Table(["pass@2", *labels], rows, f"{part.capitalize()} combinations"))
    return tables
