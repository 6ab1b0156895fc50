"""The page of a run: one HTML file that opens from disk, with the scores, the curves and every answer.

Names and grids come from files of other people. All text passes through `escape`, the data of the script through
JSON without a "<", and the page's own policy lets the browser run no script but ours and load nothing at all.
"""

from __future__ import annotations

import hashlib
import json
import math
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from charm.config import to_json
from charm.errors import CharmError
from charm.evaluation.archive import passes
from charm.evaluation.protocols import PROTOCOLS, Protocol, protocol_named
from charm.evaluation.run import Evaluation, evaluate_votes
from charm.evaluation.scoring import KS, OUTCOMES
from charm.files import write_atomically
from charm.report.answers import Films, Json, task_entries, voting_steps
from charm.report.assets import SCRIPT, STYLE
from charm.report.curves import curve_svg, short
from charm.report.draw import LINE, PALETTE
from charm.tasks.canvas import FIRST_COLOR
from charm.training.checkpoint import folder_of, steps_of
from charm.training.config import TrainConfig, read_config

UNKNOWN = "\N{EN DASH}"

# Name in metrics.jsonl -> title, and whether it is a share.
CURVES = {
    "loss": ("Loss", False),
    "exact_accuracy": ("Exact accuracy", True),
    "refinement_steps": ("Refinement steps", False),
    "evaluation/pass@2": ("Evaluation, pass@2", True),
}
# Sort key of the task list -> heading, and whether a narrow screen leaves it out.
COLUMNS = {
    "id": ("task", False),
    "outcome": ("outcome", False),
    "rank": ("rank", False),
    "share": ("top share", False),
    "confidence": ("confidence", True),
    "wrong": ("cells wrong", True),
}


def write_report(
    run: Path,
    protocol: Protocol | None = None,
    data: Path | None = None,
    films: Films | None = None,
    top: int = 5,
) -> Path:
    """Write RUN/report.html from what the run folder holds, and return its path.

    Arguments:
        protocol: ranks the votes; by default the standard one at the refinement depths the run evaluates with.
        data: where downloaded data lie, if not where the run's configuration says.
        films: refinement of some questions, to step through below their candidates.
        top: candidates shown for each question.
    A run without metrics or votes gets a page that says so. Sources that are gone are an error.
    """
    config = read_config(run)
    if data is not None:
        config = replace(config, data=replace(config.data, data=data))
    if protocol is None:
        protocol = replace(protocol_named("standard"), loops=config.evaluate_loops)
    evaluation = evaluate_votes(run / "votes", protocol, config.data) if passes(run / "votes") else None
    content = _page(run, config, protocol, evaluation, films or {}, top)
    path = run / "report.html"
    # A name may hold half of a surrogate pair, which UTF-8 has no bytes for.
    page = content.encode("utf-8", "xmlcharrefreplace")
    try:
        write_atomically(path, page)
    except OSError as error:
        raise CharmError(f"{path}: the page cannot be written ({error.strerror})") from error
    return path


def _page(
    run: Path,
    config: TrainConfig,
    protocol: Protocol,
    evaluation: Evaluation | None,
    films: Films,
    top: int,
) -> str:
    payload: Json = {
        "palette": PALETTE[FIRST_COLOR:],
        "line": LINE,
        "steps": voting_steps(evaluation.ranking) if evaluation else [],
        "tasks": task_entries(config.data, evaluation, films, top) if evaluation else [],
    }
    script_hash = b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script_hash}'"
    name = escape(run.resolve().name)
    return "\n".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{name} · CHARM</title><style>{STYLE}</style></head><body>",
            f"<h1>{name}</h1>",
            *_headline(run, protocol, evaluation),
            *_learning(run),
            *_scores(run, evaluation),
            *_task_list(payload["tasks"], top),
            *_origins(run, config),
            f'<script type="application/json" id="data">{_script_json(payload)}</script>',
            f"<script>{SCRIPT}</script></body></html>\n",
        ]
    )


