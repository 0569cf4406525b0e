// How all this was measured: the data, the settings, the time each stage took.

function showMethods({ audit }) {
  const { data, subject } = audit;
  const plain = (value) =>
    value !== null && typeof value === "object" ? JSON.stringify(value) : String(value);
  const settings = Object.entries(audit.methods).map(([key, value]) => [key, plain(value)]);
  const seconds = Object.entries(audit.seconds || {}).map(([stage, time]) => [stage, plainNumber(time)]);
  const about = [
    ["model", `${subject.model} (${subject.kind})`],
    ["classes", subject.classes.join(", ")],
    [
      "head",
      subject.linear_head
        ? "linear: erasure in closed form, exact"
        : "not linear: erasure by running the model from its attention layer on",
    ],
    ["words mixed before attention", subject.mixes_tokens ? "yes" : "no"],
    ["data", `${data.name}, ${data.split} split, ${grouped(data.instances, 0)} texts`],
    [
      "texts by class",
      Object.entries(data.class_counts || {})
        .map(([name, count]) => `${name} ${grouped(count, 0)}`)
        .join(", "),
    ],
    ["made", `${audit.made || ""} by heedful ${audit.heedful || ""}`.trim()],
  ];
  put(
    byId("methods"),
    make("h2", {}, "How it was measured"),
    (data.notes || []).map((note) => make("p", { class: "notice" }, note)),
    makeTable("Model and data", ["what", "value"], about),
    Object.keys(audit.thresholds || {}).length
      ? makeTable(
          "Thresholds of the verdict",
          ["threshold", "value"],
          Object.entries(audit.thresholds).map(([key, value]) => [key, plain(value)]),
        )
      : null,
    settings.length ? makeTable("Settings", ["setting", "value"], settings) : null,
    seconds.length ? makeTable("Time", ["stage", "seconds"], seconds, { right: ["seconds"] }) : null,
    make(
      "p",
      { class: "faint" },
      "Every interval is named with its method where it stands. “Shuffled” are the same weights " +
        "dealt out anew among the words of a text: what uneven weights achieve by mechanics alone.",
    ),
  );
  byId("methods").hidden = false;
}
