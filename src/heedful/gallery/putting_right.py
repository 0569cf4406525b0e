"""What `nested` does on real data (Ji et al., 2017): misspelt words are put right, letter by letter.

Clean sentences are corrupted with misspellings that people made. What is no common word is read by its
letters, and written so. The model without letters is as large: a misspelt word is unknown to it, and
where it writes "unknown" the word it attends to is copied. So is, for both, what is no word (numbers, signs).
Axes: B pieces of text, T words given, N words written, P unknown words written, Q letters written.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from heedful.gallery.corrector import Corrector, Encoded, Shape, Spells, Texts, surprise
from heedful.gallery.entry import Outcome, Size
from heedful.gallery.gleu import gleu
from heedful.gallery.learning import as_large, learn, parameters_of
from heedful.gallery.misspelt import (
    LONGEST,
    SPELLABLE,
    Learners,
    Material,
    Pairs,
    Words,
    cased,
    corrupt,
    corrupted,
    read_holbrook,
    read_jfleg,
    read_material,
)
from heedful.gallery.nearest_word import NearestWord
from heedful.gallery.seeded import seeded
from heedful.gallery.spelling import END, PADDING, UNKNOWN, as_word, letter_ids
from heedful.gallery.word_by_word import became, tally
from heedful.training.devices import one_thread

ALPHABET = "abcdefghijklmnopqrstuvwxyz'-?"  # the last stands for all others
LONGEST_WORD = 20  # letters that are read and written
MISSPELT, SPELT = 0.25, 0.1  # rates in training: of misspelling, of reading a known word by its letters
NAMES: dict[Spells, str] = {"nested": "nested", "not": "words alone"}
PLAIN = "nearest word"


SHAPE = Shape(
    vocabulary=0,  # as many as the training has
    letters=len(ALPHABET) + 2,
    word=64,
    letter=24,
    across=64,
    inside=96,
    decoder=128,
    between=64,
    places=LONGEST + 2,
)
SMALL = replace(SHAPE, word=16, letter=8, across=16, inside=16, decoder=24, between=16)


@dataclass(frozen=True)
class Budget:
    """How long a model learns, and from what; the same for both."""

    steps: int
    vocabulary: int
    tested: int | None  # sentences of each test
    most: int | None = None  # clean sentences
    shape: Shape = SHAPE
    batch: int = 32
    rate: float = 0.005


BUDGETS: dict[Size, Budget] = {
    "small": Budget(steps=30, vocabulary=200, tested=20, most=2000, shape=SMALL, batch=16),
    "quick": Budget(steps=900, vocabulary=2000, tested=1000),
    "full": Budget(steps=6000, vocabulary=6000, tested=None),
}


def build(spells: Spells, vocabulary: Mapping[str, int], budget: Budget) -> Corrector:
    """An untrained model; that without letters has a wider decoder, for as many parameters."""
    shape = replace(budget.shape, vocabulary=len(vocabulary) + 3)
    nested = Corrector(shape, spells="nested")
    if spells == "nested":
        return nested
    return as_large(
        lambda width: Corrector(replace(shape, inside=0, decoder=width), spells=spells),
        parameters_of(nested),
        widest=512,
    )


def number_common(material: Material, most: int) -> dict[str, int]:
    """The vocabulary: ids from 3, the commonest words first."""
    words = sorted(material.counts, key=lambda word: (-material.counts[word], word))
    return {word: place + 3 for place, word in enumerate(words[:most])}


def as_ids(
    given: Sequence[Words],
    wanted: Sequence[Words],
    vocabulary: Mapping[str, int],
    *,
    spells: Spells,
    spelt: Callable[[], bool] = lambda: False,
) -> Texts:
    """Pairs of as many words; of a model that spells, `spelt` decides of each known word if it is spelt.

    A model that spells what it reads by its letters writes it by letters, too.
    """
    rows: tuple[list[Tensor], list[Tensor]] = [], []
    letters: tuple[list[str], list[str]] = [], []
    for came, right in zip(given, wanted, strict=True):
        ids: tuple[list[int], list[int]] = [], []
        for word, target in zip(came, right, strict=True):
            if spells == "nested" and (word not in vocabulary or (SPELLABLE.fullmatch(word) and spelt())):
                numbers = (UNKNOWN, UNKNOWN)
            else:
                numbers = vocabulary.get(word, UNKNOWN), vocabulary.get(target, UNKNOWN)
            for side, (number, text) in enumerate(zip(numbers, (word, target), strict=True)):
                ids[side].append(number)
                letters[side].extend([text] if number == UNKNOWN else [])
        for side in (0, 1):
            rows[side].append(torch.tensor([*ids[side], END]))
    (read, write), (read_letters, write_letters) = (
        [pad_sequence(side, batch_first=True, padding_value=PADDING) for side in rows],
        [letter_ids([word[:LONGEST_WORD] for word in side], ALPHABET) for side in letters],
    )
    return Texts(read, read_letters, write, write_letters)


def draw_texts(
    material: Material, count: int, chance: np.random.Generator
) -> tuple[list[Words], list[Words]]:
    """Texts of one or more clean sentences, and the same with misspellings."""
    given, wanted, clean = [], [], material.clean["train"]
    for _ in range(count):
        text = clean[chance.integers(len(clean))]
        while chance.random() < 0.6:
            more = clean[chance.integers(len(clean))]
            if len(text) + len(more) > LONGEST:
                break
            text = text + more
        wanted.append(text)
        given.append(corrupt(text, material.faults["train"], chance, rate=MISSPELT))
    return given, wanted


def learn_to_correct(
    spells: Spells,
    material: Material,
    vocabulary: Mapping[str, int],
    budget: Budget,
    *,
    seed: int,
    device: str,
) -> Corrector:
    """A model that has learnt from texts drawn anew for each step, the same for both."""
    chance, letters = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    with one_thread(), seeded(seed):
        model = build(spells, vocabulary, budget).to(device)

        def loss() -> Tensor:
            given, wanted = draw_texts(material, budget.batch, chance)
            texts = as_ids(
                given, wanted, vocabulary, spells=spells, spelt=lambda: bool(letters.random() < SPELT)
            )
            return surprise(model, texts.to(device))

        learn(model, loss, steps=budget.steps, rate=budget.rate)
    return model


@dataclass(frozen=True)
class Read:
    """What was written for a piece of text, and what was attended to."""

    written: list[str]
    words: np.ndarray  # (N,T)
    letters: dict[int, tuple[str, np.ndarray]]  # of spelt words: the word most read, and its letters' (Q,J)


def correct_all(
    model: Corrector, sentences: Sequence[Words], vocabulary: Mapping[str, int], device: str
) -> list[Words]:
    """Sentences as the model would have them; long ones are written in pieces."""
    pieces = [(row, piece) for row, words in enumerate(sentences) for piece in cut(words)]
    found: list[list[str]] = [[] for _ in sentences]
    for start in range(0, len(pieces), 200):
        part = pieces[start : start + 200]
        read = correct(model, [piece for _, piece in part], vocabulary, device)
        for (row, _), one in zip(part, read, strict=True):
            found[row] += one.written
    return [tuple(words) for words in found]


def cut(words: Words) -> list[Words]:
    """Pieces of at most 20 words, after a sign where there is one in the second half."""
    if len(words) <= LONGEST:
        return [words]
    signs = [place for place in range(LONGEST // 2, LONGEST) if words[place] in ".,;:!?"]
    end = signs[-1] + 1 if signs else LONGEST
    return [words[:end], *cut(words[end:])]


@torch.no_grad()
def correct(
    model: Corrector, pieces: Sequence[Words], vocabulary: Mapping[str, int], device: str
) -> list[Read]:
    """Write all pieces, each word and letter after the model's own, the likeliest first."""
    spells: Spells = "nested" if model.read.letters is not None else "not"
    texts = as_ids(pieces, pieces, vocabulary, spells=spells).to(device)
    encoded = model.read(texts.given, texts.given_letters)
    before, state = texts.given.new_full((len(pieces), 1), END), None
    ids, told, looks = [], [], []
    for step in range(texts.given.shape[1] + 3):
        written = model.write(encoded, before, state, first=step)
        assert written.weights is not None
        before, state = written.scores.argmax(-1), written.state
        ids.append(before)
        told.append(written.told)
        looks.append(written.weights)
    chosen, words = torch.cat(ids, 1), torch.cat(looks, 1)  # (B,N), (B,N,T)
    most = words.argmax(-1)  # (B,N) which word is attended to
    there = (chosen == END).cumsum(1) == 0
    unknown = (chosen == UNKNOWN) & there
    spelt, inside = spell(model, encoded, unknown, torch.cat(told, 1)) if spells == "nested" else ([], None)
    names = {number: word for word, number in vocabulary.items()}
    found, turn = [], 0
    for row, piece in enumerate(pieces):
        line: list[str] = []
        kept, letters = [], {}
        for place in range(int(there[row].sum())):
            source = int(most[row, place])
            word = piece[source] if source < len(piece) else ""  # the end may be attended to
            if not unknown[row, place]:
                word = names[int(chosen[row, place])]
            elif inside is not None:
                if SPELLABLE.fullmatch(word):
                    word = spelt[turn]
                    read = int(inside[turn].sum((0, 2)).argmax())
                    seen = piece[int(encoded.places[row, read])]
                    letters[len(line)] = (seen, inside[turn, : len(word) + 1, read, : len(seen) + 1].numpy())
                turn += 1
            if word:
                line.append(word)
                kept.append(place)
        found.append(Read(line, words[row, kept, : len(piece)].cpu().numpy(), letters))
    return found


