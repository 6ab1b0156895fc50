// The page of one run or solve: every task with its candidates and the film of its refinement, and some examples.
const FRAME = 500;  // milliseconds for each step of a film

function filmOf(test) {
  const made = element("div", "", "film"), tools = element("div", "", "film-tools");
  const slider = element("input"), back = element("button", "\u2039"), on = element("button", "\u203a");
  const play = element("button", "\u25b6"), label = element("span", "", "soft"), screen = element("div");
  let clock = 0;
  slider.type = "range";
  slider.min = 1;
  slider.max = test.film.length;
  slider.setAttribute("aria-label", "refinement step");
  back.setAttribute("aria-label", "one step back");
  on.setAttribute("aria-label", "one step forward");
  play.setAttribute("aria-label", "play");
  function stop() {
    clearInterval(clock);
    clock = 0;
    play.textContent = "\u25b6";
    play.setAttribute("aria-label", "play");
  }
  function start() {
    if (Number(slider.value) === test.film.length) show(1);
    play.textContent = "\u23f8";
    play.setAttribute("aria-label", "pause");
    clock = setInterval(() => {
      show(Number(slider.value) + 1);
      if (Number(slider.value) === test.film.length || !made.isConnected) stop();
    }, FRAME);
  }
  function show(step) {
    slider.value = Math.max(1, Math.min(test.film.length, step));
    const grid = test.film[slider.value - 1];
    label.textContent = "step " + slider.value + " of " + test.film.length;
    screen.replaceChildren(figure(grid, "after " + plural(Number(slider.value), "step"),
      difference(grid, test.truth), test.truth));
  }
  const by = (step) => { stop(); show(step); };
  slider.addEventListener("input", () => by(Number(slider.value)));
  back.addEventListener("click", () => by(Number(slider.value) - 1));
  on.addEventListener("click", () => by(Number(slider.value) + 1));
  play.addEventListener("click", () => clock ? stop() : start());
  tools.append(play, back, slider, on, label);
  made.append(element("h3", "Refinement of the original view"), tools, screen);
  show(1);
  return made;
}

const FIRST = 5;  // candidates shown at first, besides the right one

