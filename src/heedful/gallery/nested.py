"""Nested attention (Ji et al., 2017): sentences corrected word by word, and unknown words letter by letter.

Nouns are outside the vocabulary, misspelt or not: they are read by their letters, and where the decoder says
"unknown" a second decoder writes a word, attending to the letters inside the word that the first attends to.
Axes: B sentences, T words given, N words written, J letters of a word given, Q letters written, U and
P unknown words given and written.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heedful.gallery.corrector import Corrector, Encoded, Shape, Spells, Texts, surprise
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.gallery.learning import learn, parameters_of
from heedful.gallery.real_nested import REAL, draw_look
from heedful.gallery.seeded import seeded
from heedful.gallery.spelling import (
    COMMON,
    END,
    FORMS,
    LETTERS,
    UNKNOWN,
    Sentences,
    as_word,
    letter_ids,
    number_words,
    word_ids,
    write_sentences,
)
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST, LETTERS_AT_MOST = 9, 12  # words written with the end, letters written of a word with the end
BATCH, RATE = 64, 0.02  # on seed 100 no worse than 0.01, nested and with words alone
SIZES: dict[Size, dict[str, int]] = {
    "full": {"sentences": 20_000, "tested": 1000, "steps": 900, "nouns": 80},
    "small": {"sentences": 4000, "tested": 300, "steps": 120, "nouns": 16},
}


INSIDE: dict[Spells, int] = {"nested": 48, "by heart": 53, "not": 0}
DECODER: dict[Spells, int] = {"nested": 64, "by heart": 64, "not": 96}  # as many parameters each
# A model that cannot spell has all nouns in its vocabulary, and a misspelt one is unknown.
VOCABULARIES: dict[Spells, dict[str, int]] = {
    "nested": number_words(COMMON),
    "by heart": number_words(COMMON),
    "not": number_words((*COMMON, *FORMS)),
}


def build(spells: Spells) -> Corrector:
    """An untrained model; all have as many parameters."""
    shape = Shape(
        vocabulary=len(VOCABULARIES[spells]) + 3,
        letters=len(LETTERS) + 2,
        word=32,
        letter=16,
        across=32,
        inside=INSIDE[spells],
        decoder=DECODER[spells],
        between=32,
    )
    return Corrector(shape, spells=spells)


def as_texts(sentences: Sentences, rows: Sequence[int], vocabulary: Mapping[str, int]) -> Texts:
    """Some of the sentences as ids."""
    given, wanted = ([side[row] for row in rows] for side in (sentences.given, sentences.wanted))
    letters = [
        letter_ids([word for words in side for word in words if word not in vocabulary])
        for side in (given, wanted)
    ]
    return Texts(word_ids(given, vocabulary), letters[0], word_ids(wanted, vocabulary), letters[1])


def fit(
    model: Corrector, sentences: Sentences, vocabulary: Mapping[str, int], *, steps: int, rate: float = RATE
) -> None:
    """Learn each next word, and each next letter of the words outside the vocabulary."""

    def loss() -> Tensor:
        rows = torch.randint(len(sentences), (BATCH,)).tolist()
        return surprise(model, as_texts(sentences, rows, vocabulary))

    learn(model, loss, steps=steps, rate=rate)


class Looks(NamedTuple):
    """What was attended to while sentences were written."""

    words: Tensor  # (B,N,T)
    letters: Tensor | None  # (P,Q,U,J)
    unknown: Tensor  # (B,N) which words were spelt
    places: Tensor  # (B,U) where the unknown words given stand


@torch.no_grad()
def correct(
    model: Corrector, sentences: Sentences, vocabulary: Mapping[str, int]
) -> tuple[list[list[str]], Looks]:
    """Write all sentences, each word and letter after the model's own, the likeliest first."""
    texts = as_texts(sentences, range(len(sentences)), vocabulary)
    encoded = model.read(texts.given, texts.given_letters)
    before, state = torch.full((len(sentences), 1), END), None
    ids, told, looks = [], [], []
    for _ in range(LONGEST):
        written = model.write(encoded, before, state)
        assert written.weights is not None
        before, state = written.scores.argmax(-1), written.state
        ids.append(before)
        told.append(written.told)
        looks.append(written.weights)
    chosen = torch.cat(ids, 1)  # (B,N)
    unknown = (chosen == UNKNOWN) & ((chosen == END).cumsum(1) == 0)
    spelt, letter_looks = spell_all(model, encoded, unknown, torch.cat(told, 1))
    names = {number: word for word, number in vocabulary.items()}
    words = iter(spelt)
    corrected = []
    for row, is_unknown in zip(chosen.tolist(), unknown.tolist(), strict=True):
        line = []
        for number, spelling in zip(row, is_unknown, strict=True):
            if number == END:
                break
            line.append(next(words) if spelling else names.get(number, "?"))
        corrected.append(line)
    return corrected, Looks(torch.cat(looks, 1), letter_looks, unknown, encoded.places)


