"""`charm rearc2`: the workbench for Re-ARC2's task packages (see docs/rearc2.md)."""

from __future__ import annotations

import json as jsonlib
import sys
from dataclasses import replace as with_changes
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from charm.commands.parsing import Commands
from charm.commands.shared import Data, Json, Seed, Switch, Wheel, Workers, flag, output, process_count
from charm.config import to_json
from charm.drawing.grids import panel_png
from charm.drawing.terminal import show
from charm.errors import CharmError
from charm.files import require_ending, write_atomically
from charm.paths import data_dir
from charm.progress import console, plain, say, status
from charm.synthesis.rearc import fetch_package
from charm.tasks.pairs_file import read_manifest
from rearc2.workbench import check as checking
from rearc2.workbench import packages, records
from rearc2.workbench.archive import read_archive, write_archive
from rearc2.workbench.export import export_pairs
from rearc2.workbench.facts import facts_text
from rearc2.workbench.gallery import gallery as gallery_page
from rearc2.workbench.preview import generated_pairs, sheet, write_html
from rearc2.workbench.quarantine import quarantine as failing_tasks
from rearc2.workbench.quarantine import quarantine_page

app = Commands()


@app.command(name="list")
def list_packages(*, state: Annotated[str, flag("STATE")] = "", json: Json = False) -> None:
    """List which of the 609 tasks are covered: accepted, failed, unchecked, open or missing.

    Example: charm rearc2 list --state missing

    Args:
        state: print only the ids in this state, one per line.
    """
    covered = packages.package_ids()
    states = {task: records.state(task) for task in packages.listed_ids()}
    known = ("accepted", "failed", "unchecked", "open", "missing")
    if state and state not in known:
        raise CharmError(f"state must be one of {', '.join(known)}; got {state}")
    by_state = {name: [task for task, found in states.items() if found == name] for name in known}
    if state:
        output(json, {state: by_state[state]}, *by_state[state])
        return
    lines = [f"{len(covered)} of {len(states)} tasks have a package"]
    for name, tasks in by_state.items():
        some = " ".join(tasks[:8]) + (" ..." if len(tasks) > 8 else "")
        lines.append(f"{name:>9} {len(tasks):>4}  {some}")
    output(json, by_state, *lines)


@app.command
def facts(
    task: Annotated[Positional[str], flag("ID")], *, png: Annotated[Path | None, flag("FILE")] = None
) -> None:
    """Print all official pairs of a task as text, with what they have in common.

    Example: charm rearc2 facts 00dbd492 --png facts.png

    Args:
        task: id of the task.
        png: also draw the pairs to this file.
    """
    print(plain(facts_text(task)))
    if png:
        panel_png(sheet(task, {}), png)


@app.command
def check(
    tasks: Annotated[Positional[tuple[str, ...]], flag("[ID ...]")] = (),
    *,
    all: Switch = False,
    quick: Switch = False,
    force: Switch = False,
    json: Json = False,
) -> None:
    """Check packages and record the outcome; exits with 1 if one is refused.

    Example: charm rearc2 check 00dbd492

    Args:
        tasks: ids of the packages.
        all: every package.
        quick: use 100 pairs instead of 1,000 and record nothing, for quick iteration.
        force: also check packages that are recorded and unchanged.
    """
    chosen = packages.package_ids() if all else list(tasks)
    if not chosen:
        raise CharmError("name the packages to check, or use --all")
    screen = console(stderr=json, width=None if sys.stdout.isatty() else 110)
    outcome = {}
    for number, task in enumerate(chosen, 1):
        # Packages named by the user are shown again even if they are unchanged.
        if all and not force and records.state(task) == "accepted":
            outcome[task] = to_json(records.read_record(task))["check"]
            continue
        with status(f"{task} ({number} of {len(chosen)})"):
            report = checking.check_package(task, checking.QUICK_PAIRS if quick else checking.PAIRS)
        found = report.as_check()
        outcome[task] = to_json(found)
        if not quick:
            records.record_check(task, found)
        if not all or not report.passed:
            judgements = records.read_record(task).judgements
            judged = [
                f"regularity: {name} ({broken}); {judgements.get(name, records.NOT_JUDGED)}"
                for name, broken in report.regularities.items()
            ]
            show(report.table(), *judged, *report.lines(), console=screen)
        verdict = "passes" if report.passed else "is refused"
        show(f"{task} {verdict}{' (quick, not recorded)' if quick else ''}", console=screen)
    refused = [task for task, found in outcome.items() if not found["passed"]]
    passing = f"{len(outcome) - len(refused)} of {len(outcome)} packages pass"
    output(json, outcome, *([passing] if all else []))
    if refused:
        sys.exit(1)


