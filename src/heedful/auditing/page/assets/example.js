// One text painted both ways: by what was judged and by what is better, or else by leaving each word out. Where a
// text has one map alone, that.

const EXAMPLE_WORDS = [6, 40]; // a text that can be taken in at a glance

// The share of the paint that two maps do not have in common (total variation).
function paintApart(text, first, second) {
  const shares = [first, second].map((by) => {
    const sizes = scoresOf(text, by).map(Math.abs);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return total > NOISE ? sizes.map((size) => size / total) : null;
  });
  if (shares.includes(null)) return null;
  return shares[0].reduce((sum, size, place) => sum + Math.abs(size - shares[1][place]), 0) / 2;
}

function otherMap({ verdict }, text) {
  const wanted = [verdict.instead?.ranking, "leave-one-out", "contribution", "gradient"];
  return wanted.find((by) => by && by !== verdict.shown && rankingsOf(text).includes(by));
}

// Where another map is better: the text on which the two differ most, which is said. Else one in the middle.
function chooseExample(audit) {
  const { verdict, instances } = audit;
  const [least, most] = EXAMPLE_WORDS;
  const fits = ({ words }) => words.length >= least && words.length <= most;
  const found = instances
    .filter((text) => !text.said && rankingsOf(text).includes(verdict.shown))
    .map((text) => ({ text, other: otherMap(audit, text) }))
    .map((one) => ({ ...one, apart: one.other ? paintApart(one.text, verdict.shown, one.other) : 0 }))
    .filter(({ apart }) => apart !== null);
  // Narrowed where something is left: texts that have the better map, and that can be taken in.
  const narrowed = (all, keep) => (all.some(keep) ? all.filter(keep) : all);
  const better = narrowed(found, ({ other }) => other === verdict.instead?.ranking);
  const ranked = narrowed(better, ({ text }) => fits(text)).sort((a, b) => b.apart - a.apart);
  return ranked[verdict.instead ? 0 : Math.floor(ranked.length / 2)] || null;
}

function exampleBox(audit) {
  const { verdict, subject, instances } = audit;
  const chosen = chooseExample(audit);
  const title = make("h2", {}, chosen && !chosen.other ? "One text, painted" : "One text, painted both ways");
  if (!chosen) {
    const why = instances.length ? "No text that is stored here could be painted" : noTexts(audit);
    return make("div", { class: "card" }, title, make("p", {}, `${why}, so there is none to show.`));
  }
  const { text, other, apart } = chosen;
  const { classes } = subject;
  const side = (by, heading) => [
    make("h3", {}, heading),
    paintText(text, by, { most: 60 }),
    topWords(text, by, undefined, 3),
  ];
  const elsewhere = `${percent(apart)} of the paint lies elsewhere`;
  const how = !other
    ? "the only map that was measured"
    : verdict.instead
      ? `chosen because its maps differ most: ${elsewhere}`
      : `in the middle: ${elsewhere}`;
  return make(
    "div",
    { class: "card" },
    title,
    make(
      "p",
      { class: "faint" },
      `Text ${text.id}, one of ${several(instances.length, "stored text")}, ${how}. Decided ` +
        `${isolated(classes[text.decided])} (${percent(text.probabilities[text.decided])})`,
      goldOf(text, classes),
      ".",
    ),
    side(verdict.shown, `What ${rankingName(verdict.shown)} highlights`),
    other ? side(other, `What ${rankingName(other)} finds`) : null,
    other ? standIn(verdict, other) : null,
    legend(text, other || verdict.shown),
    make(
      "p",
      {},
      button("Work with this text", () => openText(text.id), { class: "plain small" }),
    ),
  );
}

// What measured best may not be kept for single texts: then another map is shown, and that is said.
function standIn({ instead }, other) {
  if (!instead || instead.ranking === other) return null;
  return make(
    "p",
    { class: "faint" },
    `Scores by ${instead.called} are not kept for single texts; ${rankingName(other)} stands in.`,
  );
}
