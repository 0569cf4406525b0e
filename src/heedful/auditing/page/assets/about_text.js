// What is said about a text: its label, its smallest set, and what other attention could have done.

const goldOf = (text, classes) =>
  text.gold === null || text.gold === undefined
    ? ""
    : text.gold === text.decided
      ? " ✓ as labelled"
      : ` ✗ labelled ${isolated(classes[text.gold])}`;

function offSentence(text, mixes) {
  if (!text.paths) return "Nothing inside this model can be erased: only whole texts can be read again, without a word.";
  return (
    "This model's head is not linear, so the decision cannot follow a click: the paths were computed " +
    `beforehand by running the model from its attention layer on. ${mixes ? STILL_READ : ALONE}`
  );
}

const kindOf = (text) => text.smallest?.kind || text.smallest_kind || "exact";

function smallestSentence(text, classes, live) {
  // Its sets are of sentences; or there is no layer at which sets could be tried.
  if (!text.smallest && (text.unit === "sentence" || (!live && !text.paths))) return null;
  if (!text.smallest) {
    return make(
      "p",
      {},
      live
        ? "No set of erased words changes this decision."
        : "No set of words that changes this decision was found.",
    );
  }
  const kind =
    kindOf(text) === "upper bound"
      ? "The smallest set found that flips the decision"
      : "The exact smallest set that flips the decision";
  const places = text.smallest.words.slice(0, 12);
  const more = text.smallest.words.length - places.length;
  return make(
    "p",
    {},
    `${kind} to ${isolated(classes[text.smallest.to])} (underlined): `,
    places.map((place, rank) => [
      rank ? ", " : "",
      make("b", {}, make("bdi", {}, shortened(text.words[place]))),
    ]),
    more > 0 ? ` and ${several(more, "more word")}` : "",
    ".",
  );
}

function adversaryPair(text) {
  if (!text.weights) return null;
  if (!text.adversary) {
    return make(
      "p",
      { class: "faint" },
      "Other attention that gives the same decision is shown where it can be computed exactly: for two classes and a " +
        "linear head over words. For other models an audit's question about it has a bound.",
    );
  }
  const { weights, divergence, change, exact } = text.adversary;
  return make(
    "div",
    { class: "adversary" },
    make("h4", {}, "Could other attention give the same decision?"),
    make(
      "div",
      { class: "pair" },
      make(
        "div",
        {},
        make("h5", {}, "The model's attention"),
        paintText(text, "attention"),
        topWords(text, "attention"),
      ),
      make(
        "div",
        {},
        make("h5", {}, "The adversary's attention"),
        paintText(text, "attention", { scores: weights }),
        topWords(text, "attention", weights),
      ),
    ),
    make(
      "p",
      { class: "faint" },
      `${exact ? "The farthest weights there are" : "The farthest weights that were found (a lower bound)"}: divergence ` +
        `${exact ? "" : "≥ "}${plainNumber(divergence)} nats of at most 0.693, and the output moves by ` +
        `${plainNumber(change)}. Almost any model has such an alternative, so this is context and decides nothing alone.`,
    ),
  );
}
