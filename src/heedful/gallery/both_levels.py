"""May the attention of a hierarchical model be read? The project's trials on its words and on its sentences.

Two trials at each level. The most attended item is erased at its attention layer, beside a random other one
(Serrano & Smith, 2019). And the map of attention is judged by random deletions from the text (heat-map
skill): 0 is a blank map, 1 weights in proportion to what the words, or sentences, do. A word's attention is
its weight times its sentence's. Axes: B texts, T words, S sentences, M deletions.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from heedful.data import Corpus
from heedful.data.batches import Batch
from heedful.models import HierarchicalClassifier
from heedful.models.word_attention import word_attention
from heedful.trials.erasure.heat_map import effects_of
from heedful.trials.erasure.random_deletions import read_deletions
from heedful.trials.erasure.rereading import Reader
from heedful.trials.erasure.single import SingleErasures, single_erasures
from heedful.trials.rankings.chance import chance

AT_ONCE = 20  # texts


class SentenceReader(Reader):
    """A reader whose items are sentences: to take one out is to take out all its words."""

    def __init__(self, subject: HierarchicalClassifier, batch: Batch) -> None:
        self.words = Reader(subject, batch)
        present = self.words.trace.present  # (B,S)
        numbers = torch.arange(present.shape[1], device=present.device).expand(present.shape)
        super().__init__(subject, Batch(numbers, present, None, batch.rows), closed=False)
        assert batch.sentences is not None
        self.sentence = batch.sentences  # (B,T)
        self.logits, self.trace = self.words.logits, self.words.trace

    def variants(self, of: Tensor, gone: Tensor) -> Tensor:
        """The logits (B,M,K) of the texts at places `of` (B,), each without sentences in `gone` (B,M,S)."""
        within = self.sentence[of.to(self.sentence.device)].clamp(min=0)[:, None]
        return self.words.variants(of, gone.to(within.device).gather(2, within.expand(-1, gone.shape[1], -1)))


def audit_levels(model: HierarchicalClassifier, texts: Sequence[str], *, most: int) -> dict[str, float]:
    """What both trials find at each level; `most` deletions of a text at most."""
    erased: dict[str, list[SingleErasures]] = {"words": [], "sentences": []}
    told: dict[str, list[np.ndarray]] = {"words": [], "sentences": []}
    for first in range(0, len(texts), AT_ONCE):
        batch = model.encode(texts[first : first + AT_ONCE])
        attention, _ = word_attention(model, batch)
        final = model.trace(batch)
        for level, trace, weights in (
            ("words", model.trace(batch, "words"), attention),
            ("sentences", final, final.weights),
        ):
            numbers = trace.present.shape[1]
            erased[level].append(single_erasures(trace.numbered(first), weights[:, :numbers]))
        told["words"].append(foretold(Reader(model, batch), attention, first=first, most=most))
        told["sentences"].append(
            foretold(SentenceReader(model, batch), final.weights, first=first, most=most)
        )
    return {name: value for level in erased for name, value in _named(level, erased[level], told[level])}


def _named(
    level: str, erased: Sequence[SingleErasures], told: Sequence[np.ndarray]
) -> list[tuple[str, float]]:
    one = level.removesuffix("s")
    alone = SingleErasures.joined(erased).tested
    attention, shuffled, blank, size = np.concatenate(told).sum(0)
    return [
        (f"decisions changed without the most attended {one}", float(alone.top_flips.mean())),
        (f"decisions changed without a random other {one}", float(alone.other_flips.mean())),
        (f"the most attended {one} matters more than a random other", float((alone.delta_js > 0).mean())),
        (f"heat-map skill of {level}", (attention - blank) / (size - blank)),
        (f"heat-map skill of {level}, shuffled", (shuffled - blank) / (size - blank)),
    ]


def foretold(reader: Reader, weights: Tensor, *, first: int, most: int) -> np.ndarray:
    """For each text of two items or more what predicts: attention, shuffled, a blank map; and the most.

    Sums over texts make the skill: (told − blank) / (most − blank).
    """
    mask, weights, rows = reader.batch.mask.cpu(), weights.cpu().double(), []
    shuffled = _shuffled(weights, mask, first=first)
    for found in read_deletions(reader, most=most):
        here = torch.from_numpy(found.rows)
        effects = effects_of(found, mask[here])
        maps = (weights[here], shuffled[here], mask[here].double())
        rows.append(torch.stack([*(effects.told(map, mask[here]) for map in maps), effects.size], 1))
    return torch.cat(rows).numpy() if rows else np.zeros((0, 4))


def _shuffled(weights: Tensor, mask: Tensor, *, first: int) -> Tensor:
    """The weights of each text permuted among its items."""
    lots = torch.from_numpy(chance(0, tuple(mask.shape), first=first)).masked_fill(~mask, 2.0)
    return torch.zeros_like(weights).scatter(1, lots.argsort(1), weights.masked_fill(~mask, 0))


def some_texts(corpus: Corpus, count: int) -> list[str]:
    """So many test texts, the same in every call."""
    texts = corpus.split("test").texts
    return [texts[row] for row in np.random.default_rng(0).permutation(len(texts))[:count]]
