"""What the pages carry besides their data: one style sheet and the scripts, plain text for any browser."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1d1d1f; --soft: #63625d; --line: #dedbd2; --accent: #2457c5;
  --solved: #1f8a4c; --near: #1c7fa6; --cells: #a97708; --size: #c2571a; --none: #b3261e; --blind: #7a7a7a;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #2b2b2b;
  --c5: #b8860b; --c6: #2f8fc4; --c7: #7b3294;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #17181b; --card: #202226; --ink: #ececec; --soft: #a6a59f; --line: #3a3c41; --accent: #8fb2ff;
    --solved: #57c785; --near: #5cb8dc; --cells: #e0b04a; --size: #f0925a; --none: #f2827a; --blind: #a0a0a0;
    --c0: #56b4e9; --c1: #f08a3c; --c2: #35c79a; --c3: #e3a3c6; --c4: #e8e8e8;
    --c5: #f0e442; --c6: #8ec8f0; --c7: #c08ad8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.2rem clamp(.8rem, 3vw, 2rem) 4rem; max-width: 76rem; background: var(--paper);
  color: var(--ink); font: 16px/1.45 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .7rem; }
h3 { font-size: .95rem; margin: 1.2rem 0 .5rem; }
p { margin: .3rem 0; max-width: 62rem; }
.soft, figcaption { color: var(--soft); font-size: .86rem; }
.cards, .curves { display: grid; gap: .8rem; }
.cards { grid-template-columns: repeat(auto-fill, minmax(8.6rem, 1fr)); margin-top: 1rem; }
.curves { grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); }
.card, .curve { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
.card { padding: .7rem .9rem; }
.card b { display: block; font-size: 1.55rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.card span { display: block; color: var(--soft); font-size: .84rem; }
.curve { width: 100%; height: auto; font-size: 11px; }
.curve text { fill: var(--soft); }
.curve .title { fill: var(--ink); font-size: 13px; font-weight: 600; }
.curve .last { fill: var(--accent); font-size: 13px; font-weight: 600; }
.curve .rule { stroke: var(--line); fill: none; }
.curve .line { stroke: var(--accent); stroke-width: 1.8; fill: none; stroke-linejoin: round; }
.curve .band { fill: var(--accent); opacity: .18; }
.curve circle { fill: var(--accent); }
.s0 { --accent: var(--c0); } .s1 { --accent: var(--c1); } .s2 { --accent: var(--c2); } .s3 { --accent: var(--c3); }
.s4 { --accent: var(--c4); } .s5 { --accent: var(--c5); } .s6 { --accent: var(--c6); } .s7 { --accent: var(--c7); }
.s1 .line { stroke-dasharray: 7 3; } .s2 .line { stroke-dasharray: 2 3; } .s3 .line { stroke-dasharray: 9 3 2 3; }
.s5 .line { stroke-dasharray: 12 4; } .s6 .line { stroke-dasharray: 4 4; } .s7 .line { stroke-dasharray: 9 3 2 3 2 3; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; font-size: .9rem; }
.legend svg { width: 28px; height: 10px; margin-right: .5em; }
.legend .line { stroke: var(--accent); stroke-width: 2.4; fill: none; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; }
.tables > * { max-width: 100%; }
.tables { display: flex; flex-wrap: wrap; gap: 0 3rem; }
.wide { overflow-x: auto; max-width: 100%; }
.wide th, .wide td { overflow-wrap: normal; }
.wide td:first-child { min-width: 6.5rem; }
pre { font-size: .8rem; overflow: auto; }
summary { cursor: pointer; }
button, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem; padding: .3rem .7rem; min-height: 2.2rem; }
button { cursor: pointer; }
button[aria-pressed=true] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.tools { display: flex; flex-wrap: wrap; gap: .4rem; margin-bottom: .6rem; }
.tools input { flex: 1 1 9rem; max-width: 16rem; }
.solved { --tone: var(--solved); } .near-miss { --tone: var(--near); } .wrong-cells { --tone: var(--cells); }
.wrong-size { --tone: var(--size); } .no-answer { --tone: var(--none); } .blind { --tone: var(--blind); }
.outcome { color: var(--tone); font-weight: 600; white-space: nowrap; }
.outcome::before { content: ""; display: inline-block; width: .6em; height: .6em; border-radius: 50%;
  background: var(--tone); margin-right: .4em; }
.share-bar { display: flex; height: .7rem; border-radius: .35rem; overflow: hidden; gap: 2px;
  margin: 1rem 0 .8rem; }
.share-bar i { background: var(--tone); min-width: 2px; }
.columns, .task > summary {
  display: grid; grid-template-columns: minmax(7rem, 3fr) 8.2rem repeat(4, minmax(4rem, 1fr)); gap: .5rem;
  align-items: baseline; padding: .45rem .7rem; font-variant-numeric: tabular-nums;
}
.columns { padding: 0 .7rem; margin-bottom: .2rem; }
.columns button { border: 0; background: none; padding: 0; text-align: left; color: var(--soft);
  font-size: .84rem; min-height: 2rem; border-radius: 0; box-shadow: none; }
.columns [data-way="1"]::after { content: " \\2191"; }
.columns [data-way="-1"]::after { content: " \\2193"; }
.task { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; margin-bottom: .3rem; }
.task[open] { border-color: var(--tone); }
.task > summary { list-style: none; }
.task > summary::-webkit-details-marker { display: none; }
.task > summary b { font-family: ui-monospace, monospace; font-weight: 600; }
.task > summary:hover b { text-decoration: underline; }
.versus { --tone: var(--accent); }
.versus > summary { display: flex; flex-wrap: wrap; gap: .2rem .8rem; }
.versus > summary b { flex: 1 0 8rem; }
.versus > summary span { flex: 0 0 9.5rem; }
.versus.columns { display: flex; flex-wrap: wrap; gap: .2rem .8rem; color: var(--soft); font-size: .84rem; }
.versus.columns b { flex: 1 0 8rem; font-weight: 400; }
.versus.columns span { flex: 0 0 9.5rem; overflow: hidden; text-overflow: ellipsis; }
td button { min-height: 0; padding: .1rem .6rem; font-variant-numeric: tabular-nums; }
.body { padding: 0 .7rem 1rem; border-top: 1px solid var(--line); }
.grids { display: flex; flex-wrap: wrap; gap: 1rem 1.6rem; align-items: flex-start; }
.pair { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
figure { margin: 0; max-width: 100%; }
figure canvas { display: block; max-width: 100%; height: auto; }
figcaption { max-width: 17rem; margin-top: .25rem; }
figcaption b { color: var(--ink); }
.right figcaption b { color: var(--solved); }
.right canvas { outline: 3px solid var(--solved); outline-offset: 2px; }
.absent { display: grid; place-items: center; width: 5rem; height: 5rem; border: 2px dashed var(--line);
  border-radius: .3rem; color: var(--soft); font-size: .84rem; text-align: center; }
.voters { max-height: 14rem; overflow-y: auto; white-space: pre-line; font-size: .78rem; }
.more { margin-top: .8rem; }
.film { margin-top: 1rem; }
.film-tools { display: flex; gap: .4rem; align-items: center; margin-bottom: .6rem; }
.film-tools input { padding: 0; flex: 1; max-width: 16rem; min-width: 4rem; }
@media (max-width: 46rem) {
  .columns, .task > summary { grid-template-columns: minmax(5.5rem, 2fr) 7.6rem repeat(2, minmax(3rem, 1fr)); }
  .extra { display: none !important; }
  .versus > summary b, .versus.columns b { flex-basis: 100%; }
  .versus > summary span, .versus.columns span { flex-basis: 8rem; }
}
"""