# The top of the page


def _headline(run: Path, protocol: Protocol, evaluation: Evaluation | None) -> list[str]:
    cards = []
    if evaluation is None:
        lead = "Not evaluated yet: there are no votes in this run folder."
    else:
        steps = len(voting_steps(evaluation.ranking))
        voted = "1 checkpoint" if steps == 1 else f"{steps} checkpoints"
        lead = f"Step {evaluation.step:,}, protocol {_protocol_text(protocol)}; {voted} voted."
        scores = evaluation.scores
        cards += [_score_card(f"pass@{k}", scores.metrics, "") for k in (2, 1)]
        blank = _blank(run)
        if blank is not None:
            at_step = "" if blank["step"] == evaluation.step else f" at step {blank['step']:,}"
            note = f", blank memory{at_step}"
            cards += [_score_card(f"pass@{k}", blank["metrics"], note) for k in (2, 1)]
        solved = sum(task.outcome == "solved" for task in scores.tasks)
        hidden = f", {scores.blind_outputs:,} more without a known answer" if scores.blind_outputs else ""
        detail = f"{scores.outputs:,} test outputs{hidden}; {solved:,} solved whole"
        cards.append(_card("puzzles", f"{scores.puzzles:,}", detail))
    cards += _parameter_cards(run)
    return [f'<p class="soft">{escape(lead)}</p>', '<div class="cards">', *cards, "</div>"]


def _score_card(name: str, metrics: Mapping[str, float], note: str) -> str:
    outputs = f"mean over puzzles; over outputs {_percent(metrics, f'{name}/outputs')}"
    return _card(name + note, _percent(metrics, name), outputs)


def _percent(metrics: Mapping[str, float], name: str) -> str:
    """Without a number where everything is blind."""
    return f"{metrics[name]:.2%}" if name in metrics else UNKNOWN


def _card(title: str, value: str, detail: str) -> str:
    return (
        f'<div class="card"><span>{escape(title)}</span><b>{escape(value)}</b>'
        f"<span>{escape(detail)}</span></div>"
    )


def _protocol_text(protocol: Protocol) -> str:
    """Its name in the paper, if it has one, and what it means."""
    exact = [name for name, one in PROTOCOLS.items() if one == protocol]
    at_other_depths = [
        name for name, one in PROTOCOLS.items() if replace(one, loops=protocol.loops) == protocol
    ]
    name = [*exact, *at_other_depths, "custom"][0]
    windows = {
        "current": "the newest checkpoint",
        "half": "the newer half of the checkpoints",
        "all": "all checkpoints",
    }
    window = windows.get(str(protocol.window), f"at most {protocol.window} checkpoints")
    views = "all views" if protocol.views == "all" else f"at most {protocol.views:,} views"
    weight = f", half-life {protocol.half_life:g} checkpoints" if protocol.half_life else ""
    loops = " and ".join(map(str, protocol.loops))
    return f"{name} ({views}, {window}{weight}, {loops} refinement steps)"


def _parameter_cards(run: Path) -> list[str]:
    """Sizes from the header of the newest checkpoint's weights, without reading them."""
    steps = steps_of(run)
    if not steps:
        return []
    path = folder_of(run, steps[-1]) / "model.safetensors"
    dense = shared = rows = row_values = 0
    try:
        with safe_open(path, "np") as file:
            for name in file.keys():  # noqa: SIM118  (the file is no mapping)
                weights = file.get_slice(name)
                shape, count = weights.get_shape(), math.prod(weights.get_shape())
                if not weights.get_dtype().startswith(("F", "BF")):
                    continue  # a constant, not a weight
                if name.startswith(("memory.residual.rows.", "memory.residual.tables.")):
                    rows, row_values = rows + shape[0], row_values + count
                elif name.startswith("memory."):
                    shared += count
                else:
                    dense += count
    except (OSError, SafetensorError) as error:
        raise CharmError(f"{path}: not readable ({error})") from error
    return [
        _card("dense parameters", short(dense + shared), f"{dense:,} reasoner, {shared:,} shared memory"),
        _card("memory rows", short(rows), f"{rows:,} rows, {row_values:,} values"),
    ]


