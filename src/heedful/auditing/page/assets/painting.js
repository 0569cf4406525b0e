// A text painted by a ranking: each word in one of six strengths. Strength is told by shade and by the bar above
// a word, what speaks against the decision by another colour and a dotted bar, so nothing depends on colour alone.

const STEPS = 5;
const rankings = { called: {}, shown: null }; // names for people; the map that was judged
const rankingName = (key) => rankings.called[key] || key;
const scoresOf = (text, by) => (by === "attention" ? text.weights : text.rankings[by]);

// All maps that a text has, the one that was judged first. A black box has no attention.
function rankingsOf(text) {
  const all = [...(text.weights ? ["attention"] : []), ...Object.keys(text.rankings)];
  return all.sort((a, b) => (b === rankings.shown) - (a === rankings.shown));
}
const paintedBy = (text, wanted) => (rankingsOf(text).includes(wanted) ? wanted : rankingsOf(text)[0]);

const NOISE = 1e-6; // what is left of 0 after rounding: not painted, not named

function wordClasses(text, scores) {
  const highest = Math.max(0, ...scores.map(Math.abs));
  const most = highest < NOISE ? 0 : highest;
  const smallest = new Set(text.smallest ? text.smallest.words : []);
  const unread = new Set(text.not_read);
  const unknown = new Set(text.not_known);
  return scores.map((score, place) => {
    const step = most > 0 ? Math.round((STEPS * Math.abs(score)) / most) : 0;
    const classes = ["word", `step-${step}`];
    if (score < 0 && most > 0) classes.push("against");
    if (smallest.has(place)) classes.push("smallest");
    if (unread.has(place)) classes.push("unread");
    else if (unknown.has(place)) classes.push("unknown");
    return classes;
  });
}

// The standard error of a score, where a ranking is an estimate.
function errorOf(text, by, place) {
  const error = text.errors?.[by]?.[place];
  return error === undefined ? "" : ` ± ${plainNumber(error)}`;
}

function wordLabel(text, scores, by, place) {
  const parts = [`${rankingName(by)} ${plainNumber(scores[place])}${errorOf(text, by, place)}`];
  if (text.smallest && text.smallest.words.includes(place)) parts.push("in the smallest set");
  if (text.not_read.includes(place)) parts.push("not read");
  else if (text.not_known.includes(place)) parts.push("unknown to the model");
  return `${isolated(text.words[place])}: ${parts.join(", ")}`;
}

// The two texts of a pair are one, with a sign between them that stands in no word.
const PAIR = "\u001e";
const roles = ["first text", "second text"]; // what they are called
const roleName = (number) => make("span", { class: "role" }, make("bdi", {}, roles[number]));
const isPair = (text) => (text.gaps || []).some((gap) => gap.includes(PAIR));

// What stands before a word (and, at the end, after the last): signs that the model does not read; and what the text
// of a pair is called where it begins.
function gapBefore(text, place) {
  const gap = text.gaps ? text.gaps[place] : place ? " " : "";
  const [before, ...after] = gap.split(PAIR);
  return [
    place === 0 && isPair(text) ? [roleName(0)] : [],
    plainGap(text, place, before),
    after.length ? [roleName(1), plainGap(text, place, after.join(" "))] : [],
  ].flat();
}

function plainGap(text, place, gap) {
  if (!gap.trim()) return gap;
  const end = place === text.words.length && text.unread_tail;
  return make(
    "bdi",
    { class: end ? "unread" : "gap", title: end ? `not read: ${several(text.unread, "word")}` : null },
    shortened(gap),
  );
}

// A text to look at; `most` words of it.
function paintText(text, by, { scores = scoresOf(text, by), most = Infinity } = {}) {
  const classes = wordClasses(text, scores);
  const words = text.words
    .slice(0, most)
    .map((word, place) => [
      gapBefore(text, place),
      make(
        "span",
        { class: classes[place].join(" "), title: wordLabel(text, scores, by, place) },
        make("bdi", {}, shortened(word)),
      ),
    ]);
  const rest = text.words.length - most;
  return make(
    "p",
    { class: `painted by-${by === "attention" ? "attention" : "ranking"}`, dir: "auto" },
    words,
    rest > 0
      ? make("span", { class: "faint" }, ` … and ${several(rest, "more word")}`)
      : gapBefore(text, text.words.length),
  );
}

// The same in words, for those who see no shades.
function topWords(text, by, scores = scoresOf(text, by), count = 5) {
  const top = orderBy(scores)
    .filter((place) => scores[place] >= NOISE)
    .slice(0, count);
  if (!top.length) return make("p", { class: "faint" }, "No word has a score above 0.");
  return make(
    "p",
    { class: "faint" },
    "Highest: ",
    top.map((place, rank) => [
      rank ? ", " : "",
      make("bdi", {}, shortened(text.words[place])),
      ` ${plainNumber(scores[place])}${errorOf(text, by, place)}`,
    ]),
    text.errors?.[by] ? " (± standard error, from the audit's deletions)" : "",
  );
}

function legend(text, by) {
  const signed = by !== "attention" && scoresOf(text, by).some((score) => score < -NOISE);
  const sample = (classes, words) => [make("span", { class: `word ${classes}` }, words), " "];
  return make(
    "p",
    { class: `legend by-${by === "attention" ? "attention" : "ranking"}` },
    sample("step-1", "little"),
    sample("step-3", "more"),
    sample("step-5", "most"),
    signed ? sample("step-4 against", "against the decision") : null,
    text.smallest ? sample("step-0 smallest", "smallest set that flips it") : null,
    text.not_known.length ? sample("step-0 unknown", "unknown word") : null,
    text.not_read.length ? sample("step-0 unread", "not read") : null,
  );
}
