// The stored texts: sorted by how much rankings disagree, with presets; one of them open to work with.

const PRESETS = ["all", "best", "typical", "worst", "wrong"];
const LISTED = 40;
const texts = { all: [], preset: "all", search: "", listed: LISTED, open: null };

function showTexts({ audit }) {
  const section = byId("texts");
  section.hidden = false;
  texts.all = [...audit.instances].sort((a, b) => b.disagreement - a.disagreement);
  if (!texts.all.length) {
    put(
      section,
      make("h2", {}, "Texts"),
      make(
        "p",
        {},
        `${noTexts(audit)}, so there are none to browse. All numbers above are from all texts.`,
      ),
    );
    return;
  }
  texts.subject = audit.subject;
  texts.seed = audit.methods.seed;
  const presets = PRESETS.filter(
    (preset) => preset === "all" || texts.all.some((text) => text.tags.includes(preset)),
  );
  put(
    section,
    make("h2", {}, "Texts"),
    make("p", {}, `${sampled(audit)} Sorted by disagreement: 1 − Kendall's τ of attention with leave-one-out.`),
    make(
      "div",
      { class: "browse" },
      make(
        "div",
        { class: "list" },
        make(
          "div",
          { class: "choices", role: "group", "aria-label": "Which texts", id: "presets" },
          presets.map((preset) =>
            button(
              preset,
              () => {
                texts.preset = preset;
                texts.listed = LISTED;
                address.write({ preset: preset === "all" ? null : preset });
                listTexts();
              },
              { class: "choice", "data-preset": preset, "aria-pressed": "false" },
            ),
          ),
        ),
        make(
          "label",
          { class: "search" },
          "Find in texts ",
          make("input", {
            type: "search",
            id: "find-text",
            autocomplete: "off",
            value: address.read().find,
            on: {
              input: (event) => {
                texts.search = event.target.value;
                texts.listed = LISTED;
                address.write({ find: texts.search });
                listTexts();
              },
            },
          }),
        ),
        make("ol", { id: "text-list", "aria-label": "Texts" }),
      ),
      make("div", { id: "open-text", class: "card" }),
    ),
  );
  const wanted = address.read();
  if (PRESETS.includes(wanted.preset)) texts.preset = wanted.preset;
  texts.search = wanted.find || "";
  listTexts();
  const first = texts.all.find((text) => String(text.id) === wanted.text) || chosenTexts()[0] || texts.all[0];
  putText(first, { by: wanted.by, erased: placesIn(wanted.erased, first), keep: true });
  if (wanted.text) section.scrollIntoView();
}

const noTexts = (audit) =>
  audit.data.texts_kept === false ? "Texts were kept out of this audit" : "No text had room on this page";

function sampled(audit) {
  const { sampling } = audit;
  const stored = `${several(audit.instances.length, "text")} of ${grouped(sampling.of, 0)} are stored here to browse`;
  return `${stored}${sampling.how ? ` (${sampling.how})` : ""}; the numbers above are from all of them.`;
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
  const wanted = texts.search.trim().toLowerCase();
  return texts.all.filter(
    (text) =>
      (texts.preset === "all" || text.tags.includes(texts.preset)) &&
      (!wanted || text.words.join(" ").toLowerCase().includes(wanted)),
  );
}

const excerptOf = (text) =>
  Array.from(
    text.words
      .slice(0, 20)
      .map((word) => seen(word.slice(0, 40)))
      .join(" "),
  )
    .slice(0, 110)
    .join("");

function listTexts() {
  byId("presets")
    .querySelectorAll("button")
    .forEach((other) => other.setAttribute("aria-pressed", String(other.dataset.preset === texts.preset)));
  const chosen = chosenTexts();
  const { classes } = texts.subject;
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
            `${isolated(classes[text.decided])}${goldOf(text, classes)} · disagreement ${plainNumber(text.disagreement)}`,
          ),
        ],
        (event) => {
          putText(text);
          // Below the list on a narrow screen; and a key (a click without a mouse) goes on in the text.
          const heading = byId("open-text").querySelector("h3");
          if (heading.getBoundingClientRect().bottom > innerHeight) byId("open-text").scrollIntoView();
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
      by: by || address.read().by || "attention",
      erased,
      changed: (now) => {
        if (!keep)
          address.write({
            text: text.id,
            by: now.by === "attention" ? null : now.by,
            erased: now.erased.join(","),
          });
      },
    }),
  );
  keep = false;
}

function openText(id) {
  texts.preset = "all";
  texts.search = byId("find-text").value = "";
  address.write({ preset: null, find: null });
  listTexts();
  putText(texts.all.find((text) => text.id === id));
  byId("texts").scrollIntoView();
  byId("open-text").querySelector("button")?.focus({ preventScroll: true });
}