# Curves and tables


def _learning(run: Path) -> list[str]:
    lines = _metrics(run / "metrics.jsonl")
    curves = []
    for name, (title, percent) in CURVES.items():
        points = [(line["step"], line[name]) for line in lines if _is_number(line.get(name))]
        if points or not name.startswith("evaluation/"):  # not every run evaluates itself on the way
            curves.append(curve_svg(title, points, percent))
    return ["<h2>Learning</h2>", '<div class="curves">', *curves, "</div>"]


def _metrics(path: Path) -> list[Json]:
    """The lines of metrics.jsonl; the last may be cut short, by a kill or because the run goes on."""
    if not path.is_file():
        return []
    try:
        entries = path.read_text(errors="replace").splitlines()
    except OSError as error:
        raise CharmError(f"{path}: not readable ({error.strerror})") from error
    lines = []
    for number, entry in enumerate(entries, start=1):
        try:
            line = json.loads(entry)
        except ValueError as error:
            if number == len(entries):
                break
            raise CharmError(f"{path}: line {number} is not JSON") from error
        if not isinstance(line, dict) or not _is_number(line.get("step")):
            raise CharmError(f"{path}: line {number} has no step")
        lines.append(line)
    return lines


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _scores(run: Path, evaluation: Evaluation | None) -> list[str]:
    """pass@k in both conventions, and what other evaluations of the run have found."""
    parts = []
    blank = _blank(run)
    if evaluation is not None and evaluation.scores.metrics:
        columns = {"": evaluation.scores.metrics} | ({"blank memory, ": blank["metrics"]} if blank else {})
        heads = [f"{which}over {unit}" for which in columns for unit in ("puzzles", "outputs")]
        rows = []
        for k in KS:
            names = (f"pass@{k}", f"pass@{k}/outputs")
            rows.append([names[0], *(_percent(one, name) for one in columns.values() for name in names)])
        parts += ["<section><h2>pass@k</h2>", _table(["", *heads], rows), "</section>"]
    others = _evaluations(run)
    if others:
        rows = []
        for name, found in others.items():
            shown = [_percent(found["metrics"], metric) for metric in ("pass@1", "pass@2")]
            rows.append([name, f"{found['step']:,}", *shown, f"{found['puzzles']:,}"])
        heads = ["evaluation", "step", "pass@1", "pass@2", "puzzles"]
        parts += ["<section><h2>Evaluations in this folder</h2>", _table(heads, rows), "</section>"]
    return ['<div class="tables">', *parts, "</div>"]


def _evaluations(run: Path) -> dict[str, Json]:
    """eval/NAME.json by name, but those made while training, which the curve shows."""
    names = sorted(path.name.removesuffix(".json") for path in (run / "eval").glob("*.json"))
    wanted = [name for name in names if not name.endswith(".submission") and not name.startswith("step_")]
    return {name: _evaluation(run / "eval" / f"{name}.json") for name in wanted}


def _blank(run: Path) -> Json | None:
    """The scores without the task memory, if somebody has asked for them."""
    path = run / "eval" / "blank.json"
    return _evaluation(path) if path.is_file() else None


def _evaluation(path: Path) -> Json:
    found = _read_json(path)
    good = (
        isinstance(found, dict)
        and isinstance(found.get("metrics"), dict)
        and all(map(_is_number, found["metrics"].values()))
        and all(isinstance(found.get(name), int) for name in ("step", "puzzles"))
    )
    if not good:
        raise CharmError(f"{path}: not an evaluation, it lacks metrics, a step or a number of puzzles")
    return found


