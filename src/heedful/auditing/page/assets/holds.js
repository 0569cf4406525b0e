// What this file carries, said on it: whoever gets the page gets these texts.

function showHolds({ audit, figures }) {
  const texts = audit.instances.length,
    words = audit.words.length;
  const carried =
    texts || words
      ? `This page carries ${several(texts, "text")} and a table of ${several(words, "word")} from the data, with their ` +
        "numbers: whoever has the file can read them. An audit with --no-texts leaves both out."
      : "This page carries no text and no word of the data, only numbers.";
  const drawn = Object.keys(figures).length;
  put(
    byId("holds"),
    `${carried} ${drawn ? `${several(drawn, "figure")} lie in it. ` : ""}It asks for nothing from elsewhere.`,
  );
  byId("holds").hidden = false;
}
