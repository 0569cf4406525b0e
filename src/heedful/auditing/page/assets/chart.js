// Margin against words erased: the reader's own clicks beside the attention order and the exact order.
// Lines differ by dashes and marks as well as by colour; colours are classes, for the policy allows nothing else.

const LINES = [
  { key: "attention", label: "by attention", mark: "square" },
  { key: "exact", label: "exact smallest set first", mark: "none" },
  { key: "yours", label: "your erasures", mark: "dot" },
];

function niceSteps(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const ticks = [];
  // Whole multiples, not a running sum: its rounding would miss 0, the line where the decision changes.
  for (let i = Math.ceil(low / step); i * step <= high + step / 1e6; i += 1)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

// Enough of the paths to see every flip, not all of a long text.
function shownLength(paths, erased) {
  const flip = (key) => (paths[key] ? paths[key].flip : null) ?? 0;
  const longest = Math.max(...Object.values(paths).map(({ margins }) => margins.length - 1));
  return Math.max(
    1,
    Math.min(longest, Math.max(8, flip("exact") + 3, Math.min(flip("attention") + 1, 40), erased + 1)),
  );
}

function marginChart(paths, { width, erased = 0, unit = "word", caption, words, exact = true }) {
  const height = 250,
    left = 46,
    right = 14,
    top = 14,
    bottom = 40;
  const most = shownLength(paths, erased);
  const cut = Object.fromEntries(
    Object.entries(paths).map(([key, { margins }]) => [key, margins.slice(0, most + 1)]),
  );
  const values = Object.values(cut).flat();
  let low = Math.min(0, ...values),
    high = Math.max(0, ...values);
  if (high === low) high = low + 1;
  const pad = 0.06 * (high - low);
  [low, high] = [low - pad, high + pad];
  const x = (count) => left + ((width - left - right) * count) / most;
  const y = (margin) => top + ((height - top - bottom) * (high - margin)) / (high - low);
  const across = niceSteps(0, most, Math.min(most, width < 420 ? 5 : 10)).filter(Number.isInteger);
  const grid = niceSteps(low, high, 7).map((value) =>
    draw(
      "g",
      {},
      draw("line", {
        class: value === 0 ? "zero" : "grid",
        x1: left,
        x2: width - right,
        y1: y(value),
        y2: y(value),
      }),
      draw("text", { class: "tick end", x: left - 6, y: y(value) + 4 }, plainNumber(value)),
    ),
  );
  const ticks = across.map((count) =>
    draw("text", { class: "tick middle", x: x(count), y: height - bottom + 16 }, count),
  );
  const lines = LINES.filter(({ key }) => cut[key]).map(({ key, mark }) =>
    draw(
      "g",
      { class: `line ${key}` },
      draw("polyline", { points: cut[key].map((margin, count) => `${x(count)},${y(margin)}`).join(" ") }),
      mark === "none"
        ? null
        : cut[key].map((margin, count) =>
            mark === "dot"
              ? draw("circle", {
                  cx: x(count),
                  cy: y(margin),
                  r: key === "yours" && count === cut[key].length - 1 ? 5 : 3,
                })
              : draw("rect", { x: x(count) - 2, y: y(margin) - 2, width: 4, height: 4 }),
          ),
    ),
  );
  const svg = draw(
    "svg",
    { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words },
    grid,
    ticks,
    lines,
    draw("text", { class: "tick middle", x: (left + width - right) / 2, y: height - 6 }, `${unit}s erased`),
  );
  const keys = LINES.filter(({ key }) => cut[key]).map(({ key, label }) =>
    make(
      "span",
      { class: "key" },
      draw(
        "svg",
        { class: "chart", width: 30, height: 10, "aria-hidden": "true" },
        draw("g", { class: `line ${key}` }, draw("polyline", { points: "1,5 29,5" })),
      ),
      ` ${key === "exact" && !exact ? "smallest set found first" : label} `,
    ),
  );
  return make(
    "figure",
    { class: "margins" },
    make(
      "p",
      { class: "keys" },
      make("span", {}, "Margin of the decision (log-odds); below 0 it has changed."),
      keys,
    ),
    svg,
    make("figcaption", {}, caption),
  );
}
