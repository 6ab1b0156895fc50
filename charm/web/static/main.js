"use strict";
// Chooses the page: the address after "#" has its name and its own query.

const PAGES = { tasks: tasksPage, task: taskPage, samples: samplesPage, run: runPage, solve: solvePage,
  watch: watchPage };
const SECTION = { task: "tasks" };

async function showPage() {
  const [name, rest] = location.hash.slice(1).split("?", 2);
  const known = Object.hasOwn(PAGES, name) ? name : page.runs.length ? "run" : page.solves.length ? "watch" : "tasks";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === "#" + (SECTION[known] || known)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  // A page opened later replaces this one; requests that are still pending then find their elements detached.
  const root = element("div"), trouble = element("div"), main = document.getElementById("main");
  main.replaceChildren(root, trouble);
  await attempt(trouble, () => PAGES[known](root, new URLSearchParams(rest || "")));
}

// The server ends a solve that no page asks about. A hidden tab may run its timers only once a minute.
setInterval(() => { ask("api/solve").catch(() => {}); }, 60000);

window.addEventListener("hashchange", showPage);
showPage();
