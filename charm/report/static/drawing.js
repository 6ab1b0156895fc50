// Shared by all scripts, including those of `charm view`: grids, and figures with captions.
"use strict";
const page = JSON.parse(document.getElementById("data").textContent);
// Approximate pixels of a grid's longer side; a phone shows two side by side.
const LONGEST = Math.min(190, (window.innerWidth - 90) / 2);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function plural(count, noun) { return count.toLocaleString("en") + " " + noun + (count === 1 ? "" : "s"); }

function percent(share) { return (100 * share).toFixed(1) + "%"; }

function size(rows) { return rows.length + "\u00d7" + rows[0].length; }

// Draws rows of cells; a cell is an index into `shades`. Cells larger than 3 pixels have lines between them. Returns the pen.
function paint(canvas, rows, shades, cell) {
  const line = cell > 3 ? 1 : 0, width = rows[0].length * cell + line, height = rows.length * cell + line;
  const ratio = window.devicePixelRatio || 1, pen = canvas.getContext("2d");
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = width + "px";
  pen.scale(ratio, ratio);
  pen.fillStyle = page.line;
  pen.fillRect(0, 0, width, height);
  for (let r = 0; r < rows.length; r++) {
    for (let c = 0; c < rows[0].length; c++) {
      pen.fillStyle = shades[rows[r][c]];
      pen.fillRect(c * cell + line, r * cell + line, cell - line, cell - line);
    }
  }
  return pen;
}

// Draws a grid, given as "012/345". With a `truth` of the same size, marks the cells that differ.
function drawGrid(text, label, truth) {
  if (!text) return element("div", "no answer", "absent");
  const rows = text.split("/"), wanted = truth ? truth.split("/") : rows, canvas = element("canvas");
  const cell = Math.max(5, Math.min(22, Math.floor(LONGEST / Math.max(rows.length, rows[0].length))));
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label + ", " + size(rows));
  const pen = paint(canvas, rows, page.palette, cell);
  if (size(rows) !== size(wanted)) return canvas;
  const mark = Math.max(3, Math.round(cell * 0.45)), inset = 1 + (cell - 1 - mark) / 2;
  for (let r = 0; r < rows.length; r++) {
    for (let c = 0; c < rows[0].length; c++) {
      if (rows[r][c] === wanted[r][c]) continue;
      pen.fillStyle = "#000";
      pen.fillRect(c * cell + inset, r * cell + inset, mark, mark);
      pen.fillStyle = "#fff";
      pen.fillRect(c * cell + inset + 1, r * cell + inset + 1, mark - 2, mark - 2);
    }
  }
  return canvas;
}

// A small picture of a grid, at most about `longest` pixels long.
function thumbnail(text, longest) {
  const rows = text.split("/"), canvas = element("canvas");
  paint(canvas, rows, page.palette, Math.max(1, Math.min(22, Math.floor(longest / Math.max(rows.length, rows[0].length)))));
  return canvas;
}

// A bar for a share of the votes.
function voteBar(share) {
  const bar = element("div", "", "votes"), part = element("i");
  part.style.width = percent(share);
  bar.append(part);
  return bar;
}

function figure(text, title, note, truth) {
  const made = element("figure"), caption = element("figcaption");
  made.append(drawGrid(text, title, truth), caption);
  caption.append(element("b", title));
  if (note) caption.append(element("br"), note);
  return made;
}

function pairOf(input, output, title) {
  const made = element("div", "", "pair");
  made.append(figure(input, title, size(input.split("/"))), element("span", "\u2192"),
    figure(output, "output", size(output.split("/"))));
  return made;
}
