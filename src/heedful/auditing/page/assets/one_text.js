// One text to work with: painted, its words erased by click or key, the decision and its margin moving along.

const NOTE =
  "Click a word to erase it (arrow keys and space do the same). " +
  "Erasing takes a word out of the attention layer and lets the others share its weight.";
const MARK = "Click words to mark them, and read the text again without them.";
const STILL_READ =
  "The encoder below has still read an erased word, so the other words' values may speak of it: " +
  "deleting the word from the text can give another decision.";
const NO_REASON = "The paint shows where the map looks, and is no reason.";
const ALONE = "This model reads each word by itself: nothing of an erased word is left in the others.";

function oneText(
  text,
  { classes, mixes, seed, by = rankings.shown, erased = [], changed = () => {}, readAgain = null },
) {
  const state = { by: paintedBy(text, by), erased: [...erased], stop: null };
  const live = erasable(text);
  const clickable = live || readAgain !== null; // without a closed form words are marked, and then read again
  const parts = {
    decision: make("p", { class: "decision", "aria-live": "polite" }),
    text: make("div", {}),
    chart: make("div", {}),
  };
  const exact = live ? exactOrder(text) : null;
  const stored = live
    ? { attention: pathOf(text, orderBy(text.weights)), exact: pathOf(text, exact) }
    : Object.fromEntries(
        Object.entries(text.paths || {})
          .filter(([, margins]) => margins)
          .map(([key, margins]) => [key, storedPath(margins)]),
      );

  function toggle(place) {
    state.stop = place;
    state.erased = state.erased.includes(place)
      ? state.erased.filter((other) => other !== place)
      : [...state.erased, place];
    refresh();
  }

  function refresh() {
    changed({ by: state.by, erased: state.erased });
    again.hidden = !state.erased.length;
    showDecision();
    const focused = parts.text.contains(document.activeElement) ? document.activeElement.dataset.place : null;
    put(parts.text, legend(text, state.by), words(), topWords(text, state.by));
    if (focused !== null && focused !== undefined)
      parts.text.querySelector(`[data-place="${focused}"]`)?.focus();
    showChart();
  }

  function showDecision() {
    const before = `${isolated(classes[text.decided])} (${percent(text.probabilities[text.decided])})`;
    if (clickable && !live && state.erased.length) {
      put(
        parts.decision,
        "Decision: ",
        make("strong", {}, before),
        ` with all words. ${several(state.erased.length, "word")} marked: read the text again to see what it is without.`,
      );
      return;
    }
    if (!live || !state.erased.length) {
      put(parts.decision, "Decision: ", make("strong", {}, before), goldOf(text, classes));
      parts.decision.className = "decision";
      return;
    }
    const logits = logitsWithout(text, new Set(state.erased));
    const now = decisionOf(logits);
    const flipped = now !== text.decided;
    parts.decision.className = flipped ? "decision flipped" : "decision";
    put(
      parts.decision,
      `Without ${several(state.erased.length, "word")}: `,
      make("strong", {}, `${isolated(classes[now])} (${percent(probabilitiesOf(logits)[now])})`),
      flipped ? " ⇄ the decision has changed; it was " : " = still the decision; it was ",
      before,
      ".",
    );
  }

  function words() {
    const scores = scoresOf(text, state.by);
    const marks = wordClasses(text, scores);
    const box = make("p", {
      class: `painted by-${state.by === "attention" ? "attention" : "ranking"}`,
      dir: "auto",
      role: clickable ? "group" : null,
      "aria-label": clickable ? "Words of the text: arrow keys move, space erases" : null,
      on: clickable ? { keydown: walk } : {},
    });
    text.words.forEach((word, place) => {
      const gone = state.erased.includes(place);
      const label = wordLabel(text, scores, state.by, place);
      const attributes = { class: [...marks[place], gone ? "erased" : ""].join(" ").trim(), title: label };
      const shownWord = make("bdi", {}, shortened(word));
      box.append(
        ...gapBefore(text, place),
        clickable && !text.not_read.includes(place)
          ? make(
              "button",
              {
                ...attributes,
                type: "button",
                "data-place": place,
                tabindex: place === (state.stop ?? firstStop()) ? 0 : -1,
                "aria-pressed": gone ? "true" : "false",
                "aria-label": `${label}${gone ? ", erased" : ""}`,
                on: { click: () => toggle(place) },
              },
              shownWord,
            )
          : make("span", attributes, shownWord),
      );
    });
    box.append(...gapBefore(text, text.words.length));
    return box;
  }

  // One stop for the tab key, where one last was; the arrow keys walk from word to word.
  const firstStop = () => text.words.findIndex((_, place) => !text.not_read.includes(place));

  function walk(event) {
    const all = [...event.currentTarget.querySelectorAll("button")];
    const here = all.indexOf(document.activeElement);
    const next = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next === undefined || !all[next]) return;
    event.preventDefault();
    all[here]?.setAttribute("tabindex", "-1");
    state.stop = Number(all[next].dataset.place);
    all[next].setAttribute("tabindex", "0");
    all[next].focus();
  }

  function showChart() {
    if (!stored.attention) {
      put(parts.chart);
      return;
    }
    const paths = { ...stored };
    if (live) {
      const steps = [[], ...state.erased.map((_, count) => state.erased.slice(0, count + 1))];
      paths.yours = {
        flip: null,
        margins: steps.map((gone) => marginOf(logitsWithout(text, new Set(gone)), text.decided)),
      };
    }
    const width = Math.max(260, Math.min(720, parts.chart.clientWidth || 320));
    const told = `By attention the decision ${changes(stored.attention)}; ${least}`;
    const seeded = seed === undefined ? [] : [`seed ${seed}`];
    const how = live ? "closed form on stored token logits" : "stored erasure paths";
    put(
      parts.chart,
      marginChart(paths, {
        width,
        erased: state.erased.length,
        unit,
        words: told,
        exact: kindOf(text) === "exact",
        caption: [`${told} n = 1 text, ${several(text.words.length, "word")}`, how, ...seeded].join(" · "),
      }),
    );
  }

  const unit = text.unit || "word";
  // Where the paths erase sentences there is no smallest set of words; the exact path ends where it flips.
  const fewest = text.smallest
    ? text.smallest.words.length
    : live || !stored.exact
      ? null
      : stored.exact.flip;
  const least =
    fewest === null
      ? "no set was found that changes it."
      : kindOf(text) === "upper bound"
        ? `the smallest set found has ${several(fewest, unit)}.`
        : `at least ${several(fewest, unit)} must go.`;
  // Stored paths may end before the text does.
  const changes = ({ flip, margins }) =>
    flip !== null
      ? `changes after ${several(flip, unit)}`
      : live || margins.length > text.words.length - text.not_read.length
        ? `does not change, however many ${unit}s go`
        : `does not change within the ${several(margins.length - 1, unit)} that are stored`;

  const choice = make(
    "div",
    { class: "choices", role: "group", "aria-label": "Paint the text by" },
    "Paint by ",
    rankingsOf(text).map((key) =>
      button(
        rankingName(key),
        (event) => {
          state.by = key;
          choice
            .querySelectorAll("button")
            .forEach((other) => other.setAttribute("aria-pressed", String(other === event.currentTarget)));
          refresh();
        },
        { class: "choice", "aria-pressed": String(key === state.by) },
      ),
    ),
  );

  const again = button("Read the text again without them", () => readAgain(state.erased));
  const acts = make(
    "div",
    { class: "choices" },
    live && text.smallest
      ? button(
          `Erase the smallest set (${several(text.smallest.words.length, "word")})`,
          () => {
            state.erased = exact.slice(0, text.smallest.words.length);
            refresh();
          },
          { class: "plain main" },
        )
      : null,
    clickable
      ? button("Put all back", () => {
          state.erased = [];
          refresh();
        })
      : null,
    readAgain ? again : null,
  );

  const element = make(
    "div",
    { class: "one-text" },
    choice,
    parts.decision,
    text.said ? make("p", { class: "notice" }, `${text.said} ${NO_REASON}`) : null,
    text.untold ? make("p", { class: "note" }, text.untold) : null,
    parts.text,
    smallestSentence(text, classes, live),
    acts,
    parts.chart,
    make(
      "p",
      { class: "note" },
      live ? `${NOTE} ${mixes ? STILL_READ : ALONE}` : `${clickable ? `${MARK} ` : ""}${offSentence(text, mixes)}`,
    ),
    adversaryPair(text),
  );
  // The chart is as wide as its place, which is known once it stands in the page.
  new ResizeObserver(() => {
    if (parts.chart.clientWidth !== element.drawn) {
      element.drawn = parts.chart.clientWidth;
      showChart();
    }
  }).observe(parts.chart);
  refresh();
  return element;
}
