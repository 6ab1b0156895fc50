"use strict";
// What all pages share: asking the server, controls, cells of tokens. Text from data goes in as text, never as markup.

// The server's answer to a question, or an Error with its sentence. With a body, something is to be done.
async function ask(path, query, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Charm-Token": page.token },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path + "?" + new URLSearchParams(query || {}), options);
  } catch {
    throw new Error("The server does not answer: has charm view been stopped?");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// Runs an asynchronous step; what goes wrong is told in the place for it.
async function attempt(place, step) {
  place.replaceChildren();
  try {
    await step();
  } catch (error) {
    const told = element("p", error.message, "error");
    told.setAttribute("role", "alert");
    place.replaceChildren(told);
  }
}

function linkTo(name, query) { return "#" + name + "?" + new URLSearchParams(query); }

// Keeps the address in step with what is shown, without a new entry in the history.
function remember(name, query) { history.replaceState(null, "", linkTo(name, query)); }

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

// `choices` are [value, text].
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

function randomSeed() { return crypto.getRandomValues(new Uint32Array(1))[0]; }

// Rows of tokens (numbers) on a canvas: pad, boundary (hatched), colours. Lines between cells where there is room.
function paint(canvas, rows, cell) {
  const height = rows.length, width = rows[0].length, line = cell > 3 ? 1 : 0;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = (width * cell + line) * ratio;
  canvas.height = (height * cell + line) * ratio;
  canvas.style.width = width * cell + line + "px";
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.fillStyle = page.line;
  pen.fillRect(0, 0, width * cell + line, height * cell + line);
  rows.forEach((row, r) => row.forEach((token, c) => {
    const x = c * cell + line, y = r * cell + line, side = cell - line;
    pen.fillStyle = page.tokens[token];
    pen.fillRect(x, y, side, side);
    if (token === 1) {
      pen.strokeStyle = page.hatch;
      pen.beginPath();
      pen.moveTo(x, y + side);
      pen.lineTo(x + side, y);
      pen.stroke();
    }
  }));
}

function rowsOf(text, base) { return text.split("/").map((row) => [...row].map((digit) => parseInt(digit, base))); }

// A grid's colours as tokens.
function tokensOf(text) { return rowsOf(text, 10).map((row) => row.map((color) => color + 2)); }

function tokenFigure(text, title, cell) {
  const made = element("figure"), canvas = element("canvas"), rows = rowsOf(text, 12);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", title + ", canvas of side " + rows.length);
  paint(canvas, rows, cell);
  made.append(canvas, element("figcaption", title));
  return made;
}

function duration(seconds) {
  if (seconds < 90) return Math.round(seconds) + " s";
  if (seconds < 5400) return Math.round(seconds / 60) + " min";
  if (seconds < 172800) return (seconds / 3600).toFixed(1) + " h";
  return (seconds / 86400).toFixed(1) + " days";
}
