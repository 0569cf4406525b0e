// Draw the parts that there are data for.

const content = JSON.parse(byId("data").textContent);
rankings.called = content.names || {};
rankings.shown = content.audit?.verdict.shown ?? null;
(content.audit?.data.roles || []).forEach((name, number) => {
  roles[number] = name;
});
const PARTS = [
  ["try", "Try a text", showTrying, content.live],
  ["verdict", "Verdict", showVerdict, content.audit],
  ["accuracy", "Accuracy", showAccuracy, content.audit],
  ["questions", "Questions", showQuestions, content.audit],
  ["texts", "Texts", showTexts, content.audit],
  ["words", "Words", showWords, content.audit],
  ["terms", "Terms", showTerms, true],
  ["methods", "Methods", showMethods, content.audit],
].filter(([, , , wanted]) => wanted);

for (const [, , show] of PARTS) show(content);
if (content.audit) showHolds(content);
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  goTo("main");
});
// A link to another view, opened in the tab that has the page. (What the page itself writes does not fire this.)
addEventListener("hashchange", () => location.reload());
byId("contents").append(...PARTS.map(([id, label]) => goLink(id, label)));
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
