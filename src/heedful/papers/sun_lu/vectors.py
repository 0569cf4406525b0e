"""The paper's future work: pretrained word vectors. Do similar words lift each other's scores?

Pretrained are vectors of word2vec on the training texts themselves, and GloVe's where the data folder has
them, beside vectors from scratch. The starts:

    scratch             uniform noise, as in the paper
    word2vec            as trained: frequent words have vectors ten times as long as the paper's
    word2vec, evened    all as long as the paper's, without the direction that all have in common
    word2vec, frozen    the evened ones, which do not go on learning
    GloVe               of six billion words of other texts; words that it has not start as from scratch
    GloVe, evened       as above

The rare words of the training split are compared with their nearest frequent words, by a word2vec of another
seed, the same for all starts: if similar words lift each other, a rare word's polarity goes with that of its
neighbours more than from scratch. The control gives each rare word the neighbours of another one.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.data.vocabulary import SPECIAL
from heedful.data.words import WordRules
from heedful.drawing import BLACK, BLUE, GREY, ORANGE, new_figure
from heedful.files import write_atomically
from heedful.papers.glove import PLACE, glove
from heedful.papers.names import corpus_label
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import (
    accuracy_effect,
    effect_of_runs,
    error_over_texts,
    rank_correlation,
)
from heedful.papers.sun_lu.human import human_polarity
from heedful.papers.sun_lu.measures import all_words, evened, hits, similar_words
from heedful.papers.sun_lu.trainings import of_measure
from heedful.records import Claim, Estimate
from heedful.study.experiment import Experiment, Tables
from heedful.study.grid import Study
from heedful.study.workbench import Bench, Measure
from heedful.training.presets import prepare

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOURCE = "Sun & Lu (2020), §6 (future work): pretrained word vectors"
WORDS, HITS = Measure(all_words), Measure(hits)
CORPORA = ("sst", "imdb")
QUICK_SEEDS = (0, 1, 2)
RARE, FREQUENT, NEIGHBOURS = (2, 5), 20, 10
PASSES = 30
YARDSTICK_SEED = 1000  # of the word2vec that says which words are similar: none of the trainings has it
WIDTH, RANGE = 100, 0.1  # of the paper's vectors: they are uniform in (−0.1, 0.1)
SCRATCH, SHOWN_START = "scratch", "word2vec, evened"
SCORES = ("polarity", "attention")
SHOWN = (
    ("polarity near", "polarity, with neighbours'", BLUE, "o"),
    ("attention near", "attention, with neighbours'", ORANGE, "s"),
    ("human", "polarity, with human polarity", BLACK, "D"),
    ("polarity other", "polarity, with another word's neighbours'", GREY, "x"),
)


def measure(bench: Bench) -> Tables:
    """dp at λ = 10 from each start."""
    seeds = trainings.seeds(bench, quick=QUICK_SEEDS)
    lifts, pairs = [], []
    for corpus in trainings.some(bench, "corpora", CORPORA, quick=("sst",)):
        near = _similar(bench, corpus)
        scratch: pd.DataFrame | None = None
        human = human_polarity(bench.data_dir) if corpus == "sst" else None
        for start, settings in starts(bench, corpus).items():
            found = trainings.on_corpus(bench, corpus, WORDS, HITS, seeds=seeds, **settings)
            judged = of_measure(found, HITS)
            scratch = judged if scratch is None else scratch
            # Over texts, of the accuracy gained over the first start, which is from scratch.
            error = error_over_texts(judged, scratch)
            for seed, run in found.groupby("seed"):
                words, result = of_measure(run, WORDS), of_measure(run, HITS).iloc[0]
                compared = beside_neighbours(words, near)
                about = {"corpus": corpus, "start": start, "seed": seed}
                reached = {"test accuracy": result["test_accuracy"], "texts": int(result["texts"])}
                lifts.append({**about, **lift(compared, human), **reached, "error": error})
                if seed == min(seeds):
                    pairs.append(compared.assign(**about))
    table = pd.DataFrame(lifts)
    return {"lifts": table, "pairs": pd.concat(pairs, ignore_index=True), "summary": summarise(table)}


def starts(bench: Bench, corpus: str) -> dict[str, dict[str, Any]]:
    """The settings of each start; evened vectors are made once a corpus and kept in the bench's folder."""
    evened_ = _evened_file(bench, corpus, f"vectors/{corpus}-evened.txt")
    found = {
        SCRATCH: {"embedding_source": "uniform"},
        "word2vec": {"embedding_source": "word2vec"},
        SHOWN_START: evened_,
        "word2vec, frozen": {**evened_, "embedding_frozen": True},
    }
    theirs = glove(bench)
    if theirs is None:
        bench.say(f"The starts from GloVe are left out: the data folder has no {PLACE}.")
        return found
    plain = {"embedding_source": "file", "vectors_file": theirs}
    even = _evened_file(bench, corpus, f"vectors/{corpus}-glove-evened.txt", bench.folder / theirs)
    return {**found, "GloVe": plain, "GloVe, evened": even}


