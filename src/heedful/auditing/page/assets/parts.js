// Parts of the page that fold: open on a desk, shut on a telephone, where one opens what one wants to see.

const NARROW = matchMedia("(max-width: 46rem)");

// `brief` says in a few words what is inside. What the address leads into is open from the start.
function fillPart(id, { title, brief = "", open = true, asked = [] }, ...children) {
  const wanted = asked.some((key) => address.read()[key]);
  put(
    byId(id),
    make(
      "details",
      { class: "part", open: wanted || (open && !NARROW.matches) },
      make("summary", {}, make("h2", {}, title), make("span", { class: "faint" }, brief)),
      make("div", { class: "inside" }, children),
    ),
  );
  byId(id).hidden = false;
}

function openPart(id) {
  const part = byId(id).querySelector("details.part");
  if (part) part.open = true;
}

// To a place on the page, with the keyboard. The address holds the view, so it is not given up for this.
function goTo(id) {
  const place = byId(id);
  const part = place.closest("section");
  if (part) openPart(part.id);
  place.scrollIntoView();
  place.setAttribute("tabindex", "-1");
  place.focus({ preventScroll: true });
}

const goLink = (id, label, attributes = {}) =>
  make(
    "a",
    {
      href: `#${id}`,
      ...attributes,
      on: {
        click: (event) => {
          event.preventDefault();
          goTo(id);
        },
      },
    },
    label,
  );
