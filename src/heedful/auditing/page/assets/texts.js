// The stored texts: filtered, sorted, exported; one of them open to work with.

const PRESETS = ["all", "best", "typical", "worst", "wrong"];
const LISTED = 40;
const SORTS = {
  distance: ["distance", (text) => text.disagreement, -1],
  length: ["length", (text) => text.words.length, 1],
  sure: ["how sure the model is", (text) => text.probabilities[text.decided], -1],
  decided: ["decided class", (text) => text.decided, 1],
  label: ["label", (text) => text.gold ?? Infinity, 1],
  number: ["number", (text) => text.id, 1],
};
const texts = { all: [], listed: LISTED, open: null };
// What the address keeps of the choice of texts, with what is left out there.
const FILTERS = { preset: "all", find: "", decided: "", right: "", length: "", by_text: "distance", turned: "" };

function showTexts({ audit }) {
  texts.all = [...audit.instances];
  const brief = texts.all.length ? `${grouped(texts.all.length, 0)} to browse` : "none here";
  const part = { title: "Texts", brief, asked: ["text", "preset", "find", "decided", "right", "length"] };
  if (!texts.all.length) {
    fillPart("texts", part, make("p", {}, `${noTexts(audit)}, so there are none to browse. The numbers are whole without them.`));
    return;
  }
  texts.subject = audit.subject;
  texts.seed = audit.methods.seed;
  const wanted = address.read();
  texts.wanted = Object.fromEntries(
    Object.entries(FILTERS).map(([key, none]) => [key, wanted[key] ?? none]),
  );
  if (!PRESETS.includes(texts.wanted.preset)) texts.wanted.preset = "all";
  if (!(texts.wanted.by_text in SORTS)) texts.wanted.by_text = "distance";
  fillPart(
    "texts",
    part,
    make("p", {}, sampled(audit)),
    make(
      "div",
      { class: "browse" },
      make("div", { class: "list" }, filters(), make("ol", { id: "text-list", "aria-label": "Texts" })),
      make("div", { id: "open-text", class: "card" }),
    ),
  );
  listTexts();
  const first = texts.all.find((text) => String(text.id) === wanted.text) || chosenTexts()[0] || texts.all[0];
  putText(first, { by: wanted.by, erased: placesIn(wanted.erased, first), keep: true });
  if (wanted.text) byId("texts").scrollIntoView();
}

const noTexts = (audit) =>
  audit.data.texts_kept === false ? "Texts were kept out of this audit" : "No text had room on this page";

function sampled(audit) {
  const { sampling, verdict } = audit;
  const stored = `${several(audit.instances.length, "text")} of ${grouped(sampling.of, 0)} are stored here`;
  return [
    `${stored}: ${sampling.how}. The `,
    term("distance", "distance"),
    ` says how far ${rankingName(verdict.shown)} is from what deletions do: 0 is the same, 1 unrelated.`,
  ];
}

// A quarter of the texts each, by length, in words that say where it begins and ends.
function lengthsOf(all) {
  const lengths = all.map((text) => text.words.length).sort((a, b) => a - b);
  const at = (share) => lengths[Math.min(lengths.length - 1, Math.floor(share * lengths.length))];
  const cuts = [...new Set([at(0.25), at(0.5), at(0.75)])].filter((cut) => cut < lengths.at(-1));
  return [lengths[0] - 1, ...cuts].map((from, place) => {
    const to = cuts[place] ?? lengths.at(-1);
    return [`${from + 1}-${to}`, from + 1 === to ? several(to, "word") : `${from + 1} to ${to} words`];
  });
}

function choose(key, label, options) {
  if (options.length < 2) return null;
  return make(
    "label",
    { class: "search" },
    `${label} `,
    make(
      "select",
      { id: `texts-${key}`, on: { change: (event) => narrow({ [key]: event.target.value }) } },
      options.map(([value, name]) =>
        make("option", { value, selected: value === String(texts.wanted[key]) }, name),
      ),
    ),
  );
}

function narrow(changes) {
  Object.assign(texts.wanted, changes);
  texts.listed = LISTED;
  const kept = (key) => (String(texts.wanted[key]) === FILTERS[key] ? null : texts.wanted[key]);
  address.write(Object.fromEntries(Object.keys(changes).map((key) => [key, kept(key)])));
  listTexts();
}

