"""The supplement's Table 1 of Sun & Lu (2020): how many words of each type the four corpora have, and
examples.

For 20News II the paper says neither the threshold nor what is neutral (footnote 9): `rule_search` looks for
them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heedful.data.corpus import Corpus
from heedful.data.encoded import encode_texts
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules, split_texts
from heedful.understanding.token_types import TokenTypes, TypeRules, find_types

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class PrintedType:
    """One line of the paper's table."""

    count: int
    sample: tuple[str, ...]


def _line(count: int, sample: str) -> PrintedType:
    return PrintedType(count, tuple(sample.split()))


# By corpus, then by our names of the types. Words broken over two lines are put together again.
PRINTED: Mapping[str, Mapping[str, PrintedType]] = {
    "sst": {
        "positive": _line(
            412,
            "delicious ingenious heartbreaking ahead slightly world hilarious remarkably superb joyous",
        ),
        "negative": _line(
            265,
            "mediocre bad failure thinks poor preachy sustain bears sink lazy boring worst plain sappy",
        ),
        "neutral": _line(
            1384,
            "supply figured goodwill induces formal experimental shots unrelenting lost course ensues",
        ),
    },
    "imdb": {
        "positive": _line(
            2163,
            "packs ullman undeniable beauty beery lightly mat bizet busts sampson adulthood korda",
        ),
        "negative": _line(
            1900,
            "appleby jenkins hacks objectively titillation cannibal violated drilling payroll hallucination "
            "brinke",
        ),
        "neutral": _line(
            5968,
            "quiroz gauzy mysticism hoards tail chopping milk reminiscing hungrily leftists trial disturbed",
        ),
    },
    "20news-1": {
        "positive": _line(
            957,
            "hockey bay powerplay oilers pocklington i friend vincent loke skrudland andy zubov carried",
        ),
        "negative": _line(
            557,
            "uniform writes cuyler friday leagues batted ability judgement steph umpire hernandez outs edge",
        ),
        "neutral": _line(
            1011,
            "means having code mind barrier virtually file stir ohio shelled rubber toward pushing "
            "offensively",
        ),
    },
    "20news-2": {
        "rec.motorcycles": _line(
            49,
            "riders bmw rider ground exhaust plastic car road driving traffic riding speed lock jacket bikes",
        ),
        "sci.med": _line(
            268,
            "blood calcium page approach sinus food magnesium photography robert gordon typing injuries",
        ),
        "talk.politics.guns": _line(
            192,
            "homicides incident laws control enforcement fired passed cult majority defend themselves",
        ),
        "neutral": _line(
            164,
            "planning considering yet price than boy really stopping face race glad cut doing saw correctly",
        ),
    },
}


@dataclass(frozen=True)
class TableOne:
    """The types of a corpus beside the paper's line for it."""

    corpus: str
    types: TokenTypes
    printed: Mapping[str, PrintedType]

    def to_frame(self, *, sample: int = 12, seed: int = 0) -> "pandas.DataFrame":
        """One row a type: our count and a sample, theirs, and how many of theirs have our type."""
        import pandas

        rows = []
        for name, count in self.types.sizes.items():
            theirs = self.printed.get(name)
            ours = {self.types.words[id] for id in self.types.of(name)}
            rows.append(
                {
                    "corpus": self.corpus,
                    "type": name,
                    "count": count,
                    "printed": None if theirs is None else theirs.count,
                    "sample": ", ".join(self.types.sample(name, sample, seed=seed)),
                    "printed sample": None if theirs is None else ", ".join(theirs.sample),
                    "their words": None if theirs is None else len(theirs.sample),
                    "their words of this type": None
                    if theirs is None
                    else sum(word in ours for word in theirs.sample),
                }
            )
        return pandas.DataFrame(rows)


def corpus_types(
    corpus: Corpus, *, rules: TypeRules | None = None, words: WordRules | None = None
) -> TokenTypes:
    """The token types of a corpus, by its training split."""
    train = corpus.split("train")
    vocabulary = Vocabulary.build(split_texts(train.texts, words))
    encoded = encode_texts(train.texts, train.labels, vocabulary, rules=words)
    return find_types(encoded, vocabulary, classes=corpus.label_names, rules=rules)


def type_table(corpus: Corpus, *, rules: TypeRules | None = None) -> TableOne:
    """Supplement Table 1 for one corpus; of other corpora than the paper's four, without printed lines."""
    return TableOne(corpus.name, corpus_types(corpus, rules=rules), PRINTED.get(corpus.name, {}))