@app.command
def regularities(
    tasks: Annotated[Positional[tuple[str, ...]], flag("[ID ...]", "all packages")] = (),
    *,
    judge: Annotated[str, flag("NAME")] = "",
    verdict: Annotated[str, flag("VERDICT")] = "",
    note: Annotated[str, flag("TEXT")] = "",
    refresh: Switch = False,
    open: Switch = False,
    json: Json = False,
) -> None:
    """List regularities of the official pairs that generated pairs break, and why they may.

    Example: charm rearc2 regularities --open

    Args:
        tasks: ids of the packages.
        judge: the regularity (of one task) to give a verdict on.
        verdict: widened (the rule does not need it) or rival (the package declares that reading).
        note: the reason.
        refresh: recompute and record the lists of accepted packages, without the rest of the check.
        open: list only what is not judged yet.
    """
    if judge or verdict:
        if len(tasks) != 1:
            raise CharmError("name the task to judge (exactly one)")
        records.record_judgement(tasks[0], judge, verdict, note)
        return
    chosen = tasks or packages.package_ids()
    listed = {}
    for task in chosen:
        check = records.read_record(task).check
        if refresh and check is not None and records.state(task) == "accepted":
            records.record_check(task, with_changes(check, regularities=checking.regularities_of(task)))
        record = records.read_record(task)
        found = {
            name: text
            for name, text in record.judgement_texts().items()
            if not open or text == records.NOT_JUDGED
        }
        if found and record.check is not None:
            listed[task] = {name: [record.check.regularities[name], text] for name, text in found.items()}
    lines = [
        f"{task} {name} ({cases}); {text}"
        for task, found_here in listed.items()
        for name, (cases, text) in found_here.items()
    ]
    output(json, listed, *lines, f"{len(lines)} regularities in {len(listed)} of {len(chosen)} tasks")


@app.command
def build(
    *,
    pairs: int = 1000,
    seed: Seed = 0,
    workers: Workers = None,
    tasks: Annotated[tuple[str, ...], flag("ID ...", "all accepted packages", "only these ids.")] = (),
    replace: Switch = False,
    json: Json = False,
    data: Data = None,
) -> None:
    """Generate Re-ARC2 pairs from all accepted packages; resumes where it was stopped.

    Example: charm rearc2 build --workers 2

    Args:
        pairs: pairs per task.
        replace: overwrite pairs made by other versions of the packages.
    """
    accepted = records.accepted_ids()
    if refused := [task for task in tasks if task not in accepted]:
        raise CharmError(f"{refused[0]} is not accepted; run `charm rearc2 check {refused[0]}` to see why")
    if left_out := len(packages.package_ids()) - len(accepted):
        say(f"skipping {left_out} packages that have not passed their check")
    folder = data_dir(data) / "rearc2"
    chosen = list(tasks) or accepted
    summary = packages.build_rearc2(folder, chosen, seed, pairs, process_count(workers), replace)
    output(json, summary.as_json(), summary.table(), summary.line())


@app.command
def pack(file: Annotated[Positional[Path], flag("FILE")], *, data: Data = None) -> None:
    """Pack all generated Re-ARC2 pairs and their manifest into one file, to keep or share.

    Example: charm rearc2 pack rearc2.zip

    Args:
        file: the file to write.
    """
    folder = data_dir(data) / "rearc2"
    sha256 = write_archive(folder, file)
    print(plain(f"{file}: {read_manifest(folder)}, {file.stat().st_size / 1e6:.1f} MB, sha256 {sha256}"))


@app.command
def unpack(file: Annotated[Positional[Path], flag("FILE")], *, data: Data = None) -> None:
    """Unpack Re-ARC2 pairs from a packed file instead of generating them; every pair is checked.

    Example: charm rearc2 unpack rearc2.zip

    Args:
        file: a file written by `charm rearc2 pack`.
    """
    folder = data_dir(data) / "rearc2"
    print(plain(f"{folder}: {read_archive(file, folder)}"))


@app.command
def export(
    folder: Annotated[Positional[Path], flag("DIR")],
    *,
    format: Annotated[str, flag("rearc|huggingface")] = "rearc",
    data: Data = None,
) -> None:
    """Write all generated Re-ARC2 pairs in a form that other projects read.

    Example: charm rearc2 export rearc2_tasks

    Args:
        folder: a new folder.
        format: "rearc" writes tasks/ID.json as Re-ARC does; "huggingface" writes parquet files and a card.
    """
    print(plain(f"{folder}: {export_pairs(data_dir(data) / 'rearc2', folder, format)}"))


