"""The gallery: one HTML page with every Re-ARC2 task, its rule and a few generated pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from charm.drawing.grids import PALETTE
from charm.tasks.canvas import FIRST_COLOR
from charm.tasks.task import Grid, Pair
from rearc2.workbench.packages import ROOT, load_package


def gallery(samples: Mapping[str, Iterable[Pair]], root: Path = ROOT) -> str:
    """Write an HTML page with every task, its rule and its samples; the browser draws grids that scroll into view."""
    sections = []
    for task, pairs in samples.items():
        grids = [[_digits(grid) for grid in pair.grids()] for pair in pairs]
        rule = escape(load_package(task, root).rule)
        sections.append(
            f'<section id="{task}" data-grids="{escape(json.dumps(grids))}">'
            f'<h2><a href="#{task}">{task}</a></h2><p>{rule}</p></section>'
        )
    colors = json.dumps(PALETTE[FIRST_COLOR:])
    page = PAGE.replace("COLORS", colors).replace("COUNT", f"{len(sections):,}")
    return page.replace("SECTIONS", "\n".join(sections))


def _digits(grid: Grid) -> str:
    return " ".join("".join(map(str, row)) for row in grid.tolist())


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Re-ARC2</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5rem auto; max-width: 90rem; padding: 0 1rem; color: #222; }
section { border-top: 1px solid #ccc; }
section[data-grids] { min-height: 24rem; } /* until it is drawn */
h2 { font: bold 1rem monospace; margin-bottom: 0; }
h2 a { color: inherit; text-decoration: none; }
p { margin: .2rem 0 .6rem; max-width: 60rem; }
.pairs { display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; margin-bottom: 1rem; }
.pair { display: flex; align-items: center; gap: .4rem; max-width: 100%; }
canvas { min-width: 0; image-rendering: pixelated; } /* narrower where a pair does not fit */
input { font: inherit; width: 20rem; max-width: 100%; padding: .3rem; }
</style>
<h1>Re-ARC2</h1>
<p><output>COUNT</output> tasks, the rule of each and some generated pairs.</p>
<p><input type="search" placeholder="id or words of the rule" aria-label="id or words of the rule"></p>
SECTIONS
<script>
const colors = COLORS;
function canvas(text) {
  const rows = text.split(" "), longest = Math.max(rows.length, rows[0].length);
  const cell = Math.max(5, Math.min(12, Math.floor(150 / longest)));
  const made = document.createElement("canvas"), pen = made.getContext("2d");
  made.width = rows[0].length * cell + 1;
  made.height = rows.length * cell + 1;
  pen.fillStyle = "#555";
  pen.fillRect(0, 0, made.width, made.height);
  rows.forEach((row, y) => [...row].forEach((color, x) => {
    pen.fillStyle = colors[color];
    pen.fillRect(x * cell + 1, y * cell + 1, cell - 1, cell - 1);
  }));
  return made;
}
const seen = new IntersectionObserver(entries => entries.filter(entry => entry.isIntersecting).forEach(entry => {
  seen.unobserve(entry.target);
  const pairs = document.createElement("div");
  pairs.className = "pairs";
  for (const grids of JSON.parse(entry.target.dataset.grids)) {
    const pair = document.createElement("div");
    pair.className = "pair";
    pair.append(canvas(grids[0]), "\\u2192", canvas(grids[1]));
    pairs.append(pair);
  }
  entry.target.append(pairs);
  delete entry.target.dataset.grids;
}), {rootMargin: "600px"});
const sections = [...document.querySelectorAll("section")];
sections.forEach(section => seen.observe(section));
document.querySelector("input").oninput = event => {
  const wanted = event.target.value.toLowerCase();
  sections.forEach(section => section.hidden = !section.textContent.toLowerCase().includes(wanted));
  document.querySelector("output").value = sections.filter(section => !section.hidden).length;
};
</script>
</html>
"""
