"""From a batch of texts to their highlights: which words are marked, and what is said where none is.

A word is marked if the map paints it (a fifth of the text's strongest or more, as a reader sees it), and its
measured change is 5 points or more and surely not noise: by as many standard errors as keep the chance of one
false mark in a text without effects at 5 % (Bonferroni over its words). Where the map paints none of the
words whose change is sure, those are marked, and this is said. Where no word has a sure change, or the
decision is a default class, no word is marked: no single word decides.

Axes: B texts, T words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from heedful.auditing.maps import read_only
from heedful.auditing.names import NOBODY, no_word_decides
from heedful.data.batches import Batch
from heedful.highlights.choosing import CHANGES, Choice, called
from heedful.highlights.result import Flip, Highlight, Mark
from heedful.highlights.strength import Strengths, strengths
from heedful.models.subject import Subject
from heedful.models.trace import probabilities
from heedful.trials.erasure.flips import SmallSets
from heedful.trials.erasure.heat_map import painted, surely
from heedful.trials.erasure.rereading import Reader
from heedful.trials.erasure.smallest import smallest_flips
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.word_gradients import Doubted
from heedful.trials.rankings.word_rankings import scores_with

NO_WORDS = "There are no words in this text."


@dataclass(frozen=True, eq=False)
class Marking:
    """How the texts of one subject are marked."""

    subject: Subject
    choice: Choice
    way: str  # of measuring strength
    rankings: Mapping[str, Ranking]  # maps that are functions, by name
    keep_texts: bool = True
    seed: int = 0

    def highlights(self, batch: Batch) -> list[Highlight]:
        """The highlights of a batch whose `rows` are the texts' numbers."""
        reader, _ = read_only(self.subject, batch)
        found = strengths(reader, self.way, seed=self.seed)
        sure = surely(found.effect, found.error, reader.batch.mask.cpu())
        shown = sure & (painted(self._scores(reader, found)) > 0)
        missed = sure.any(1) & ~shown.any(1)
        shown = torch.where(missed[:, None], sure, shown)
        small = _flips(reader)
        chances = probabilities(reader.logits).cpu()
        decided = reader.decided.cpu()
        effect, error = found.effect.numpy().round(4), found.error.numpy().round(4)
        marked = shown.numpy()
        items = []
        for row in range(len(batch)):
            code = int(decided[row])
            decision = self.subject.classes[code]
            default = decision in self.choice.defaults
            marks = () if default else self._marks(reader.batch, row, marked[row], effect[row], error[row])
            said = no_word_decides(decision) if default else "" if marks else NOBODY
            if marks and missed[row]:
                said = (
                    f"Highlighting by {called(self.choice.by)} misses what matters here: changes are shown."
                )
            items.append(
                Highlight(
                    number=int(batch.rows[row]),
                    text=reader.batch.words[row].text if self.keep_texts and reader.batch.words else "",
                    decision=decision,
                    probability=round(float(chances[row, code]), 6),
                    words=int(reader.batch.mask[row].sum()),
                    marks=marks,
                    said=said,
                    flip=None if small is None else self._flip(reader.batch, row, small),
                )
            )
        return items

    def _scores(self, reader: Reader, found: Strengths) -> Tensor:
        by = self.choice.by
        if by == CHANGES:
            return found.effect
        scores = scores_with(reader, self.rankings.get(by, by), seed=self.seed)
        plain = scores.scores if isinstance(scores, Doubted) else scores
        return plain.detach().double().cpu() * reader.batch.mask.cpu()

    def _marks(
        self, batch: Batch, row: int, shown: np.ndarray, effect: np.ndarray, error: np.ndarray
    ) -> tuple[Mark, ...]:
        assert batch.words is not None
        words = batch.words[row]
        return tuple(
            Mark(
                int(place),
                start := int(words.starts[place]),
                end := int(words.ends[place]),
                words.text[start:end] if self.keep_texts else "",
                float(effect[place]),
                float(error[place]),
            )
            for place in np.flatnonzero(shown)
        )

    def _flip(self, batch: Batch, row: int, small: SmallSets) -> Flip | None:
        """The smallest set, unless it takes every word: then another text is read, not this one."""
        assert batch.words is not None
        size = int(small.sizes[row])
        if not 0 < size < int(batch.mask[row].sum()):
            return None
        words, places = batch.words[row], small.items[row].tolist()
        named = [words.text[words.starts[place] : words.ends[place]] for place in places]
        to = self.subject.classes[int(small.to_class[row])]
        return Flip(to, tuple(places), tuple(named) if self.keep_texts else ())


def no_words(number: int, text: str) -> Highlight:
    """The place of a text that no model can read."""
    return Highlight(number, text, "", 0.0, 0, said=NO_WORDS)


def _flips(reader: Reader) -> SmallSets | None:
    """The smallest sets where they are known exactly: a linear head, and words that do not see each other."""
    return smallest_flips(reader.trace) if reader.closed and reader.trace.linear is not None else None
