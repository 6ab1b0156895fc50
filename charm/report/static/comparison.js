// The page of several runs: every task with each run's best candidates.
const NEVER = ["wrong cells", "wrong size", "no answer"];

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
