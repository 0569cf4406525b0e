// Erasure at an attention layer with a linear head. Erasing a set and renormalising gives the logits
// Σ w·z / Σ w + bias over the words that are kept; with no weight left, the bias alone.
// A text has weights (T), token_logits (T × K) without the bias, and bias (K); one score s (K = 1) is read as (0, s).

const erasable = (text) => Array.isArray(text.token_logits);

function logitsOf(sums, mass, bias) {
  const logits = bias.map((own, k) => (mass > 0 ? sums[k] / mass : 0) + own);
  return logits.length === 1 ? [0, logits[0]] : logits;
}

function logitsWithout(text, erased) {
  const sums = text.bias.map(() => 0);
  let mass = 0;
  text.weights.forEach((weight, place) => {
    if (erased.has(place)) return;
    mass += weight;
    sums.forEach((_, k) => {
      sums[k] += weight * text.token_logits[place][k];
    });
  });
  return logitsOf(sums, mass, text.bias);
}

// The first of equals, as argmax has it.
const decisionOf = (logits) => logits.indexOf(Math.max(...logits));

function marginOf(logits, decided) {
  return logits[decided] - Math.max(...logits.filter((_, k) => k !== decided));
}

function probabilitiesOf(logits) {
  const most = Math.max(...logits);
  const parts = logits.map((logit) => Math.exp(logit - most));
  const total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / total);
}

// The logits after erasing 0, 1, 2, … words in this order. Sums grow from the far end: subtracting from the
// total would lose digits when little is left.
function logitsAlong(text, order) {
  const sums = text.bias.map(() => 0);
  let mass = 0;
  const path = [logitsOf(sums, mass, text.bias)];
  for (const place of [...order].reverse()) {
    const weight = text.weights[place];
    mass += weight;
    sums.forEach((_, k) => {
      sums[k] += weight * text.token_logits[place][k];
    });
    path.push(logitsOf(sums, mass, text.bias));
  }
  return path.reverse();
}

// The margin of the decided class along the way, and how many words are gone when the decision first changes
// (null if it never does).
function pathOf(text, order) {
  const along = logitsAlong(text, order);
  const flip = along.findIndex((logits, count) => count > 0 && decisionOf(logits) !== text.decided);
  return { margins: along.map((logits) => marginOf(logits, text.decided)), flip: flip < 0 ? null : flip };
}

// What each word adds to the margin of the decided class over a rival: erasing the largest first is optimal.
function contributions(text, rival) {
  const two = (values) => (values.length === 1 ? [0, values[0]] : values);
  const bias = two(text.bias);
  return text.weights.map((weight, place) => {
    const own = two(text.token_logits[place]);
    return weight * (own[text.decided] + bias[text.decided] - own[rival] - bias[rival]);
  });
}

// Places by descending score, equal ones by place.
const orderBy = (scores) => scores.map((_, place) => place).sort((a, b) => scores[b] - scores[a] || a - b);

function exactOrder(text) {
  const logits = logitsWithout(text, new Set());
  const second = orderBy(logits).find((k) => k !== text.decided);
  const order = orderBy(contributions(text, text.smallest ? text.smallest.to : second));
  if (!text.smallest) return order;
  const first = new Set(text.smallest.words); // of several equal words the stored set has chosen
  return [...order.filter((place) => first.has(place)), ...order.filter((place) => !first.has(place))];
}

// A path that was stored as margins alone.
function storedPath(margins) {
  const flip = margins.findIndex((margin, count) => count > 0 && margin <= 0);
  return { margins, flip: flip < 0 ? null : flip };
}
