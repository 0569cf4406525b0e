// The first screen: the reading and why, what to show instead, and one text painted both ways.

const READINGS = {
  faithful: { mark: "✓", kind: "good" },
  "use with care": { mark: "!", kind: "care" },
  "do not show as an explanation": { mark: "✗", kind: "bad" },
  "cannot say": { mark: "?", kind: "open" },
};
const MOST_REASONS = 4; // all are in the table of classes
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const thisMap = (by) => (by === "attention" ? "this attention" : `highlights by ${rankingName(by)}`);

const judgedOn = ({ data, methods }) => (methods.folds ? `${methods.folds} folds` : `${data.split} split`);

function showVerdict({ audit, notes }) {
  const { verdict, subject, data } = audit;
  const { mark, kind } = READINGS[verdict.reading] || READINGS["cannot say"];
  put(
    byId("verdict"),
    make(
      "p",
      { class: "facts" },
      make("bdi", {}, `${subject.name} · ${judgedOn(audit)} · ${several(data.instances, "text")}`),
    ),
    make(
      "div",
      { class: "first" },
      make(
        "div",
        {},
        make("h1", {}, `May ${thisMap(verdict.shown)} be shown as an explanation?`),
        make(
          "p",
          { class: `reading ${kind}` },
          make("span", { class: "mark", "aria-hidden": "true" }, mark),
          make("span", {}, capital(verdict.reading)),
        ),
        make("p", { class: "sentence" }, verdict.sentence),
        audit.methods.folds
          ? make(
              "p",
              { class: "notice" },
              "Each text was judged by a model that had not seen it: this is a reading of the recipe, not of one trained model.",
            )
          : null,
        reasonsOf(verdict),
        defaultsOf(verdict),
        insteadBox(audit),
      ),
      exampleBox(audit),
    ),
    notes.map((note) => make("p", { class: "notice" }, note)),
  );
  byId("verdict").hidden = false;
}

// Which terms a sentence of the rule speaks of.
const SPEAKS = [
  ["skill", /predicts/, "heat-map skill"],
  ["paint", /words that matter/, "paint on words that matter"],
  ["against", /speak against/, "paint against the decision"],
  ["first", /strongest word/, "strongest word matters"],
];
const termsIn = (sentence) => SPEAKS.filter(([, pattern]) => pattern.test(sentence)).map(([key]) => key);

// Each reason once, in words, its term after it where it comes first. The number that the reading rests on is there in
// any case; what holds of all texts is not said again of each class, which the table of classes does.
function reasonsOf(verdict) {
  const ofClass = (reason) => reason.startsWith("For texts decided");
  const own = verdict.reasons.filter((reason) => !ofClass(reason));
  if (verdict.skill && !own.some((reason) => termsIn(reason).includes("skill")))
    own.unshift(`It predicts ${share(verdict.skill)} of what the best map could.`);
  const short = verdict.reasons.filter((reason) => !ofClass(reason)).flatMap(termsIn);
  const classes = verdict.reasons.filter(
    (reason) => ofClass(reason) && !(termsIn(reason).length && termsIn(reason).every((key) => short.includes(key))),
  );
  const all = [...own, ...classes].slice(0, MOST_REASONS);
  const left = verdict.reasons.filter((reason) => !all.includes(reason)).length;
  if (!all.length) return null;
  const met = new Set();
  const named = (reason) => {
    const fresh = termsIn(reason).filter((key) => !met.has(key));
    fresh.forEach((key) => met.add(key));
    return fresh.map((key) => [" ", term(key, SPEAKS.find(([same]) => same === key)[2])]);
  };
  return make(
    "ul",
    { class: "reasons" },
    all.map((reason) => make("li", {}, reason, named(reason))),
    left > 0 ? make("li", {}, goLink("accuracy", "How each class reads"), " stands below.") : null,
  );
}

function defaultsOf({ classes }) {
  const names = classes.filter((one) => one.default).map((one) => `“${isolated(one.name)}”`);
  if (!names.length) return null;
  return make(
    "p",
    { class: "notice" },
    `No word decides ${names.join(" or ")}: show nothing there. `,
    term("default", "what that means"),
  );
}

function insteadBox({ verdict, subject, data, methods }) {
  const { instead } = verdict;
  if (!instead) {
    const others = (methods.maps || []).filter((name) => ![verdict.shown, "shuffled", "random"].includes(name));
    if (!others.length || !["use with care", "do not show as an explanation"].includes(verdict.reading))
      return null;
    return make(
      "div",
      { class: "instead" },
      make("h2", {}, "Nothing better was found"),
      make(
        "p",
        {},
        `None of ${others.map(rankingName).join(", ")} is surely better on the same deletions.`,
      ),
    );
  }
  const second = (data.roles || []).length ? ' --text-pair "its other text"' : "";
  const command = `heedful explain ${subject.called} "a text of yours"${second} --by ${instead.ranking}`;
  return make(
    "div",
    { class: "instead" },
    make("h2", {}, `Show instead: ${instead.called}`),
    make(
      "p",
      {},
      `It predicts ${share(instead.skill)} of what the best map could on the same `,
      term("deleting", "deletions"),
      instead.signed ? ` (with its own signs ${share(instead.signed)})` : "",
      instead.reading === "faithful"
        ? ", and may be shown as an explanation."
        : ": better, yet to be shown with care.",
    ),
    make(
      "div",
      { class: "command" },
      make("code", {}, command),
      button("Copy", () => copyText(command, "Command"), {
        class: "plain small",
        "aria-label": "Copy the command",
      }),
    ),
  );
}