# All scripts, those of `charm view` too: grids, and figures with their captions.
DRAWING = """
"use strict";
const page = JSON.parse(document.getElementById("data").textContent);
// Pixels of a grid's longer side, about; a telephone shows two side by side.
const LONGEST = Math.min(190, (window.innerWidth - 90) / 2);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function plural(count, noun) { return count.toLocaleString("en") + " " + noun + (count === 1 ? "" : "s"); }

function percent(share) { return (100 * share).toFixed(1) + "%"; }

function size(rows) { return rows.length + "\\u00d7" + rows[0].length; }

// Rows of cells on a canvas, each a number of its shade, with lines between them where there is room. Returns the pen.
function paint(canvas, rows, shades, cell) {
  const line = cell > 3 ? 1 : 0, width = rows[0].length * cell + line, height = rows.length * cell + line;
  const ratio = window.devicePixelRatio || 1, pen = canvas.getContext("2d");
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = width + "px";
  pen.scale(ratio, ratio);
  pen.fillStyle = page.line;
  pen.fillRect(0, 0, width, height);
  for (let r = 0; r < rows.length; r++) {
    for (let c = 0; c < rows[0].length; c++) {
      pen.fillStyle = shades[rows[r][c]];
      pen.fillRect(c * cell + line, r * cell + line, cell - line, cell - line);
    }
  }
  return pen;
}

// A grid travels as "012/345". With the truth beside it, differing cells are marked, if the sizes agree.
function drawGrid(text, label, truth) {
  if (!text) return element("div", "no grid", "absent");
  const rows = text.split("/"), wanted = truth ? truth.split("/") : rows, canvas = element("canvas");
  const cell = Math.max(5, Math.min(22, Math.floor(LONGEST / Math.max(rows.length, rows[0].length))));
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label + ", " + size(rows));
  const pen = paint(canvas, rows, page.palette, cell);
  if (size(rows) !== size(wanted)) return canvas;
  const mark = Math.max(3, Math.round(cell * 0.45)), inset = 1 + (cell - 1 - mark) / 2;
  for (let r = 0; r < rows.length; r++) {
    for (let c = 0; c < rows[0].length; c++) {
      if (rows[r][c] === wanted[r][c]) continue;
      pen.fillStyle = "#000";
      pen.fillRect(c * cell + inset, r * cell + inset, mark, mark);
      pen.fillStyle = "#fff";
      pen.fillRect(c * cell + inset + 1, r * cell + inset + 1, mark - 2, mark - 2);
    }
  }
  return canvas;
}

function figure(text, title, note, truth) {
  const made = element("figure"), caption = element("figcaption");
  made.append(drawGrid(text, title, truth), caption);
  caption.append(element("b", title));
  if (note) caption.append(element("br"), note);
  return made;
}

function pairOf(input, output, title) {
  const made = element("div", "", "pair");
  made.append(figure(input, title, size(input.split("/"))), element("span", "\\u2192"),
    figure(output, "output", size(output.split("/"))));
  return made;
}
"""

