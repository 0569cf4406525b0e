// Draw the parts that there are data for.

const content = JSON.parse(byId("data").textContent);
const PARTS = [
  ["try", "Try a text", showTrying, content.live],
  ["verdict", "Verdict", showVerdict, content.audit],
  ["questions", "Questions", showQuestions, content.audit],
  ["texts", "Texts", showTexts, content.audit],
  ["words", "Words", showWords, content.audit],
  ["methods", "Methods", showMethods, content.audit],
].filter(([, , , wanted]) => wanted);

for (const [, , show] of PARTS) show(content);
// The address holds the view, so it is not given up for a place on the page.
function goTo(id) {
  byId(id).scrollIntoView();
  byId(id).setAttribute("tabindex", "-1");
  byId(id).focus({ preventScroll: true });
}
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  goTo("main");
});
// A link to another view, opened in the tab that has the page. (What the page itself writes does not fire this.)
addEventListener("hashchange", () => location.reload());
byId("contents").append(
  ...PARTS.map(([id, label]) =>
    make(
      "a",
      {
        href: `#${id}`,
        on: {
          click: (event) => {
            event.preventDefault();
            goTo(id);
          },
        },
      },
      label,
    ),
  ),
);
// On paper every row is open.
const shut = [];
addEventListener("beforeprint", () =>
  document.querySelectorAll("details:not([open])").forEach((row) => {
    shut.push(row);
    row.open = true;
  }),
);
addEventListener("afterprint", () =>
  shut.splice(0).forEach((row) => {
    row.open = false;
  }),
);
document.documentElement.dataset.ready = "true";
