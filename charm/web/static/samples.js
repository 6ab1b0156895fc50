"use strict";
// New pairs of a task, drawn by its generator: one at once, and more by a click. Seed and attempt determine the pair.

const KEPT = 30;  // maximum number of samples on the page

async function samplesPage(root, query) {
  const names = Object.keys(page.generators);
  const generator = selection("generator", names.map((name) => [name, page.generators[name].title + " (" +
    page.generators[name].tasks.length + " tasks)"]), query.get("generator"), () => choose(""));
  if (!generator.value) generator.value = names[0];
  const task = field("task", "search", "", { className: "digits", autocomplete: "off" });
  const known = element("datalist");
  known.id = "known";
  task.setAttribute("list", "known");
  const seed = field("seed", "number", query.get("seed") || 0, { min: 0, step: 1 });
  const next = field("attempt", "number", query.get("attempt") || 0, { min: 0, step: 1 });
  const trouble = element("div"), rule = element("p"), drawn = element("div", "", "flow");
  const official = element("div", "", "grids");
  const drawing = button("draw a sample", draw, "main");
  const another = button("random task", () => {
    const tasks = page.generators[generator.value].tasks;
    choose(tasks[randomSeed() % tasks.length]);
  });
  root.append(tools(labelled("generator", generator), labelled("task", task), another, labelled("seed", seed),
    labelled("next attempt", next), drawing), known, trouble, rule, drawn, element("h2", "Official demonstrations"),
    official);
  if (!page.generators.rearc) {
    root.append(element("p", "Re-ARC's generators are not installed. To download them: charm data rearc --pairs 1", "soft"));
  }
  task.addEventListener("change", () => choose(task.value.trim()));

  async function choose(wanted) {
    const tasks = page.generators[generator.value].tasks;
    known.replaceChildren(...tasks.map((id) => { const made = element("option"); made.value = id; return made; }));
    task.value = wanted || tasks[0];
    rule.textContent = "";
    drawn.replaceChildren();
    official.replaceChildren();
    remember(root, "samples", { generator: generator.value, task: task.value });
    const set = generator.value === "rearc" ? "arc1/training" : "arc2/training", id = task.value;
    await attempt(trouble, async () => {
      const found = await ask("api/task", { set, task: id });
      if (task.value !== id) return;  // another task was chosen meanwhile
      official.replaceChildren(...found.demos.map(([before, after], n) => pairOf(before, after, "input " + (n + 1))));
    });
    if (task.value === id && !trouble.firstChild) await draw();
  }

  async function draw() {
    drawing.disabled = true;
    drawing.textContent = "drawing \u2026";
    const asked = { generator: generator.value, task: task.value, seed: seed.value, attempt: next.value };
    await attempt(trouble, async () => {
      next.value = Number(next.value) + 1;  // also after a failure, since the same attempt fails every time
      const found = await ask("api/sample", asked);
      if (task.value !== asked.task || generator.value !== asked.generator) return;  // another was chosen meanwhile
      const panel = element("div", "", "panel"), caption = element("p", "", "soft");
      caption.append(found.generator + " " + found.task + ", seed " + found.seed + ", attempt " + found.attempt,
        element("br"), element("b", "\u2713 " + found.verdict, "ok"));
      panel.append(caption, pairOf(found.pair[0], found.pair[1], "input"));
      drawn.prepend(panel);
      if (drawn.children.length > KEPT) drawn.lastChild.remove();
      rule.textContent = found.rule ? "Rule: " + found.rule : "";
      remember(root, "samples", asked);
    });
    drawing.disabled = false;
    drawing.textContent = "draw a sample";
  }

  await choose(query.get("task") || "");
}
