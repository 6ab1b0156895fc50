"use strict";
// Draw or paste a task, start solving it, and watch the votes come in.

const ASK_AGAIN = 500;  // milliseconds
const FOLLOWED = 8;  // candidates whose votes are shown over time

async function solvePage(root) {
  const draft = keptDraft() || await exampleDraft();
  const name = field("name", "text", draft.name, { maxLength: 100 });
  name.addEventListener("input", () => { draft.name = name.value; keepDraft(draft); });
  const pasting = element("details"), text = element("textarea"), refused = element("div"), editing = element("div");
  text.setAttribute("aria-label", "a task as JSON");
  text.placeholder = '{"train": [{"input": [[0, 1]], "output": [[1, 0]]}], "test": [{"input": [[1, 1]]}]}';
  const edit = (other) => {
    Object.assign(draft, other);
    name.value = draft.name;
    editing.replaceChildren(editorOf(draft));
  };
  const use = button("use it", () => attempt(refused, async () => {
    const found = await ask("api/paste", {}, { text: text.value });
    edit({ name: found.id, train: found.task.train, test: found.task.test });
    text.value = "";
    pasting.open = false;
  }));
  const starts = [button("blank task", () => edit(blankDraft()))];
  if (page.example) starts.push(button("example task", () => attempt(refused, async () => edit(await exampleDraft()))));
  pasting.append(element("summary", "Paste a task as JSON"), text, tools(use));
  edit({});

  const { models, waiting } = await ask("api/models");
  const model = selection("model", models.map((one) => [one, one]), models[0]);
  const budget = field("budget", "number", page.budget, { min: 1, max: 86400 });
  const mode = selection("mode", page.modes, "auto");
  const trouble = element("div"), result = element("div");
  const start = button("solve", () => attempt(trouble, async () => {
    start.disabled = true;  // right away, so that a double click does not start two
    try {
      await ask("api/solve", {}, { name: draft.name, task: { train: draft.train, test: draft.test },
        model: model.value, budget: Number(budget.value), mode: mode.value });
    } catch (error) {
      start.disabled = false;
      throw error;
    }
    await watch();
  }), "main");
  const cancel = button("cancel", () => attempt(trouble, async () => { await ask("api/cancel", {}, {}); }));
  const sides = element("div", "", "sides"), left = element("section"), right = element("section");
  left.append(element("h2", "Task"), tools(labelled("name", name), ...starts), pasting, refused, editing);
  right.append(element("h2", "Answers"),
    tools(labelled("model", model), labelled("budget, seconds", budget), labelled("what learns", mode), start, cancel),
    ...waiting.map((one) => element("p", one + " has no checkpoint yet.", "soft")), trouble, result);
  sides.append(left, right);
  root.append(sides);

  let watching = false;
  async function watch() {
    if (watching) return;
    watching = true;
    let version = -1;
    try {
      while (root.isConnected) {
        const status = await ask("api/solve");
        start.disabled = start.hidden = status.state === "working";
        cancel.hidden = !start.hidden;
        if (status.state === "idle") {
          result.replaceChildren(element("p", "Draw a task or take the example, then press solve. The model learns the " +
            "demonstrations; the first answer comes within the first fifth of the time.", "soft"));
          break;
        }
        if (status.version !== version) result.replaceChildren(...resultOf(status));
        version = status.version;
        const bar = result.querySelector("progress");
        if (bar) bar.value = status.seconds;
        if (status.state !== "working") break;
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN));
      }
    } finally {
      watching = false;
    }
  }
  await attempt(trouble, watch);
}

function resultOf(status) {
  const parts = [element("h3", status.task + " with " + status.model)];
  if (status.state === "working") {
    const bar = element("progress");
    bar.max = status.budget;
    bar.setAttribute("aria-label", "seconds of the budget");
    parts.push(bar, element("p", status.text, "soft"));
    if (!status.views) parts.push(element("p", "The first votes come within the first fifth of the time.", "soft"));
  } else if (status.state === "failed") {
    parts.push(element("p", "Failed: " + status.text, "error"));
  } else {
    const ended = status.state === "done" ? "Done" : "Cancelled";
    parts.push(element("p", ended + " after " + status.seconds + " s. The budget was " + status.budget + " s.", "soft"));
    if (status.text !== status.state) parts.push(element("p", status.text, "soft"));
  }
  if (status.known) {
    const learned = status.known.trained ? "The model was trained on its demonstrations."
      : "The model was not trained on this task.";
    parts.push(element("p", "This is task " + status.known.id + " of " + status.known.source + ". " + learned, "soft"));
  }
  if (status.views) {
    parts.push(...votesOf(status));
    const link = element("a", "download as submission.json");
    link.href = "api/submission";
    link.setAttribute("download", "submission.json");
    parts.push(element("p"));
    parts[parts.length - 1].append(link);
  }
  return parts;
}

