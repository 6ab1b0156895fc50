// The page of several runs: every task with each run's best candidates.

function runOf(tests, number, truth, run) {
  const made = element("section"), test = tests && tests[number];
  const heading = element("h3", page.runs[run].name + ": ");
  made.append(heading);
  if (!test) {
    heading.append("not evaluated");
    return made;
  }
  heading.append(outcomeOf(test.outcome),
    test.rank ? ", the right answer ranks " + test.rank : "");
  const grids = element("div", "", "grids");
  const { steps, sure } = page.runs[run];
  test.candidates.forEach((candidate) => grids.append(candidateOf(candidate, truth, steps, sure, test.views)));
  if (!test.candidates.length) grids.append(element("p", "no candidates", "soft"));
  made.append(grids);
  return made;
}

function answers(task, body) {
  task.questions.forEach((question, number) => {
    body.append(element("h3", task.questions.length > 1 ? "Test " + (number + 1) : "Test"));
    const grids = element("div", "", "grids");
    grids.append(figure(question.input, "input", size(question.input.split("/"))));
    if (question.truth) grids.append(figure(question.truth, "right answer", size(question.truth.split("/"))));
    body.append(grids);
    const sides = element("div", "", "tables");
    task.runs.forEach((tests, run) => sides.append(runOf(tests, number, question.truth, run)));
    body.append(sides);
  });
}

// A filter is "all", "differ", or "A>B": solved by run A, never proposed by run B.
function fits(task, filter) {
  const outcomes = task.outcomes;
  if (filter === "all") return true;
  if (filter === "differ") return outcomes.some((one) => one !== outcomes[0]);
  const [solved, never] = filter.split(">");
  return outcomes[solved] === "solved" && NEVER.includes(outcomes[never]);
}

function rowOf(task, number) {
  const made = element("details", "", "task versus"), line = element("summary");
  line.append(element("b", task.id), ...task.outcomes.map(outcomeOf));
  made.dataset.n = number;
  made.append(line);
  return made;
}

// The number of tasks that a row's run solves and a column's run never proposes; each number is a filter.
function versus() {
  const around = element("div", "", "wide"), table = element("table"), head = table.createTHead().insertRow();
  const body = table.createTBody();
  head.append(element("th", "solved by"), ...page.runs.map((run) => element("th", run.name)));
  page.runs.forEach((run, a) => {
    const row = body.insertRow();
    row.append(element("td", run.name), ...page.runs.map((_, b) => {
      const filter = a + ">" + b, cell = element("td", a === b ? UNKNOWN : "");
      if (a !== b) cell.append(filterButton(filter, "", page.tasks.filter((task) => fits(task, filter)).length));
      return cell;
    }));
  });
  around.append(table);
  place.append(element("h2", "Solved by one, never proposed by another"), element("p",
    "The number of tasks that the run in the row solves and for which the run in the column has no right candidate. " +
    "Click a number to list the tasks below.", "soft"), around);
}

if (place) {
  const heads = element("div", "", "versus columns");
  heads.append(element("b", "task"), ...page.runs.map((run) => element("span", run.name)));
  if (page.runs.length > 1) versus();
  place.append(element("h2", "Tasks"));
  listing(heads, page.tasks.map(rowOf), [
    filterButton("differ", "outcomes differ", page.tasks.filter((task) => fits(task, "differ")).length)]);
}