# A list of tasks to open and to filter; what a filter means and what a task shows are each page's `fits` and `answers`.
LISTING = """
const list = document.getElementById("tasks");

function difference(text, truth) {
  if (!text || !truth) return "";
  const rows = text.split("/"), wanted = truth.split("/");
  if (size(rows) !== size(wanted)) return size(rows) + " instead of " + size(wanted);
  let wrong = 0;
  for (let i = 0; i < text.length; i++) wrong += text[i] !== truth[i];
  return wrong ? plural(wrong, "cell") + " differ" + (wrong === 1 ? "s" : "") : "right";
}

// To open; the lines are made when that happens, since there may be a thousand.
function listOf(summary, lines) {
  const made = element("details"), inside = element("div", "", "voters");
  made.append(element("summary", summary), inside);
  made.addEventListener("toggle", () => { inside.textContent = lines().join("\\n"); }, { once: true });
  return made;
}

// Ten digits of each view: its symmetry, and what colours 1 to 9 become.
function viewsOf(candidate, views) {
  const found = candidate.which.map((n) => views.slice(10 * n, 10 * n + 10));
  const turns = page.turns.map((name, n) => [name, found.filter((view) => view[0] === String(n)).length]);
  return turns.filter(([, count]) => count).map(([name, count]) => name + ": " + plural(count, "view"))
    .concat(["\u2014"], found.map((view) => page.turns[view[0]] + ", colours 0" + view.slice(1)));
}

// `steps` are the checkpoints that voted, newest first; `views` is undefined where they are only counted.
function candidateOf(candidate, truth, steps, views) {
  const told = difference(candidate.grid, truth);
  const lines = [told, plural(candidate.votes, "vote") + ", " + percent(candidate.share),
    candidate.weight === null ? "" : "weight " + candidate.weight,
    "confidence " + candidate.confidence.toFixed(3)];
  const made = figure(candidate.grid, "candidate " + candidate.rank.toLocaleString("en"), "", truth);
  const caption = made.lastChild;
  for (const text of lines) if (text) caption.append(element("br"), text);
  const voted = candidate.by.filter((count) => count > 0).length;
  caption.append(listOf("from " + voted + " of " + plural(steps.length, "checkpoint"), () => candidate.by
    .map((count, n) => count && "step " + steps[n].toLocaleString("en") + ": " + plural(count, "vote"))
    .filter(Boolean)));
  const counted = "from " + plural(candidate.views, "view");
  caption.append(views ? listOf(counted, () => viewsOf(candidate, views)) : counted);
  if (told === "right") made.className = "right";
  return made;
}

// Grids are drawn when a task is opened for the first time: the page itself opens at once.
function fill(details) {
  if (details.lastElementChild.tagName !== "SUMMARY") return;
  const task = page.tasks[details.dataset.n], body = element("div", "", "body");
  body.append(element("h3", "Demonstrations"));
  const demos = element("div", "", "grids");
  task.demos.forEach((pair, n) => demos.append(pairOf(pair[0], pair[1], "input " + (n + 1))));
  body.append(demos);
  answers(task, body);
  details.append(body);
}

function pick() {
  const filter = document.querySelector("[data-filter][aria-pressed=true]").dataset.filter;
  const wanted = document.getElementById("find").value.trim().toLowerCase();
  let shown = 0;
  for (const row of list.children) {
    const task = page.tasks[row.dataset.n];
    row.hidden = !fits(task, filter) || !task.id.toLowerCase().includes(wanted);
    shown += !row.hidden;
  }
  document.getElementById("shown").textContent = shown.toLocaleString("en") + " of " +
    plural(page.tasks.length, "task");
}

if (list) {
  list.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.classList.contains("task")) fill(event.target);
  }, true);  // toggle does not bubble
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.addEventListener("click", () => {
      for (const other of document.querySelectorAll("[data-filter]")) {
        other.setAttribute("aria-pressed", other === button);
      }
      pick();
    });
  }
  document.getElementById("find").addEventListener("input", pick);
}
"""

