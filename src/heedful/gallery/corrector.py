"""The model of `nested`: reads and writes sentences word by word, and unknown words letter by letter.

It can also spell without attention to letters (by heart), or not spell at all: then all nouns are in its
vocabulary, and a misspelt one is unknown.
Axes: B sentences, T words given, N words written, J letters of a word given, Q letters written, U and P
unknown words given and written, H, C, X, D widths of words, of the decoder, of letters and of their decoder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import Attention, NestedAttention, TanhDotScore
from heedful.gallery.both_ways import turned_round
from heedful.gallery.spelling import (
    COMMON,
    END,
    FORMS,
    LETTERS,
    PADDING,
    UNKNOWN,
    Sentences,
    letter_ids,
    number_words,
    word_ids,
)

Spells = Literal["nested", "by heart", "not"]
LETTER = 16  # width of a letter's embedding
WORD, ACROSS = 32, 32  # width of a word's embedding and of each direction; A
INSIDE: dict[Spells, int] = {"nested": 48, "by heart": 53, "not": 0}  # X and D
DECODER: dict[Spells, int] = {"nested": 64, "by heart": 64, "not": 96}  # C: as many parameters each
BETWEEN = 32  # width of what a word is chosen from


VOCABULARIES: dict[Spells, dict[str, int]] = {
    "nested": number_words(COMMON),
    "by heart": number_words(COMMON),
    "not": number_words((*COMMON, *FORMS)),
}


@dataclass(frozen=True)
class Texts:
    """Sentences as ids for one vocabulary; unknown words also by their letters, one after the other."""

    given: Tensor  # (B,T)
    given_letters: Tensor  # (unknown words given, J)
    wanted: Tensor  # (B,N)
    wanted_letters: Tensor  # (P,Q)


def as_texts(sentences: Sentences, rows: Sequence[int], vocabulary: Mapping[str, int]) -> Texts:
    """Some of the sentences as ids."""
    given, wanted = ([side[row] for row in rows] for side in (sentences.given, sentences.wanted))
    letters = [
        letter_ids([word for words in side for word in words if word not in vocabulary])
        for side in (given, wanted)
    ]
    return Texts(word_ids(given, vocabulary), letters[0], word_ids(wanted, vocabulary), letters[1])


@dataclass(frozen=True)
class Encoded:
    """What was read of sentences."""

    words: Tensor  # (B,T,H)
    mask: Tensor  # (B,T)
    last: Tensor  # (B,H)
    places: Tensor  # (B,U) where the unknown words stand
    letters: Tensor  # (B,U,J,X) of the unknown words
    letter_mask: Tensor  # (B,U,J), false where a sentence has fewer unknown words

    def rows(self, chosen: Tensor) -> "Encoded":
        """Some of the sentences, each as often as it is chosen."""
        return Encoded(*(part[chosen] for part in vars(self).values()))


class Reader(nn.Module):
    """Read a sentence in both directions; an unknown word is what a recurrence over its letters ends with."""

    def __init__(self, vocabulary: int, *, inside: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WORD)
        self.forwards = nn.GRU(WORD, WORD, batch_first=True)
        self.backwards = nn.GRU(WORD, WORD, batch_first=True)
        self.letters = nn.Embedding(len(LETTERS) + 2, LETTER) if inside else None
        self.spelt = nn.GRU(LETTER, inside, batch_first=True) if inside else None
        self.as_word = nn.Linear(inside, WORD) if inside else None

    def forward(self, given: Tensor, given_letters: Tensor) -> Encoded:
        """Read words (B,T) and the letters of the unknown ones among them."""
        mask, unknown = given != PADDING, given == UNKNOWN
        words = self.words(given)
        most = int(unknown.sum(1).max())
        # Unknown words come first, in their order.
        places = (~unknown).int().argsort(stable=True, dim=1)[:, :most]
        used = unknown.gather(1, places)
        letter_mask = torch.zeros(*places.shape, given_letters.shape[1], dtype=torch.bool)
        letter_mask[used] = given_letters != PADDING
        letters = words.new_zeros(*letter_mask.shape, 0)
        if self.letters is not None and self.spelt is not None and self.as_word is not None:
            states, _ = self.spelt(self.letters(given_letters))
            ends = (given_letters != PADDING).sum(-1) - 1
            letters = words.new_zeros(*letter_mask.shape, states.shape[-1])
            letters[used] = states
            words = words.clone()
            words[unknown] = self.as_word(states[torch.arange(len(states)), ends])
        turned = turned_round(mask)[..., None].expand(-1, -1, WORD)
        there = self.forwards(words)[0]
        back = self.backwards(words.gather(1, turned))[0]
        last = torch.cat([there.gather(1, turned[:, :1]), back.gather(1, turned[:, :1])], -1).squeeze(1)
        states = torch.cat([there, back.gather(1, turned)], -1)
        return Encoded(states, mask, last, places, letters, letter_mask)


class Written(NamedTuple):
    """Scores of what comes next, what they were made from, what was attended to, and the decoder's state."""

    scores: Tensor
    told: Tensor
    weights: Tensor | None
    state: Tensor


