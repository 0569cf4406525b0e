"""Table 1 of a corpus: how long its texts are, how many words it knows, how its classes are dealt.

Words as in Sun & Lu (2020), words and sentences with their spread as in Serrano & Smith (2019).
"""

from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from heedful.data.corpus import SPLITS, Corpus
from heedful.data.outgrowing import GrowingArray, text_chunks
from heedful.data.published import TOLERANCE, paper_table
from heedful.data.sentences import split_sentences
from heedful.data.words import WordRules, split_texts

SCHEMA = 1
_SAMPLES = 5


@dataclass(frozen=True)
class Spread:
    """A mean and its standard deviation over texts."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Sample:
    """One text of the corpus, to look at."""

    text: str
    label: str
    split: str


@dataclass(frozen=True)
class Comparison:
    """A published figure beside ours; `difference` is a part of theirs, `reason` is there if it is large."""

    figure: str
    theirs: float
    ours: float
    difference: float
    reason: str


@dataclass(frozen=True)
class Summary:
    """What a person wants to know of a corpus before using it.

    `words` and `sentences` are per text, over all splits; `vocabulary` counts the different words of the
    three splits; `classes` are the texts of each label in each split.
    """

    name: str
    texts: int
    words: Spread
    sentences: Spread
    vocabulary: int
    label_names: tuple[str, ...]
    classes: dict[str, dict[str, int]]
    fingerprint: str
    notes: tuple[str, ...]
    samples: tuple[Sample, ...]

    def figures(self) -> dict[str, float]:
        """The figures that papers print, by name."""
        sizes = {split: sum(self.classes[split].values()) for split in SPLITS}
        return {
            "average words": self.words.mean,
            "s.d. of words": self.words.sd,
            "average sentences": self.sentences.mean,
            "s.d. of sentences": self.sentences.sd,
            "vocabulary": self.vocabulary,
            "train + dev": sizes["train"] + sizes["dev"],
            **sizes,
            "classes": len(self.label_names),
            **{f"{split} {label}": n for split in SPLITS for label, n in self.classes[split].items()},
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the schema's version and the comparison with the papers."""
        published = paper_table(self.name)
        comparison = published and {
            "source": published.source,
            "figures": [asdict(row) for row in compare(self)],
        }
        return {"schema": SCHEMA, **asdict(self), "published": comparison}


def summarise(corpus: Corpus, *, rules: WordRules | None = None) -> Summary:
    """Count words, sentences and classes; `rules` say what a word is."""
    words, forms = GrowingArray("<i8"), set[str]()
    for chunk in text_chunks(corpus.texts):
        found = split_texts(chunk, rules)
        words.append(found.lengths)
        forms.update(found.types)
    sentences = np.fromiter((len(split_sentences(text)) for text in corpus.texts), np.int64, len(corpus))
    return Summary(
        name=corpus.name,
        texts=len(corpus),
        words=_spread(words.finish()),
        sentences=_spread(sentences),
        vocabulary=len(forms),
        label_names=corpus.label_names,
        classes={split: corpus.class_sizes(split) for split in SPLITS},
        fingerprint=corpus.fingerprint,
        notes=corpus.notes,
        samples=_samples(corpus),
    )


def compare(summary: Summary) -> tuple[Comparison, ...]:
    """Each figure a paper prints of this corpus beside ours; nothing if no paper has it."""
    published = paper_table(summary.name)
    if published is None:
        return ()
    ours = summary.figures()
    rows = []
    for figure, theirs in published.figures.items():
        # A class of theirs that ours lacks altogether is 100 % short, and is shown so.
        own = ours.get(figure, 0)
        difference = (own - theirs) / theirs
        reason = published.reasons.get(figure, "Not explained.") if abs(difference) > TOLERANCE else ""
        rows.append(Comparison(figure, theirs, own, difference, reason))
    return tuple(rows)


def _spread(counts: np.ndarray) -> Spread:
    return Spread(float(counts.mean()), float(counts.std()))


def _samples(corpus: Corpus) -> tuple[Sample, ...]:
    """The first training text of each label, of five labels at most."""
    rows = np.flatnonzero(corpus.splits == "train")
    labels, first = np.unique(corpus.labels[rows], return_index=True)
    return tuple(
        Sample(corpus.texts[rows[row]], corpus.label_names[label], "train")
        for label, row in islice(zip(labels, first, strict=True), _SAMPLES)
    )