function filters() {
  const { classes } = texts.subject;
  const presets = PRESETS.filter(
    (preset) => preset === "all" || texts.all.some((text) => text.tags.includes(preset)),
  );
  const decided = classes
    .map((name, place) => [String(place), name])
    .filter(([place]) => texts.all.some((text) => String(text.decided) === place));
  const judged = ["right", "wrong"].filter((side) => texts.all.some((text) => sideOf(text) === side));
  return [
    make(
      "div",
      { class: "choices", role: "group", "aria-label": "Which texts", id: "presets" },
      presets.map((preset) =>
        button(preset, () => narrow({ preset }), {
          class: "choice",
          "data-preset": preset,
          "aria-pressed": "false",
        }),
      ),
    ),
    make(
      "div",
      { class: "filters" },
      make(
        "label",
        { class: "search" },
        "Find in texts ",
        make("input", {
          type: "search",
          id: "find-text",
          autocomplete: "off",
          value: texts.wanted.find,
          on: { input: (event) => narrow({ find: event.target.value }) },
        }),
      ),
      choose("decided", "Decided", [["", "any class"], ...decided]),
      choose("right", "Decision", [["", "right or wrong"], ...(judged.length > 1 ? judged.map((side) => [side, side]) : [])]),
      choose("length", "Length", [["", "any"], ...lengthsOf(texts.all)]),
      choose(
        "by_text",
        "Sort by",
        Object.entries(SORTS).map(([key, [name]]) => [key, name]),
      ),
    ),
    make(
      "div",
      { class: "choices" },
      button("⇅ Turn round", () => narrow({ turned: texts.wanted.turned ? "" : "1" }), { class: "plain small" }),
      button("Save as CSV", () => saveFile("texts.csv", textsCsv()), { class: "plain small" }),
    ),
    make("p", { id: "text-count", class: "faint", "aria-live": "polite" }),
  ];
}

const sideOf = (text) =>
  text.gold === null || text.gold === undefined ? "" : text.gold === text.decided ? "right" : "wrong";
const wholeText = (text) =>
  (
    text.words.map((word, place) => (text.gaps ? text.gaps[place] : place ? " " : "") + word).join("") +
    (text.gaps ? text.gaps[text.words.length] : "")
  ).replace(PAIR, " | ");

// One row a text that is chosen, as it is sorted, with its highest words by each map.
function textsCsv() {
  const { classes } = texts.subject;
  const chosen = chosenTexts();
  const maps = [...new Set(chosen.flatMap(rankingsOf))];
  const top = (text, by) => {
    const scores = rankingsOf(text).includes(by) ? scoresOf(text, by) : [];
    return orderBy(scores)
      .slice(0, 5)
      .map((place) => `${text.words[place]} ${plainNumber(scores[place])}`)
      .join("; ");
  };
  return csvOf(
    ["number", "text", "decided", "probability", "label", "words", "distance", ...maps.map((by) => `highest by ${rankingName(by)}`)],
    chosen.map((text) => [
      text.id,
      wholeText(text),
      classes[text.decided],
      text.probabilities[text.decided],
      sideOf(text) ? classes[text.gold] : null,
      text.words.length,
      text.disagreement,
      ...maps.map((by) => top(text, by)),
    ]),
  );
}

// Places that an address names: only whole numbers that the text has.
const placesIn = (list, text) =>
  [
    ...new Set(
      (list || "")
        .split(",")
        .filter((part) => /^\d+$/.test(part))
        .map(Number),
    ),
  ].filter((place) => place < text.words.length && !text.not_read.includes(place));

function chosenTexts() {
  const { preset, find, decided, right, length, by_text, turned } = texts.wanted;
  const sought = find.trim().toLowerCase();
  const [from, to] = /^\d+-\d+$/.test(length) ? length.split("-").map(Number) : [0, Infinity];
  const [, key, falling] = SORTS[by_text];
  const sign = turned ? -falling : falling;
  return texts.all
    .filter(
      (text) =>
        (preset === "all" || text.tags.includes(preset)) &&
        (decided === "" || String(text.decided) === decided) &&
        (right === "" || sideOf(text) === right) &&
        text.words.length >= from &&
        text.words.length <= to &&
        (!sought || text.words.join(" ").toLowerCase().includes(sought)),
    )
    .sort((a, b) => sign * (key(a) - key(b)) || a.id - b.id);
}

