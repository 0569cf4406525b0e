"""A lexicon from pairs of sentences alone: IBM's model 1 (Brown et al., 1993).

p(t | s) by expectation and maximisation: each word of a target comes from one word of its source, or from
none, all places alike. It translates word by word, and says which words of a pair belong together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from heedful.gallery.word_pairs import BEGIN, END, PADDING, UNKNOWN, Corpus, Pairs

ROUNDS = 5
SURE = 0.15  # about 0.4 in both directions
NOTHING = BEGIN  # no source holds it: what words of a target come from that no word of the source brings

Links = list[tuple[int, int]]  # places in a source and in its target, counted from 0


@dataclass(frozen=True)
class Lexicon:
    """For source and target words p(t | s), and p(t | s) p(s | t), which is high where both are sure."""

    chances: csr_array
    strengths: csr_array

    @classmethod
    def learn(cls, corpus: Corpus) -> "Lexicon":
        """The lexicon of the training pairs."""
        ways, sentence = [], []  # (source word, target word), and which target place it may bring about
        places = 0
        for source, target in numbered(corpus.train):
            near = [NOTHING, *source]
            ways.append(np.stack([np.tile(near, len(target)), np.repeat(target, len(near))]))
            sentence.append(np.repeat(np.arange(places, places + len(target)), len(near)))
            places += len(target)
        known, which = np.unique(np.concatenate(ways, 1), axis=1, return_inverse=True)
        place, which = np.concatenate(sentence), which.reshape(-1)
        chance = np.ones(known.shape[1])
        for _ in range(ROUNDS):
            expected = chance[which]
            expected /= np.bincount(place, expected)[place]
            counts = np.bincount(which, expected)
            chance = counts / np.bincount(known[0], counts)[known[0]]
        shape = len(corpus.source), len(corpus.target)
        strength = chance * counts / np.bincount(known[1], counts)[known[1]]
        chances, strengths = (
            csr_array((values, (known[0], known[1])), shape=shape) for values in (chance, strength)
        )
        return cls(chances, strengths)

    def translate(self, pairs: Pairs) -> list[list[int]]:
        """Each known word of the sources by its likeliest, in their order."""
        likeliest = self.chances.argmax(axis=1)
        return [[int(likeliest[word]) for word in source if word != UNKNOWN] for source, _ in numbered(pairs)]

    def links(self, pairs: Pairs) -> list[Links]:
        """For each pair, the places whose words choose each other in it, surely enough.

        Articles and most prepositions have too many translations for that: links are of words with a content.
        """
        return [self._link(source, target) for source, target in numbered(pairs)]

    def _link(self, source: list[int], target: list[int]) -> Links:
        strengths = self.strengths[source][:, target].toarray()  # (T,N)
        forth, back = strengths.argmax(1), strengths.argmax(0)
        return [(i, int(j)) for i, j in enumerate(forth) if back[j] == i and strengths[i, j] > SURE]


def crosses(links: Links) -> bool:
    """Whether two linked words stand in the other order in the target."""
    places = [j for _, j in sorted(links)]
    return places != sorted(places)


def numbered(pairs: Pairs) -> Sequence[tuple[list[int], list[int]]]:
    """The numbers of the words of each pair, without its ends."""
    bare = (
        [[word for word in row if word not in (PADDING, END)] for row in numbers.tolist()]
        for numbers in (pairs.sources, pairs.targets)
    )
    return list(zip(*bare, strict=True))
