"""From a corpus to a run: words, vocabulary, model, training, and one look at the test split at the end."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from heedful.data.columns import reading_options
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.named import load_data
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules, rules_for
from heedful.errors import UserError
from heedful.files import check_folder, locked
from heedful.models.building import Classifier, build_model
from heedful.models.embeddings import WordVectors, vectors_for
from heedful.models.settings import ModelSettings
from heedful.training import run as files
from heedful.training.callbacks import Callback
from heedful.training.checkpoint import Checkpoint
from heedful.training.devices import find_device, one_thread
from heedful.training.evaluation import encode_as, evaluate
from heedful.training.loop import best_epoch, fit
from heedful.training.presets import check_together, prepare
from heedful.training.run import Recipe, Run
from heedful.training.settings import TrainingSettings

# A checkpoint is written after every epoch, unless that would take more than this share of the time: one of a
# large table can cost more than a short epoch.
SHARE_FOR_CHECKPOINTS = 0.05
# Encoders whose sums are split over threads.
ORDERED = frozenset(("bilstm", "bigru", "conv", "pretrained", "lstm", "gru", "self-attention"))
LEAST_TO_DEAL = 3  # different texts of a class that can be dealt to train, dev and test


def train(
    source: "Corpus | str | Path",
    *,
    model: str = "dp",
    out: str | Path | None = None,
    data_dir: str | Path | None = None,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    encoding: str | None = None,
    test_share: float | None = None,
    rules: WordRules | None = None,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    deterministic: bool = False,
    say: Callable[[str], None] = lambda sentence: None,
    **changes: Any,
) -> Run:
    """Train a model by its name; `changes` are settings of the model or of the training.

    With `out` a run folder is left there. `text` to `test_share` say how a file is read, as for `load_data`.
    `say` is told, before any training, what was guessed about the texts. `attention` and `encoder` may be
    classes of your own (`heedful.models.own_parts`). Recurrent encoders add up in an order that depends on
    the number of threads, which the run records; `deterministic` takes one.

    Example: `heedful.train("reviews.csv", model="dp", scale=10, epochs=20, out="runs/reviews")`
    """
    model_settings, training_settings = prepare(model, changes)
    find_device(device)
    where: dict[str, Any] = {}
    said = reading_options(text=text, label=label, split=split, encoding=encoding, test_share=test_share)
    if isinstance(source, Corpus):
        if said:
            raise UserError(
                f"Columns are named for files, but {source.name} is a corpus, with texts and labels: leave "
                f"out {', '.join(said)}, or say it where the corpus is loaded."
            )
    else:
        where = {"source": str(source), **said}
        # The corpus and its splits do not follow the training's seed: runs over seeds must differ in nothing
        # else.
        source = load_data(source, data_dir=data_dir, **said)
    for note in source.notes:
        say(note)
    threads = torch.get_num_threads()
    if model_settings.encoder in ORDERED and threads > 1 and not deterministic:
        say(
            f"Training on {threads} threads: on another number of them the last digits differ, and so may "
            "the result. --deterministic takes one."
        )
    with one_thread() if deterministic else nullcontext():
        return train_run(
            source,
            model=model_settings,
            training=training_settings,
            rules=rules,
            source={**where, "preset": model},
            out=out,
            device=device,
            callbacks=callbacks,
        )


def train_run(
    corpus: Corpus,
    *,
    model: ModelSettings,
    training: TrainingSettings,
    rules: WordRules | None = None,
    source: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
) -> Run:
    """Train on `corpus` and judge once on its test split; with `out`, leave a run folder there.

    An unfinished folder made from the same recipe is finished; one made from another is refused, and so is a
    finished one.
    """
    check_together(model, training)
    find_device(device)
    rules = rules or rules_for(corpus.texts)
    recipe = Recipe(
        model=model,
        training=training,
        words=rules,
        corpus={"name": corpus.name, "fingerprint": corpus.fingerprint, **(source or {})},
        classes=corpus.label_names,
    )
    if out is None:
        return _train(_start(corpus, recipe), recipe, device=device, callbacks=callbacks, notes=corpus.notes)
    folder = Path(out)
    _refuse_another_run(folder, recipe)
    start = _start(corpus, recipe)  # before the lock: texts that cannot be learnt from leave no folder
    with locked(folder / files.LOCK):
        _refuse_another_run(folder, recipe)  # again, now that nobody else can write
        run = _train(start, recipe, device=device, callbacks=callbacks, notes=corpus.notes, folder=folder)
        run = run.save(folder)
        (folder / files.CHECKPOINT).unlink(missing_ok=True)
    return run


@dataclass(frozen=True)
class _Start:
    """What a training begins with."""

    begun: float
    vocabulary: Vocabulary
    sets: dict[str, EncodedTexts]
    model: Classifier


def _start(corpus: Corpus, recipe: Recipe) -> _Start:
    begun = time.perf_counter()
    vocabulary, sets = encode_splits(corpus, recipe)
    return _Start(begun, vocabulary, sets, untrained(corpus, recipe, vocabulary, sets["train"]))


def untrained(corpus: Corpus, recipe: Recipe, vocabulary: Vocabulary, train: EncodedTexts) -> Classifier:
    """The model that a recipe's training begins with, its word vectors where the settings ask for some."""
    return build_model(
        recipe.model,
        vocabulary,
        recipe.classes,
        rules=recipe.words,
        seed=recipe.training.seed,
        vectors=starting_vectors(corpus, recipe, vocabulary, train),
    )


