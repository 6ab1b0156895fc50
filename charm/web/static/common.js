"use strict";
// Shared by all pages: requests to the server, controls, cells of tokens. Data is inserted as text, never as markup.

// Returns the server's answer, or throws an Error with its message. With a body, sends a POST.
async function ask(path, query, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path + "?" + new URLSearchParams(query || {}), options);
  } catch {
    throw new Error("The server does not respond; charm view may have been stopped.");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// Runs an asynchronous step and shows its error, if any, in `place`.
async function attempt(place, step) {
  place.replaceChildren();
  try {
    await step();
  } catch (error) {
    const message = element("p", error.message, "error");
    message.setAttribute("role", "alert");
    place.replaceChildren(message);
  }
}

function linkTo(name, query) { return "#" + name + "?" + new URLSearchParams(query); }

// Updates the address to match the page, without a new entry in the history. An answer may arrive after another page
// was opened; the address then belongs to that page and is left alone.
function remember(root, name, query) { if (root.isConnected) history.replaceState(null, "", linkTo(name, query)); }

function labelled(text, control) {
  const made = element("label", text);
  made.append(control);
  return made;
}

function button(text, act, className) {
  const made = element("button", text, className);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

// `choices` are pairs [value, text].
function selection(name, choices, value, change) {
  const made = element("select");
  made.name = name;
  for (const [choice, text] of choices) {
    const option = element("option", text);
    option.value = choice;
    made.append(option);
  }
  if (value !== null && value !== undefined) made.value = value;
  if (change) made.addEventListener("change", () => change(made.value));
  return made;
}

function field(name, kind, value, limits) {
  const made = element("input");
  made.type = kind;
  made.name = name;
  made.value = value;
  Object.assign(made, limits || {});
  return made;
}

function tools(...controls) {
  const made = element("div", "", "tools");
  made.append(...controls);
  return made;
}

// The page of one run or solve: its name, a choice if several are open, and `parts`. While the page is open, `look`
// updates them every `every` milliseconds.
async function follow(root, query, { view, kind, names, none, parts, look, every }) {
  if (!names.length) {
    root.append(element("p", none));
    return;
  }
  const name = query.get(kind) || names[0], trouble = element("div");
  const choice = selection(kind, names.map((one) => [one, one]), name,
    (value) => { location.hash = linkTo(view, { [kind]: value }); });
  if (names.length > 1) root.append(tools(labelled(kind, choice)));
  root.append(element("h2", name), trouble, ...parts);
  while (root.isConnected) {
    await attempt(trouble, () => look(name));
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}

function randomSeed() { return crypto.getRandomValues(new Uint32Array(1))[0]; }

// Draws rows of base-12 digits, one for each token. The boundary is hatched.
function paintTokens(canvas, text, cell) {
  const rows = text.split("/").map((row) => [...row].map((digit) => parseInt(digit, 12)));
  const pen = paint(canvas, rows, page.tokens, cell);
  pen.strokeStyle = page.hatch;
  rows.forEach((row, r) => row.forEach((token, c) => {
    if (token !== 1) return;
    pen.beginPath();
    pen.moveTo(c * cell + 1, (r + 1) * cell);
    pen.lineTo((c + 1) * cell, r * cell + 1);
    pen.stroke();
  }));
}

function tokenFigure(text, title, side, cell) {
  const made = element("figure"), canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", title + ", canvas side " + side);
  paintTokens(canvas, text, cell);
  made.append(canvas, element("figcaption", title));
  return made;
}

function duration(seconds) {
  if (seconds < 90) return Math.round(seconds) + " s";
  if (seconds < 5400) return Math.round(seconds / 60) + " min";
  if (seconds < 172800) return (seconds / 3600).toFixed(1) + " h";
  return (seconds / 86400).toFixed(1) + " days";
}
