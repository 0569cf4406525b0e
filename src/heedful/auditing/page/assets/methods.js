// How all this was measured: the data, the settings, the time each stage took.

function showMethods({ audit }) {
  const { data, subject, methods, verdict } = audit;
  const plain = (value) =>
    value !== null && typeof value === "object" ? JSON.stringify(value) : String(value);
  const settings = Object.entries(methods).map(([key, value]) => [key.replaceAll("_", " "), plain(value)]);
  const limits = Object.entries(verdict.thresholds).map(([key, value]) => [
    key.replaceAll("_", " "),
    plainNumber(value),
  ]);
  const seconds = Object.entries(audit.seconds || {}).map(([stage, time]) => [stage, plainNumber(time)]);
  const about = [
    ["model", `${subject.model} (${subject.kind})`],
    ["read by", subject.way],
    ...Object.entries(subject.cannot || {}).map(([what, why]) => [`has no ${what}`, why]),
    ["classes", subject.classes.join(", ")],
    ["words mixed before attention", subject.mixes_tokens ? "yes" : "no"],
    ["deletions", methods.closed_form ? "in closed form, exact" : "by reading the changed text again"],
    ["any map of words can show", verdict.linear_share === null ? null : percent(verdict.linear_share)],
    ["data", `${data.name}, ${judgedOn(audit)}, ${grouped(data.instances, 0)} texts`],
    [
      "texts by class",
      Object.entries(data.class_counts || {})
        .map(([name, count]) => `${name} ${grouped(count, 0)}`)
        .join(", "),
    ],
    ["made", `${audit.made || ""} by heedful ${audit.heedful || ""}`.trim()],
  ].filter(([, value]) => value);
  fillPart(
    "methods",
    { title: "How it was measured", brief: `${data.name}, seed ${methods.seed}`, open: false },
    (data.notes || []).map((note) => make("p", { class: "notice" }, note)),
    makeTable("Model and data", ["what", "value"], about),
    makeTable("Thresholds of the reading", ["threshold", "value"], limits, { right: ["value"] }),
    makeTable("Settings", ["setting", "value"], settings),
    seconds.length ? makeTable("Time", ["stage", "seconds"], seconds, { right: ["seconds"] }) : null,
    make("p", { class: "faint" }, "Every interval is named with its method where it stands."),
  );
}
