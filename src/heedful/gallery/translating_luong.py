"""Luong et al.'s (2015) kinds of attention in one encoder–decoder over words.

The decoder's present state h_t asks, and what it reads is joined to it: h̃_t = tanh(W_c [c_t; h_t]). All
words of a target are learnt at once, but with input feeding, where h̃_{t−1} stands beside the word before.
Axes: B pairs, T words of a source, N words of a target, E width of a word, H width of a state.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import (
    AdditiveScore,
    Attention,
    DotScore,
    GeneralScore,
    LocalMonotonic,
    LocalPredictive,
    LocationScore,
    xavier_init,
)
from heedful.gallery.entry import Outcome, Size
from heedful.gallery.learning import as_large, parameters_of
from heedful.gallery.lexicon import Lexicon, crosses
from heedful.gallery.recurrent_translator import Recurrent, gru_step
from heedful.gallery.translating import (
    BUDGETS,
    EVERY,
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

REACH = 3  # D
LONGEST = 64  # words of a source
FIGURE, BASELINE, FEEDING = "dot", "last states", "dot, input feeding"
SAME, OTHER = "same order", "other order"


def local(kind: Callable[..., nn.Module], hidden: int, **own: Any) -> nn.Module:
    return kind(DotScore(hidden, query=hidden), reach=REACH, **own)


KINDS: dict[str, Callable[[int], nn.Module | None]] = {
    FIGURE: lambda hidden: Attention(DotScore(hidden, query=hidden)),
    "general": lambda hidden: Attention(GeneralScore(hidden, query=hidden)),
    "concat": lambda hidden: Attention(AdditiveScore(hidden, query=hidden, width=hidden // 2, bias=False)),
    "location": lambda hidden: Attention(LocationScore(hidden, query=hidden, longest=LONGEST)),
    "local-m": lambda hidden: local(LocalMonotonic, hidden),
    "local-p": lambda hidden: local(LocalPredictive, hidden, query=hidden, init=xavier_init),
    FEEDING: lambda hidden: Attention(DotScore(hidden, query=hidden)),
    BASELINE: lambda hidden: None,
}


class Joined(Recurrent):
    """Attention of a kind after each state of the decoder, joined to it in a width of its own."""

    def __init__(
        self,
        corpus: Corpus,
        budget: Budget,
        *,
        kind: str,
        joined: int | None = None,
        width: int | None = None,
    ) -> None:
        super().__init__(corpus, budget, width=width)
        joined = joined or self.states
        self.feeds = kind == FEEDING
        self.first = nn.Linear(self.states, self.states)
        self.recurrence = nn.GRU(budget.words + joined * self.feeds, self.states, batch_first=True)
        self.attention = KINDS[kind](self.states)
        self.join = nn.Linear(2 * self.states, joined)
        self.decide = Decide(joined, self.targets, drop=budget.drop)

    def write(self, before: Tensor, source: Source, state: Any = None) -> tuple[Said, Any]:
        """Say what follows each word; the state is the decoder's (B,H), h̃ (B,·) and how many were written."""
        if state is None:
            hidden = self.first(source.last).tanh()
            state = hidden, hidden.new_zeros(len(hidden), self.join.out_features), 0
        hidden, fed, written = state
        words = self.targets(before)
        weights: Tensor | None
        if self.feeds:
            joined, weights, hidden = self._step_by_step(words, source, hidden, fed)
        else:
            after, hidden = self.recurrence(words, hidden.unsqueeze(0))
            joined, weights = self.look(after, source, step=written + 1)
            hidden = hidden.squeeze(0)
        return Said(self.decide(joined), weights), (hidden, joined[:, -1], written + before.shape[1])

    def look(self, after: Tensor, source: Source, *, step: int) -> tuple[Tensor, Tensor | None]:
        """h̃ and the weights for the decoder's states (B,N,H), the first of which is that of a step."""
        if self.attention is None:
            context, weights = source.last.unsqueeze(1).expand(-1, after.shape[1], -1), None
        else:
            monotone = {"first": step} if isinstance(self.attention, LocalMonotonic) else {}
            attended = self.attention(source.states, source.mask, query=after, **monotone)
            context, weights = attended.context, attended.weights
        return self.join(torch.cat([context, after], -1)).tanh(), weights

    def _step_by_step(
        self, words: Tensor, source: Source, hidden: Tensor, fed: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        weigh, weigh_state, bias, bias_state = self.recurrence.all_weights[0]
        of_words, of_fed = weigh.split([words.shape[-1], fed.shape[-1]], 1)
        brought = F.linear(words, of_words, bias)  # one product for all words
        steps = []
        for place in range(words.shape[1]):
            gates = brought[:, place] + fed @ of_fed.mT
            hidden = gru_step(gates, F.linear(hidden, weigh_state, bias_state), hidden)
            joined, weights = self.look(hidden.unsqueeze(1), source, step=place + 1)
            fed = joined.squeeze(1)
            steps.append((joined, weights))
        together, read = (torch.cat(parts, 1) for parts in zip(*steps, strict=True))
        return together, read, hidden


def build(corpus: Corpus, budget: Budget, *, kind: str) -> Joined:
    """The model of a kind; the width of h̃ makes up for what kinds need themselves: all are as large."""
    make = partial(Joined, corpus, budget)
    with torch.random.fork_rng(devices=[]):
        target = parameters_of(make(kind="general"))
    return as_large(lambda joined: make(kind=kind, joined=joined), target)


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train every kind on the same pairs; by length, and by whether words stand in another order."""
    budget = BUDGETS[size]
    corpus = read_pairs(folder, most=budget.most, longest=budget.longest)
    lexicon = Lexicon.learn(corpus)
    links = lexicon.links(corpus.test)
    crossed = torch.tensor([crosses(link) for link in links]).numpy()
    groups = {**by_length(corpus.test), SAME: ~crossed, OTHER: crossed}
    scores: dict[str, dict[str, Score]] = {}
    parameters, linked, examples = {}, {}, {}
    for kind in KINDS if size != "small" else (FIGURE, "local-p", FEEDING, BASELINE):
        make = partial(build, corpus, budget, kind=kind)
        model, scores[kind] = learnt(make, corpus, budget, groups, seed=seed, device=device)
        parameters[kind] = parameters_of(model)
        if model.attention is not None:
            linked[kind] = linked_share(model, corpus.test, links)
            examples[kind] = align_examples(model, corpus)[:1]
    return outcome_of(
        scores,
        parameters,
        bleu_by_group(lexicon.translate(corpus.test), corpus.test, corpus.target, groups),
        figure=FIGURE,
        baseline=BASELINE,
        further={
            **{
                f"{kind}: BLEU over {FIGURE}, {group}": scores[kind][group].bleu - scores[FIGURE][group].bleu
                for kind in scores
                for group in (EVERY, SAME, OTHER)
                if kind != FIGURE and group in scores[kind]
            },
            **{f"{kind}: the most read word is the lexicon's": share for kind, share in linked.items()},
        },
        alignments=examples,
    )
