"use strict";
// The task being drawn: {name, train: [{input, output}], test: [{input}]}, kept while the tab is open.

const EMPTY = () => [[0, 0, 0], [0, 0, 0], [0, 0, 0]];
const DRAFT = "charm draft";

function keptDraft() { return JSON.parse(sessionStorage.getItem(DRAFT)); }

function blankDraft() {
  return { name: "drawn", train: [{ input: EMPTY(), output: EMPTY() }], test: [{ input: EMPTY() }] };
}

// A small public task to start from; a blank one where that set is not open.
async function exampleDraft() {
  if (!page.example) return blankDraft();
  const found = await ask("api/task", page.example);
  return { name: found.id, ...found.task };
}

function keepDraft(draft) { sessionStorage.setItem(DRAFT, JSON.stringify(draft)); }

// Stores every change of the draft.
function editorOf(draft) {
  const root = element("div"), colours = element("div", "", "colours"), pairs = element("div", "", "flow");
  let color = 1;
  const choose = (n) => {
    color = n;
    [...colours.children].forEach((one, m) => one.setAttribute("aria-pressed", m === n));
  };
  page.palette.forEach((shade, n) => {
    const made = button("", () => choose(n));
    made.style.background = shade;
    made.setAttribute("aria-label", "colour " + n);
    made.setAttribute("aria-pressed", n === color);
    colours.append(made);
  });
  const palette = element("div", "", "sticky");
  palette.append(colours);
  root.append(palette, pairs);

  function show() {
    const parts = [];
    draft.train.forEach((pair, n) => parts.push(panelOf("Demonstration " + (n + 1), draft.train, n, true)));
    draft.test.forEach((pair, n) => parts.push(panelOf("Test " + (n + 1), draft.test, n, false)));
    pairs.replaceChildren(...parts);
    keepDraft(draft);
  }

  function panelOf(title, list, n, hasOutput) {
    const made = element("div", "", "panel"), boards = element("div", "", "boards"), pair = list[n];
    const actions = tools();
    boards.append(boardOf(pair, "input"));
    if (hasOutput) {
      boards.append(element("span", "\u2192"), boardOf(pair, "output"));
      actions.append(button("copy the input", () => { pair.output = pair.input.map((row) => [...row]); show(); }));
    }
    if (list.length > 1) actions.append(button("remove", () => { list.splice(n, 1); show(); }));
    if (n === list.length - 1) {
      actions.append(button(hasOutput ? "add a demonstration" : "add a test", () => {
        list.push(hasOutput ? { input: EMPTY(), output: EMPTY() } : { input: EMPTY() });
        show();
      }));
    }
    made.append(element("h3", title), boards, actions);
    return made;
  }

  function boardOf(pair, which) {
    const made = element("div", "", "board"), sizes = element("div", "", "sizes"), canvas = element("canvas");
    const grid = () => pair[which];
    const height = field("height", "number", grid().length, { min: 1, max: 30 });
    const width = field("width", "number", grid()[0].length, { min: 1, max: 30 });
    height.setAttribute("aria-label", which + " height");
    width.setAttribute("aria-label", which + " width");
    canvas.setAttribute("aria-label", which + " grid: click to paint; arrow keys move, 0 to 9 and space paint");
    canvas.tabIndex = 0;
    let at = [0, 0]; // the cell that keys paint
    const longest = window.innerWidth > 1000 ? 210 : Math.min(300, window.innerWidth - 70);  // beside the answers
    const draw = () => {
      const cell = Math.max(8, Math.min(32, Math.floor(longest / Math.max(grid().length, grid()[0].length))));
      const pen = paint(canvas, grid(), page.palette, cell);
      if (canvas.matches(":focus-visible")) mark(pen, at, cell);
    };
    const resize = () => {
      const rows = within(height.value), columns = within(width.value);
      pair[which] = Array.from({ length: rows }, (_, r) =>
        Array.from({ length: columns }, (_, c) => (grid()[r] || [])[c] || 0));
      [height.value, width.value] = [rows, columns];
      at = [Math.min(at[0], rows - 1), Math.min(at[1], columns - 1)];
      draw();
      keepDraft(draft);
    };
    for (const one of [height, width]) one.addEventListener("change", resize);
    const put = (r, c) => {
      if (grid()[r] === undefined || grid()[r][c] === undefined) return;
      at = [r, c];
      grid()[r][c] = color;
      draw();
      keepDraft(draft);
    };
    const putBelow = (event) => {
      const box = canvas.getBoundingClientRect();
      put(Math.floor((event.clientY - box.top) / box.height * grid().length),
        Math.floor((event.clientX - box.left) / box.width * grid()[0].length));
    };
    canvas.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      canvas.setPointerCapture(event.pointerId);
      putBelow(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) putBelow(event); });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return; // reserved for the browser
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (move) {
        const rows = grid().length, columns = grid()[0].length;
        at = [(at[0] + move[0] + rows) % rows, (at[1] + move[1] + columns) % columns];
        draw();
      } else if (event.key === " " || event.key === "Enter") put(...at);
      else if (/^[0-9]$/.test(event.key)) {
        choose(Number(event.key));
        put(...at);
      } else return;
      event.preventDefault(); // no scrolling
    });
    for (const name of ["focus", "blur"]) canvas.addEventListener(name, draw);
    const clear = button("clear", () => {
      pair[which] = grid().map((row) => row.map(() => 0));
      draw();
      keepDraft(draft);
    });
    sizes.append(element("span", which), height, "\u00d7", width, clear);
    made.append(sizes, canvas);
    draw();
    return made;
  }

  show();
  return root;
}

// Draws a frame around a cell, visible on every colour.
function mark(pen, at, cell) {
  pen.lineWidth = 2;
  for (const [shade, inset] of [["#000", 1], ["#fff", 3]]) {
    pen.strokeStyle = shade;
    pen.strokeRect(at[1] * cell + inset, at[0] * cell + inset, cell - 2 * inset, cell - 2 * inset);
  }
}

function within(text) { return Math.max(1, Math.min(30, Math.round(Number(text)) || 1)); }
