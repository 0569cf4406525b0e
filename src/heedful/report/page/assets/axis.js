// A value between two others on a strip: shuffled left, a yardstick right, marks of different shapes.

// The two ends of the axis in a question's own numbers: shuffled and yardstick, unless they are (nearly) the same or
// the wrong way round; then the range that the question itself names.
function endsOf(scale) {
  const left = [scale.shuffled, scale.random, scale.low].find(isNumber);
  const right = [scale.best, scale.high].find(isNumber);
  const far = (right - left) / (scale.high - scale.low);
  return far > 0.05 ? { left, right } : { left: scale.low, right: scale.high };
}

// Where a value stands, in percent of the strip, which goes on a little at both ends.
const BEFORE = 0.12,
  AFTER = 0.22;
function placed(value, scale) {
  const { left, right } = endsOf(scale);
  const share = right === left ? 0 : (value - left) / (right - left);
  const cut = Math.max(-BEFORE, Math.min(1 + AFTER, share));
  return { percent: (100 * (cut + BEFORE)) / (1 + BEFORE + AFTER), beyond: cut !== share };
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
  const at = (value) => `${placed(value, scale).percent}%`;
  const name = (key) => (key === "best" ? scale.best_name || "yardstick" : key);
  const marks = ["shuffled", "random", "best"]
    .filter((key) => isNumber(scale[key]))
    .map((key) => axisMark(key, at(scale[key]), 14, `${name(key)} ${plainNumber(scale[key])}`));
  const ends = [scale.you_low, scale.you_high].every(isNumber)
    ? draw("line", { class: "whisker", x1: at(scale.you_low), x2: at(scale.you_high), y1: 14, y2: 14 })
    : null;
  const you = isNumber(scale.you)
    ? axisMark("dot", at(scale.you), 14, `your model ${plainNumber(scale.you)}`)
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
  const beyond = isNumber(scale.you) && placed(scale.you, scale).beyond ? " (off the axis)" : "";
  const you = finding ? shown(finding) : plainNumber(scale.you);
  const others = ["shuffled", "random", "best"]
    .filter((key) => isNumber(scale[key]))
    .map((key) => `${key === "best" ? scale.best_name || "yardstick" : key} ${plainNumber(scale[key])}`);
  // An end of the axis that no mark stands at is told as a number.
  const bare = isNumber(scale.best) ? [] : [`right end ${plainNumber(endsOf(scale).right)}`];
  return [`you ${you}${beyond}`, ...others, ...bare].join(" · ");
}