def _origins(run: Path, config: TrainConfig) -> list[str]:
    """What the run was made of: its data and its settings."""
    parts = ["<h2>Data and settings</h2>"]
    if (run / "data.json").is_file():
        manifest = _read_json(run / "data.json")
        names = ("role", "name", "version", "tasks")
        try:
            rows = [
                [*(str(source[name]) for name in names), source["sha256"][:12]]
                for source in manifest["sources"]
            ]
        except (KeyError, TypeError) as error:
            raise CharmError(f"{run / 'data.json'}: not the record of a run's data") from error
        parts.append(_table([*names, "content hash"], rows))
    settings = to_json(config)
    settings["data"]["data"] = None  # a place on somebody's disk, nothing that decides the run
    text = escape(json.dumps(settings, indent=1))
    return [*parts, f"<details><summary>configuration</summary><pre>{text}</pre></details>"]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CharmError(f"{path}: not readable ({error})") from error


# The tasks


def _task_list(tasks: Sequence[Json], top: int) -> list[str]:
    """The rows of the list; what is inside a task is drawn by the script when it is opened."""
    if not tasks:
        return []
    found = Counter(task["outcome"] for task in tasks)
    present = [outcome for outcome in OUTCOMES if outcome != "blind" or found[outcome]]
    bar = "".join(
        f'<i class="{_class(outcome)}" style="flex:{found[outcome]}" title="{outcome}: {found[outcome]}"></i>'
        for outcome in OUTCOMES
        if found[outcome]
    )
    filters = [f'<button data-filter="all" aria-pressed="true">all {len(tasks)}</button>']
    for outcome in present:
        label = f'<span class="outcome {_class(outcome)}">{outcome}</span> {found[outcome]}'
        filters.append(f'<button data-filter="{outcome}" aria-pressed="false">{label}</button>')
    heads = "".join(
        f'<button data-sort="{key}"{_extra(narrow)}>{title}</button>'
        for key, (title, narrow) in COLUMNS.items()
    )
    return [
        "<h2>Tasks</h2>",
        f'<div class="share-bar">{bar}</div>',
        '<p class="soft">A task is solved when every test output is right in two attempts. Rank is the place of '
        f"the right answer among the candidates; the best {top} are shown. Top share is the part of the votes "
        "that the first candidate has. A white square marks a cell that differs from the truth.</p>",
        "<noscript><p>The grids and the buttons need JavaScript.</p></noscript>",
        '<div class="tools">',
        *filters,
        '<input id="find" type="search" placeholder="find a task" aria-label="find a task"></div>',
        f'<p class="soft" id="shown">{len(tasks)} of {len(tasks)} tasks</p>',
        f'<div class="columns">{heads}</div><div id="tasks">',
        *(_task_row(number, task) for number, task in enumerate(tasks)),
        "</div>",
    ]


def _task_row(number: int, task: Json) -> str:
    outcome, keys = task["outcome"], task["keys"]
    ranks = ", ".join(str(test["rank"] or UNKNOWN) for test in task["tests"])
    share = UNKNOWN if keys["share"] is None else f"{keys['share']:.0%}"
    confidence = UNKNOWN if keys["confidence"] is None else f"{keys['confidence']:.2f}"
    wrong = UNKNOWN if keys["wrong"] is None else keys["wrong"]
    cells = (
        f"<b>{escape(task['id'])}</b>",
        f'<span class="outcome">{outcome}</span>',
        f"<span>{ranks}</span>",
        f"<span>{share}</span>",
        f'<span class="extra">{confidence}</span>',
        f'<span class="extra">{wrong}</span>',
    )
    return f'<details class="task {_class(outcome)}" data-n="{number}"><summary>{"".join(cells)}</summary></details>'


def _class(outcome: str) -> str:
    return outcome.replace(" ", "-")


def _extra(narrow: bool) -> str:
    return ' class="extra"' if narrow else ""


def _script_json(value: Any) -> str:
    """JSON that cannot end the script element nor open a comment in it."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