function testOf(test, number, count) {
  const made = element("section"), title = count > 1 ? "Test " + (number + 1) : "Test";
  const none = test.none ? ", " + plural(test.none, "vote") + " for no answer" : "";
  const more = test.more ? ", " + test.more.toLocaleString("en") + " of them not on this page" : "";
  const heading = element("h3", title + ": ");
  heading.append(outcomeOf(test.outcome));
  made.append(heading);
  const rank = test.rank ? ", the right answer ranks " + test.rank : "";
  made.append(element("p", plural(test.candidates.length + test.more, "candidate") + rank + more + none, "soft"));
  const grids = element("div", "", "grids");
  grids.append(figure(test.input, "input", size(test.input.split("/"))));
  if (test.truth) grids.append(figure(test.truth, "right answer", size(test.truth.split("/"))));
  if (test.zeroed !== undefined) grids.append(figure(test.zeroed, "memory zeroed", "", test.truth));
  const draw = (candidate) => candidateOf(candidate, test.truth, page.steps, page.sure, test.views);
  const first = test.candidates.filter((one) => one.rank <= FIRST || one.rank === test.rank);
  const drawn = first.map(draw);
  grids.append(...drawn);
  made.append(grids);
  const rest = test.candidates.length - first.length;
  if (rest) {
    const button = element("button", "show " + plural(rest, "more candidate"), "more");
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

// A filter is "all", "second" (solved in the second attempt), or a list of outcomes separated by "|".
function fits(task, filter) {
  if (filter === "second") return task.outcome === "solved" && task.tests.some((test) => test.rank === 2);
  return filter === "all" || filter.split("|").includes(task.outcome);
}

function order(button) {
  const way = button.dataset.way === "1" ? -1 : 1, key = button.dataset.sort;
  for (const other of document.querySelectorAll("[data-sort]")) delete other.dataset.way;
  button.dataset.way = way;
  const value = (row) => page.tasks[row.dataset.n].keys[key];
  const rows = [...list.children].sort((a, b) => {
    const x = value(a), y = value(b);
    if (x === y) return a.dataset.n - b.dataset.n;
    if (x === null || y === null) return x === null ? 1 : -1;  // unknown values come last in both orders
    return x < y ? -way : way;
  });
  list.append(...rows);
}

// Draws the first test of a task and its first answer, when the row comes into view.
function thumbnails(row) {
  const test = page.tasks[row.dataset.n].tests[0], thumbs = row.querySelector(".thumbs");
  for (const text of [test.input, test.candidates.length ? test.candidates[0].grid : ""]) {
    if (!text) continue;
    thumbs.append(thumbnail(text, 40));
    thumbs.lastChild.setAttribute("aria-hidden", "true");
  }
}

const EXAMPLES = 4;  // solved and failed tasks at the top of the page

// One test of a task, a failed one if there is any: its input, truth and answer.
function exampleOf(task) {
  const made = element("div", "", "example"), head = element("div"), link = element("a", task.id);
  const test = task.tests.find((one) => one.outcome !== "solved") || task.tests[0];
  const answer = test.candidates.slice(0, 2).find((one) => one.grid === test.truth) || test.candidates[0];
  link.href = "#task-" + encodeURIComponent(task.id);
  head.append(link, " ", outcomeOf(task.outcome), element("br"),
    element("span", answer ? plural(answer.votes, "vote") + ", " + Math.round(100 * answer.share) + "%" : "no votes", "soft"));
  made.append(head);
  const shown = [["input", test.input], ["right answer", test.truth],
    answer ? [nameOf(answer), answer.grid] : ["attempt 1", ""]];
  if (test.zeroed !== undefined) shown.push(["memory zeroed", test.zeroed]);
  for (const [name, text] of shown) {
    const right = text === test.truth && name !== "right answer" && name !== "input";
    const one = element("figure", "", right ? "right" : "");
    one.append(text ? thumbnail(text, 72) : element("div", "no answer", "absent"), element("figcaption", name));
    made.append(one);
  }
  return made;
}

// Some solved and some failed tasks, evenly spaced by size.
function examples() {
  const scored = page.tasks.filter((task) => task.outcome !== "blind"), shown = element("div", "", "tables");
  shown.id = "examples";
  if (scored.length) place.append(element("h2", "Answers"), shown);
  for (const [title, isSolved] of [["Solved", true], ["Failed", false]]) {
    const some = scored.filter((task) => (task.outcome === "solved") === isSolved)
      .sort((a, b) => (a.tests[0].truth || "").length - (b.tests[0].truth || "").length);
    if (!some.length) continue;
    const places = new Set(Array.from({ length: EXAMPLES }, (_, n) => Math.round(n * (some.length - 1) / (EXAMPLES - 1))));
    const made = element("section");
    made.append(element("h3", title), ...[...places].map((n) => exampleOf(some[n])));
    shown.append(made);
  }
}

// Sort key of the list -> its heading, and what that means.
const COLUMNS = {
  id: ["task"],
  outcome: ["outcome"],
  rank: ["rank", "the place of the right answer among the candidates"],
  share: ["votes", "the share that the first attempt has"],
  confidence: [page.sure],
  wrong: ["cells wrong", "in the better attempt"],
};

// The values by which the list is sorted; null if unknown. Shares are means over the answered tests.
function keysOf(task) {
  const best = task.tests.filter((test) => test.candidates.length).map((test) => test.candidates[0]);
  const mean = (name) => best.length ? best.reduce((sum, one) => sum + one[name], 0) / best.length : null;
  const wrong = task.tests.map((test) => test.truth === null ? [] : test.candidates.filter((one) => one.rank <= 2)
    .map((one) => cellsWrong(one.grid, test.truth)).filter((count) => count !== null));
  return {
    id: task.id,
    outcome: Object.keys(OUTCOMES).indexOf(task.outcome),
    rank: task.tests.every((test) => test.rank) ? Math.max(...task.tests.map((test) => test.rank)) : null,
    share: mean("share"),
    confidence: mean("confidence"),
    wrong: wrong.every((some) => some.length) ? wrong.reduce((sum, some) => sum + Math.min(...some), 0) : null,
  };
}

function rowOf(task, number) {
  const made = element("details", "", "task " + classOf(task.outcome)), line = element("summary"), keys = task.keys = keysOf(task);
  const known = (value, form) => value === null ? UNKNOWN : form(value);
  const cells = {
    outcome: labelOf(task.outcome),
    rank: task.tests.map((test) => test.rank || UNKNOWN).join(", "),
    share: known(keys.share, (share) => (100 * share).toFixed(0) + "%"),
    confidence: known(keys.confidence, (sure) => sure < 0.005 ? "<0.01" : sure.toFixed(2)),
    wrong: known(keys.wrong, String),
  };
  made.id = "task-" + task.id;
  made.dataset.n = number;
  line.append(element("i", "", "chevron"), element("span", "", "thumbs"), element("b", task.id),
    ...Object.entries(cells).map(([name, text]) => element("span", text, name)));
  made.append(line);
  return made;
}

// What the words on the page mean, in an element that opens on a click.
function glossary(found) {
  const made = element("details", "", "soft words");
  const explain = (word, meaning) => {
    const line = element("p");
    line.append(element("b", word), ": " + meaning);
    made.append(line);
  };
  made.append(element("summary", "what the words mean"));
  found.forEach(([outcome]) => explain(labelOf(outcome), OUTCOMES[outcome]));
  explain("candidates", "all different answers to a test input; the first two are its attempts");
  for (const [heading, meaning] of Object.values(COLUMNS)) if (meaning && page.tasks.length > 1) explain(heading, meaning);
  explain(page.sure, page.confidences[page.sure]);
  if (found.some(([outcome]) => outcome !== "blind")) explain("white square", "a cell that differs from the right answer");
  return made;
}

function headOf([key, [heading]]) {
  const made = element("button", heading);
  made.dataset.sort = key;
  made.addEventListener("click", () => order(made));
  return made;
}

function buttonsOf(found) {
  const never = found.filter(([outcome]) => NEVER.includes(outcome));
  const second = page.tasks.filter((task) => fits(task, "second")).length, made = [];
  if (never.length > 1) {
    made.push(filterButton(never.map(([outcome]) => outcome).join("|"), "never proposed",
      never.reduce((sum, [, count]) => sum + count, 0)));
  }
  if (found.length > 1) made.push(...found.map(([outcome, count]) => filterButton(outcome, outcome, count)));
  if (second) made.push(filterButton("second", "solved in the second attempt", second));
  return made;
}

// How many tasks have each outcome, as a bar.
function shareBar(found) {
  const made = element("div", "", "share-bar");
  for (const [outcome, count] of found) {
    const part = element("i", "", classOf(outcome));
    part.style.flex = count;
    part.title = labelOf(outcome) + ": " + count;
    made.append(part);
  }
  return made;
}

function openLinked() {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (row && row.classList.contains("task")) row.open = true;
}

if (place) {
  const found = Object.keys(OUTCOMES).map((outcome) => [outcome, page.tasks.filter((task) => task.outcome === outcome).length])
    .filter(([, count]) => count);
  const rows = page.tasks.map(rowOf);
  if (rows.length === 1) {
    list.className = "alone";
    list.append(...rows);
    place.append(list, glossary(found));
    rows[0].open = true;
  } else {
    const heads = element("div", "", "columns");
    heads.append(element("span"), element("span"), ...Object.entries(COLUMNS).map(headOf));
    if (rows.length > EXAMPLES) examples();
    place.append(element("h2", "Tasks"), ...(found.length > 1 ? [shareBar(found)] : []), glossary(found));
    listing(heads, rows, buttonsOf(found));
  }
  const seen = new IntersectionObserver((entries) => entries.filter((one) => one.isIntersecting).forEach((one) => {
    seen.unobserve(one.target);
    thumbnails(one.target);
  }), { rootMargin: "200px" });
  for (const row of rows) seen.observe(row);
  window.addEventListener("hashchange", openLinked);
  openLinked();
}
