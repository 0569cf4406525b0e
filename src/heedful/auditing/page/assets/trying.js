// Where `heedful serve` serves the page: type a text, see how the model reads it, move between models of a sweep.

const WAIT = 250; // milliseconds after the last movement of the slider

function showTrying({ live }) {
  const { models, most_characters: most } = live;
  const state = { model: live.start, asked: 0 };
  const answer = make("div", { id: "answer" });
  const area = make("textarea", {
    id: "own-text",
    rows: 4,
    dir: "auto",
    placeholder: "Type or paste a text",
    on: {
      keydown: (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        read(area.value);
      },
    },
  });
  const named = make("output", { id: "model-name" });

  // What the server would refuse is said at once.
  const refusal = (text) => {
    const count = Array.from(text).length;
    if (!text.trim()) return "The text is empty: give one with at least one word.";
    return count > most
      ? `A text may have at most ${grouped(most, 0)} characters, and this one has ${grouped(count, 0)}: shorten it.`
      : null;
  };

  // `without`: the words that were taken out of what stands in the box, which itself stays as it is.
  async function read(text, without = []) {
    state.asked += 1;
    const { asked: mine, model } = state;
    answer.setAttribute("aria-busy", "true");
    const refused = refusal(text);
    const reply = refused ? { error: refused } : await ask("api/read", { text, model });
    if (mine !== state.asked) return; // a later question is under way
    answer.removeAttribute("aria-busy");
    put(
      answer,
      reply.error
        ? make("p", { class: "notice", role: "alert" }, reply.error)
        : make(
            "div",
            { class: "card" },
            reply.unread
              ? make(
                  "p",
                  { class: "notice" },
                  `The last ${several(reply.unread, "word")} are beyond what the model reads.`,
                )
              : null,
            without.length
              ? make(
                  "p",
                  { class: "notice" },
                  "Read again without: ",
                  without.map((word, rank) => [rank ? ", " : "", make("bdi", {}, shortened(word))]),
                  ". “Read it” reads your whole text.",
                )
              : null,
            oneText(unpacked(reply.text), {
              classes: models[model].classes,
              mixes: models[model].mixes_tokens,
              readAgain: (erased) => {
                const { words } = reply.text;
                read(words.filter((_, place) => !erased.includes(place)).join(" "), [
                  ...without,
                  ...erased.map((place) => words[place]),
                ]);
              },
            }),
          ),
    );
  }

  function nameModel() {
    const model = models[state.model];
    const scale = model.scale === null ? "" : `λ = ${plainNumber(model.scale)} · `;
    const accuracy =
      model.test_accuracy === null ? "" : ` · test accuracy ${grouped(100 * model.test_accuracy, 1)} %`;
    named.textContent = `${scale}${model.name}${accuracy}`;
    return named.textContent;
  }

  const slider = make("input", {
    type: "range",
    id: "scale",
    min: 0,
    max: models.length - 1,
    step: 1,
    value: state.model,
    on: {
      input: (event) => {
        state.model = Number(event.target.value);
        event.target.setAttribute("aria-valuetext", nameModel());
        clearTimeout(state.timer);
        if (area.value.trim()) state.timer = setTimeout(() => read(area.value), WAIT);
      },
    },
  });
  put(
    byId("try"),
    make("h1", {}, "Try a text"),
    make(
      "form",
      {
        on: {
          submit: (event) => {
            event.preventDefault();
            read(area.value);
          },
        },
      },
      make("label", { for: "own-text" }, "Your text"),
      area,
      make(
        "div",
        { class: "choices" },
        make("button", { type: "submit", class: "plain main" }, "Read it"),
        make(
          "span",
          { class: "faint" },
          `or Ctrl+Enter; at most ${grouped(most, 0)} characters; it stays on the machine that runs heedful`,
        ),
      ),
      models.length > 1
        ? make(
            "div",
            { class: "choices slider" },
            make("label", { for: "scale" }, "Model trained at"),
            slider,
            named,
            make(
              "span",
              { class: "faint" },
              `each of the ${models.length} stops is a model trained at that λ`,
            ),
          )
        : make("p", { class: "faint" }, named),
    ),
    answer,
  );
  slider.setAttribute("aria-valuetext", nameModel());
  byId("try").hidden = false;
}

async function ask(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    return { error: "The server does not answer: is heedful serve still running?" };
  }
  // Where too many are connected the refusal comes from below the application, and is no JSON.
  const reply = await response.json().catch(() => ({}));
  if (response.ok && reply.text) return reply;
  if (response.status === 503)
    return { error: reply.error || "The server has too much to do: try again in a moment." };
  return { error: reply.error || `The server answered ${response.status}.` };
}

// As packing does for a stored page.
function unpacked(text) {
  const missing = (flags) => flags.flatMap((yes, place) => (yes ? [] : [place]));
  return { ...text, not_read: missing(text.read), not_known: missing(text.known) };
}
