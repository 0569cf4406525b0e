"""What counts as a word in Sun & Lu's Table 2: marks, and words that train has not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drawn import drawn_to

from debated import CORPUS, bench_in, work_here
from heedful.data.words import split_texts
from heedful.papers.sun_lu import word_rules
from heedful.papers.sun_lu.word_rules import with_marks
from heedful.study.learnt import models_table
from heedful.training import train
from heedful.training.from_corpus import encode_splits


def test_the_last_mark_of_a_run_is_a_word_and_nothing_else_is():
    corpus = replace(CORPUS.take(np.arange(2)), texts=("Don't (so!) -- 3,5", "no marks\there"))
    words = split_texts(with_marks(corpus).texts)
    assert words[0].forms == ["don", "_apostrophe_", "t", "_left_parenthesis_", "so"] + [
        "_hyphen_minus_",
        "3",
        "_comma_",
        "5",
    ]
    assert words[1].forms == ["no", "marks", "here"]


def test_words_that_train_has_not_keep_the_vectors_they_start_with():
    texts = [
        f"{text} unseen" if split == "test" else text
        for text, split in zip(CORPUS.texts, CORPUS.splits, strict=True)
    ]
    corpus = replace(CORPUS, texts=tuple(texts))
    settings = {"model": "dp", "embedding": 11, "rate": 0.1}
    one, two = (train(corpus, **settings, epochs=epochs, vocabulary="all") for epochs in (1, 2))
    place = one.vocabulary.words.index("unseen")
    assert one.model.embedding.weight[place].equal(two.model.embedding.weight[place])
    _, sets = encode_splits(corpus, one.recipe)
    assert (sets["test"].ids == place).any()
    assert not (sets["train"].ids == place).any()
    assert "unseen" not in train(corpus, **settings, epochs=1).vocabulary.words


def test_the_experiment_leaves_tables_claims_and_a_figure(tmp_path, monkeypatch):
    work_here(monkeypatch)
    marked = replace(CORPUS, texts=tuple(text.replace(" ", ", ") for text in CORPUS.texts))
    monkeypatch.setattr(word_rules, "load_data", lambda name, data_dir: marked)
    monkeypatch.setattr("heedful.study.grid.load_data", load := Loads(marked))
    bench = replace(bench_in(tmp_path), seeds=(0, 1))
    tables = word_rules.measure(bench)
    assert load.named
    assert len(tables["runs"]) == 2 * 2 * 3 * 2
    models = models_table(bench.trained)  # a row a setting: marks are not the plain texts of the same name
    assert models["seeds"].tolist() == [2] * 12
    assert models["setting"].str.startswith("marks, ").sum() == 6
    own = tables["runs"].query("words == 'marks'").groupby(word_rules.SETTING, sort=False)["test_accuracy"]
    assert models["accuracy"][models["setting"].str.startswith("marks, ")].tolist() == own.mean().tolist()
    assert tables["summary"]["printed"].tolist() == [54.8, 88.4, 92.8] * 4
    found = list(word_rules.claims(tables))
    assert len(found) == 2 * 3 * 2
    png, _ = drawn_to("sun-lu-words", tables, tmp_path)
    assert png.stat().st_size > 5000


class Loads:
    """Reads files as ever, and gives the corpus for a name."""

    def __init__(self, corpus):
        from heedful.data.named import load_data

        self.corpus, self.read, self.named = corpus, load_data, False

    def __call__(self, source, **options):
        if source == "20news-1":
            self.named = True
            return self.corpus
        return self.read(source, **options)


@pytest.mark.parametrize(
    ("all_words", "outcomes"), [(54.8, ["holds", "holds"]), (70.0, ["does not hold"] * 2)]
)
def test_claims_follow_the_numbers(all_words, outcomes):
    about = {"corpus": "20news-1", "words": "plain", "scale": 0.001, "texts": 387}
    runs = pd.DataFrame(
        [
            {**about, "vocabulary": vocabulary, "seed": seed, "test_accuracy": accuracy / 100 + seed * 1e-4}
            for vocabulary, accuracy in (("train", 68.0), ("all", all_words))
            for seed in range(5)
        ]
    )
    of = {"corpus": "20news-1", "words": "plain", "scale": 0.001, "error": 1e-3}
    errors = pd.DataFrame(
        [{**of, "vocabulary": v, "than": t} for v, t in (("train", None), ("all", None), ("all", "plain"))]
    )
    found = list(word_rules.claims({"runs": runs, "errors": errors}))
    assert [claim.outcome for claim in found] == outcomes