def _evened_file(bench: Bench, corpus: str, path: str, vectors: Path | None = None) -> dict[str, Any]:
    if not (bench.folder / path).exists():
        bench.say(f"Making even vectors for {corpus} …")
        write_evened(load_data(corpus, data_dir=bench.data_dir), bench.folder / path, vectors)
    return {"embedding_source": "file", "vectors_file": path}


def write_evened(corpus: Corpus, path: Path, vectors: Path | None = None) -> None:
    """Write a file's vectors, or word2vec's of the training texts, evened, in word2vec's text format."""
    from heedful.models import train_word2vec
    from heedful.models.embeddings import read_vectors
    from heedful.training.from_corpus import encode_splits
    from heedful.training.run import Recipe

    model, training = prepare("dp")
    recipe = Recipe(model=model, training=training, words=WordRules(), corpus={}, classes=corpus.label_names)
    vocabulary, sets = encode_splits(corpus, recipe)
    known = np.arange(len(SPECIAL), len(vocabulary))
    if vectors is None:
        texts = map(sets["train"].row, range(len(sets["train"])))
        found = train_word2vec(texts, vocabulary, width=WIDTH, passes=PASSES)
    else:
        found = read_vectors(vectors, vocabulary)
        known = known[found.found.numpy()[known]]
    length = RANGE * (WIDTH / 3) ** 0.5  # of a vector whose numbers are uniform in ±RANGE
    table = length * evened(found.table.numpy(), known)
    with write_atomically(path) as file:
        file.write(f"{len(known)} {WIDTH}\n")
        for row in known:
            file.write(f"{vocabulary.words[row]} {' '.join(f'{number:.6g}' for number in table[row])}\n")


def _similar(bench: Bench, corpus: str) -> pd.DataFrame:
    """Neighbours of rare words, found once a corpus on the vocabulary of one run."""
    options = {"rare": list(RARE), "frequent": FREQUENT, "neighbours": NEIGHBOURS}
    options |= {"passes": PASSES, "seed": YARDSTICK_SEED}
    near = Measure(similar_words, options)
    one = Study(f"neighbours, {corpus}", (corpus,), ("dp",), settings={"epochs": 1})
    return bench.measured(one, near)[["word", "neighbour"]]


def beside_neighbours(words: pd.DataFrame, near: pd.DataFrame) -> pd.DataFrame:
    """Each rare word's scores, their means over its neighbours (`… near`), and over another's (`… other`)."""
    scores = words.set_index("word")[list(SCORES)]
    own = scores.reindex(near["neighbour"]).set_axis(near["word"].to_numpy()).groupby(level=0).mean()
    draw = np.random.default_rng(YARDSTICK_SEED)
    ring = draw.permutation(len(own))  # each takes from the one before: nobody keeps its own
    other = own.iloc[np.roll(ring, 1)].set_axis(own.index[ring])
    rare = scores.loc[own.index]
    return (
        rare.join(own.add_suffix(" near"))
        .join(other.add_suffix(" other"))
        .rename_axis("word")
        .reset_index()
        .merge(words[["word", "count", "gamma"]], on="word")
    )


def lift(compared: pd.DataFrame, human: pd.Series | None) -> dict[str, float]:
    """How the scores of rare words go with their neighbours', with others', and with people's."""
    found: dict[str, float] = {"words": len(compared)}
    for name in SCORES:
        for whose in ("near", "other"):
            found[f"{name} {whose}"] = rank_correlation(compared[name], compared[f"{name} {whose}"]).value
    if human is not None:
        judged = compared.merge(human, left_on="word", right_index=True)
        found["labelled words"] = len(judged)
        found["human"] = rank_correlation(judged["polarity"], judged["human"]).value
    return found


