"""The page of a run on ARC's tasks: one HTML file with the scores, the curves and every answer."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from charm.accounting import Accounting
from charm.config import to_json
from charm.domains import domain_of
from charm.drawing.grids import LINE, PALETTE
from charm.errors import charm_errors
from charm.evaluation.evaluate import Evaluation, as_asked, evaluate_votes, own_protocol
from charm.evaluation.protocols import SURE, Protocol, protocol_text
from charm.evaluation.scoring import KS, Scores
from charm.files import read_sealed
from charm.report import folder
from charm.report.answers import Films, JsonObject, affordable, run_entries, voting_steps
from charm.report.curves import curves_svg, short
from charm.report.film import read_films, write_films
from charm.report.html import SCRIPT, document, legend, settings, table, tile, write_page
from charm.runs.archive import whole_passes
from charm.runs.metrics import curve, read_metrics
from charm.runs.settings import TrainConfig, read_config
from charm.tables import percent
from charm.tasks.canvas import FIRST_COLOR
from charm.tasks.task import Grid, Question
from charm.tasks.view import DIHEDRAL_NAMES

# Name in metrics.jsonl -> title, and whether it is a share.
CURVES = {
    "loss": ("Loss", False),
    "exact_accuracy": ("Exact accuracy", True),
    "refinement_steps": ("Refinement steps", False),
    "evaluation/pass@2": ("Evaluation, pass@2", True),
}
# The place of the examples and of the list of tasks, which the page's script fills.
TASKS = '<div id="list"><noscript><p>The tasks need JavaScript.</p></noscript></div>'


def write_report(
    run: Path,
    protocol: Protocol | str | None = None,
    data: Path | None = None,
    films: Films | None = None,
    out: Path | None = None,
) -> Path:
    """Write the page of a run folder, by default RUN/report.html, and return its path.

    `films` are shown below the candidates and saved as RUN/films.json; by default those of an existing file.
    """
    config, protocol, evaluation = ranked(run, protocol, data)
    shown, counts = read_films(run) if films is None else films, folder.accounting(run)
    blank = folder.evaluations(run).get("blank")  # the scores with the memory zeroed
    tasks, steps = [], []
    if evaluation is not None:
        kept, steps = affordable(evaluation.ranking), voting_steps(evaluation.ranking)
        zeroed = _zeroed_answers(run, config, protocol) if blank else None
        tasks = run_entries(config.data, evaluation, kept, folder.instances(run), shown, zeroed)
    body = [
        *_headline(protocol, evaluation, blank, counts, asks=bool(config.data.evaluate)),
        *([TASKS] if tasks else []),
        *learning([run], []),
        *_scores(run, evaluation, blank),
        *_origins(run, config, counts),
    ]
    payload = {**drawing(), "steps": steps, "tasks": tasks, "sure": config.reasoner.sure}
    path = write_page(out or run / "report.html", document(run.resolve().name, body, SCRIPT, payload))
    if films:
        write_films(run, films)
    return path


def ranked(
    run: Path, protocol: Protocol | str | None, data: Path | None
) -> tuple[TrainConfig, Protocol, Evaluation | None]:
    """Return a run's configuration, the protocol to rank with, and the ranking of its votes, if any.

    A protocol's name means the run's own refinement depths. By default they are those too, with the standard protocol,
    or else the depths at which the newest checkpoint has voted.
    """
    config = read_config(run, data)
    voted = whole_passes(run / "votes")
    steps = list(voted)
    if isinstance(protocol, str):
        protocol = own_protocol(config, protocol)
    elif protocol is not None:
        protocol = as_asked(protocol, config.reasoner)
    else:
        protocol = own_protocol(config, "standard")
        if voted and not set(protocol.loops) <= set(voted[steps[-1]]):
            protocol = replace(protocol, loops=voted[steps[-1]])  # it was evaluated by hand, at other depths
        steps = [step for step in voted if set(protocol.loops) <= set(voted[step])]
    evaluation = evaluate_votes(run / "votes", protocol, config.data, steps) if voted else None
    return config, protocol, evaluation


def _zeroed_answers(run: Path, config: TrainConfig, protocol: Protocol) -> dict[Question, Grid] | None:
    """Return the first answers with the memory zeroed; None if the run folder has no such votes."""
    votes = run / "votes_blank"
    steps = [step for step, depths in whole_passes(votes).items() if set(protocol.loops) <= set(depths)]
    if not steps:
        return None
    protocol = replace(protocol, window="current")
    ranking = evaluate_votes(votes, protocol, config.data, steps).ranking
    best = {question: ranking.top(number, 1) for number, question in enumerate(ranking.questions)}
    return {question: top[0].grid for question, top in best.items() if top and top[0].grid.size}


def drawing() -> JsonObject:
    """Return the constants with which the scripts draw grids, name symmetries and explain confidences."""
    return {"palette": PALETTE[FIRST_COLOR:], "line": LINE, "turns": DIHEDRAL_NAMES, "confidences": SURE}


# The top of the page


def _headline(
    protocol: Protocol, evaluation: Evaluation | None, blank: JsonObject | None, counts: Accounting | None, asks: bool
) -> list[str]:
    """Return the lead and the tiles; `asks` is whether the run has tasks to evaluate."""
    tiles, lead = [], "Not evaluated yet: this run folder has no votes. charm eval makes them."
    if not asks:
        lead = "This run has no tasks to evaluate. To score it on yours: charm solve TASKS --checkpoint RUN --score"
    if evaluation is not None:
        steps, hidden = len(voting_steps(evaluation.ranking)), evaluation.scores.blind_outputs
        voted = "1 checkpoint" if steps == 1 else f"{steps} checkpoints"
        lead = f"Step {evaluation.step:,}; protocol: {protocol_text(protocol)}; {voted} voted."
        lead += f" {hidden:,} test outputs have no known answer and do not count." if hidden else ""
        tiles = score_tiles(evaluation.scores)
        if blank is not None:
            at_step = "" if blank["step"] == evaluation.step else f" at step {blank['step']:,}"
            tiles.append(tile("memory zeroed", percent(blank["metrics"], "pass@2"), f"pass@2 without it{at_step}"))
    if counts is not None:
        tiles.append(tile("parameters", short(counts.total), "in all"))
        tiles.append(tile("in task memory", short(counts.memory), "of these parameters"))
    return [f'<p class="soft">{escape(lead)}</p>', '<div class="cards">', *tiles, "</div>"]


def score_tiles(scores: Scores) -> list[str]:
    """Return tiles of pass@2, pass@1 and the number of solved tasks; none if no answer is known."""
    if not scores.puzzles:
        return []
    solved = sum(task.outcome == "solved" for task in scores.tasks)
    return [
        tile("pass@2", percent(scores.metrics, "pass@2"), "right in two attempts"),
        tile("pass@1", percent(scores.metrics, "pass@1"), "right in one attempt"),
        tile("tasks solved", f"{solved:,}", f"of {scores.puzzles:,}, all test inputs right"),
    ]


# Curves and tables


def learning(runs: Sequence[Path], names: Sequence[str]) -> list[str]:
    """Return the curves of runs of one domain, of several with a legend."""
    lines = [read_metrics(run) for run in runs]
    curves = [legend(names)] if len(runs) > 1 else []
    curves.append('<div class="curves">')
    titles = domain_of(runs[0]).get("curves")
    found = {name: [curve(one, name) for one in lines] for name in titles}
    begun = any(any(points) for points in found.values())
    for name, (title, is_share) in titles.items():
        # Not every run is evaluated during training, and a writer has no refinement steps.
        if any(found[name]) or not (begun or name.startswith("evaluation/")):
            curves.append(curves_svg(title, found[name], is_share))
    return ["<h2>Learning</h2>", *curves, "</div>"]


def _scores(run: Path, evaluation: Evaluation | None, blank: JsonObject | None) -> list[str]:
    """Return pass@k per task and per output, and the scores of other evaluations of the run."""
    parts = []
    if evaluation is not None and evaluation.scores.metrics:
        columns = {"": evaluation.scores.metrics} | ({"memory zeroed, ": blank["metrics"]} if blank else {})
        heads = [f"{which}over {unit}" for which in columns for unit in ("tasks", "outputs")]
        rows: list[list[str]] = []
        for k in KS:
            names = (f"pass@{k}", f"pass@{k}/outputs")
            row = [names[0], *(percent(one, name) for one in columns.values() for name in names)]
            if rows and rows[-1][1:] == row[1:]:  # equal scores share a row
                rows[-1][0] = f"{rows[-1][0].partition(' to ')[0]} to {names[0]}"
            else:
                rows.append(row)
        parts += ["<section><h2>pass@k</h2>", table(["", *heads], rows), "</section>"]
    if others := folder.evaluations(run):
        rows = []
        for name, found in others.items():
            shown = [percent(found["metrics"], metric) for metric in ("pass@1", "pass@2")]
            title = {"blank": "memory zeroed", "blank_tasks": "memory zeroed, tasks"}.get(name, name)
            rows.append([title, folder.protocol_of(found), f"{found['step']:,}", *shown, f"{found['puzzles']:,}"])
        heads = ["evaluation", "protocol", "step", "pass@1", "pass@2", "tasks"]
        parts += ["<section><h2>Evaluations in this folder</h2>", table(heads, rows), "</section>"]
    return ['<div class="tables">', *parts, "</div>"]


def _origins(run: Path, config: TrainConfig, counts: Accounting | None) -> list[str]:
    parts = []
    if counts is not None:
        rows = [[name, f"{count:,}"] for name, count in counts.lines() if count]
        parts += ["<section><h2>Parameters</h2>", table(["component", "parameters"], rows), "</section>"]
    parts.append("<section><h2>Data and settings</h2>")
    if (run / "data.json").is_file():
        manifest = read_sealed(run / "data.json")
        names = ("role", "name", "version", "tasks")
        problem = f"{run / 'data.json'}: not a record of a run's data"
        with charm_errors(problem, KeyError, TypeError, ValueError):
            rows = [[*(str(source[name]) for name in names), source["sha256"][:12]] for source in manifest["sources"]]
            kinds = ("tasks", "pairs", "synthetic_pairs", "rows", "questions")
            counted = [f"{manifest[name]:,} {name.replace('_', ' ')}" for name in kinds]
            partial = [str(text) for text in manifest.get("partial", ())]
        parts.append(table([*names, "content hash"], rows))
        parts += [f"<p>Trained on part of the data: {escape(text)}.</p>" for text in partial]
        parts.append(f'<p class="soft">{escape(", ".join(counted))}.</p>')
    return ['<div class="tables">', *parts, settings(to_json(config)), "</section></div>"]
