"""Bahdanau et al.'s (2015) encoder–decoder over words, and the same without attention (Cho et al., 2014).

The decoder's last state s_{t−1} asks the encoder's states, word by word. Without attention it reads the
encoder's last states at each word, which are the same for all, so that all words are learnt at once.
Axes: B pairs, T words of a source, N words of a target, E width of a word, H width of a state.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import AdditiveScore, additive_scores, attend
from heedful.gallery.entry import Outcome, Size
from heedful.gallery.learning import as_large, parameters_of
from heedful.gallery.lexicon import Lexicon
from heedful.gallery.recurrent_translator import Recurrent, gru_step
from heedful.gallery.translating import (
    BUDGETS,
    Budget,
    Decide,
    Said,
    Score,
    Source,
    bleu_by_group,
    by_length,
    learnt,
    outcome_of,
)
from heedful.gallery.word_alignments import align_examples, linked_share
from heedful.gallery.word_pairs import Corpus, read_pairs

# Two models a seed leave time for more epochs than the other translators have.
LONGER: dict[Size, dict[str, Any]] = {"quick": {"epochs": 30}}


class Additive(Recurrent):
    """Additive attention at each word, or none of it."""

    def __init__(self, corpus: Corpus, budget: Budget, *, decoder: int, attends: bool) -> None:
        super().__init__(corpus, budget)
        self.first = nn.Linear(self.states, decoder)
        self.score = AdditiveScore(self.states, query=decoder, width=self.states // 2) if attends else None
        self.recurrence = nn.GRU(budget.words + self.states, decoder, batch_first=True)
        self.decide = Decide(decoder + self.states + budget.words, self.targets, drop=budget.drop)

    def write(self, before: Tensor, source: Source, state: Any = None) -> tuple[Said, Any]:
        """Say what follows each word; the state is the decoder's, (B,H)."""
        state = self.first(source.last).tanh() if state is None else state
        words = self.targets(before)
        if self.score is None:
            context, weights = source.last.unsqueeze(1).expand(-1, before.shape[1], -1), None
            after, state = self.recurrence(torch.cat([words, context], -1), state.unsqueeze(0))
            state = state.squeeze(0)
        else:
            after, context, weights, state = self._step_by_step(self.score, words, source, state)
        return Said(self.decide(torch.cat([after, context, words], -1)), weights), state

    def _step_by_step(
        self, score: AdditiveScore, words: Tensor, source: Source, state: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """States after each word, what was read for each, the weights, and the last state."""
        assert score.query_projection is not None
        keys = F.linear(source.states, score.projection, score.bias)  # once, and not at each word
        told = partial(additive_scores, context=score.context)
        # What the words themselves bring to the gates is one product for all of them.
        weigh, weigh_state, bias, bias_state = self.recurrence.all_weights[0]
        of_words, of_context = weigh.split([words.shape[-1], self.states], 1)
        brought = F.linear(words, of_words, bias)
        steps = []
        for place in range(words.shape[1]):
            query = state @ score.query_projection.mT
            attended = attend(query, keys, source.states, source.mask, score=told)
            gates = brought[:, place] + attended.context @ of_context.mT
            state = gru_step(gates, F.linear(state, weigh_state, bias_state), state)
            steps.append((state, attended.context, attended.weights))
        after, context, weights = (torch.stack(parts, 1) for parts in zip(*steps, strict=True))
        return after, context, weights, state


def build(corpus: Corpus, budget: Budget, *, attends: bool) -> Additive:
    """The model; without attention its decoder is wider, so that it has as many parameters."""
    make = partial(Additive, corpus, budget)
    decoder = 2 * budget.width
    if attends:
        return make(decoder=decoder, attends=True)
    with torch.random.fork_rng(devices=[]):
        target = parameters_of(make(decoder=decoder, attends=True))
    return as_large(lambda width: make(decoder=width, attends=False), target, widest=4 * decoder)


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train with and without attention on the same pairs; the lexicon's translation stands beside them."""
    budget = replace(BUDGETS[size], **LONGER.get(size, {}))
    corpus = read_pairs(folder, most=budget.most, longest=budget.longest)
    lexicon, bands = Lexicon.learn(corpus), by_length(corpus.test)
    models: dict[str, Additive] = {}
    scores: dict[str, dict[str, Score]] = {}
    for name, attends in (("attention", True), ("last states", False)):
        make = partial(build, corpus, budget, attends=attends)
        models[name], scores[name] = learnt(make, corpus, budget, bands, seed=seed, device=device)
    links = lexicon.links(corpus.test)
    return outcome_of(
        scores,
        {name: parameters_of(model) for name, model in models.items()},
        bleu_by_group(lexicon.translate(corpus.test), corpus.test, corpus.target, bands),
        figure="attention",
        baseline="last states",
        further={
            "the most read word is the lexicon's": linked_share(models["attention"], corpus.test, links)
        },
        alignments=align_examples(models["attention"], corpus),
    )