const EXCERPT = 90; // signs
function excerptOf(text) {
  const words = text.words.slice(0, EXCERPT).map((word) => seen(word.slice(0, EXCERPT)));
  const signs = Array.from(words.join(" "));
  return signs.length > EXCERPT ? `${signs.slice(0, EXCERPT).join("")}…` : signs.join("");
}

function listTexts() {
  byId("presets")
    .querySelectorAll("button")
    .forEach((other) =>
      other.setAttribute("aria-pressed", String(other.dataset.preset === texts.wanted.preset)),
    );
  const chosen = chosenTexts();
  const { classes } = texts.subject;
  byId("text-count").textContent =
    `${several(chosen.length, "text")}, sorted by ${SORTS[texts.wanted.by_text][0]}${texts.wanted.turned ? ", turned round" : ""}`;
  const row = (text) =>
    make(
      "li",
      {},
      button(
        [
          make("span", { class: "excerpt" }, make("bdi", {}, excerptOf(text))),
          make(
            "span",
            { class: "faint" },
            `${isolated(classes[text.decided])}${goldOf(text, classes)} · distance ${plainNumber(text.disagreement)}` +
              (text.said ? " · no word decides" : ""),
          ),
        ],
        (event) => {
          putText(text);
          // It may be out of sight, below the list on a narrow screen; and a key (a click without a mouse) goes on in the text.
          const heading = byId("open-text").querySelector("h3");
          const { top, bottom } = heading.getBoundingClientRect();
          if (top < byId("top").offsetHeight || bottom > innerHeight) byId("open-text").scrollIntoView();
          if (event.detail === 0) focusOn(heading);
        },
        { class: "row", "data-text": text.id, "aria-current": text === texts.open ? "true" : null },
      ),
    );
  put(
    byId("text-list"),
    chosen.slice(0, texts.listed).map(row),
    chosen.length > texts.listed
      ? make(
          "li",
          {},
          button(`Show more (${several(chosen.length - texts.listed, "more text")})`, () => {
            const first = texts.listed;
            texts.listed += LISTED;
            listTexts();
            byId("text-list").querySelectorAll("button.row")[first]?.focus();
          }),
        )
      : null,
    chosen.length ? null : make("li", { class: "faint" }, "No such text."),
  );
}

function putText(text, { by = undefined, erased = [], keep = false } = {}) {
  texts.open = text;
  const place = (step) => {
    const chosen = chosenTexts();
    return chosen[chosen.indexOf(text) + step];
  };
  const move = (label, step) =>
    button(
      label,
      () => {
        putText(place(step));
        const same = byId("open-text").querySelector(`[data-step="${step}"]`);
        focusOn(same.disabled ? byId("open-text").querySelector("h3") : same);
      },
      { class: "plain small", "data-step": step, disabled: !place(step) },
    );
  byId("text-list")
    .querySelectorAll("button.row")
    .forEach((row) => {
      if (row.dataset.text === String(text.id)) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    });
  put(
    byId("open-text"),
    make(
      "div",
      { class: "choices" },
      make("h3", {}, `Text ${text.id}`),
      move("← Previous", -1),
      move("Next →", 1),
      copyLink(),
    ),
    oneText(text, {
      classes: texts.subject.classes,
      mixes: texts.subject.mixes_tokens,
      seed: texts.seed,
      by: by || address.read().by || rankings.shown,
      erased,
      changed: (now) => {
        if (!keep)
          address.write({
            text: text.id,
            by: now.by === rankings.shown ? null : now.by,
            erased: now.erased.join(","),
          });
      },
    }),
  );
  keep = false;
}

function openText(id) {
  Object.assign(texts.wanted, FILTERS);
  byId("texts")
    .querySelectorAll("select, input")
    .forEach((field) => {
      field.value = FILTERS[field.id.replace("texts-", "")] ?? "";
    });
  address.write(Object.fromEntries(Object.keys(FILTERS).map((key) => [key, null])));
  openPart("texts");
  listTexts();
  putText(texts.all.find((text) => text.id === id));
  byId("texts").scrollIntoView();
  byId("open-text").querySelector("button")?.focus({ preventScroll: true });
}
