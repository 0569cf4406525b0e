// The evidence behind a number: how it was measured, its figures, its findings as a table.

// Findings as a table. What all rows share stands once above it, how each was measured once below.
function findingsTable(title, all) {
  const found = all.filter(
    (finding, place) => all.findIndex((other) => JSON.stringify(other) === JSON.stringify(finding)) === place,
  );
  const common = Object.entries(found[0].coordinates).filter(([key, value]) =>
    found.every((finding) => finding.coordinates[key] === value),
  );
  const apart = (finding) =>
    Object.entries(finding.coordinates).filter(([key]) => !common.some(([same]) => same === key));
  const plain = (key, value) =>
    typeof value === "number" ? plainNumber(value) : key === "ranking" ? rankingName(value) : value;
  const told = (pairs) => pairs.map(([key, value]) => `${key.replaceAll("_", " ")} ${plain(key, value)}`).join(", ");
  const names = [...new Set(found.flatMap((finding) => Object.keys(finding.baselines)))];
  const beside = (finding) =>
    names.map((name) => (finding.baselines[name] ? finding.baselines[name].value : null));
  const ways = [...new Set(found.map((finding) => finding.measured))];
  const letter = (finding) => "abcdefghijklmnopqrstuvwxyz"[ways.indexOf(finding.measured)] || "";
  const columns = ["measure", "of", "value and interval", ...names, "better", "texts", "seeds", "how"];
  const rows = found.map((finding) => [
    finding.name,
    told(apart(finding)),
    shown(finding),
    ...beside(finding).map(plainNumber),
    finding.better || "",
    grouped(finding.count, 0),
    finding.seeds,
    letter(finding),
  ]);
  const csv = {
    columns: [
      "measure",
      "of",
      "value",
      "low",
      "high",
      "kind",
      "unit",
      ...names,
      "better",
      "texts",
      "seeds",
      "how it was measured",
    ],
    rows: found.map((finding) => [
      finding.name,
      told(Object.entries(finding.coordinates)),
      finding.value,
      finding.interval?.low,
      finding.interval?.high,
      finding.kind,
      finding.unit,
      ...beside(finding),
      finding.better,
      finding.count,
      finding.seeds,
      finding.measured,
    ]),
  };
  return [
    makeTable(common.length ? `${title} (${told(common)})` : title, columns, rows, {
      csv,
      right: ["value and interval", ...names, "texts", "seeds"],
    }),
    make(
      "ol",
      { class: "ways" },
      ways.slice(0, 26).map((way) => make("li", {}, way)),
    ),
  ];
}

// What a figure shows, how many texts are in it and how they were measured.
function captionOf(stem, about, seed) {
  if (!about) return stem;
  const parts = [about.title, `n = ${grouped(about.count, 0)}`, about.measured];
  if (seed !== undefined && seed !== null) parts.push(`seed ${seed}`);
  return parts.filter(Boolean).join(" · ");
}

function evidence(question, { figures, about }, seed) {
  const found = [question.finding, ...(question.evidence || [])].filter(Boolean);
  return [
    question.measured ? make("p", {}, make("b", {}, "How: "), question.measured) : null,
    question.finding ? make("p", { class: "faint" }, counted(question.finding, seed)) : null,
    make(
      "div",
      { class: "figures" },
      (question.figures || [])
        .filter((stem) => figures[stem])
        .map((stem) =>
          make(
            "figure",
            {},
            make("img", { src: figures[stem], alt: `Figure: ${about[stem]?.title || stem}` }),
            make("figcaption", {}, captionOf(stem, about[stem], seed)),
          ),
        ),
    ),
    found.length ? findingsTable(`Evidence ${question.number}: ${question.question}`, found) : null,
  ];
}