# The page of one run: every task with its candidates, and the film of its refinement.
SCRIPT = (
    DRAWING
    + LISTING
    + """
function filmOf(test) {
  const made = element("div", "", "film"), tools = element("div", "", "film-tools");
  const slider = element("input"), back = element("button", "\\u2039"), on = element("button", "\\u203a");
  const label = element("span", "", "soft"), screen = element("div");
  slider.type = "range";
  slider.min = 1;
  slider.max = test.film.length;
  slider.setAttribute("aria-label", "refinement step");
  back.setAttribute("aria-label", "one step back");
  on.setAttribute("aria-label", "one step on");
  function show(step) {
    slider.value = Math.max(1, Math.min(test.film.length, step));
    const grid = test.film[slider.value - 1];
    label.textContent = "step " + slider.value + " of " + test.film.length;
    screen.replaceChildren(figure(grid, "after " + plural(Number(slider.value), "step"),
      difference(grid, test.truth), test.truth));
  }
  slider.addEventListener("input", () => show(Number(slider.value)));
  back.addEventListener("click", () => show(Number(slider.value) - 1));
  on.addEventListener("click", () => show(Number(slider.value) + 1));
  tools.append(back, slider, on, label);
  made.append(element("h3", "Refinement, the original view"), tools, screen);
  show(test.film.length);
  return made;
}

const FIRST = 5;  // candidates drawn at once, and the right one

function testOf(test, number, count) {
  const made = element("section"), title = count > 1 ? "Test " + (number + 1) : "Test";
  const none = test.none ? ", " + plural(test.none, "vote") + " without a grid" : "";
  const more = test.more ? ", " + test.more.toLocaleString("en") + " of them not kept on this page" : "";
  const heading = element("h3", title + ": ");
  heading.append(element("span", test.outcome, "outcome " + test.outcome.replace(" ", "-")));
  made.append(heading);
  const rank = test.rank ? ", the right one is number " + test.rank : "";
  made.append(element("p", plural(test.candidates.length + test.more, "candidate") + rank + more + none, "soft"));
  const grids = element("div", "", "grids");
  grids.append(figure(test.input, "input", size(test.input.split("/"))));
  if (test.truth) grids.append(figure(test.truth, "truth", size(test.truth.split("/"))));
  const draw = (candidate) => candidateOf(candidate, test.truth, page.steps, test.views);
  const first = test.candidates.filter((one) => one.rank <= FIRST || one.rank === test.rank);
  const drawn = first.map(draw);
  grids.append(...drawn);
  made.append(grids);
  const rest = test.candidates.length - first.length;
  if (rest) {
    const button = element("button", "draw " + plural(rest, "more candidate"), "more");
    button.addEventListener("click", () => {
      drawn.forEach((one) => one.remove());
      grids.append(...test.candidates.map(draw));
      button.remove();
    });
    made.append(button);
  }
  if (test.film) made.append(filmOf(test));
  return made;
}

function answers(task, body) {
  task.tests.forEach((test, n) => body.append(testOf(test, n, task.tests.length)));
}

// A filter is "all", or outcomes of which any will do.
function fits(task, filter) {
  return filter === "all" || filter.split("|").includes(task.outcome);
}

function order(button) {
  const way = button.dataset.way === "1" ? -1 : 1, key = button.dataset.sort;
  for (const other of document.querySelectorAll("[data-sort]")) delete other.dataset.way;
  button.dataset.way = way;
  const value = (row) => key === "id" ? page.tasks[row.dataset.n].id : page.tasks[row.dataset.n].keys[key];
  const rows = [...list.children].sort((a, b) => {
    const x = value(a), y = value(b);
    if (x === y) return a.dataset.n - b.dataset.n;
    if (x === null || y === null) return x === null ? 1 : -1;  // what is not known comes last either way
    return x < y ? -way : way;
  });
  list.append(...rows);
}

for (const button of document.querySelectorAll("[data-sort]")) {
  button.addEventListener("click", () => order(button));
}
"""
)

