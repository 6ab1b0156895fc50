"use strict";
// A solve that was started from the command line: how far its tasks are, and the votes on the chosen one.

async function watchPage(root, query) {
  const about = element("p", "", "soft"), links = element("p"), sides = element("div", "", "sides");
  const listed = element("div", "", "course watched"), shown = element("div");
  sides.append(listed, shown);
  let before = "", beforeTask = "";

  async function look(solve) {
    const found = await ask("api/watch", { solve });
    const ended = found.tasks.filter((task) => task.state === "done" || task.state === "failed").length;
    const wrote = found.seconds_since === null ? "" : ended === found.tasks.length ? ""
      : " Last votes " + duration(found.seconds_since) + " ago.";
    about.textContent = ended + " of " + plural(found.tasks.length, "task") + " ended; model " + found.model + ", mode " +
      found.mode + ", " + duration(found.budget) + " for all." + wrote;
    const chosen = query.get("task") || found.tasks[0].id, link = element("a", "all tasks with their answers and votes");
    link.href = "report?" + new URLSearchParams({ solve });
    link.target = "_blank";
    if (!links.firstChild) links.append(link);
    const now = JSON.stringify(found.tasks);
    if (now !== before) listed.replaceChildren(watchedTable(found.tasks, solve, chosen));
    before = now;
    const status = await ask("api/watch", { solve, task: chosen });
    const nowTask = JSON.stringify(status);
    if (nowTask !== beforeTask) shown.replaceChildren(...watchedTask(status));
    beforeTask = nowTask;
  }

  await follow(root, query, { view: "watch", kind: "solve", names: page.solves, parts: [about, links, sides], look, every: 2000,
    none: "No solve is open. To open one, start the server with its submission: charm view submission.json" });
}

function watchedTable(tasks, solve, chosen) {
  const table = element("table"), head = element("tr");
  for (const title of ["task", "state", "updates", "views", "first candidate"]) head.append(element("th", title));
  table.append(head);
  for (const task of tasks) {
    const row = element("tr"), name = element("td"), link = element("a", task.id);
    link.href = linkTo("watch", { solve, task: task.id });
    if (task.id === chosen) link.setAttribute("aria-current", "true");
    name.append(link);
    row.append(name, element("td", task.state));
    for (const value of [task.updates, task.views]) row.append(element("td", value === null ? "" : value.toLocaleString("en")));
    row.append(element("td", task.votes.map((votes) => percent(votes / task.cast)).join(", ")));
    table.append(row);
  }
  return table;
}

function watchedTask(status) {
  const parts = [element("h2", status.task)];
  if (status.state === "waiting") parts.push(element("p", "No votes yet.", "soft"));
  if (status.state === "failed") parts.push(element("p", "Failed: " + status.text, "error"));
  if (status.views) parts.push(...votesOf(status));
  return parts;
}
