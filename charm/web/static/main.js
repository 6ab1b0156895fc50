"use strict";
// Which page is shown: the address after "#" names it, with a query of its own.

const PAGES = { tasks: tasksPage, task: taskPage, samples: samplesPage, run: runPage, solve: solvePage };
const SECTION = { task: "tasks" };

async function showPage() {
  const [name, rest] = location.hash.slice(1).split("?", 2);
  const known = Object.hasOwn(PAGES, name) ? name : page.runs.length ? "run" : "tasks";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === "#" + (SECTION[known] || known)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  // A page that is asked for later replaces this one, and what this one still awaits finds itself detached.
  const root = element("div"), trouble = element("div"), main = document.getElementById("main");
  main.replaceChildren(root, trouble);
  await attempt(trouble, () => PAGES[known](root, new URLSearchParams(rest || "")));
}

window.addEventListener("hashchange", showPage);
showPage();