# The page of several runs: every task with its best candidates in each of them.
COMPARISON = (
    DRAWING
    + LISTING
    + """
const NEVER = ["wrong cells", "wrong size", "no answer"];

function runOf(tests, number, truth, run) {
  const made = element("section"), test = tests && tests[number];
  const heading = element("h3", page.runs[run].name + ": ");
  made.append(heading);
  if (!test) {
    heading.append("not asked");
    return made;
  }
  heading.append(element("span", test.outcome, "outcome " + test.outcome.replace(" ", "-")),
    test.rank ? ", the right one is number " + test.rank : "");
  const grids = element("div", "", "grids");
  test.candidates.forEach((candidate) => grids.append(candidateOf(candidate, truth, page.runs[run].steps, test.views)));
  if (!test.candidates.length) grids.append(element("p", "no candidate", "soft"));
  made.append(grids);
  return made;
}

function answers(task, body) {
  task.questions.forEach((question, number) => {
    body.append(element("h3", task.questions.length > 1 ? "Test " + (number + 1) : "Test"));
    const grids = element("div", "", "grids");
    grids.append(figure(question.input, "input", size(question.input.split("/"))));
    if (question.truth) grids.append(figure(question.truth, "truth", size(question.truth.split("/"))));
    body.append(grids);
    const sides = element("div", "", "tables");
    task.runs.forEach((tests, run) => sides.append(runOf(tests, number, question.truth, run)));
    body.append(sides);
  });
}

// A filter is "all", "differ", or "A>B": solved by run A, and never proposed by run B.
function fits(task, filter) {
  const outcomes = task.outcomes;
  if (filter === "all") return true;
  if (filter === "differ") return outcomes.some((one) => one !== outcomes[0]);
  const [solved, never] = filter.split(">");
  return outcomes[solved] === "solved" && NEVER.includes(outcomes[never]);
}
"""
)
