"use strict";
// The current state of a run, polled while the page is open.

async function runPage(root, query) {
  const cards = element("div", "", "cards"), curves = element("div", "", "curves"), links = element("p");
  const protocol = element("p", "", "soft");

  async function look(run) {
    remember(root, "run", { run });
    const found = await ask("api/run", { run });
    cards.replaceChildren(...cardsOf(found));
    protocol.textContent = found.evaluation && found.evaluation.protocol ? "Protocol " + found.evaluation.protocol + "." : "";
    const link = element("a", found.voted ? "all tasks with their candidates and votes" : "report of this run");
    link.href = "report?" + new URLSearchParams({ run });
    link.target = "_blank";
    if (!links.firstChild || links.firstChild.textContent !== link.textContent) links.replaceChildren(link);
    // The SVG comes from our own server and contains only numbers. It is parsed in a separate document, where no script runs.
    const parsed = new DOMParser().parseFromString(found.curves.join(""), "text/html");
    curves.replaceChildren(...(found.curves.length ? parsed.body.children
      : [element("p", "Nothing logged yet.", "soft")]));
  }

  await follow(root, query, { view: "run", kind: "run", names: page.runs, look, every: 3000,
    parts: [cards, protocol, links, element("h2", "Learning"), curves],
    none: "No run is open. To open one, start the server with its folder: charm view RUN" });
}

function cardsOf(found) {
  const cards = [];
  const add = (title, value, detail) => {
    const made = element("div", "", "card");
    made.append(element("span", title), element("b", value), element("span", detail || "\u00a0"));
    cards.push(made);
  };
  const whole = (value) => value.toLocaleString("en", { maximumFractionDigits: 0 });
  const share = found.steps ? percent(found.step / found.steps) : "";
  add("step", whole(found.step), found.steps ? "of " + whole(found.steps) + ", " + share : "");
  if (found.updates_per_second) {
    add("updates per second", found.updates_per_second.toPrecision(3),
      found.speed ? whole(found.speed[1]) + " " + found.speed[0] : "");
  }
  if (found.steps && found.step >= found.steps) add("time left", "none", "the run has finished");
  else if (found.seconds_left !== null) add("time left", duration(found.seconds_left), "at this rate");
  if (found.seconds_since !== null) add("last logged", duration(found.seconds_since),
    "ago; " + plural(found.checkpoints, "checkpoint"));
  if (found.evaluation) {
    for (const [name, value] of Object.entries(found.evaluation.scores)) {
      const isShare = name.includes("pass@") || name.includes("cells");
      add(name, isShare ? percent(value) : value.toPrecision(5), "at step " + whole(found.evaluation.step));
    }
  } else add("evaluation", "none yet");
  return cards;
}
