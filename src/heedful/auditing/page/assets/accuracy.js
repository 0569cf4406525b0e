// How well the model decides, what it takes for what, and how the texts of each class and group read.

function showAccuracy({ audit }) {
  const { data, subject, verdict } = audit;
  const { accuracy } = data;
  const balanced = accuracy.coordinates?.balanced;
  fillPart(
    "accuracy",
    { title: "Accuracy, class by class", brief: `${percent(accuracy.value)} of decisions are as labelled` },
    make(
      "p",
      {},
      `${share(accuracy)} of ${several(accuracy.count, "text")} are decided as labelled; always saying the ` +
        `largest class would get ${percent(data.majority)}.` +
        (balanced === undefined ? "" : ` Each class counted alike: ${percent(balanced)}.`),
    ),
    make(
      "div",
      { class: "tables" },
      verdict.classes.length ? readingsTable("Reading by decided class", "decided", verdict.classes) : null,
      verdict.groups.length ? readingsTable("Reading by group", "group", verdict.groups) : null,
      confusionTable(data.confusion, subject.classes),
    ),
  );
}

function readingsTable(title, first, readings) {
  const measures = [
    ["heat-map skill", "skill"],
    ["paint on words that matter", "paint"],
    ["strongest word matters", "first"],
    ["paint against the decision", "against"],
  ].filter(([, key]) => readings.some((one) => one[key]));
  const told = readings.some((one) => one.why);
  const columns = [first, "texts", "reading", ...measures.map(([label]) => label), ...(told ? ["why"] : [])];
  const reads = (one) => (one.default ? "no word decides it" : one.reading);
  const mark = (one) => (one.default ? "– " : `${(READINGS[one.reading] || READINGS["cannot say"]).mark} `);
  const rows = readings.map((one) => [
    make("bdi", {}, one.name),
    grouped(one.texts, 0),
    make(
      "span",
      { class: one.default ? "open" : (READINGS[one.reading] || READINGS["cannot say"]).kind },
      `${mark(one)}${reads(one)}`,
    ),
    ...measures.map(([, key]) => (one[key] ? make("span", { class: "whole" }, share(one[key])) : "")),
    ...(told ? [one.why || ""] : []),
  ]);
  const csv = {
    columns: [first, "texts", "reading", ...measures.flatMap(([label]) => [label, `${label}: low`, `${label}: high`]), "why"],
    rows: readings.map((one) => [
      one.name,
      one.texts,
      reads(one),
      ...measures.flatMap(([, key]) => [one[key]?.value, one[key]?.interval?.low, one[key]?.interval?.high]),
      one.why || "",
    ]),
  };
  return makeTable(title, columns, rows, { csv, right: ["texts"] });
}

function confusionTable(counts, classes) {
  if (!counts) return null;
  const columns = ["labelled", ...classes.map((name) => `decided ${isolated(name)}`), "right"];
  const rows = counts.map((row, label) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    return [
      make("bdi", {}, classes[label]),
      ...row.map((count, decided) =>
        make(decided === label ? "b" : "span", {}, grouped(count, 0)),
      ),
      total ? percent(row[label] / total) : "",
    ];
  });
  const csv = {
    columns: ["labelled", ...classes.map((name) => `decided ${name}`)],
    rows: counts.map((row, label) => [classes[label], ...row]),
  };
  return makeTable("What is taken for what (texts)", columns, rows, { csv, right: columns.slice(1) });
}
