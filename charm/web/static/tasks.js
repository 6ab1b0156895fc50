"use strict";
// The list of a set's tasks, and one task under any view and on any canvas.

async function tasksPage(root, query) {
  const sets = page.sets.map((set) => [set.name, set.title + " (" + set.tasks + ")"]);
  const set = query.get("set") || page.sets[0].name;
  const find = field("find", "search", query.get("find") || "", { placeholder: "find a task" });
  find.setAttribute("aria-label", "find a task");
  const only = selection("generator", [["", "any"]].concat(Object.entries(page.generators).map(
    ([name, one]) => [name, one.title])), query.get("generator") || "", () => show());
  const choice = selection("set", sets, set, (value) => { location.hash = linkTo("tasks", { set: value }); });
  const count = element("p", "", "soft"), list = element("div", "", "thumbs"), trouble = element("div");
  root.append(tools(labelled("set", choice), labelled("id or concept", find), labelled("generator", only)), count,
    trouble, list);
  let tasks = [];
  const visible = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      visible.unobserve(entry.target);
      for (const text of tasks[entry.target.dataset.n].first) entry.target.firstChild.append(thumbnail(text, 60));
    }
  }, { rootMargin: "300px" });

  function show() {
    const wanted = find.value.trim().toLowerCase();
    let shown = 0;
    [...list.children].forEach((card, n) => {
      const task = tasks[n], words = (task.id + " " + (task.concept || "")).toLowerCase();
      card.hidden = !words.includes(wanted) || (only.value && !task.generators.includes(only.value));
      shown += !card.hidden;
    });
    count.textContent = shown.toLocaleString("en") + " of " + plural(tasks.length, "task");
    remember(root, "tasks", { set, find: find.value, generator: only.value });
  }

  await attempt(trouble, async () => {
    tasks = (await ask("api/tasks", { set })).tasks;
    tasks.forEach((task, n) => {
      const card = element("a", "", "thumb");
      card.href = linkTo("task", { set, task: task.id });
      card.dataset.n = n;
      card.append(element("div"), element("b", task.id), element("span", [task.concept,
        plural(task.demos, "demonstration"), task.tests > 1 ? plural(task.tests, "test") : ""]
        .filter(Boolean).join(", ")));
      list.append(card);
      visible.observe(card);
    });
    show();
    find.addEventListener("input", show);
  });
}

async function taskPage(root, query) {
  const set = query.get("set"), id = query.get("task");
  const state = { turn: query.get("turn") || "0", colors: query.get("colors") || "0123456789" };
  let answers = false;
  const heading = element("h2"), named = element("p", "", "soft"), trouble = element("div"), body = element("div");
  heading.append(element("span", id, "mono"));
  const actions = tools(), steps = tools();
  const turn = selection("turn", page.turns.map((name, n) => [n, name]), state.turn, () => show({}));
  const colors = field("colors", "text", state.colors, { className: "digits", inputMode: "numeric", maxLength: 10 });
  // The seed is shown only for a view that was drawn with it.
  const seed = field("seed", "number", query.get("seed") || "", { min: 0, step: 1, placeholder: "none" });
  colors.addEventListener("change", () => show({}));
  const again = () => show(seed.value ? { seed: seed.value } : {});
  seed.addEventListener("change", again);
  const redraw = button("random view", () => { seed.value = randomSeed(); again(); });
  const original = button("original", () => { turn.value = 0; colors.value = "0123456789"; show({}); });
  root.append(steps, heading, actions, element("h3", "View"), tools(labelled("symmetry", turn),
    labelled("colours 0 to 9 become", colors), labelled("seed", seed), redraw, original), named, trouble, body);
  const canvas = canvasPart(set, id, () => ({ ...state, answers: answers ? 1 : 0 }));

  // The controls change only when the server answers, so a refused view leaves the page unchanged.
  async function show(drawn) {
    await attempt(trouble, async () => {
      const view = drawn.seed === undefined ? { turn: turn.value, colors: colors.value } : drawn;
      const found = await ask("api/task", { set, task: id, ...view, answers: answers ? 1 : 0 });
      Object.assign(state, { turn: found.view.turn, colors: found.view.colors });
      turn.value = state.turn;
      colors.value = state.colors;
      if (drawn.seed === undefined) seed.value = "";
      named.textContent = "This is view " + found.view.code.toLocaleString("en") + ": " + found.view.name + ".";
      remember(root, "task", { set, task: id, ...state });
      draw(found);
      await canvas.show(found);
    });
  }

  function draw(found) {
    const demos = element("div", "", "grids"), tests = element("div", "", "grids");
    found.demos.forEach(([before, after], n) => demos.append(pairOf(before, after, "input " + (n + 1))));
    found.tests.forEach((test, n) => {
      const title = "test input " + (n + 1);
      if (test.output) tests.append(pairOf(test.input, test.output, title));
      else tests.append(figure(test.input, title, size(test.input.split("/"))));
    });
    const known = found.tests.some((test) => test.known);
    const reveal = button(answers ? "hide the answers" : "show the answers", () => {
      answers = !answers;
      again();
    });
    const heading = element("h3", found.tests.length > 1 ? "Tests " : "Test ");
    if (known) heading.append(reveal);
    else heading.append(element("span", "(no known answer)", "soft"));
    body.replaceChildren(element("h3", "Demonstrations"), demos, heading, tests, canvas.root);
    const links = found.generators.map((name) => {
      const link = element("a", "new samples (" + page.generators[name].title + ")");
      link.href = linkTo("samples", { generator: name, task: id });
      return link;
    });
    const solve = button("solve this task", () => {
      keepDraft({ name: id, ...found.task });
      location.hash = "#solve";
    });
    actions.replaceChildren(solve, ...links);
    const step = (text, name, to) => {
      const link = element("a", text);
      link.href = linkTo(name, to);
      return link;
    };
    const neighbours = [["\u2039 back", found.before], ["next \u203a", found.after]].filter(([, other]) => other);
    steps.replaceChildren(step("all tasks", "tasks", { set }),
      ...neighbours.map(([text, other]) => step(text, "task", { set, task: other })));
  }

  await again();
}

