"""Training takes a corpus as it is: what belongs to a file is refused, not ignored."""

import numpy as np
import pytest

from heedful.data.corpus import Corpus
from heedful.data.encoded import encode_texts
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules
from heedful.errors import UserError
from heedful.models.settings import ModelSettings
from heedful.training.from_corpus import train, vector_texts


@pytest.mark.parametrize("column", ["text", "label", "split"])
def test_naming_a_column_of_a_loaded_corpus_is_refused(small_corpus, column):
    with pytest.raises(UserError, match=f"is a corpus.*leave out {column}"):
        train(small_corpus, epochs=1, **{column: "body"})


def test_word_vectors_are_learnt_from_the_sentences_of_train_and_dev_whole():
    texts = ("Good film. I laughed.", "Bad! Very bad film.", "Good bad film. Laughed", "No test here.")
    splits = np.array(["train", "train", "dev", "test"])
    corpus = Corpus("four", texts, np.array([1, 0, 1, 0]), splits, ("no", "yes"))
    rules = WordRules()
    vocabulary = Vocabulary.of_texts(texts[:2], rules)
    train_set = encode_texts(texts[:2], [1, 0], vocabulary, rules=rules, max_length=3)
    read = {
        source: [
            " ".join(vocabulary.words[id] for id in ids)
            for ids in vector_texts(
                corpus, ModelSettings(embedding_source=source), vocabulary, rules, train_set
            )
        ]
        for source in ("word2vec", "word2vec-sentences")
    }
    assert read["word2vec"] == ["good film i", "bad very bad"]
    assert read["word2vec-sentences"] == [
        *("good film", "i laughed", "bad", "very bad film"),
        *("good bad film", "laughed"),
    ]