def spell(model: Corrector, encoded: Encoded, unknown: Tensor, told: Tensor) -> tuple[list[str], Tensor]:
    """The words at the unknown places (B,N), and the weights (P,Q,U,J) of the letters they were read from."""
    about, told = encoded.rows(unknown.nonzero()[:, 0]), told[unknown]
    before, state = told.new_full((len(told), 1), END, dtype=torch.long), None
    ids, looks = [], []
    for _ in range(LONGEST_WORD + 1):
        written = model.spell(about, told, before, state)
        assert written.weights is not None
        before, state = written.scores.argmax(-1), written.state
        ids.append(before)
        looks.append(written.weights)
    return [as_word(row, ALPHABET) for row in torch.cat(ids, 1)], torch.cat(looks, 1).cpu()


Corrects = Callable[[Sequence[Words]], list[Words]]


def judge(
    corrects: Corrects, tests: Mapping[str, Pairs], learners: Learners, unseen: frozenset[str]
) -> dict[str, float]:
    """Errors put right, good words broken and both together, and GLEU of the learners' sentences."""
    found = {"jfleg: GLEU": gleu(learners.sources, rewrite(corrects, learners), learners.references)}
    for name, pairs in tests.items():
        written = corrects(pairs.given)
        counted = tally(pairs.given, written, pairs.wanted).shares()
        found |= {f"{name}: {what}": share for what, share in counted.items()}
        never = tally(pairs.given, written, pairs.wanted, only=unseen).shares()["errors put right"]
        found[f"{name}: errors put right, words never seen misspelt"] = never
    return found


