"""What are the texts? Corpora, words with character spans, vocabularies and batches."""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.data.batches import Batch as Batch
    from heedful.data.batches import batch_of_texts as batch_of_texts
    from heedful.data.corpus import Corpus as Corpus
    from heedful.data.encoded import EncodedTexts as EncodedTexts
    from heedful.data.encoded import encode_texts as encode_texts
    from heedful.data.huggingface import read_hub as read_hub
    from heedful.data.named import load_data as load_data
    from heedful.data.reading import read_corpus as read_corpus
    from heedful.data.reading import read_rows as read_rows
    from heedful.data.sentences import split_sentences as split_sentences
    from heedful.data.summary import summarise as summarise
    from heedful.data.synthetic import Synthetic as Synthetic
    from heedful.data.synthetic import make_synthetic as make_synthetic
    from heedful.data.vocabulary import Vocabulary as Vocabulary
    from heedful.data.words import WordRules as WordRules
    from heedful.data.words import Words as Words
    from heedful.data.words import split_texts as split_texts
    from heedful.data.words import split_words as split_words

__getattr__, __dir__, __all__ = lazily(__name__)
