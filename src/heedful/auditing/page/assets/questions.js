// The questions, each with where the map stands on it; one decides the reading, the others are context.

// A tick is for what speaks for the map, which is not always a yes.
function outcomeMark(outcome, good) {
  if (outcome === "unsure") return "? ";
  if (outcome === "not asked") return "– ";
  return good === true ? "✓ " : good === false ? (outcome === "no" ? "✗ " : "! ") : "";
}

function showQuestions({ audit, figures }) {
  const seed = audit.methods.seed;
  const drawn = { figures, about: audit.figures || {} };
  const count = audit.questions.length;
  fillPart(
    "questions",
    {
      title: `${count} ${count === 1 ? "question" : "questions"}`,
      brief: briefly(audit.questions),
      asked: ["question"],
    },
    make(
      "p",
      {},
      "The one that is marked decides the reading, the others are context. On each strip further right is better for the " +
        "map, or for the model's attention where the answer says that this was measured. Open a row for its evidence.",
    ),
    make(
      "p",
      { class: "legend axis-legend" },
      sample("you", "here, with its interval"),
      make("span", { class: "key" }, sample("shuffled", ""), term("shuffled", "shuffled")),
      sample("random", "random"),
      sample("best", "what to compare with, named in the row"),
    ),
    make(
      "div",
      { class: "questions" },
      audit.questions.map((question) => questionRow(question, drawn, seed)),
    ),
    audit.plausibility && audit.plausibility.length
      ? make(
          "div",
          {},
          make("h3", {}, "Do people mark the same words? ", term("people", "plausibility")),
          findingsTable("Agreement with human rationales", audit.plausibility),
        )
      : null,
  );
  const { question } = address.read();
  const row = question ? byId(`question-${question}`) : null;
  if (row) {
    row.open = true;
    row.scrollIntoView();
  }
}

// What a folded part says: how many answers speak for the map, and how many against.
function briefly(questions) {
  const count = (good) => questions.filter((question) => question.good === good).length;
  const asked = questions.filter((question) => question.outcome !== "not asked").length;
  return `${count(true)} of ${asked} asked speak for it, ${count(false)} against`;
}

const sample = (key, label) =>
  make(
    "span",
    { class: "key" },
    draw("svg", { class: "strip", width: 26, height: 14, "aria-hidden": "true" }, axisMark(key, 13, 7)),
    ` ${label} `,
  );

function questionRow(question, drawn, seed) {
  const { id, number, answer, outcome } = question;
  const { good } = question;
  const tone = good === true ? " speaks-for" : good === false ? " speaks-against" : "";
  return make(
    "details",
    { id: `question-${id}`, class: `question${tone}` },
    make(
      "summary",
      { on: { click: () => remember(id) } },
      make("span", { class: "number-of" }, number),
      make(
        "span",
        { class: "asked" },
        make("b", {}, question.question),
        make("span", { class: "answer" }, answer),
      ),
      make(
        "span",
        { class: "outcome" },
        `${outcomeMark(outcome, good)}${outcome}`,
        make("span", { class: "faint" }, question.decides ? " decides the reading" : " context"),
      ),
      make(
        "span",
        { class: "scale" },
        strip(question),
        make("span", { class: "values" }, scaleValues(question)),
      ),
    ),
    make("div", { class: "evidence" }, evidence(question, drawn, seed)),
  );
}

// A click comes before the row opens or shuts. (Its toggle event would also tell of rows that printing opens.)
function remember(id) {
  if (!byId(`question-${id}`).open) address.write({ question: id });
  else if (address.read().question === id) address.write({ question: null });
}
