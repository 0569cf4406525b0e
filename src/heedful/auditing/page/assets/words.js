// The words the model knows: search, sort, copy.

const WORDS_LISTED = NARROW.matches ? 20 : 50;
const table = { all: [], search: "", type: "", sort: "count", falling: true, listed: WORDS_LISTED };

function showWords({ audit }) {
  const part = {
    title: "Words",
    brief: audit.words.length ? `${grouped(audit.words.length, 0)} in a table` : "none here",
    asked: ["search", "sort", "type"],
  };
  if (!audit.words.length) {
    fillPart(
      "words",
      part,
      make(
        "p",
        {},
        audit.data.texts_kept === false
          ? "Words were kept out of this audit."
          : audit.methods.folds
            ? "The models of the folds have words of their own: there is no one table of them."
            : "This model has no scores of single words.",
      ),
    );
    return;
  }
  const classes = audit.subject.classes;
  table.all = audit.words.map((word) => ({ ...word, ...strongest(word.polarity, classes) }));
  table.columns = [
    { key: "word", title: "word", text: true },
    { key: "count", title: "count" },
    { key: "type", title: "type", text: true },
    { key: "polarity", title: table.all[0].class ? "polarity (strongest class)" : "polarity" },
    { key: "attention", title: "attention score" },
    { key: "weight", title: "mean weight" },
    { key: "stability", title: "its sd over seeds" },
  ].filter(({ key }) => table.all.some((word) => word[key] !== null && word[key] !== undefined));
  const csvColumns = table.columns.flatMap((column) =>
    column.key === "polarity" && table.all.some((word) => word.class)
      ? [{ key: "class", title: "strongest class" }, column]
      : [column],
  );
  const described = (key) => table.columns.some((column) => column.key === key);
  const wanted = address.read();
  if (table.columns.some(({ key }) => key === wanted.sort)) table.sort = wanted.sort;
  table.falling = wanted.rising !== "1";
  table.search = wanted.search || "";
  if (table.all.some((word) => word.type && word.type === wanted.type)) table.type = wanted.type;
  const types = [...new Set(table.all.map((word) => word.type).filter(Boolean))].sort();
  fillPart(
    "words",
    part,
    make(
      "p",
      {},
      described("polarity")
        ? table.all[0].class || classes.length !== 2
          ? "Polarity is what a word alone says for a class. "
          : `Polarity is what a word alone says: above 0 for ${isolated(classes[1])}, below for ${isolated(classes[0])}. `
        : "",
      described("type") ? "The type is the class in whose training texts a word mostly occurs. " : "",
      described("attention")
        ? "The attention score is how strongly attention turns to it, before weights are shared out. "
        : "",
      "The mean weight is what it gets of a text's attention. " +
        (table.columns.some(({ key }) => key === "stability")
          ? "The last column is how much that differs between models trained from other seeds (standard deviation). "
          : ""),
      `${several(table.all.length, "word")}.`,
    ),
    make(
      "div",
      { class: "choices" },
      make(
        "label",
        { class: "search" },
        "Search ",
        make("input", {
          type: "search",
          id: "find-word",
          value: table.search,
          autocomplete: "off",
          on: {
            input: (event) => {
              table.search = event.target.value;
              table.listed = WORDS_LISTED;
              address.write({ search: table.search });
              listWords();
            },
          },
        }),
      ),
      types.length > 1
        ? make(
            "label",
            { class: "search" },
            "Type ",
            make(
              "select",
              {
                on: {
                  change: (event) => {
                    table.type = event.target.value;
                    table.listed = WORDS_LISTED;
                    address.write({ type: table.type });
                    listWords();
                  },
                },
              },
              make("option", { value: "" }, "all"),
              types.map((type) => make("option", { value: type, selected: type === table.type }, type)),
            ),
          )
        : null,
      csvButton(
        "Words",
        csvColumns.map(({ title }) => title),
        () => chosenWords().map((word) => csvColumns.map(({ key }) => word[key])),
      ),
    ),
    make(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of words" },
      make(
        "table",
        { id: "word-table" },
        make("caption", { id: "word-count", "aria-live": "polite" }),
        make("thead", {}),
        make("tbody", {}),
      ),
    ),
    make("p", { id: "more-words" }),
  );
  listWords();
}

function strongest(polarity, classes) {
  if (!polarity?.length) return { polarity: null };
  if (polarity.length === 1) return { polarity: polarity[0] };
  const most = orderBy(polarity)[0];
  return { polarity: polarity[most], class: classes[most] };
}

function chosenWords() {
  const wanted = table.search.trim().toLowerCase();
  const chosen = table.all.filter(
    (word) =>
      (!wanted || word.word.toLowerCase().includes(wanted)) && (!table.type || word.type === table.type),
  );
  const sign = table.falling ? -1 : 1;
  const missing = (word) => word[table.sort] === null || word[table.sort] === undefined;
  return chosen.sort((a, b) => missing(a) - missing(b) || sign * compared(a[table.sort], b[table.sort]));
}

const compared = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b) || 0;

function sortBy(key) {
  const { text } = table.columns.find((column) => column.key === key);
  table.falling = table.sort === key ? !table.falling : !text;
  table.sort = key;
  address.write({ sort: key, rising: table.falling ? null : "1" });
  listWords();
}

function listWords() {
  const chosen = chosenWords();
  const side = (column) => (column.text ? null : "number");
  const order = (key) => (key !== table.sort ? null : table.falling ? "descending" : "ascending");
  const focused = document.activeElement?.dataset?.sort;
  const arrow = (key) => ({ null: "", descending: " ↓", ascending: " ↑" })[order(key)];
  put(
    byId("word-table").querySelector("thead"),
    make(
      "tr",
      {},
      table.columns.map((column) =>
        make(
          "th",
          { scope: "col", class: side(column), "aria-sort": order(column.key) },
          button(`${column.title}${arrow(column.key)}`, () => sortBy(column.key), {
            class: "sort",
            "data-sort": column.key,
          }),
        ),
      ),
    ),
  );
  put(
    byId("word-table").querySelector("tbody"),
    chosen.slice(0, table.listed).map((word) =>
      make(
        "tr",
        {},
        table.columns.map((column) => make("td", { class: side(column) }, wordCell(word, column.key))),
      ),
    ),
  );
  byId("word-count").textContent =
    `${several(chosen.length, "word")}, ` +
    `${table.falling ? "falling" : "rising"} by ${table.columns.find(({ key }) => key === table.sort).title}`;
  put(
    byId("more-words"),
    chosen.length > table.listed
      ? button(`Show ${several(Math.min(200, chosen.length - table.listed), "more word")}`, () => {
          const first = table.listed;
          table.listed += 200;
          listWords();
          focusOn(byId("word-table").querySelectorAll("tbody tr")[first]);
        })
      : "",
  );
  if (focused) byId("word-table").querySelector(`[data-sort="${focused}"]`)?.focus();
}

function wordCell(word, key) {
  if (key === "word") return make("bdi", {}, shortened(word.word));
  if (key === "polarity" && word.class) return [make("bdi", {}, word.class), ` ${grouped(word.polarity, 2)}`];
  if (typeof word[key] !== "number") return word[key] ?? "";
  const places = { count: 0, polarity: 2, attention: 2 }[key];
  if (places !== undefined) return grouped(word[key], places);
  // Weights of common words are small: two digits that say something, rather than 0.000.
  return word[key] !== 0 && Math.abs(word[key]) < 0.01
    ? grouped(word[key], Math.min(9, 1 - Math.floor(Math.log10(Math.abs(word[key])))))
    : grouped(word[key], 3);
}
