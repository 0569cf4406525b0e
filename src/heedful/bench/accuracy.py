"""How accurate the papers' models are here, beside the paper and a bag of words trained in the same run.

Every choice (an epoch, a strength of regularisation) is made on the dev split; the test split is seen once a
model. Runs are those of `heedful.train`, on one thread.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, stdev
from typing import Any

import numpy as np

from heedful.bench.found import Found, Table
from heedful.bench.preparing import prepared
from heedful.data.corpus import Corpus
from heedful.errors import MissingExtra, UserError
from heedful.models.building import build_model
from heedful.models.embeddings import WordVectors, vectors_for
from heedful.models.settings import ModelSettings
from heedful.records.wording import in_percent
from heedful.training.devices import one_thread
from heedful.training.evaluation import evaluate
from heedful.training.from_corpus import vector_texts
from heedful.training.loop import best_epoch, fit

SUN_LU = {"dp": 0.822, "dp-l": 0.817, "dp-a": 0.808, "ad": 0.803}  # test accuracies on SST, their Table 2
SERRANO_SMITH = ("flan-noenc", "han-noenc", "flan-conv", "han-conv", "flan-rnn", "han-rnn")
BAG_OF_WORDS = "bag of words"
STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)  # C of the logistic regression: larger is less regularised


@dataclass(frozen=True)
class Reached:
    """What one training reached; the bag of words has no epochs."""

    corpus: str
    model: str
    seed: int
    dev_accuracy: float
    test_accuracy: float
    epoch: int  # the one that dev chose
    epochs: int  # that were trained
    seconds: float
    chosen: Mapping[str, Any]  # on dev by this run, or changed from the preset by the caller


@dataclass(frozen=True)
class Standing:
    """A model over its seeds, and what it is compared with; None where there is nothing to compare with."""

    model: str
    seeds: int
    dev_accuracy: float
    test_accuracy: float  # means over seeds
    spread: float | None  # standard deviation of the test accuracy over seeds
    paper: float | None
    bag_of_words: float | None
    seconds: float  # a training


def train_models(
    corpus: Corpus,
    models: Sequence[str],
    *,
    seeds: Sequence[int] = (0,),
    changes: Mapping[str, Any] | None = None,
    done: Callable[[Reached], None] | None = None,
) -> list[Reached]:
    """Train each model with each seed, on one thread. `done` hears of each as it ends.

    Models that start from word2vec share one training of it for each seed, which would give each the same.
    """
    _check(corpus)
    shared: dict[tuple[Any, ...], WordVectors | None] = {}
    found = []
    with one_thread():
        for model in models:
            for seed in seeds:
                reached = _train(corpus, model, changes={**(changes or {}), "seed": seed}, shared=shared)
                found.append(reached)
                if done is not None:
                    done(reached)
    return found


def bag_of_words(corpus: Corpus, *, strengths: Sequence[float] = STRENGTHS) -> Reached:
    """TF-IDF of single words under a logistic regression, its strength chosen on dev."""
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtra("The bag of words", "sklearn") from None
    _check(corpus)
    begun = time.perf_counter()
    parts = {name: corpus.split(name) for name in ("train", "dev", "test")}
    weigh = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True).fit(parts["train"].texts)
    texts = {name: weigh.transform(part.texts) for name, part in parts.items()}
    labels = {name: np.asarray(part.labels) for name, part in parts.items()}
    fitted = {
        strength: LogisticRegression(C=strength, max_iter=1000).fit(texts["train"], labels["train"])
        for strength in strengths
    }
    dev = {strength: float(one.score(texts["dev"], labels["dev"])) for strength, one in fitted.items()}
    best = max(dev, key=dev.__getitem__)
    return Reached(
        corpus=corpus.name,
        model=BAG_OF_WORDS,
        seed=0,
        dev_accuracy=dev[best],
        test_accuracy=float(fitted[best].score(texts["test"], labels["test"])),
        epoch=0,
        epochs=0,
        seconds=time.perf_counter() - begun,
        chosen={"C": best},
    )


def standings(
    reached: Sequence[Reached], *, words: Reached | None = None, papers: Mapping[str, float] | None = None
) -> list[Standing]:
    """The models in the order they came, each over its seeds."""
    found = []
    for model in dict.fromkeys(one.model for one in reached):
        own = [one for one in reached if one.model == model]
        tests = [one.test_accuracy for one in own]
        found.append(
            Standing(
                model=model,
                seeds=len(own),
                dev_accuracy=mean(one.dev_accuracy for one in own),
                test_accuracy=mean(tests),
                spread=stdev(tests) if len(tests) > 1 else None,
                paper=(papers or {}).get(model),
                bag_of_words=None if words is None else words.test_accuracy,
                seconds=mean(one.seconds for one in own),
            )
        )
    return found


def _train(
    corpus: Corpus,
    name: str,
    *,
    changes: Mapping[str, Any],
    shared: dict[tuple[Any, ...], WordVectors | None],
) -> Reached:
    begun = time.perf_counter()
    given = prepared(corpus, name, changes)
    settings, seed, train = given.model, given.training.seed, given.splits["train"]
    key = (*_vectors_key(settings), given.vocabulary.words, seed)
    if key not in shared:
        texts = vector_texts(corpus, settings, given.vocabulary, given.rules, train)
        shared[key] = vectors_for(settings, given.vocabulary, texts=texts, seed=seed)
    model = build_model(
        settings, given.vocabulary, corpus.label_names, rules=given.rules, seed=seed, vectors=shared[key]
    )
    history = fit(model, train, given.splits["dev"], settings=given.training)
    epochs = [row for row in history if row["kind"] == "epoch"]
    best = best_epoch(history, given.training)
    return Reached(
        corpus=corpus.name,
        model=name,
        seed=seed,
        dev_accuracy=float(best["dev_accuracy"]),
        test_accuracy=evaluate(model, given.splits["test"]).accuracy,
        epoch=int(best["epoch"]),
        epochs=len(epochs),
        seconds=time.perf_counter() - begun,
        chosen={name: value for name, value in changes.items() if name != "seed"},
    )


def _vectors_key(settings: ModelSettings) -> tuple[Any, ...]:
    names = ("embedding_source", "embedding", "word2vec_passes", "vectors_file", "max_length")
    return tuple(getattr(settings, name) for name in names)


def _check(corpus: Corpus) -> None:
    for name in ("train", "dev", "test"):
        if not len(corpus.split(name)):
            raise UserError(
                f"Comparing accuracies needs train, dev and test, but {corpus.name} has no {name}."
            )


def accuracies(
    corpus: Corpus,
    name: str,
    *,
    models: Sequence[str],
    seeds: int,
    changes: Mapping[str, Any],
    say: Callable[[str], None],
) -> Found:
    """The papers' models beside the papers, and beside a bag of words."""
    papers = SUN_LU if name == "sst" else {}
    words = bag_of_words(corpus)
    say(
        f"bag of words: test accuracy {in_percent(words.test_accuracy, 1)} "
        f"(C {words.chosen['C']:g}, chosen on dev)"
    )
    reached = train_models(
        corpus,
        models or list(papers or SERRANO_SMITH),
        seeds=range(seeds),
        changes=changes,
        done=lambda one: say(
            f"{one.model}, seed {one.seed}: test accuracy {in_percent(one.test_accuracy, 1)}, "
            f"dev {in_percent(one.dev_accuracy, 1)} (epoch {one.epoch} of {one.epochs}), {one.seconds:.0f} s"
        ),
    )
    found = standings(reached, words=words, papers=papers)
    columns = ["model", "seeds", "dev", "test", "± (sd)", "− paper", "− words", "seconds"]
    rows = [
        [
            one.model,
            str(one.seeds),
            in_percent(one.dev_accuracy, 1),
            in_percent(one.test_accuracy, 1),
            "–" if one.spread is None else f"{100 * one.spread:.1f}",
            _beside(one.test_accuracy, one.paper),
            _beside(one.test_accuracy, one.bag_of_words),
            f"{one.seconds:.0f}",
        ]
        for one in found
    ]
    numbers = {
        "corpus": name,
        "bag_of_words": asdict(words),
        "models": [asdict(one) for one in found],
        "runs": [asdict(one) for one in reached],
    }
    return Found(numbers, (Table(f"Accuracies on {name}, means over seeds", columns, rows),))


def _beside(value: float, other: float | None) -> str:
    return "–" if other is None else f"{100 * (value - other):+.1f}"
