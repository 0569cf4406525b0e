// Seven questions on one shared axis: left what the same weights get shuffled, right a yardstick.

// A tick is for what speaks for attention, which is not always a yes.
function outcomeMark(outcome, good) {
  if (outcome === "unsure") return "? ";
  if (outcome === "not asked") return "– ";
  return good === true ? "✓ " : good === false ? (outcome === "no" ? "✗ " : "! ") : "";
}

function showQuestions({ audit, figures }) {
  const seed = audit.methods.seed;
  const drawn = { figures, about: audit.figures || {} };
  put(
    byId("questions"),
    make("h2", {}, "Seven questions"),
    make(
      "p",
      {},
      "All on one axis. Its left end is what these weights would get if they were shuffled among the " +
        "words (where that has no meaning, what chance would), its right end the yardstick that the row names. " +
        "Open a row for its evidence.",
    ),
    make(
      "p",
      { class: "legend axis-legend" },
      sample("shuffled", "shuffled"),
      sample("random", "random"),
      sample("you", "your model, with its interval"),
      sample("best", "yardstick"),
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
          make("h3", {}, "Do people mark the same words?"),
          findingsTable("Agreement with human rationales", audit.plausibility),
        )
      : null,
  );
  byId("questions").hidden = false;
  const { question } = address.read();
  const row = question ? byId(`question-${question}`) : null;
  if (row) {
    row.open = true;
    row.scrollIntoView();
  }
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
  const good = question.good ?? (question.decides ? { yes: true, no: false }[outcome] : null);
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
        question.decides ? null : make("span", { class: "faint" }, " context only"),
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
