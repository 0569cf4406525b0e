// Elements, always made node by node: text from data only ever becomes a text node or an attribute.

const byId = (id) => document.getElementById(id);

function fillElement(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

const nodes = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined);

const put = (element, ...children) => element.replaceChildren(...nodes(children));

const make = (tag, attributes = {}, ...children) =>
  fillElement(document.createElement(tag), attributes, children);

const draw = (tag, attributes = {}, ...children) =>
  fillElement(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const button = (label, act, attributes = {}) =>
  make("button", { type: "button", class: "plain", on: { click: act }, ...attributes }, label);

// Where something has taken the place of what had the focus: the keyboard goes on from here.
function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0) element.setAttribute("tabindex", "-1");
  element.focus({ preventScroll: true });
}

function say(sentence) {
  byId("said").textContent = sentence;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => {
    byId("said").textContent = "";
  }, 4000);
}

async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied.`);
  } catch {
    // A browser that keeps its clipboard from pages on disk: hand over the text to be copied by hand.
    const area = make("textarea", { readonly: true, rows: 8, "aria-label": what }, text);
    const dialog = make(
      "dialog",
      {},
      make("p", {}, `Copy this with your keyboard (${what}).`),
      area,
      button("Close", () => {
        dialog.close();
        dialog.remove();
      }),
    );
    document.body.append(dialog);
    dialog.showModal();
    area.select();
  }
}

// A table with headings that sort it, which can be copied as CSV: as it is shown, or with more columns and all digits.
function makeTable(title, columns, rows, { right = [], csv = { columns, rows } } = {}) {
  const side = (column) => (right.includes(column) ? "number" : null);
  const filled = rows.map((row) =>
    make(
      "tr",
      {},
      row.map((cell, place) => make("td", { class: side(columns[place]) }, cell === null ? "" : cell)),
    ),
  );
  const head = make("tr", {});
  const body = make("tbody", {}, filled);
  const headings = columns.map((column, place) => {
    const heading = make("th", { scope: "col", class: side(column) });
    const act = () => {
      const falling = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
      body.append(...sortedRows(filled, place, falling));
    };
    heading.append(rows.length > 1 ? button(column, act, { class: "sort" }) : column);
    return heading;
  });
  head.append(...headings);
  return make(
    "div",
    { class: "table" },
    make(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
      make("table", {}, make("caption", {}, title), make("thead", {}, head), body),
    ),
    csvButton(title, csv.columns, () => csv.rows),
  );
}

// By the number that a cell begins with, else by its words; empty cells last.
function sortedRows(rows, place, falling) {
  const said = (row) => row.children[place].textContent;
  const number = (row) => Number.parseFloat(said(row).replace(/^[^\d−-]*/, "").replaceAll(",", "").replace("−", "-"));
  const numeric = rows.some((row) => said(row)) && rows.every((row) => !said(row) || !Number.isNaN(number(row)));
  const sign = falling ? -1 : 1;
  const compare = (a, b) => (numeric ? number(a) - number(b) : said(a).localeCompare(said(b)));
  return [...rows].sort((a, b) => !said(a) - !said(b) || sign * compare(a, b));
}

// A file for the reader's own disk.
function saveFile(name, text, kind = "text/csv") {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: kind })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  say(`${name} is saved.`);
}

const csvButton = (title, columns, rows) =>
  button("Copy as CSV", () => copyText(csvOf(columns, rows()), `“${title}” as CSV`), {
    class: "plain small",
  });

function csvOf(columns, rows) {
  return [columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  // A spreadsheet would compute a text that begins like a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
