"""The model of `nested`: reads and writes sentences word by word, and unknown words letter by letter.

It can also spell without attention to letters (by heart), or not spell at all.
Axes: B sentences, T words given, N words written, J letters of a word given, Q letters written, U and P
unknown words given and written, H, C, X, D widths of words, of the decoder, of letters and of their decoder.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import Attention, NestedAttention, TanhDotScore
from heedful.gallery.both_ways import BothWays
from heedful.gallery.spelling import END, PADDING, UNKNOWN

Spells = Literal["nested", "by heart", "not"]


@dataclass(frozen=True)
class Shape:
    """How large a model is, and what it is given besides."""

    vocabulary: int  # words, with the end and the unknown
    letters: int  # likewise
    word: int  # width of a word's embedding and of each direction
    letter: int  # width of a letter's embedding
    across: int  # A
    inside: int  # X and D; 0 for a model that cannot spell
    decoder: int  # C
    between: int  # width of what a word is chosen from
    # For long sentences, most of whose words stay: how many places have a vector of their own, which the
    # decoder knows too. Then a word's embedding stands beside its states, and is what words are chosen by.
    places: int = 0

    @property
    def states(self) -> int:
        """H"""
        return (3 if self.places else 2) * self.word


@dataclass(frozen=True)
class Texts:
    """Sentences as ids for one vocabulary; unknown words also by their letters, one after the other."""

    given: Tensor  # (B,T)
    given_letters: Tensor  # (unknown words given, J)
    wanted: Tensor  # (B,N)
    wanted_letters: Tensor  # (P,Q)

    def to(self, device: str) -> "Texts":
        return Texts(*(part.to(device) for part in vars(self).values()))


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

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, inside = shape.word, shape.inside
        self.words = nn.Embedding(shape.vocabulary, width)
        self.both_ways = BothWays(width, width)
        self.letters = nn.Embedding(shape.letters, shape.letter) if inside else None
        self.spelt = nn.GRU(shape.letter, inside, batch_first=True) if inside else None
        self.as_word = nn.Linear(inside, width) if inside else None
        self.places = nn.Embedding(shape.places, width) if shape.places else None
        if self.places is not None:  # as scores of words are products with their embeddings
            nn.init.normal_(self.words.weight, std=width**-0.5)

    def forward(self, given: Tensor, given_letters: Tensor) -> Encoded:
        """Read words (B,T) and the letters of the unknown ones among them."""
        mask, unknown = given != PADDING, given == UNKNOWN
        words = self.words(given)
        most = int(unknown.sum(1).max())
        # Unknown words come first, in their order.
        places = (~unknown).int().argsort(stable=True, dim=1)[:, :most]
        used = unknown.gather(1, places)
        letter_mask = mask.new_zeros(*places.shape, given_letters.shape[1])
        letter_mask[used] = given_letters != PADDING
        letters = words.new_zeros(*letter_mask.shape, 0)
        if self.letters is not None and self.spelt is not None and self.as_word is not None:
            states, _ = self.spelt(self.letters(given_letters))
            ends = (given_letters != PADDING).sum(-1) - 1
            letters = words.new_zeros(*letter_mask.shape, states.shape[-1])
            letters[used] = states
            words = words.clone()
            words[unknown] = self.as_word(states[torch.arange(len(states)), ends])
        states, last = self.both_ways(self.placed(words), mask)
        if self.places is not None:
            states = torch.cat([words, states], -1)
        return Encoded(states, mask, last, places, letters, letter_mask)

    def placed(self, words: Tensor, first: int = 0) -> Tensor:
        """Embedded words (B,T,E), with a vector for each place where there are such, from this place on."""
        if self.places is None:
            return words
        slots = torch.arange(first, first + words.shape[1], device=words.device)
        placed: Tensor = words + self.places(slots.clamp(max=self.places.num_embeddings - 1))
        return placed


class Written(NamedTuple):
    """Scores of what comes next, what they were made from, what was attended to, and the decoder's state."""

    scores: Tensor
    told: Tensor
    weights: Tensor | None
    state: Tensor


class Corrector(nn.Module):
    """Write a sentence word by word; unknown words, if it can spell, letter by letter."""

    def __init__(self, shape: Shape, *, spells: Spells) -> None:
        super().__init__()
        states, inside, decoder = shape.states, shape.inside, shape.decoder
        self.read = Reader(shape)
        self.first = nn.Linear(2 * shape.word, decoder)
        self.follow = nn.GRU(shape.word, decoder, batch_first=True)
        self.attention = (
            NestedAttention(states, inside, query=decoder, character_query=inside, width=shape.across)
            if spells == "nested"
            else Attention(TanhDotScore(states, query=decoder, width=shape.across))
        )
        self.combine = nn.Linear(states + decoder, shape.between)
        self.decide = nn.Linear(shape.between, shape.vocabulary)
        if shape.places:
            self.decide.weight = self.read.words.weight
        if inside:
            self.first_letter = nn.Linear(states + decoder, inside)
            self.follow_letters = nn.GRU(shape.letter, inside, batch_first=True)
            self.decide_letter = nn.Linear(inside * (2 if spells == "nested" else 1), shape.letters)

    def write(
        self, encoded: Encoded, before: Tensor, state: Tensor | None = None, *, first: int = 0
    ) -> Written:
        """Score the words (B,N,V) that follow words (B,N), the first of which stands at this place."""
        if state is None:
            state = self.first(encoded.last).tanh()[None]
        queries, state = self.follow(self.read.placed(self.read.words(before), first), state)
        if isinstance(self.attention, NestedAttention):
            attended = self.attention.attend_words(encoded.words, encoded.mask, queries)
        else:
            attended = self.attention(encoded.words, encoded.mask, query=queries)
        told = torch.cat([queries, attended.context], -1)
        between = self.combine(told)
        scores = self.decide(between if self.read.places is not None else between.tanh())
        return Written(scores, told, attended.weights, state)

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


def surprise(model: Corrector, texts: Texts) -> Tensor:
    """The loss: how little each word was expected, and each letter of the words that are spelt."""
    encoded = model.read(texts.given, texts.given_letters)
    written = model.write(encoded, after(texts.wanted))
    missed = F.cross_entropy(written.scores.flatten(0, 1), texts.wanted.flatten(), ignore_index=PADDING)
    unknown = texts.wanted == UNKNOWN
    if model.read.letters is None or not unknown.any():
        return missed
    letters = model.spell(
        encoded.rows(unknown.nonzero()[:, 0]), written.told[unknown], after(texts.wanted_letters)
    )
    return missed + F.cross_entropy(
        letters.scores.flatten(0, 1), texts.wanted_letters.flatten(), ignore_index=PADDING
    )