// What a candidate's confidence is called; older files do not say.
function sureOf(status) {
  return page.confidences[status.sure] ? status.sure : "likelihood";
}

// The newest candidates of every test input, and how their votes changed.
function votesOf(status) {
  const parts = [];
  const exact = status.exact === null ? "" : "; " + percent(status.exact) + " of the demonstrations exact";
  parts.push(element("p", "Votes from " + plural(status.views, "view") + " after " +
    plural(status.updates, "update") + exact + ".", "soft"));
  const sure = sureOf(status);
  parts.push(element("p", sure[0].toUpperCase() + sure.slice(1) + " is " + page.confidences[sure] + "." +
    (status.counted ? " Such votes: " + status.counted + "." : ""), "soft"));
  if (status.doubt && !status.known && status.state !== "working") {
    parts.push(element("p", "Careful: " + status.doubt + ".", "error"));
  }
  status.tests.forEach((ranked, n) => {
    const grids = element("div", "", "grids");
    parts.push(element("h3", status.tests.length > 1 ? "Test " + (n + 1) : "Test"), grids);
    grids.append(figure(status.inputs[n], "input", size(status.inputs[n].split("/"))));
    const truth = status.known ? status.known.truth[n] : null;
    if (truth) grids.append(figure(truth, "truth", size(truth.split("/"))));
    ranked.forEach((one, rank) => grids.append(voteOf(one, rank, status, truth)));
    if (!ranked.length) grids.append(element("p", "No view has produced a grid yet.", "soft"));
    if (status.rounds.length > 1 && status.courses[n].length) parts.push(courseOf(status.courses[n], status.rounds));
  });
  return parts;
}

// How the votes for the leading candidates changed: a row for each candidate, a column for each round of votes.
function courseOf(course, rounds) {
  const made = element("details", "", "course"), inside = element("div"), table = element("table");
  for (const name of ["seconds", "updates", "views"]) {
    const head = element("tr");
    head.append(element("th", name), ...rounds.map((one) => element("th", one[name].toLocaleString("en"))));
    table.append(head);
  }
  course.slice(0, FOLLOWED).forEach((candidate, n) => {
    const row = element("tr"), first = element("td");
    first.append(drawGrid(candidate.grid, "candidate " + (n + 1)));
    row.append(first);
    candidate.votes.forEach((votes, round) => {
      if (!votes) {
        row.append(element("td"));
        return;
      }
      const share = votes / rounds[round].cast, cell = element("td", percent(share));
      cell.append(voteBar(share));
      row.append(cell);
    });
    table.append(row);
  });
  made.open = true;
  inside.append(table);
  made.append(element("summary", "Votes over time"), inside);
  requestAnimationFrame(() => { inside.scrollLeft = inside.scrollWidth; });  // a phone shows the last rounds
  return made;
}

function voteOf(candidate, rank, status, truth) {
  const share = candidate.votes / status.cast;
  const ended = status.state !== "working" && rank < 2;
  const made = figure(candidate.grid, ended ? "attempt " + (rank + 1) : "candidate " + (rank + 1),
    candidate.votes.toLocaleString("en") + " of " + plural(status.cast, "vote"), truth);
  made.lastChild.append(element("br"), sureOf(status) + " " + candidate.confidence.toFixed(2));
  if (ended && candidate.often) made.lastChild.append(element("br"), candidate.often);
  if (truth) made.lastChild.append(element("br"), element("b", candidate.grid === truth ? "right" : "wrong"));
  made.append(voteBar(share));
  if (ended) made.className = "attempt";
  if (truth && candidate.grid === truth) made.className = "right";
  return made;
}