def spell_all(
    model: Corrector, encoded: Encoded, unknown: Tensor, told: Tensor
) -> tuple[list[str], Tensor | None]:
    """The words at the unknown places (B,N), and the weights (P,Q,U,J) of the letters they were read from."""
    count = int(unknown.sum())
    if model.read.letters is None:
        return ["?"] * count, None
    about, told = encoded.rows(unknown.nonzero()[:, 0]), told[unknown]
    before, state = torch.full((count, 1), END), None
    ids, looks = [], []
    for _ in range(LETTERS_AT_MOST):
        written = model.spell(about, told, before, state)
        before, state = written.scores.argmax(-1), written.state
        ids.append(before)
        looks += [written.weights] if written.weights is not None else []
    return [as_word(row) for row in torch.cat(ids, 1)], torch.cat(looks, 1) if looks else None


def judge(corrected: Sequence[Sequence[str]], sentences: Sentences) -> dict[str, float]:
    """The shares of sentences without a fault, of misspelt words put right and of slips put right."""
    wholly, spelt, slips = [], [], []
    for row, (came, wanted) in enumerate(zip(corrected, sentences.wanted, strict=True)):
        wholly.append(list(came) == list(wanted))
        spelt += [place < len(came) and came[place] == wanted[place] for place in sentences.misspelt[row]]
        if sentences.slipped[row]:
            # Nouns aside: whether the slip is gone does not depend on how they are spelt.
            slips.append([word for word in came if word in COMMON] == [w for w in wanted if w in COMMON])
    return {
        "sentences": float(np.mean(wholly)),
        "misspellings": float(np.mean(spelt)),
        "slips": float(np.mean(slips)),
    }


def train(seed: int, size: Size) -> Outcome:
    """Train with nested attention, with letters but no attention to them, and with words alone."""
    sizes = SIZES[size]
    learnt = write_sentences(sizes["sentences"], seed=seed, test=False, nouns=sizes["nouns"])
    tested = write_sentences(sizes["tested"], seed=seed, test=True, nouns=sizes["nouns"])
    models: dict[Spells, Corrector] = {}
    judged: dict[Spells, dict[str, float]] = {}
    picture: dict[str, Any] = {}
    for spells, vocabulary in VOCABULARIES.items():
        with one_thread(), seeded(seed):
            models[spells] = model = build(spells)
            fit(model, learnt, vocabulary, steps=sizes["steps"])
            corrected, looks = correct(model, tested, vocabulary)
        judged[spells] = judge(corrected, tested)
        if spells == "nested":
            picture = shown(tested, corrected, looks)
    return Outcome(
        figure=judged["nested"]["sentences"],
        baseline=judged["not"]["sentences"],
        parameters=parameters_of(models["nested"]),
        baseline_parameters=parameters_of(models["not"]),
        table={
            f"{what}, {NAMES[spells]}": share
            for what in ("misspellings", "slips", "sentences")
            for spells, share in ((spells, judged[spells][what]) for spells in VOCABULARIES)
        },
        picture=picture,
    )


