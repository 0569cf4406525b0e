"""Texts whose deciding words are known: words planted at random places of real or generated ones.

A task says how the planted words make the class:

- `one`: a word of the class. `redundant`: several, and each suffices. `mixed`: several of the class and
  fewer of another, which speak against it. `pair`: a word for the row and one for the column of a square of
  classes; both are needed. `both`: class 1 needs two words together; with one or none it is class 0.
- `ordered`: two words, and which comes first. `context`: a word, and another that turns its meaning round.
- `detection`: words of all classes but the first, which is the class of texts without any.

Decoys are planted too, and say nothing: attention may be led to them. In a share of the texts they are of a
strong kind, in the others of a weak one.

Axes: N texts, K classes, T words of a text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from heedful.data.named import load_data
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import split_texts
from heedful.errors import UserError, choose_from

TRUTHS = ("one", "redundant", "mixed", "pair", "both", "ordered", "context", "detection")
SAME_CLASS = ("one", "redundant", "detection")  # in which all deciding words of a text are of its class
TOGETHER = ("pair", "both", "ordered", "context")  # in which several words are needed together
GENERATED = "generated"
CORPORA = (GENERATED, "sst", "agnews", "20news-1")
FILLER, DECIDER, STRONG, WEAK = range(4)  # the role of a word
FORMS = 3  # different words that decide for one class, at least
SENTENCE = 8  # words between two full stops
STREAM = 30_000  # words of a corpus that texts are cut from


def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


# Words that a pretrained model knows; those of its texts that are among them are left out.
NOUNS = _split(
    "walnut harbour violin lantern tiger glacier pepper saddle orchard falcon anchor copper meadow "
    "puppet candle marble basket ribbon turtle cannon velvet pirate salmon thunder cactus pillow "
    "trumpet donkey igloo mustard canyon button spider ladder onion helmet pigeon barrel magnet "
    "carpet dragon lemon hammer monkey shovel rabbit pencil feather kettle garlic"
)


@dataclass(frozen=True)
class Task:
    """What is planted into which texts."""

    corpus: str = GENERATED
    truth: str = "one"
    classes: int = 2
    deciders: int = 1  # in a text, where `truth` leaves it open
    decoys: int = 1  # in a text
    strong: float = 1.0  # the share of texts whose decoys are of the strong kind
    length: tuple[int, int] = (10, 25)  # words of a text, planted ones included
    ratio: float = 1.0  # texts of the first class for each text of another
    noise: float = 0.0  # the share of labels that are wrong
    sentences: bool = False  # written in sentences
    nouns: bool = False  # plant English nouns, not made-up words

    def __post_init__(self) -> None:
        choose_from("truth", self.truth, TRUTHS)
        choose_from("corpus of the truth bench", self.corpus, CORPORA)
        square = round(self.classes**0.5) ** 2 == self.classes
        if self.truth == "pair" and not square:
            raise UserError(f"Pairs of words make a square of classes, and {self.classes} is none.")
        if self.truth in ("both", "ordered", "context") and self.classes != 2:
            raise UserError(f"The truth {self.truth!r} has two classes, but {self.classes} were asked for.")
        if self.length[0] < self.planted:
            raise UserError(f"Texts of {self.length[0]} words cannot hold {self.planted} planted ones.")

    @property
    def deciding(self) -> int:
        """The most words that decide in one text."""
        if self.truth in ("one", "detection"):
            return 1 if self.truth == "one" else self.deciders
        if self.truth == "mixed":
            return self.deciders + (self.deciders - 1) // 2
        return self.deciders if self.truth == "redundant" else 2

    @property
    def planted(self) -> int:
        """The most planted words of one text."""
        return self.deciding + self.decoys

    @property
    def default(self) -> int | None:
        """The class of texts in which nothing decides, where there is one."""
        return 0 if self.truth in ("detection", "both") else None


@dataclass(frozen=True)
class Lexicon:
    """The planted words. `owners` tells the class of each deciding word, or what else it stands for."""

    first: tuple[tuple[str, ...], ...]  # words of each class; rows of a pair; the first of two words
    second: tuple[tuple[str, ...], ...]  # columns of a pair; the second of two words; what turns a meaning
    strong: tuple[str, ...]
    weak: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """All of them."""
        groups = (*self.first, *self.second, self.strong, self.weak)
        return tuple(word for group in groups for word in group)


@dataclass(frozen=True, eq=False)
class Planted:
    """Texts with their labels, and what each word is there for."""

    task: Task
    lexicon: Lexicon
    words: list[list[str]]
    roles: list[NDArray[np.int64]]  # of each word, N arrays (T,)
    classes: NDArray[np.int64]  # (N,) what the planted words say
    labels: NDArray[np.int64]  # (N,) the same but for noise

    def __len__(self) -> int:
        return len(self.words)

    @property
    def texts(self) -> list[str]:
        """The texts as written."""
        return [_written(words, self.task.sentences) for words in self.words]

    def grid(self, role: int, width: int) -> NDArray[np.bool_]:
        """Where words of a role are (N,width)."""
        found = np.zeros((len(self), width), bool)
        for row, roles in enumerate(self.roles):
            found[row, : len(roles)] = roles == role  # padding has no role
        return found

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> "Planted":
        """The texts with these numbers."""
        return Planted(
            self.task,
            self.lexicon,
            [self.words[row] for row in rows],
            [self.roles[row] for row in rows],
            self.classes[rows],
            self.labels[rows],
        )


def plant(task: Task, count: int, *, seed: int, sample: int = 0, bare: float = 0.0) -> Planted:
    """So many texts. One seed has one lexicon; another `sample` draws other texts with its words.

    A share of them, `bare`, has no decoys: a model that learns from those too does not need decoys.
    """
    lexicon = make_lexicon(task, seed=seed)
    draw = np.random.default_rng([seed, 1 + sample])
    stream, starts = _ordinary(task, lexicon)
    classes = _classes(task, count, draw)
    words, roles = [], []
    for label in classes:
        planted = _deciding(task, lexicon, int(label), draw)
        kind = STRONG if draw.random() < task.strong else WEAK
        forms = lexicon.strong if kind == STRONG else lexicon.weak
        many = 0 if draw.random() < bare else task.decoys
        decoys = [(forms[i], kind) for i in draw.choice(len(forms), many, replace=False)]
        length = int(draw.integers(task.length[0], task.length[1] + 1))
        fillers = _run(stream, starts, length - len(planted) - len(decoys), draw)
        text = _mixed(planted, decoys, fillers, draw)
        words.append([word for word, _ in text])
        roles.append(np.array([role for _, role in text]))
    labels = classes.copy()
    wrong = draw.random(count) < task.noise
    labels[wrong] = (labels[wrong] + draw.integers(1, task.classes, wrong.sum())) % task.classes
    return Planted(task, lexicon, words, roles, classes, labels)


def make_lexicon(task: Task, *, seed: int) -> Lexicon:
    """The words that this task plants."""
    draw = np.random.default_rng([seed, 0])
    side = round(task.classes**0.5)
    first, second = {
        "pair": (side, side),
        "both": (1, 1),
        "ordered": (1, 1),
        "context": (2, 1),
    }.get(task.truth, (task.classes, 0))
    forms, decoys = max(FORMS, task.deciders), max(FORMS, task.decoys)
    groups = [forms] * (first + second) + [decoys] * 2
    made = iter(draw.permutation(NOUNS).tolist()) if task.nouns else _made_up(draw, sum(groups))
    taken = [tuple(islice(made, size)) for size in groups]
    if len(taken[-1]) < decoys:
        raise UserError(f"There are only {len(NOUNS)} nouns to plant, and {sum(groups)} are needed.")
    return Lexicon(tuple(taken[:first]), tuple(taken[first : first + second]), taken[-2], taken[-1])


def known_words(task: Task, *, seed: int) -> Vocabulary:
    """All words that texts of this task can have."""
    lexicon = make_lexicon(task, seed=seed)
    return Vocabulary.build([*lexicon.words, *set(_ordinary(task, lexicon)[0])])


def _ordinary(task: Task, lexicon: Lexicon) -> tuple[list[str], NDArray[np.int64]]:
    return _stream(task.corpus, frozenset(lexicon.words) if task.nouns else frozenset())


def _classes(task: Task, count: int, draw: np.random.Generator) -> NDArray[np.int64]:
    shares = np.array([task.ratio, *[1.0] * (task.classes - 1)])
    return draw.choice(task.classes, count, p=shares / shares.sum())


def _deciding(task: Task, lexicon: Lexicon, label: int, draw: np.random.Generator) -> list[tuple[str, int]]:
    """The words that make this class, in their order, with their roles."""

    def some(forms: tuple[str, ...], many: int = 1) -> list[tuple[str, int]]:
        return [(forms[i], DECIDER) for i in draw.choice(len(forms), many, replace=False)]

    first, second = lexicon.first, lexicon.second
    if task.truth == "one":
        return some(first[label])
    if task.truth == "redundant":
        return some(first[label], task.deciders)
    if task.truth == "mixed":
        other = (label + draw.integers(1, task.classes)) % task.classes
        return some(first[label], task.deciders) + some(first[other], (task.deciders - 1) // 2)
    if task.truth == "pair":
        return some(first[label // len(first)]) + some(second[label % len(first)])
    if task.truth == "detection":
        return some(first[label], task.deciders) if label else []
    a, b = some(first[0]), some(second[0])
    if task.truth == "ordered":
        return a + b if label == 0 else b + a
    if task.truth == "context":
        turned = bool(draw.integers(2))
        return some(first[label ^ turned]) + (b if turned else [])
    if label:  # both
        return a + b
    lone = [[], a, b][draw.integers(3)]
    return [(word, FILLER) for word, _ in lone]


def _mixed(
    planted: list[tuple[str, int]],
    decoys: list[tuple[str, int]],
    fillers: list[str],
    draw: np.random.Generator,
) -> list[tuple[str, int]]:
    """Planted words, in their order, and decoys at random places among the fillers."""
    count = len(planted) + len(decoys) + len(fillers)
    places = draw.permutation(count)
    text: list[tuple[str, int]] = [("", FILLER)] * count
    for place, word in zip(np.sort(places[: len(planted)]), planted, strict=True):
        text[place] = word
    for place, word in zip(places[len(planted) :][: len(decoys)], decoys, strict=True):
        text[place] = word
    rest = iter(fillers)
    return [word if word[0] else (next(rest), FILLER) for word in text]


def _run(stream: list[str], starts: NDArray[np.int64], count: int, draw: np.random.Generator) -> list[str]:
    begin = int(draw.choice(starts[starts <= len(stream) - count]))
    return stream[begin : begin + count]


def _written(words: list[str], sentences: bool) -> str:
    if not sentences:
        return " ".join(words)
    return " ".join(" ".join(words[i : i + SENTENCE]) + "." for i in range(0, len(words), SENTENCE))


@lru_cache(maxsize=8)
def _stream(corpus: str, without: frozenset[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The words of a corpus one after another, and where texts begin."""
    if corpus == GENERATED:
        draw = np.random.default_rng(0)
        chances = 1 / np.arange(5, 905)
        ids = draw.choice(900, STREAM, p=chances / chances.sum())
        return [f"w{i}" for i in ids], np.arange(STREAM)
    texts = load_data(corpus).texts
    stream: list[str] = []
    starts = []
    for text in texts:
        starts.append(len(stream))
        # The least that a text of another word-splitting rule must agree on: letters and digits alone.
        stream += [word for word in split_texts([text])[0].forms if word.isalnum() and word not in without]
        if len(stream) >= STREAM:
            break
    return stream, np.array(starts)


def _made_up(draw: np.random.Generator, count: int) -> Iterator[str]:
    consonants, vowels = list("bdfgklmnprstvz"), list("aeiou")
    seen: dict[str, None] = {}
    while len(seen) < count:
        syllables = ["".join((draw.choice(consonants), draw.choice(vowels))) for _ in range(3)]
        seen["".join(syllables) + "q"] = None  # no English word ends so
    return iter(seen)