@app.command
def gallery(
    file: Annotated[Positional[Path], flag("FILE")],
    *,
    tasks: Annotated[tuple[str, ...], flag("ID ...", "all packages", "only these ids.")] = (),
    pairs: int = 6,
    seed: Seed = 0,
) -> None:
    """Draw one HTML page with every task, its rule and a few generated pairs.

    Example: charm rearc2 gallery gallery.html

    Args:
        file: the page to write.
        pairs: generated pairs to show for each task.
    """
    chosen = tasks or packages.package_ids()
    samples = {task: generated_pairs(task, pairs, seed=seed).values() for task in chosen}
    write_atomically(file, gallery_page(samples))
    print(plain(f"{file}: {len(samples):,} tasks, {file.stat().st_size / 1e6:.1f} MB"))


@app.command
def preview(
    tasks: Annotated[Positional[tuple[str, ...]], flag("[ID ...]", "all, for a page")] = (),
    *,
    png: Annotated[Path | None, flag("FILE", "ID.png, if no page is asked for")] = None,
    html: Annotated[Path | None, flag("FILE")] = None,
    pairs: int = 12,
    first: int = 0,
    seed: Seed = 0,
) -> None:
    """Draw official pairs above generated ones: PNG for one task, HTML for any number.

    Example: charm rearc2 preview 00dbd492 --png sheet.png

    Args:
        tasks: ids of the packages.
        png: write the picture to this file.
        html: write a page to this file.
        pairs: generated pairs to show.
        first: number of the first attempt.
    """
    chosen = list(tasks) or packages.package_ids()
    if len(chosen) != 1 and (png or not html):
        raise CharmError("a picture shows one package: name it, or write a page with --html FILE")
    panels = {task: sheet(task, generated_pairs(task, pairs, first, seed)) for task in chosen}
    if html:
        write_html(panels, html)
        print(plain(str(html)))
    if png or not html:
        path = png or Path(f"{chosen[0]}.png")
        panel_png(panels[chosen[0]], path)
        print(plain(str(path)))


@app.command
def audit(
    tasks: Annotated[Positional[tuple[str, ...]], flag("[ID ...]", "all without a reading")] = (),
    *,
    verdict: Annotated[str, flag("VERDICT")] = "",
    note: Annotated[str, flag("TEXT")] = "",
    json: Json = False,
) -> None:
    """Record the verdict of a second reader, or list the packages that still need one.

    The reader infers the rule independently from the official pairs before reading the package.

    Example: charm rearc2 audit 00dbd492 --verdict agreed --note "frame size decides the colour"

    Args:
        tasks: ids of tasks; without a verdict their records are shown.
        verdict: agreed, fixed or open; "open" does not need a package, but a note of what was tried.
        note: what the reader found.
    """
    if verdict:
        if not tasks:
            raise CharmError("name the task to give the verdict on")
        for task in tasks:
            records.record_reading(task, verdict, note)
        return
    if tasks:
        print(jsonlib.dumps({task: to_json(records.read_record(task)) for task in tasks}, indent=2))
        return
    states = {task: records.reading_state(task) for task in packages.package_ids()}
    waiting = {task: found for task, found in states.items() if found in ("unread", "stale", "open")}
    lines = [f"{task} {found}" for task, found in waiting.items()]
    read = f"{len(states) - len(waiting)} of {len(states)} packages have a second reading"
    output(json, states, *lines, read)


@app.command
def quarantine(
    *,
    out: Annotated[Path, flag("FILE")] = Path("docs/rearc_quarantine.md"),
    workers: Workers = None,
    tasks: Annotated[
        tuple[str, ...], flag("ID ...", "all that `charm data rearc` has built", "only these ids.")
    ] = (),
    wheel: Wheel = None,
    json: Json = False,
    data: Data = None,
) -> None:
    """Run the checks on Re-ARC's own tasks and write the list of those that fail.

    Example: charm rearc2 quarantine --workers 2

    Args:
        out: the page to write.
    """
    require_ending(out, "the page", ".md")
    home = data_dir(data)
    checked = len(tasks) or len(read_manifest(home / "rearc").tasks)
    package = fetch_package(home, wheel)
    found = failing_tasks(home / "rearc", package, process_count(workers), tasks)
    write_atomically(out, quarantine_page(found, checked))
    output(json, found, f"{len(found)} of {checked} Re-ARC tasks fail a check; the list is in {out}")