class Corrector(nn.Module):
    """Write a sentence word by word; unknown words, if it can spell, letter by letter."""

    def __init__(self, vocabulary: int, *, spells: Spells) -> None:
        super().__init__()
        states, inside, decoder = 2 * WORD, INSIDE[spells], DECODER[spells]
        self.read = Reader(vocabulary, inside=inside)
        self.first = nn.Linear(states, decoder)
        self.follow = nn.GRU(WORD, decoder, batch_first=True)
        self.attention = (
            NestedAttention(states, inside, query=decoder, character_query=inside, width=ACROSS)
            if spells == "nested"
            else Attention(TanhDotScore(states, query=decoder, width=ACROSS))
        )
        self.combine = nn.Linear(states + decoder, BETWEEN)
        self.decide = nn.Linear(BETWEEN, vocabulary)
        if inside:
            self.first_letter = nn.Linear(states + decoder, inside)
            self.follow_letters = nn.GRU(LETTER, inside, batch_first=True)
            self.decide_letter = nn.Linear(inside * (2 if spells == "nested" else 1), len(LETTERS) + 2)

    def write(self, encoded: Encoded, before: Tensor, state: Tensor | None = None) -> Written:
        """Score the words (B,N,V) that follow words (B,N)."""
        if state is None:
            state = self.first(encoded.last).tanh()[None]
        queries, state = self.follow(self.read.words(before), state)
        if isinstance(self.attention, NestedAttention):
            attended = self.attention.attend_words(encoded.words, encoded.mask, queries)
        else:
            attended = self.attention(encoded.words, encoded.mask, query=queries)
        told = torch.cat([queries, attended.context], -1)
        return Written(self.decide(self.combine(told).tanh()), told, attended.weights, state)

    def spell(self, encoded: Encoded, told: Tensor, before: Tensor, state: Tensor | None = None) -> Written:
        """Score the letters (P,Q,letters) that follow letters (P,Q), for words that the decoder told of."""
        assert self.read.letters is not None
        if state is None:
            state = self.first_letter(told).tanh()[None]
        queries, state = self.follow_letters(self.read.letters(before), state)
        if not isinstance(self.attention, NestedAttention):
            return Written(self.decide_letter(queries), queries, None, state)
        # Known words have no letters to read: they are left out here, which changes nothing but the time.
        places = encoded.places[..., None].expand(-1, -1, encoded.words.shape[-1])
        attended = self.attention(
            encoded.words.gather(1, places),
            encoded.letter_mask.any(-1),
            characters=encoded.letters,
            character_mask=encoded.letter_mask,
            query=told[:, : self.first.out_features],
            character_query=queries,
        ).characters
        read = torch.cat([queries, attended.context], -1)
        return Written(self.decide_letter(read), read, attended.weights, state)


def after(ids: Tensor) -> Tensor:
    """What stands before each of ids (B,N): the end of the last one, then the ids but the last."""
    return F.pad(ids[:, :-1], (1, 0), value=END)