def shown(sentences: Sentences, corrected: Sequence[Sequence[str]], looks: Looks) -> dict[str, Any]:
    """The first sentence with a word twice, rightly corrected: what was read for its words and its noun."""
    assert looks.letters is not None
    twice = [
        len(given) > len(wanted) for given, wanted in zip(sentences.given, sentences.wanted, strict=True)
    ]
    right = [list(came) == list(wanted) for came, wanted in zip(corrected, sentences.wanted, strict=True)]
    row = next((row for row in range(len(right)) if twice[row] and right[row]), 0)
    given, written = sentences.given[row], corrected[row]
    place = sentences.misspelt[row][0]
    spelt = int(looks.unknown[:row].sum() + looks.unknown[row, :place].sum())  # which of the unknown words
    read = int(looks.letters[spelt].sum((0, 2)).argmax())  # which of the unknown words given
    source = int(looks.places[row, read])
    letters = looks.letters[spelt, :, read]  # (Q,J)
    return {
        "given": given,
        "written": written,
        "words": looks.words[row, : len(written), : len(given)].numpy(),
        "misspelt": given[source],
        "spelt": written[place],
        "letters": letters[: len(written[place]) + 1, : len(given[source]) + 1].numpy(),
    }


NAMES: dict[Spells, str] = {"nested": "nested", "by heart": "no attention to letters", "not": "words alone"}


def draw(outcome: Outcome, figure: "Figure") -> None:
    """What is read for each word of a sentence and each letter of a word; what three models put right."""
    figure.set_size_inches(13, 4.6)
    figure.set_layout_engine("constrained")
    words, letters, shares = figure.subplots(1, 3, width_ratios=(1.15, 1, 0.9))
    look = outcome.picture
    draw_look(words, look["words"], across=look["given"], down=look["written"], turned=40)
    words.set_title("words: read (across) for each written")
    draw_look(letters, look["letters"], across=[*look["misspelt"], "⏎"], down=[*look["spelt"], "⏎"])
    letters.set_title(f"letters of “{look['misspelt']}”")
    draw_shares(shares, outcome)


def draw_shares(axes: "Axes", outcome: Outcome) -> None:
    whats = {"misspellings": "misspellings\nput right", "slips": "slips of grammar\nput right"}
    whats["sentences"] = "sentences\nwithout fault"
    for place, (name, colour) in enumerate(
        zip(NAMES.values(), ("tab:blue", "0.45", "tab:orange"), strict=True)
    ):
        heights = [outcome.table[f"{what}, {name}"] for what in whats]
        rows = [row + 0.27 * place for row in range(len(whats))]
        axes.barh(rows, heights, 0.25, label=name, color=colour)
    axes.set_yticks([row + 0.27 for row in range(len(whats))], list(whats.values()))
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share")
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.13), ncols=2, frameon=False, fontsize=9)


ENTRY = Entry(
    name="nested",
    title="Attention to words, and inside a word to its letters",
    source="Ji et al. (2017), A Nested Attention Neural Hybrid Model for Grammatical Error Correction",
    task="Correct sentences with nouns misspelt in ways never seen before and a slip of grammar.",
    formula=(
        "words    α_k = softmax_k(φ₁(d)ᵀ φ₂(h_k))\n"
        "letters  β_kj = softmax_j(φ₃(s)ᵀ φ₄(x_kj)),  context = Σ_k Σ_j α_k β_kj x_kj;  φ: linear, then tanh"
    ),
    without="all nouns in its vocabulary, misspelt ones unknown, and attention to words alone",
    measure="sentences corrected without fault",
    better="higher",
    train=train,
    draw=draw,
    real=REAL,
)
