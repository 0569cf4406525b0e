"""A small transformer (Vaswani et al., 2017) over words, with several heads or one; beside it a GRU as large.

Each layer's norms stand before what they feed, as most later transformers have them. Places are sines.
Axes: B pairs, T words of a source, N words of a target, E = H width, R heads.
"""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from heedful.attention import MultiHead
from heedful.gallery.entry import Outcome, Size
from heedful.gallery.learning import as_large, parameters_of
from heedful.gallery.lexicon import Lexicon
from heedful.gallery.translating import (
    BUDGETS,
    EVERY,
    Budget,
    Decide,
    Said,
    Score,
    Source,
    Translator,
    Words,
    bleu_by_group,
    by_length,
    learnt,
    outcome_of,
)
from heedful.gallery.translating_luong import Joined
from heedful.gallery.word_alignments import align_examples, linked_share
from heedful.gallery.word_pairs import PADDING, Corpus, read_pairs

HEADS = (1, 2, 4, 8)
FIGURE, BASELINE, GRU = 4, 1, "GRU"
LAYERS, INNER = 2, 4  # of encoder and of decoder; how much wider a layer is inside
DROP = 0.2  # of a transformer: one try on dev


class Inner(nn.Sequential):
    """A layer's own network for each word."""

    def __init__(self, width: int, *, drop: float) -> None:
        super().__init__(
            nn.Linear(width, INNER * width), nn.ReLU(), nn.Dropout(drop), nn.Linear(INNER * width, width)
        )


class Layer(nn.Module):
    """Words read each other, then the source where there is one; then each is seen by itself."""

    def __init__(self, width: int, heads: int, *, drop: float, reads: bool) -> None:
        super().__init__()
        self.each_other = MultiHead(width, heads)
        self.source = MultiHead(width, heads) if reads else None
        self.inner = Inner(width, drop=drop)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 + reads))
        self.drop = nn.Dropout(drop)

    def forward(self, words: Tensor, mask: Tensor, source: Source | None = None) -> tuple[Tensor, Tensor]:
        """Turn words (B,N,H) into words; with the weights (B,R,N,·) of the last reading."""
        before = self.norms[0](words)
        attended = self.each_other(before, mask)
        words = words + self.drop(attended.context)
        if self.source is not None:
            assert source is not None
            attended = self.source(source.states, source.mask, query=self.norms[1](words))
            words = words + self.drop(attended.context)
        return words + self.drop(self.inner(self.norms[-1](words))), attended.weights


class Transformer(Translator):
    """Layers that read the source, and layers that read what is written and the source."""

    def __init__(self, corpus: Corpus, budget: Budget, *, heads: int) -> None:
        super().__init__()
        width, drop = budget.words, budget.drop
        self.sources, self.targets = (
            Words(len(language), width, drop=drop) for language in (corpus.source, corpus.target)
        )
        make = partial(Layer, width, heads, drop=drop)
        self.encoder = nn.ModuleList(make(reads=False) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(make(reads=True) for _ in range(LAYERS))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.decide = Decide(width, self.targets, drop=drop)

    def read(self, sources: Tensor) -> Source:
        """Encode sources (B,T)."""
        mask = sources != PADDING
        words = placed(self.sources(sources))
        for layer in self.encoder:
            words, _ = layer(words, mask)
        states = self.norms[0](words)
        return Source(states, states[:, 0], mask)

    def write(self, before: Tensor, source: Source, state: Any = None) -> tuple[Said, Any]:
        """Say what follows each word; the state is all words so far (B,·)."""
        new = before.shape[1]
        before = before if state is None else torch.cat([state, before], 1)
        words = placed(self.targets(before))
        length = before.shape[1]
        earlier = torch.ones(length, length, dtype=torch.bool, device=before.device).tril()
        mask = earlier.expand(len(before), -1, -1)
        for layer in self.decoder:
            words, weights = layer(words, mask, source)
        return Said(self.decide(self.norms[1](words[:, -new:])), weights[..., -new:, :]), before


def placed(words: Tensor) -> Tensor:
    """Words (B,T,H) with sines of their places, of wave lengths from 2π to 20,000π."""
    length, width = words.shape[-2:]
    place = torch.arange(length, device=words.device).unsqueeze(1)
    speed = torch.exp(-math.log(10_000) * torch.arange(0, width, 2, device=words.device) / width)
    return words + torch.cat([(place * speed).sin(), (place * speed).cos()], 1)


def build_gru(corpus: Corpus, budget: Budget) -> Joined:
    """Luong et al.'s encoder–decoder with the dot product, as large as the transformer."""
    with torch.random.fork_rng(devices=[]):
        target = parameters_of(Transformer(corpus, budget, heads=1))
    return as_large(lambda width: Joined(corpus, budget, kind="dot", width=width), target)


def named(heads: int) -> str:
    """A model's name by its heads."""
    return "1 head" if heads == 1 else f"{heads} heads"


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train transformers with each number of heads and the GRU on the same pairs."""
    budget = BUDGETS[size]
    corpus = read_pairs(folder, most=budget.most, longest=budget.longest)
    lexicon, bands = Lexicon.learn(corpus), by_length(corpus.test)
    links = lexicon.links(corpus.test)
    calmer = replace(budget, drop=DROP)
    makers: dict[str, Any] = {
        named(heads): partial(Transformer, corpus, calmer, heads=heads)
        for heads in (HEADS if size != "small" else (BASELINE, FIGURE))
    }
    makers[GRU] = partial(build_gru, corpus, budget)
    models: dict[str, Translator] = {}
    scores: dict[str, dict[str, Score]] = {}
    for name, make in makers.items():
        own = budget if name == GRU else calmer
        models[name], scores[name] = learnt(make, corpus, own, bands, seed=seed, device=device)
    parameters = {name: parameters_of(model) for name, model in models.items()}
    several = named(FIGURE)
    return outcome_of(
        scores,
        parameters,
        bleu_by_group(lexicon.translate(corpus.test), corpus.test, corpus.target, bands),
        figure=several,
        baseline=named(BASELINE),
        further={
            f"{several}: BLEU over the {GRU}": scores[several][EVERY].bleu - scores[GRU][EVERY].bleu,
            f"{GRU}: parameters": parameters[GRU],
            **{
                f"{name}: the most read word is the lexicon's": linked_share(model, corpus.test, links)
                for name, model in models.items()
            },
        },
        alignments=align_examples(models[several], corpus)[:1],
    )
