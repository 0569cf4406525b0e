"""Hierarchical attention (Yang et al., 2016) on IMDB and Yelp, with both levels audited.

Three models of as many parameters, all with convolutions as encoders (han-conv and flan-conv of
`heedful.models`, narrower): attention over words and sentences, equal weights at both levels, and attention
over all words of a text at once (FLAN). Beside them a bag of words: a linear layer over the mean word vector.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.data import Corpus, Vocabulary, load_data
from heedful.drawing import BLUE, GREY, ORANGE, SKY
from heedful.gallery.both_levels import audit_levels, some_texts
from heedful.gallery.entry import Outcome, RealTask, Size
from heedful.gallery.learning import as_large, parameters_of
from heedful.gallery.levels import draw_sentences, painted_by_both, read_levels
from heedful.gallery.over_seeds import mean_and_bar
from heedful.gallery.painting import paint_lines, wrap
from heedful.models import HierarchicalClassifier, build_model
from heedful.training import Run, prepare
from heedful.training import train as train_model
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CORPORA = {"imdb": "imdb.csv.gz", "yelp": "yelp_full_sample.csv.gz"}
HAN, EQUAL, FLAN, BAG = "HAN", "equal weights", "FLAN", "bag of words"
KINDS: dict[str, dict[str, Any]] = {
    HAN: {"model": "han-conv"},
    EQUAL: {"model": "han-conv", "control": "uniform"},
    FLAN: {"model": "flan-conv"},
}
COLOURS = {HAN: BLUE, EQUAL: ORANGE, FLAN: SKY, BAG: GREY}
WIDTH = 24  # half of the width of HAN's states
COMMON: dict[str, Any] = {
    "embedding": 48,
    "embedding_source": "uniform",
    "min_count": 3,
    "patience": None,
    "halve_on_plateau": False,
}
SMALLER: dict[str, Any] = {"attention_width": 32, "optimiser": "adam", "amsgrad": False, "batch": 32}
COLUMNS, SHOWN = 92, (50, 110)  # characters of a line; words of a text that is shown


@dataclass(frozen=True)
class Budget:
    train: int  # texts, at most
    dev: int
    test: int
    epochs: int
    audited: int  # test texts
    deletions: int  # of a text, at most
    rates: tuple[float, ...]  # dev chooses, for each model


BUDGETS: dict[Size, Budget] = {
    "small": Budget(150, 50, 60, epochs=1, audited=4, deletions=80, rates=(0.003,)),
    "quick": Budget(2000, 400, 1000, epochs=5, audited=40, deletions=240, rates=(0.003,)),
    "full": Budget(20_000, 5000, 5000, epochs=8, audited=300, deletions=640, rates=(0.001, 0.003)),
}


def read_corpus(name: str, folder: Path, budget: Budget) -> Corpus:
    """The corpus as heedful prepares it, or the same part of it in every call."""
    corpus = load_data(name, data_dir=folder.parent)
    chosen = []
    for split, most in (("train", budget.train), ("dev", budget.dev), ("test", budget.test)):
        rows = np.flatnonzero(corpus.splits == split)
        chosen.append(np.random.default_rng(0).permutation(rows)[:most])
    return corpus.take(np.sort(np.concatenate(chosen)))


def width_of(kind: str, classes: Sequence[str]) -> int:
    """The width of states with which a model has as many parameters as HAN, besides its word vectors."""
    words = Vocabulary.build(["one"])

    def build(kind: str, half: int) -> Any:
        settings, _ = prepare(KINDS[kind]["model"], changes(kind, width=2 * half))
        return build_model(settings, words, classes)

    found = as_large(lambda half: build(kind, half), parameters_of(build(HAN, WIDTH)), widest=128)
    return int(found.settings.hidden)


def changes(kind: str, *, width: int) -> dict[str, Any]:
    """What a model of a kind changes in the preset of its name."""
    own = {name: value for name, value in KINDS[kind].items() if name != "model"}
    return {**COMMON, **SMALLER, **own, "hidden": width}


def fit(corpus: Corpus, kind: str, budget: Budget, *, seed: int, device: str) -> Run:
    """A model of a kind, with the rate that dev favours."""
    width = width_of(kind, corpus.label_names)
    asked = {"epochs": budget.epochs, "seed": seed, **changes(kind, width=width)}
    with one_thread():
        tried = [
            train_model(corpus, model=KINDS[kind]["model"], device=device, rate=rate, **asked)
            for rate in budget.rates
        ]
    return max(tried, key=lambda run: run.result["dev_accuracy"])


def bag_of_words(corpus: Corpus, budget: Budget, *, seed: int) -> float:
    """The plain yardstick's accuracy: a linear layer over the mean word vector, the epoch chosen on dev."""
    with one_thread():
        run = train_model(
            corpus, model="dp", control="uniform", epochs=3 * budget.epochs, rate=0.05, seed=seed, **COMMON
        )
    return float(run.result["test_accuracy"])


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train the models on both corpora, and audit both levels of HAN."""
    budget = BUDGETS[size]
    table: dict[str, float] = {}
    accuracy: dict[str, list[float]] = {kind: [] for kind in COLOURS}
    audits, shown = {}, {}
    for name in CORPORA:
        corpus = read_corpus(name, folder, budget)
        runs = {kind: fit(corpus, kind, budget, seed=seed, device=device) for kind in KINDS}
        for kind, run in runs.items():
            accuracy[kind].append(float(run.result["test_accuracy"]))
        accuracy[BAG].append(bag_of_words(corpus, budget, seed=seed))
        model = runs[HAN].model
        assert isinstance(model, HierarchicalClassifier)
        with one_thread():
            audits[name] = audit_levels(model, some_texts(corpus, budget.audited), most=budget.deletions)
        table |= {f"{name}: accuracy, {kind}": values[-1] for kind, values in accuracy.items()}
        table |= {f"{name}: {what}": value for what, value in audits[name].items()}
        shown[name] = show(model, corpus)
    means = {kind: float(np.mean(values)) for kind, values in accuracy.items()}
    return Outcome(
        figure=means[HAN],
        baseline=means[EQUAL],
        parameters=parameters_of(model),
        baseline_parameters=parameters_of(runs[EQUAL].model),
        table=table,
        picture={"accuracy": accuracy, "audits": audits, "shown": shown},
        yardstick=means[BAG],
    )


def show(model: HierarchicalClassifier, corpus: Corpus) -> dict[str, Any]:
    """A test text of middling length that is decided rightly, with the weights of both levels."""
    test = corpus.split("test")
    fewest, most = SHOWN
    fits = [row for row, text in enumerate(test.texts) if fewest <= len(text.split()) <= most]
    for row in fits or range(len(test)):
        read = read_levels(model, test.texts[row])
        if read.decided == test.labels[row]:
            break
    return {
        "words": read.words,
        "sentences": read.sentences.tolist(),
        "label": test.label_names[read.decided],
    }


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """A text by both levels (first seed), accuracies and what the audit found (all seeds)."""
    shown = outcomes[0].picture["shown"]["imdb"]
    weights = np.array(shown["sentences"])
    blocks = [wrap(sentence, COLUMNS) for sentence in painted_by_both(shown["words"], weights)]
    above, below = 0.31 * sum(map(len, blocks)) + 0.4, 3.6  # inches: the text, and the figures
    figure.set_size_inches(14, above + below)
    bars, text, *charts = (
        figure.add_axes((left, bottom / (above + below), width, height / (above + below)))
        for left, bottom, width, height in (
            (0.01, below, 0.09, above - 0.4),
            (0.11, below, 0.88, above - 0.4),
            *((left, 0.6, 0.235, below - 1.1) for left in (0.05, 0.385, 0.74)),
        )
    )
    text.set_title(f"a review of IMDB, decided rightly as {shown['label']}", fontsize=10, loc="left")
    paint_lines(text, [line for block in blocks for line in block], columns=COLUMNS)
    bars.sharey(text)
    draw_sentences(bars, weights, rows=[len(block) for block in blocks])
    draw_accuracy(charts[0], [outcome.picture["accuracy"] for outcome in outcomes])
    draw_audits(charts[1], charts[2], [outcome.picture["audits"] for outcome in outcomes])


def draw_audits(single: "Axes", skill: "Axes", audits: Sequence[Mapping[str, Mapping[str, float]]]) -> None:
    """How often the most attended item matters more than a random one; and the skill of the maps."""
    draw_bars(single, audits, [("the most attended {} matters more than a random other", BLUE, "attention")])
    single.axhline(0.5, color=GREY, ls="--")
    single.set_title("the most attended matters more than another (dashed: chance)", fontsize=10)
    draw_bars(
        skill,
        audits,
        [("heat-map skill of {}s", BLUE, "attention"), ("heat-map skill of {}s, shuffled", GREY, "shuffled")],
    )
    skill.axhline(0, color="black", lw=0.8)
    skill.set_title("heat-map skill (0: blank, 1: the true effects)", fontsize=10)
    skill.legend(frameon=False, fontsize=8)


def draw_accuracy(axes: "Axes", seeds: Sequence[Mapping[str, list[float]]]) -> None:
    for place, (kind, colour) in enumerate(COLOURS.items()):
        mean, bar = mean_and_bar([by[kind] for by in seeds])
        across = np.arange(len(mean)) + 0.2 * (place - 1.5)
        bars = axes.bar(across, mean, 0.19, yerr=bar, capsize=2, color=colour, label=kind)
        axes.bar_label(bars, fmt="%.2f", fontsize=7, padding=2)
    axes.set_xticks(range(len(CORPORA)), list(CORPORA))
    axes.set_ylim(0, 1.15)
    axes.set_title("accuracy", fontsize=10)
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper right")
    axes.spines[["top", "right"]].set_visible(False)


def draw_bars(
    axes: "Axes", seeds: Sequence[Mapping[str, Mapping[str, float]]], kinds: Sequence[tuple[str, str, str]]
) -> None:
    """Bars side by side for words and sentences of each corpus."""
    places = [(corpus, item) for corpus in CORPORA for item in ("word", "sentence")]
    for place, (name, colour, label) in enumerate(kinds):
        values = [[by[corpus][name.format(item)] for corpus, item in places] for by in seeds]
        mean, bar = mean_and_bar(values)
        across = np.arange(len(places)) + 0.4 * (place - (len(kinds) - 1) / 2)
        axes.bar(across, mean, 0.38, yerr=bar, capsize=2, color=colour, label=label)
    axes.set_xticks(range(len(places)), [f"{corpus}\n{item}s" for corpus, item in places], fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


REAL = RealTask(
    files=tuple(CORPORA.values()),
    obtain=(
        "They are the Large Movie Review Dataset (Maas et al., 2011) and a sample of Yelp Review Full (Zhang "
        "et al., 2015): docs/gallery/hierarchical.md says where they are, and how to write the tables."
    ),
    task="Tell the sentiment of IMDB's reviews (two classes) and the stars of Yelp's (five).",
    without="the same weight for every word of a sentence and every sentence of a text, and wider states",
    measure="accuracy, mean of both corpora",
    better="higher",
    yardstick="a bag of words",
    train=train,
    draw=draw,
)
