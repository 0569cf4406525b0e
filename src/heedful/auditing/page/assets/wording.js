// Numbers and findings in words, with as many decimals as the interval can bear (as heedful.records has it).

const grouped = (value, places) =>
  minus(
    (Number(value.toFixed(places)) + 0).toLocaleString("en-US", {
      minimumFractionDigits: places,
      maximumFractionDigits: places,
    }),
  );

const minus = (number) => number.replace("-", "−");

function decimalsFor(value, interval) {
  const least = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  const bounded = interval && interval.low !== null && interval.high !== null;
  const half = bounded ? (interval.high - interval.low) / 2 : 0;
  return half > 0 ? Math.min(6, Math.max(least, -Math.floor(Math.log10(half)))) : least;
}

function brackets(interval, places) {
  if (!interval) return "";
  if (interval.low === null || interval.high === null) return ` [${interval.method}]`;
  return ` [${grouped(interval.low, places)}, ${grouped(interval.high, places)}]`;
}

const SIGNS = { "lower bound": "≥ ", "upper bound": "≤ " };

// An end that is not 0 gets one more decimal rather than be told as 0.
function placesFor({ value, interval }) {
  const places = decimalsFor(value, interval);
  const ends = interval ? [interval.low, interval.high].filter((end) => end !== null) : [];
  return ends.some((end) => end !== 0 && Number(end.toFixed(places)) === 0) ? places + 1 : places;
}

function shown(finding) {
  const places = placesFor(finding);
  const unit = finding.unit ? ` ${finding.unit}` : "";
  return `${SIGNS[finding.kind] || ""}${grouped(finding.value, places)}${unit}${brackets(finding.interval, places)}`;
}

const plainNumber = (value) =>
  value === null || value === undefined
    ? ""
    : Number.isInteger(value)
      ? grouped(value, 0)
      : minus(String(Number(value.toPrecision(3))));

// Never 100 % of what is not sure.
const percent = (share) =>
  share > 0.999 && share < 1 ? "> 99.9\u00a0%" : `${grouped(100 * share, share >= 0.99 && share < 1 ? 1 : 0)}\u00a0%`;

// A share in percent with its interval: the number in words.
function share({ value, interval }) {
  const bounded = interval && interval.low !== null && interval.high !== null;
  const ends = bounded ? ` [${grouped(100 * interval.low, 0)}, ${grouped(100 * interval.high, 0)}]` : "";
  return `${percent(value)}${ends}`;
}

// How a number was counted: instances, trained models, interval, seed.
function counted(finding, seed) {
  const parts = [`n = ${grouped(finding.count, 0)}`];
  if (finding.seeds > 1) parts.push(`${finding.seeds} seeds`);
  if (finding.interval && finding.interval.low !== null)
    parts.push(`${percent(finding.interval.level)} interval, ${finding.interval.method}`);
  if (seed !== undefined && seed !== null) parts.push(`seed ${seed}`);
  return parts.join(" · ");
}

// A text of the data inside a sentence of ours: signs that turn the writing direction end where it ends.
const LONGEST = 60;
const isolated = (text) => `\u2068${shortened(text)}\u2069`;

function shortened(text) {
  const signs = Array.from(text.slice(0, 2 * LONGEST));
  return text.length > LONGEST && signs.length > LONGEST
    ? `${seen(signs.slice(0, LONGEST).join(""))}… (${grouped(text.length, 0)} characters)`
    : seen(text);
}

// Signs that have no shape of their own but change how others are shown (a word turned round reads as another one):
// told by their code. Joiners and the marks that Arabic and Hebrew need are left as they are.
const UNSEEN =
  /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;
const seen = (text) =>
  text.replace(
    UNSEEN,
    (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );

const several = (count, noun) => `${grouped(count, 0)} ${noun}${count === 1 ? "" : "s"}`;
