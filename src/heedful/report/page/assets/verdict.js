// The first screen: the reading, its reasons, what to show instead, and one real text painted both ways.

const READINGS = {
  faithful: { mark: "✓", kind: "good" },
  "use with care": { mark: "!", kind: "care" },
  "do not show as an explanation": { mark: "✗", kind: "bad" },
  "cannot say": { mark: "?", kind: "open" },
};
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function showVerdict({ audit, notes }) {
  const { verdict, subject, data } = audit;
  const { mark, kind } = READINGS[verdict.reading] || READINGS["cannot say"];
  const reasons = verdict.reasons || [];
  put(
    byId("verdict"),
    make("p", { class: "facts" }, facts(subject, data)),
    make(
      "div",
      { class: "first" },
      make(
        "div",
        {},
        make("h1", {}, "May this attention be shown as an explanation?"),
        make(
          "p",
          { class: `reading ${kind}` },
          make("span", { class: "mark", "aria-hidden": "true" }, mark),
          make("span", {}, capital(verdict.reading)),
        ),
        make("p", { class: "sentence" }, verdict.sentence),
        reasons.length
          ? make(
              "ul",
              { class: "reasons" },
              reasons.map((reason) => make("li", {}, reason)),
            )
          : null,
        (verdict.caps || [])
          .filter((cap) => !reasons.includes(cap)) // which may name them already
          .map((cap) => make("p", { class: "faint" }, cap)),
        insteadBox(verdict.instead, audit.methods.seed),
      ),
      exampleBox(audit),
    ),
    notes.map((note) => make("p", { class: "notice" }, note)),
  );
  byId("verdict").hidden = false;
}

function facts(subject, data) {
  const parts = [subject.name, `${data.split} split of ${data.name}`, several(data.instances, "text")];
  const accuracy = data.accuracy
    ? [" · accuracy ", shown(data.accuracy), ` (majority class ${grouped(data.majority, 2)})`]
    : [];
  return [make("bdi", {}, parts.join(" · ")), accuracy];
}

function insteadBox(instead, seed) {
  if (!instead) return null;
  return make(
    "div",
    { class: "instead" },
    make("h2", {}, `Show instead: ${instead.ranking}`),
    instead.why ? make("p", {}, capital(instead.why)) : null,
    instead.skill
      ? make(
          "p",
          { class: "faint" },
          `${instead.skill.name} ${shown(instead.skill)} · ${counted(instead.skill, seed)}`,
        )
      : null,
    instead.command
      ? make(
          "div",
          { class: "command" },
          make("code", {}, instead.command),
          button("Copy", () => copyText(instead.command, "Command"), {
            class: "plain small",
            "aria-label": "Copy the command",
          }),
        )
      : null,
  );
}

// The text that stands for the others: the audit's choice, or a typical one of a length that can be taken in.
function exampleOf(audit) {
  const fits = (text) => text.words.length >= 6 && text.words.length <= 60;
  const texts = audit.instances;
  return (
    texts.find((text) => text.id === audit.example) ||
    texts.find((text) => text.tags.includes("typical") && fits(text)) ||
    texts.find(fits) ||
    texts[0]
  );
}

const namesOf = (instead) => (instead ? [instead.key, instead.name, instead.ranking] : []);

function insteadKey(audit, text) {
  const wanted = namesOf(audit.verdict.instead);
  return [...wanted, "leave-one-out", "contribution", "gradient"].find((key) => key in text.rankings);
}

// A ranking may have measured best and yet not be kept for single texts: then another one is painted, and that is said.
function standIn({ instead }, other) {
  if (!instead || namesOf(instead).includes(other)) return null;
  return make(
    "p",
    { class: "faint" },
    `Scores by ${instead.ranking} are not kept for single texts; ${rankingName(other)} stands in.`,
  );
}

function exampleBox(audit) {
  const text = exampleOf(audit);
  if (!text) {
    return make(
      "div",
      { class: "card" },
      make("h2", {}, "One text, painted both ways"),
      make("p", {}, `${noTexts(audit)}, so there is none to show.`),
    );
  }
  const other = insteadKey(audit, text);
  const { classes } = audit.subject;
  const side = (by, title) => [
    make("h3", {}, title),
    paintText(text, by, { most: 60 }),
    topWords(text, by, undefined, 3),
  ];
  return make(
    "div",
    { class: "card" },
    make("h2", {}, "One text, painted both ways"),
    make(
      "p",
      { class: "faint" },
      `Text ${text.id}, decided ${isolated(classes[text.decided])} (${percent(text.probabilities[text.decided])})`,
      goldOf(text, classes),
    ),
    side("attention", "What attention highlights"),
    other ? side(other, `What ${rankingName(other)} finds`) : null,
    other ? standIn(audit.verdict, other) : null,
    legend(other || "attention", { smallest: Boolean(text.smallest) }),
    make(
      "p",
      {},
      button("Work with this text", () => openText(text.id), { class: "plain small" }),
    ),
  );
}