// One pair as tokens. `view` returns the current view.
function canvasPart(set, id, view) {
  const root = element("section"), trouble = element("div"), grids = element("div", "", "grids");
  const pair = selection("pair", [["train 0", "demonstration 1"]], "train 0", () => show());
  const side = selection("canvas", [["full", "full, 30\u00d730"], ["pair", "fits this pair"],
    ["puzzle", "fits the whole puzzle"]], "full", () => show());
  const top = field("top", "number", 0, { min: 0 }), left = field("left", "number", 0, { min: 0 });
  const facts = element("p", "", "soft");
  let room = [0, 0];
  for (const one of [top, left]) one.addEventListener("change", () => show());
  const move = button("random place", () => {
    top.value = randomSeed() % (room[0] + 1);
    left.value = randomSeed() % (room[1] + 1);
    show();
  });
  const origin = button("origin", () => { top.value = left.value = 0; show(); });
  const legend = element("p", "", "soft");
  for (const [token, name] of [["0", "padding"], ["1", "boundary"]]) {
    const swatch = element("canvas", "", "swatch");
    paintTokens(swatch, token, 14);
    legend.append(swatch, name);
  }
  root.append(element("h2", "As the model sees it"), tools(labelled("pair", pair), labelled("canvas", side),
    labelled("top", top), labelled("left", left), move, origin), trouble, facts, grids, legend);

  async function show(task) {
    if (task) {
      const chosen = pair.value, choices = task.demos.map((_, n) => ["train " + n, "demonstration " + (n + 1)])
        .concat(task.tests.map((_, n) => ["test " + n, "test " + (n + 1)]));
      pair.replaceChildren(...selection("pair", choices, chosen).children);
      pair.value = chosen;
      top.value = left.value = 0;  // another view may have less room
    }
    await attempt(trouble, async () => {
      const [part, number] = pair.value.split(" ");
      const found = await ask("api/canvas", { set, task: id, part, pair: number, canvas: side.value,
        top: top.value, left: left.value, ...view() });
      room = found.room;
      [top.max, left.max] = room;
      const cell = Math.max(5, Math.min(14, Math.floor(Math.min(420, window.innerWidth - 50) / found.side)));
      facts.textContent = found.side + " \u00d7 " + found.side + " tokens; the grid starts at row " + found.top +
        ", column " + found.left + ". In training it may start anywhere up to row " + room[0] + ", column " +
        room[1] + "; in evaluation it always starts at the origin.";
      grids.replaceChildren(tokenFigure(found.input, "input", found.side, cell));
      if (found.output) grids.append(tokenFigure(found.output, "output", found.side, cell));
      else grids.append(element("div", "answer hidden", "absent"));
    });
  }
  side.addEventListener("change", () => { top.value = left.value = 0; });
  return { root, show };
}