def summarise(lifts: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds; s is polarity and a attention."""
    means = lifts.groupby(["corpus", "start"], sort=False).mean(numeric_only=True).reset_index()
    short = {"polarity near": "s, near", "polarity other": "s, other", "attention near": "a, near"}
    short |= {"attention other": "a, other", "human": "s, human", "test accuracy": "accuracy"}
    kept = [name for name in short if name in means]
    return means[["corpus", "start", *kept]].rename(columns=short).round(3)


def claims(tables: Tables) -> Iterator[Claim]:
    """More than from scratch: with neighbours, with people, and in accuracy?"""
    for corpus, rows in tables["lifts"].groupby("corpus", sort=False):
        by_start = {start: own.sort_values("seed") for start, own in rows.groupby("start", sort=False)}
        scratch = by_start[SCRATCH]
        for start in [name for name in by_start if name != SCRATCH]:
            own, where = by_start[start], f"{corpus}, dp, λ = 10, {start}"
            for name in SCORES:
                yield _gain(
                    f"Similar words lift each other's {name} ({where})",
                    own,
                    scratch,
                    f"{name} near",
                    beside=f"{name} other",
                )
            if own.get("human", pd.Series(dtype=float)).notna().any():
                statement = f"Pretrained vectors bring rare words' polarity nearer to people ({where})"
                yield _gain(statement, own, scratch, "human")
            yield Claim.decided(
                f"Pretrained vectors raise test accuracy ({where})",
                SOURCE,
                effect=accuracy_effect(
                    "test accuracy: pretrained − from scratch",
                    list(own["test accuracy"].to_numpy() - scratch["test accuracy"].to_numpy()),
                    measured="The test split, the same seeds and texts on both sides.",
                    texts=int(own["texts"].min()),
                    error=float(own["error"].iloc[0]),
                ),
                comparison=">",
                threshold=0,
            )


def _gain(
    statement: str, own: pd.DataFrame, scratch: pd.DataFrame, column: str, *, beside: str | None = None
) -> Claim:
    effect = effect_of_runs(
        f"ρ of rare words with {_whom(column)}: pretrained − from scratch",
        list(own[column].to_numpy() - scratch[column].to_numpy()),
        measured=f"Words that occur {RARE[0]} to {RARE[1]} times, and their {NEIGHBOURS} nearest of those "
        f"that occur {FREQUENT} times or more; the same seeds on both sides.",
        count=int(own["labelled words" if column == "human" else "words"].min()),
        within=(-2.0, 2.0),
    )
    if beside is not None:
        control = Estimate(float(np.mean(own[beside].to_numpy() - scratch[beside].to_numpy())))
        effect = replace(effect, baselines={"another word's neighbours": control})
    return Claim.decided(statement, SOURCE, effect=effect, comparison=">", threshold=0)


def _whom(column: str) -> str:
    return "human polarity" if column == "human" else f"their neighbours ({column.removesuffix(' near')})"


def draw_vectors(tables: Tables) -> "Figure":
    """A panel a corpus with ρ by start, and its rare words beside their neighbours, from word2vec."""
    lifts, pairs = tables["lifts"], tables["pairs"]
    corpora = list(dict.fromkeys(lifts["corpus"]))
    figure = new_figure(8.6, 3.3 * len(corpora))
    grid = figure.add_gridspec(len(corpora), 2, width_ratios=(1.5, 1))
    for row, corpus in enumerate(corpora):
        left = figure.add_subplot(grid[row, 0])
        _starts(left, lifts[lifts["corpus"] == corpus])
        left.set_title(f"{corpus_label(corpus)}: rare words, dp, λ = 10 (mean and range over seeds)")
        own = pairs[(pairs["corpus"] == corpus) & (pairs["start"] == SHOWN_START)]
        right = figure.add_subplot(grid[row, 1])
        right.scatter(
            own["polarity near"],
            own["polarity"],
            s=4,
            color=BLUE,
            alpha=0.35,
            linewidths=0,
            rasterized=True,
        )
        right.set_title(f"{SHOWN_START}; one seed, {len(own):,} words")
        right.set_xlabel("mean polarity of its neighbours")
        right.set_ylabel("polarity of the rare word")
    figure.axes[0].legend(loc="upper left", fontsize=7)
    return figure


def _starts(axes: "Axes", lifts: pd.DataFrame) -> None:
    starts = list(dict.fromkeys(lifts["start"]))
    shown = [one for one in SHOWN if one[0] in lifts and lifts[one[0]].notna().any()]
    for number, (column, label, colour, marker) in enumerate(shown):
        groups = lifts.groupby("start", sort=False)[column]
        mean = groups.mean()
        shift = 0.15 * (number - (len(shown) - 1) / 2)
        axes.errorbar(
            [starts.index(start) + shift for start in mean.index],
            mean,
            [mean - groups.min(), groups.max() - mean],
            fmt=marker,
            color=colour,
            markersize=5,
            capsize=2,
            label=label,
        )
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xticks(range(len(starts)), [start.replace(", ", ",\n") for start in starts])
    axes.set_xlim(-0.5, len(starts) - 0.5)
    axes.set_ylabel("Spearman's ρ over rare words")


EXPERIMENT = Experiment(
    "sun-lu-vectors",
    "Pretrained word vectors: do similar words lift each other's scores?",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-vectors": draw_vectors},
)
