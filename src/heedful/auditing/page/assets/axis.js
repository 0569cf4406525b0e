// Where a map stands between its baselines: a strip for each question, further right is better for the map.

// The ends of the strip: the range that the question names, widened where a mark lies beyond it. A range that
// falls (less is better) stays falling.
function endsOf(scale) {
  const marks = ["shuffled", "random", "best", "you", "you_low", "you_high"].map((key) => scale[key]);
  const all = [scale.low, scale.high, ...marks].filter(isNumber);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return scale.low <= scale.high ? { left: least, right: most } : { left: most, right: least };
}

// Where a value stands, in percent of the strip, which goes on a little at both ends.
const BESIDE = 4;
function placed(value, scale) {
  const { left, right } = endsOf(scale);
  const along = right === left ? 0 : (value - left) / (right - left);
  return BESIDE + (100 - 2 * BESIDE) * along;
}

function axisMark(key, x, y, title) {
  const shape = {
    shuffled: () => draw("path", { d: "M0,-5 L5,0 L0,5 L-5,0 Z" }),
    random: () => draw("circle", { r: 4 }),
    best: () => draw("line", { y1: -6, y2: 6, x1: 0, x2: 0 }),
    you: () => [draw("line", { class: "whisker", x1: -10, x2: 10, y1: 0, y2: 0 }), draw("circle", { r: 5 })],
    dot: () => draw("circle", { r: 6 }),
  }[key]();
  // A nested svg may stand at a percentage, which the points of a path may not.
  return draw(
    "svg",
    { x, y, overflow: "visible", class: `mark-${key === "dot" ? "you" : key}` },
    title ? draw("title", {}, title) : null,
    shape,
  );
}

function strip(question) {
  const { scale } = question;
  if (!scale)
    return make(
      "span",
      { class: "faint no-scale" },
      question.outcome === "not asked" ? "not asked" : "no number on this axis",
    );
  const at = (value) => `${placed(value, scale)}%`;
  const name = (key) => (key === "best" ? scale.best_name || "yardstick" : key);
  const marks = ["shuffled", "random", "best"]
    .filter((key) => isNumber(scale[key]))
    .map((key) => axisMark(key, at(scale[key]), 14, `${name(key)} ${plainNumber(scale[key])}`));
  const ends = [scale.you_low, scale.you_high].every(isNumber)
    ? draw("line", { class: "whisker", x1: at(scale.you_low), x2: at(scale.you_high), y1: 14, y2: 14 })
    : null;
  const you = isNumber(scale.you)
    ? axisMark("dot", at(scale.you), 14, `this map ${plainNumber(scale.you)}`)
    : null;
  return draw(
    "svg",
    { class: "strip", height: 28, "aria-hidden": "true" }, // its values stand below it in words
    draw("line", { class: "axis", x1: "0%", x2: "100%", y1: 14, y2: 14 }),
    [endsOf(scale).left, endsOf(scale).right].map((end) =>
      draw("line", { class: "end", x1: at(end), x2: at(end), y1: 4, y2: 24 }),
    ),
    marks,
    ends,
    you,
  );
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function scaleValues({ scale, finding }) {
  if (!scale) return finding ? shown(finding) : "";
  const you = finding ? shown(finding) : plainNumber(scale.you);
  const others = ["shuffled", "random", "best"]
    .filter((key) => isNumber(scale[key]))
    .map((key) => `${key === "best" ? scale.best_name || "yardstick" : key} ${plainNumber(scale[key])}`);
  const { left, right } = endsOf(scale);
  return [`here ${you}`, ...others, `strip from ${plainNumber(left)} to ${plainNumber(right)}`].join(" · ");
}
