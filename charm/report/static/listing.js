// The list of tasks with its filters. Each page defines `fits` (what a filter selects) and `answers` (what a task shows).
const place = document.getElementById("list"), list = element("div");
list.id = "tasks";

// What the outcomes mean, the best first.
const OUTCOMES = {
  "solved": "every test input has its right answer in two attempts",
  "near miss": "a right answer is among the candidates, but third or later",
  "wrong cells": "no candidate is right, but one has the right size",
  "wrong size": "no candidate has the right size",
  "no answer": "there is no candidate",
  "blind": "the right answer is not known",
};
const NEVER = ["wrong cells", "wrong size", "no answer"];  // outcomes without the right answer among the candidates
const UNKNOWN = "\u2013";

function labelOf(outcome) { return outcome === "blind" ? "not scored" : outcome; }

function classOf(outcome) { return (outcome in OUTCOMES ? outcome : "blind").replace(" ", "-"); }

function outcomeOf(outcome) { return element("span", labelOf(outcome), "outcome " + classOf(outcome)); }

// The number of cells in which two grids differ; null if their sizes do.
function cellsWrong(text, truth) {
  if (size(text.split("/")) !== size(truth.split("/"))) return null;
  return [...text].filter((cell, n) => cell !== truth[n]).length;
}

function difference(text, truth) {
  if (!text || !truth) return "";
  const wrong = cellsWrong(text, truth);
  if (wrong === null) return size(text.split("/")) + ", expected " + size(truth.split("/"));
  return wrong ? plural(wrong, "cell") + " differ" + (wrong === 1 ? "s" : "") : "right";
}

// A list that opens on a click. Its lines are made at that moment, because there may be a thousand.
function listOf(summary, lines) {
  const made = element("details"), inside = element("div", "", "voters");
  made.append(element("summary", summary), inside);
  made.addEventListener("toggle", () => { inside.textContent = lines().join("\n"); }, { once: true });
  return made;
}

// Counts by symmetry, then every view. A view is ten digits: its symmetry, and what colours 1 to 9 become.
function viewsOf(candidate, views) {
  const found = candidate.which.map((n) => views.slice(10 * n, 10 * n + 10));
  const turns = page.turns.map((name, n) => [name, found.filter((view) => view[0] === String(n)).length]);
  return turns.filter(([, count]) => count).map(([name, count]) => name + ": " + plural(count, "view"))
    .concat(["—"], found.map((view) => page.turns[view[0]] + ", colours 0" + view.slice(1)));
}

// The first two candidates are the attempts.
function nameOf(candidate) {
  return (candidate.rank > 2 ? "candidate " : "attempt ") + candidate.rank.toLocaleString("en");
}

// `steps` are the checkpoints that voted, newest first; `sure` names the confidence; `views` is undefined where views are only counted.
function candidateOf(candidate, truth, steps, sure, views) {
  const verdict = difference(candidate.grid, truth);
  const lines = [verdict, plural(candidate.votes, "vote") + ", " + percent(candidate.share),
    candidate.weight === null ? "" : "weight " + candidate.weight,
    sure + (candidate.confidence < 0.0005 ? " below 0.001" : " " + candidate.confidence.toFixed(3)),
    candidate.often || ""];
  const made = figure(candidate.grid, nameOf(candidate), "", truth);
  const caption = made.lastChild;
  for (const text of lines) if (text) caption.append(element("br"), text);
  if (candidate.by) {  // the candidates of a solve do not say who voted
    const voted = candidate.by.filter((count) => count > 0).length;
    caption.append(listOf("from " + voted + " of " + plural(steps.length, "checkpoint"), () => candidate.by
      .map((count, n) => count && "step " + steps[n].toLocaleString("en") + ": " + plural(count, "vote"))
      .filter(Boolean)));
    const counted = "from " + plural(candidate.views, "view");
    caption.append(views ? listOf(counted, () => viewsOf(candidate, views)) : counted);
  }
  made.append(voteBar(candidate.share));
  if (verdict === "right") made.className = "right";
  return made;
}

// Buttons that close a task and open the one before or after it, as the list is filtered and sorted now.
function neighbours(details) {
  const made = element("div", "", "tools");
  for (const [name, way] of [["\u2039 previous task", "previousElementSibling"], ["next task \u203a", "nextElementSibling"]]) {
    const button = element("button", name);
    button.addEventListener("click", () => {
      let row = details[way];
      while (row && row.hidden) row = row[way];
      if (!row) return;
      details.open = false;
      row.open = true;
      row.scrollIntoView();
    });
    made.append(button);
  }
  return made;
}

// Draws a task's grids when it is first opened, so that the page itself loads quickly.
function fill(details) {
  if (details.lastElementChild.tagName !== "SUMMARY") return;
  const task = page.tasks[details.dataset.n], body = element("div", "", "body");
  if (page.tasks.length > 1) body.append(neighbours(details));
  for (const text of [task.note, task.doubt]) if (text) body.append(element("p", text, text === task.note ? "soft" : ""));
  if (task.demos.length) {
    const demos = element("div", "", "grids");
    task.demos.forEach((pair, n) => demos.append(pairOf(pair[0], pair[1], "input " + (n + 1))));
    body.append(element("h3", "Demonstrations"), demos);
  }
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

// A button that reduces the list to what `fits` its filter; its label may begin with the name of an outcome.
function filterButton(filter, label, count, pressed) {
  const made = element("button");
  made.append(label in OUTCOMES ? outcomeOf(label) : label, (label ? " " : "") + count);
  made.dataset.filter = filter;
  made.setAttribute("aria-pressed", pressed === true);
  return made;
}

// A list of tasks below its heads, with buttons that filter it and a search.
function listing(heads, rows, filters) {
  const tools = element("div", "", "tools"), find = element("input"), shown = element("p", "", "soft");
  const around = element("div");
  find.id = "find";
  find.type = "search";
  find.placeholder = "find a task";
  find.setAttribute("aria-label", find.placeholder);
  find.addEventListener("input", pick);
  shown.id = "shown";
  tools.append(filterButton("all", "all", rows.length, true), ...filters, find);
  list.append(...rows);
  around.append(heads, list);
  place.append(tools, shown, around);
  pick();
}

if (place) {
  list.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.classList.contains("task")) fill(event.target);
  }, true);  // toggle does not bubble
  place.addEventListener("click", (event) => {
    const button = event.target.closest("[data-filter]");
    if (!button) return;
    for (const other of place.querySelectorAll("[data-filter]")) other.setAttribute("aria-pressed", other === button);
    pick();
  });
}
