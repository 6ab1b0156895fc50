"""Evaluating a run, or a model in training: votes, then a ranking under a protocol, scores and a submission."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from charm.config import at_least
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation.predict import Request, predict_votes
from charm.evaluation.protocols import Protocol, load_ballots, protocol_named, settings_text, stored_protocol
from charm.evaluation.ranking import ATTEMPTS, Ranking, attempts, rank, write_submission
from charm.evaluation.scoring import Scores, score
from charm.files import sweep
from charm.models.config import NetworkConfig
from charm.models.model import CharmModel
from charm.progress import bar, say
from charm.runs.archive import Expected, damaged_passes, forget_later_votes, is_finished, passes
from charm.runs.checkpoint import by_step, folder_of, run_of, steps_of
from charm.runs.folder import RESULTS, write_result
from charm.runs.metrics import Exam, LogEntry
from charm.runs.settings import TrainConfig, read_config
from charm.tables import Table
from charm.tasks.dataset import DataConfig, Dataset, answer_key, asked_inputs, load_dataset
from charm.tasks.sources import load_source
from charm.tasks.task import Question


@dataclass(frozen=True, eq=False)
class Evaluation:
    protocol: Protocol
    step: int
    ranking: Ranking
    scores: Scores
    voted: tuple[int, ...]  # steps of the checkpoints whose votes count
    by_source: dict[str, Scores]  # of each evaluated source, where there are several


@dataclass(frozen=True, kw_only=True)
class VoteOptions:
    """The votes that an evaluation of a run makes and counts."""

    tasks: tuple[str, ...] = ()
    """Only these tasks."""
    batch: int = 512
    """Predictions made at once."""
    rank_only: bool = False
    """Make no new votes."""
    blank_memory: bool = False
    """Answer without the task memory, for comparison; written as a separate protocol."""
    data: Path | None = None
    """Folder of downloaded and generated data; by default as in training."""

    def __post_init__(self) -> None:
        at_least(1, self, "batch")


def evaluate_run(
    run: Path, name: str, protocol: Protocol, place: Place, options: VoteOptions | None = None
) -> dict[str, Any] | None:
    """Make the missing votes with the run's checkpoints, rank all votes, and write the result.

    With `blank_memory` the votes of the newest checkpoint without its memory are a separate result, "blank", and
    so is what some `tasks` score, "tasks" or "blank_tasks". Returns the scores on the main process.
    """
    options = options or VoteOptions()
    config = read_config(run, options.data)
    protocol = as_asked(protocol, config.reasoner)
    folder = run / ("votes_blank" if options.blank_memory else "votes")
    if not config.data.evaluate:
        raise CharmError(f"{run} has no tasks to evaluate; `charm solve TASKS --checkpoint {run}` answers new ones")
    asked = asked_inputs(config.data)
    if unknown := set(options.tasks) - {question.task_id for question in asked}:
        raise CharmError(f"{run}: task {min(unknown)!r} is not one of the tasks that this run evaluates")
    Expected(asked, blank=options.blank_memory).require_all(folder)
    data = replace(config.data, tasks=options.tasks or config.data.tasks)
    folder, lacking, steps = _lacking_votes(folder, protocol, place, options)
    views, made_by, questions = None if protocol.views == "all" else protocol.views, run_of(run), None
    for step in lacking:
        model = CharmModel.from_pretrained(folder_of(run, step), place.device)
        questions = questions or load_dataset(data, model.instances)
        request = Request(model, questions, protocol.loops, views, options.batch, blank_memory=options.blank_memory)
        vote(request, place, folder, step, made_by)
    place.barrier()
    if not place.is_main:
        return None
    if options.blank_memory:
        name, protocol = "blank", replace(protocol, window="current")
    found = evaluate_votes(folder, protocol, data, steps, bool(options.tasks))
    if options.tasks:
        name = "blank_tasks" if options.blank_memory else "tasks"
    return write_evaluation(run, name, found, options.tasks)


def as_asked(protocol: Protocol, reasoner: NetworkConfig) -> Protocol:
    """Adapt a protocol to a reasoner: a writer answers in one step, and judges what it wrote; a vit has placements."""
    if reasoner.fixed_depths:
        protocol = replace(protocol, loops=reasoner.voting_steps)
    return replace(protocol, order=protocol.order or "likelihood") if reasoner.judges else protocol


def own_protocol(config: TrainConfig, name: str, **fields: Any) -> Protocol:
    """Return a protocol of the paper at the depths that the run evaluates with: the first, or all where it has several.

    Fields that are not None override it; `loops` are then other depths.
    """
    protocol = replace(protocol_named(name), **{key: value for key, value in fields.items() if value is not None})
    if fields.get("loops") is None:
        all_depths = config.reasoner.fixed_depths or len(protocol.loops) > 1
        protocol = replace(protocol, loops=config.evaluate_loops[: None if all_depths else 1])
    return as_asked(protocol, config.reasoner)


def _lacking_votes(
    folder: Path, protocol: Protocol, place: Place, options: VoteOptions
) -> tuple[Path, list[int], list[int] | None]:
    """Find where the votes are, the steps whose votes are to be made, and those that vote (None: the protocol's)."""
    run = folder.parent
    if place.is_main:
        for written in (folder, run / "eval"):
            sweep(written)
    saved, damaged = steps_of(run), damaged_passes(folder)
    scored = [] if options.blank_memory else by_step(run / "eval", ".json")  # in training, so there must be votes
    voted = {*passes(folder), *damaged, *scored}
    known = voted if options.rank_only else {*saved, *voted}
    newest = saved[-1:] if options.blank_memory else sorted(protocol.weights(known))
    views, made_by = 0 if protocol.views == "all" else protocol.views, run_of(run)
    lacking = [step for step in newest if not is_finished(folder, step, protocol.loops, views, made_by)]
    if options.rank_only:
        lost = [step for step in lacking if step in damaged or not (folder / f"step_{step}").is_dir()]
        if lost and not options.blank_memory:
            raise CharmError(
                f"{run}: the votes of step {lost[-1]} are missing or damaged; `charm eval {run}` without --rank-only "
                f"makes them again where the checkpoint is still there"
            )
        return folder, [], None
    able = [step for step in newest if step in saved]
    for step in lacking:
        if step not in saved:
            raise CharmError(
                f"{run}: votes for step {step} are incomplete and its checkpoint was deleted; "
                f"--window {len(able)} uses the newer checkpoints only"
            )
        if place.is_main and step in damaged:
            say(f"the votes of step {step} are missing or damaged and are made again")
    if options.tasks and lacking:  # votes on some tasks must not replace the run's votes on all of them
        return folder.with_name(f"{folder.name}_tasks"), able, able
    return folder, lacking, None


def scores_table(found: dict[str, Any]) -> Table:
    """Show the scores of `write_evaluation`."""
    settings = settings_text(stored_protocol(found, "scores"))
    title = f"step {found['step']}, {found['protocol']['name']}: {settings}"
    metrics = found["metrics"]
    if not metrics:
        rows = [["puzzles without known test outputs", f"{found['blind_puzzles']}"]]
        rows.append(["test inputs answered, none of them scored", f"{found['blind_outputs']}"])
        return Table(["", "number"], rows, title)
    names = [name for name in metrics if not name.endswith("/outputs")]
    rows = [
        [f"mean over {found['puzzles']} puzzles", *(f"{metrics[name]:.2%}" for name in names)],
        [f"mean over {found['outputs']} outputs", *(f"{metrics[f'{name}/outputs']:.2%}" for name in names)],
    ]
    for source, part in found["by_source"].items():
        label = f"mean over {part['puzzles']} puzzles of {source}"
        rows.append([label, *(f"{part['metrics'][name]:.2%}" for name in names)])
    counts = ", ".join(f"{count} {outcome}" for outcome, count in found["outcomes"].items() if count)
    defined = "; a near miss has the right answer in third place or lower" if found["outcomes"]["near miss"] else ""
    return Table(["", *names], rows, title, counts + defined)


def evaluate_votes(
    folder: Path, protocol: Protocol, data: DataConfig, steps: Sequence[int] | None = None, some: bool = False
) -> Evaluation:
    """Rank and score the votes of a run in one of its folders; no model and no accelerator needed.

    They must answer the questions of `data`, or with `some` at least these.
    """
    blank = folder.name.startswith("votes_blank")
    expected = Expected(asked_inputs(data), run_of(folder.parent), blank, some)
    questions, ballots = load_ballots(folder, protocol, steps, expected)
    ranking = rank(ballots, questions, protocol.order or "votes")
    voted = tuple(sorted({ballot.step for ballot in ballots}))
    scores = score(ranking, answer_key(data))
    by_source = {}
    if len(data.evaluate) > 1:
        ids = {name: {task.id for task in load_source(name, data.data).tasks} for name in data.evaluate}
        by_source = {name: part for name in ids if (part := scores.of(ids[name])).puzzles}
    return Evaluation(protocol, voted[-1], ranking, scores, voted, by_source if len(by_source) > 1 else {})


def write_evaluation(out: Path, name: str, evaluation: Evaluation, tasks: Sequence[str] = ()) -> dict[str, Any]:
    """Write eval/NAME.json with the scores and eval/NAME.submission.json, of all tasks or some; return the former."""
    found = {
        "protocol": {"name": name, **asdict(evaluation.protocol)},
        "step": evaluation.step,
        "checkpoints": list(evaluation.voted),
        "run": run_of(out),
        **evaluation.scores.to_json(),
        "by_source": {
            name: {"metrics": part.metrics, "puzzles": part.puzzles, "outputs": part.outputs}
            for name, part in evaluation.by_source.items()
        },
    }
    found = write_result(out / "eval" / f"{name}.json", found, out)
    best = evaluation.ranking.best(len(ATTEMPTS)).items()
    submission = attempts({question: some for question, some in best if not tasks or question.task_id in tasks})
    write_submission(out / "eval" / f"{name}.submission.json", submission)
    return found


def score_checkpoint(config: TrainConfig, data: DataConfig, out: Path, step: int) -> dict[str, float]:
    """Return the scores of the run so far under the standard protocol, with the views that it evaluates with.

    This checkpoint votes, and older ones that were asked as much; a resumed run may ask more than it did before. Votes
    at further depths wait for the protocols that use them.
    """
    views, votes, made_by = config.evaluate_views, out / "votes", run_of(out)
    protocol = replace(own_protocol(config, "standard"), views=views or "all")
    asked_alike = [one for one in by_step(votes) if is_finished(votes, one, protocol.loops, views, made_by)]
    for one in damaged_passes(votes):  # they do not end a training, but `charm eval` asks for them
        say(f"the votes of step {one} are missing or damaged and do not count")
    evaluation = evaluate_votes(votes, protocol, data, asked_alike)
    write_evaluation(out, f"step_{step:09d}", evaluation)
    return {name: value for name, value in evaluation.scores.metrics.items() if name in ("pass@1", "pass@2")}


def vote(request: Request, place: Place, votes_folder: Path, step: int, run: str = "") -> None:
    """Run `predict_votes` with a progress bar on the main process."""
    with bar("votes", shown=place.is_main) as line:
        predict_votes(replace(request, advance=line.update), place, votes_folder, step, run)


@dataclass(frozen=True)
class Voting:
    """Lets the model vote on the data's questions into the run folder, and scores all votes so far."""

    loops: tuple[int, ...]
    views: int  # of each question; 0 is all
    score: Callable[[Path, int], dict[str, float]]  # (run folder, step) -> headline scores of the votes on disk
    asked: Mapping[Question, str]  # the data's questions, with hashes of their test inputs

    def examine(self, model: CharmModel, data: Dataset, place: Place, exam: Exam) -> LogEntry | None:
        def advance(done: int, total: int) -> None:
            exam.report(f"evaluation: {done:,} of {total:,} votes")

        request = Request(model, data, self.loops, self.views or None, advance=advance, stop=exam.stop)
        predict_votes(request, place, exam.out / "votes", exam.step, exam.run)
        if place.any(exam.stop()):
            return None
        if not place.is_main:
            return LogEntry({}, "")
        scores = self.score(exam.out, exam.step)
        return LogEntry(scores, ", ".join(f"{name} {share:.2%}" for name, share in scores.items()))

    def forget(self, out: Path, step: int) -> bool:
        """Remove later votes; earlier ones must answer the questions that the run asks now."""
        removed = any([forget_later_votes(out / name, step) for name in RESULTS if name != "eval"])
        Expected(self.asked).require_all(out / "votes")
        return removed