def rewrite(corrects: Corrects, learners: Learners) -> list[str]:
    """Learners' sentences corrected, in their own case."""
    sources = [source.split() for source in learners.sources]
    given = [tuple(word.lower() for word in source) for source in sources]
    return [
        " ".join(cased(source, became(words, came)))
        for source, words, came in zip(sources, given, corrects(given), strict=True)
    ]


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train with letters and without, and let both and the nearest word correct all three tests."""
    budget = BUDGETS[size]
    material = read_material(folder, most=budget.most)
    vocabulary = number_common(material, budget.vocabulary)
    tests = {
        "corrupted": corrupted(material, "test", budget.tested),
        "holbrook": read_holbrook(folder, most=budget.tested),
    }
    learners = read_jfleg(folder, most=budget.tested)
    unseen = frozenset(word for word in material.counts if word not in material.faults["train"])
    models = {
        spells: learn_to_correct(spells, material, vocabulary, budget, seed=seed, device=device)
        for spells in NAMES
    }
    nearest = NearestWord(material.counts)
    correctors: dict[str, Corrects] = {
        NAMES[spells]: partial(correct_all, model, vocabulary=vocabulary, device=device)
        for spells, model in models.items()
    }
    correctors[PLAIN] = lambda sentences: [nearest.correct(words) for words in sentences]
    with one_thread():
        judged = {name: judge(corrects, tests, learners, unseen) for name, corrects in correctors.items()}
        picture = shown(models["nested"], tests["corrupted"], vocabulary, device)
    gleus = {
        "unchanged": gleu(learners.sources, learners.sources, learners.references),
        "JFLEG's spelling checker": gleu(learners.sources, learners.checked, learners.references),
    }
    return Outcome(
        figure=judged["nested"]["corrupted: net"],
        baseline=judged["words alone"]["corrupted: net"],
        parameters=parameters_of(models["nested"]),
        baseline_parameters=parameters_of(models["not"]),
        table={f"{what}, {name}": value for name, by in judged.items() for what, value in by.items()}
        | {f"jfleg: GLEU, {name}": value for name, value in gleus.items()},
        picture={**picture, "judged": judged, "unchanged": gleus["unchanged"]},
        yardstick=judged[PLAIN]["corrupted: net"],
    )


def shown(model: Corrector, pairs: Pairs, vocabulary: Mapping[str, int], device: str) -> dict[str, Any]:
    """The first sentence of 6 to 12 words that was put right by letters, else the first: what was read."""
    fits = [row for row, words in enumerate(pairs.given) if 6 <= len(words) <= 12][:200] or [0]
    read = correct(model, [pairs.given[row] for row in fits], vocabulary, device)
    right = [tuple(one.written) == pairs.wanted[row] for row, one in zip(fits, read, strict=True)]
    place = next((at for at, one in enumerate(read) if right[at] and one.letters), 0)
    one, given = read[place], pairs.given[fits[place]]
    spelt = {one.written[at]: look for at, look in one.letters.items() if at < len(one.written)}
    changed = [word for word in spelt if word not in given]
    word = next(iter([*changed, *spelt]), "")
    misspelt, letters = spelt.get(word, ("", np.zeros((0, 0))))
    return {
        "given": list(given),
        "written": one.written,
        "words": one.words.astype(float).round(3).tolist(),
        "misspelt": misspelt,
        "spelt": word,
        "letters": letters.astype(float).round(3).tolist(),
    }
