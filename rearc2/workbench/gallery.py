"""The gallery: one HTML page with every Re-ARC2 task, its rule and a few generated pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from charm.drawing.grids import LINE, PALETTE
from charm.report.html import DRAWING, document
from charm.tasks.canvas import FIRST_COLOR
from charm.tasks.task import Pair, digits
from rearc2.workbench.packages import ROOT, load_package

SCRIPT = """
// Draws the pairs of a task when it comes into view.
const seen = new IntersectionObserver((entries) => entries.filter((one) => one.isIntersecting).forEach(({ target }) => {
  seen.unobserve(target);
  const grids = element("div", "", "grids");
  for (const [before, after] of page.pairs[target.id]) {
    const pair = element("div", "", "pair");
    pair.append(drawGrid(before, "input"), element("span", "\\u2192"), drawGrid(after, "output"));
    grids.append(pair);
  }
  target.append(grids);
  target.removeAttribute("style");
}), { rootMargin: "600px" });
const sections = [...document.querySelectorAll("section")];
sections.forEach((section) => seen.observe(section));
document.querySelector("input").oninput = (event) => {
  const wanted = event.target.value.toLowerCase();
  sections.forEach((section) => { section.hidden = !section.textContent.toLowerCase().includes(wanted); });
  document.querySelector("output").value = sections.filter((section) => !section.hidden).length;
};
"""


def gallery(samples: Mapping[str, Iterable[Pair]], root: Path = ROOT) -> str:
    """Write an HTML page with every task, its rule and its samples; the browser draws grids that scroll into view."""
    search = (
        '<input type="search" placeholder="id or words of the rule" aria-label="id or words of the rule">'
    )
    sections = [
        f'<section id="{task}" style="min-height: 24rem"><h2><a href="#{task}">{task}</a></h2>'
        f"<p>{escape(load_package(task, root).rule)}</p></section>"
        for task in samples
    ]
    pairs = {
        task: [[digits(grid) for grid in pair.grids()] for pair in some] for task, some in samples.items()
    }
    body = [
        f"<p><output>{len(sections):,}</output> tasks, the rule of each and some generated pairs.</p>",
        f'<div class="tools">{search}</div>',
        *sections,
    ]
    payload = {"palette": PALETTE[FIRST_COLOR:], "line": LINE, "pairs": pairs}
    return document("Re-ARC2", body, DRAWING + SCRIPT, payload)