def starting_vectors(
    corpus: Corpus, recipe: Recipe, vocabulary: Vocabulary, train: EncodedTexts
) -> WordVectors | None:
    """The word vectors that a recipe's model starts from, read or learnt; None where they are noise."""
    texts = vector_texts(corpus, recipe.model, vocabulary, recipe.words, train)
    return vectors_for(recipe.model, vocabulary, texts=texts, seed=recipe.training.seed)


def vector_texts(
    corpus: Corpus, model: ModelSettings, vocabulary: Vocabulary, rules: WordRules, train: EncodedTexts
) -> Iterator[np.ndarray]:
    """The ids from which word vectors are learnt: training texts as they are read, or sentences, whole.

    Sentences are those of train and dev; a label is not looked at.
    """
    if model.embedding_source != "word2vec-sentences":
        yield from map(train.row, range(len(train)))
        return
    for name in ("train", "dev"):
        whole = encode_texts(corpus.split(name).texts, None, vocabulary, rules=rules, sentences=True)
        assert whole.sentences is not None
        new = np.diff(whole.sentences) != 0
        new[whole.offsets[1:-1] - 1] = True
        yield from np.split(whole.ids, np.flatnonzero(new) + 1)


def _train(
    start: _Start,
    recipe: Recipe,
    *,
    device: str,
    callbacks: Sequence[Callback],
    notes: tuple[str, ...],
    folder: Path | None = None,
) -> Run:
    model, sets = start.model, start.sets
    resume = None
    if folder is not None:
        if (folder / files.CHECKPOINT).exists():
            resume = Checkpoint.load(folder / files.CHECKPOINT)
        else:
            files.write_beginning(folder, recipe, start.vocabulary)
    history = fit(
        model,
        sets["train"],
        sets["dev"],
        settings=recipe.training,
        device=device,
        callbacks=callbacks,
        resume=resume,
        keep=_Keeper(folder / files.CHECKPOINT) if folder is not None else None,
    )
    earlier = sum(row["seconds"] for row in (resume.history if resume else ()) if row["kind"] == "epoch")
    best = best_epoch(history, recipe.training)
    result = {
        "dev_accuracy": best["dev_accuracy"],
        "epoch": best["epoch"],
        "epochs": sum(row["kind"] == "epoch" for row in history),
        **_test_once(model, sets.get("test")),
        "seconds": earlier + time.perf_counter() - start.begun,
    }
    return Run(model, recipe, start.vocabulary, pd.DataFrame(history), result, notes=notes)


def encode_splits(corpus: Corpus, recipe: Recipe) -> tuple[Vocabulary, dict[str, EncodedTexts]]:
    """The vocabulary of the training split, or of all, and every split that has texts in its ids."""
    _check_splits(corpus)
    parts = {name: corpus.split(name) for name in ("train", "dev", "test")}
    vocabulary = Vocabulary.of_texts(
        corpus.texts if recipe.training.vocabulary == "all" else parts["train"].texts,
        recipe.words,
        min_count=recipe.training.min_count,
        max_size=recipe.training.max_words,
    )
    sets = {
        name: encode_as(recipe.model, vocabulary, recipe.words, part.texts, part.labels)
        for name, part in parts.items()
        if len(part)
    }
    return vocabulary, sets


def _check_splits(corpus: Corpus) -> None:
    for name in ("train", "dev"):
        if name in corpus.splits:
            continue
        texts: dict[int, set[str]] = {}
        for text, label in zip(corpus.texts, corpus.labels, strict=True):
            texts.setdefault(int(label), set()).add(text)
        if max(map(len, texts.values()), default=0) < LEAST_TO_DEAL:
            raise UserError(
                f"{corpus.name} has too few rows ({len(set(corpus.texts))} different texts) for a {name} "
                f"split: give at least {LEAST_TO_DEAL} different texts of each class."
            )
        raise UserError(f"{corpus.name} has no {name} split to train with: put some of its texts there.")


def _test_once(model: Classifier, test: EncodedTexts | None) -> dict[str, float | None]:
    if test is None:
        return {"test_accuracy": None, "test_macro_f1": None}
    judged = evaluate(model, test)
    return {"test_accuracy": judged.accuracy, "test_macro_f1": judged.macro_f1}


def _refuse_another_run(folder: Path, recipe: Recipe) -> None:
    if (folder / files.RESULT).exists():
        raise UserError(f"{folder} holds a finished run: choose another place, or remove it first.")
    check_folder(folder, marks=(files.SETTINGS,))
    if not (folder / files.SETTINGS).exists():
        return
    if Recipe.load(folder / files.SETTINGS).to_toml() != recipe.to_toml():
        raise UserError(
            f"{folder} holds an unfinished run with other settings: choose another place, or remove it."
        )


class _Keeper:
    """Writes a checkpoint whenever writing them has not taken its share of the time already."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ended, self.cost = time.perf_counter(), 0.0

    def __call__(self, checkpoint: Checkpoint) -> None:
        begun = time.perf_counter()
        if self.cost <= SHARE_FOR_CHECKPOINTS * (begun - self.ended):
            checkpoint.save(self.path)
            self.ended = time.perf_counter()
            self.cost = self.ended - begun
