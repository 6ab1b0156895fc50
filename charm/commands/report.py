"""`charm report`: write a page about runs or a solve, or a figure."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from charm.commands.shared import RunData, flag
from charm.domains import PageOptions
from charm.errors import CharmError
from charm.progress import plain


def report(
    runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN ...", help_behavior_hint="(required)")],
    *,
    figure: Annotated[str | None, flag("NAME", "a page")] = None,
    out: Annotated[Path | None, flag("FILE", "RUN/report.html, comparison.html, SUBMISSION.html, FIGURE.pdf")] = None,
    protocol: Annotated[str | None, flag("NAME", "standard, at the depths that voted")] = None,
    films: int = 0,
    device: str = "auto",
    data: RunData = None,
) -> None:
    """Write a page about one or several runs or about a solve, or draw a figure of the paper from runs.

    One run: scores, curves, and every task with its candidates and votes. Several: the same side by side, and which
    puzzles one run solves that another never proposes. Runs on cellular automata and on text have their own pages.
    The submission of a solve: every task with its answers, their votes and the outcome.

    Example: charm report runs/quickstart

    Example: charm report runs/a runs/b --out comparison.html

    Example: charm report submission.json

    Example: charm report --figure cl-tradeoff --out tradeoff.pdf runs/arc1/adapt/arc2-training

    Args:
        runs: run folders with evaluations, or a submission and its task files; for some figures results.json files.
        figure: overall, pareto, depth, horizon, isoflop, car-emergence, car-transfer, cl-tradeoff, cl-retention, ...
        out: file to write; the suffix decides a figure's format: .pdf, .svg or .png.
        protocol: which votes count.
        films: number of films of refinement, of tasks whose answer changes, made with the newest checkpoint.
        device: device for films: cuda, xpu, mps, cpu, or auto for the best available.
    """
    if figure is not None:
        if protocol is not None or films:
            raise CharmError("--protocol and --films are for pages, not for figures")
        from charm.report.measurements import draw_figure

        print(plain(str(draw_figure(figure, runs, out or Path(f"{figure}.pdf"), data))))
    else:
        from charm.report.pages import write_pages

        print(plain(str(write_pages(runs, out, PageOptions(protocol, films, device, data)))))
