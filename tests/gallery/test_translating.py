"""Translators over words: what is read of Multi30k, the lexicon, greedy writing, BLEU and its groups."""

import builtins
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from made_data import write_table, write_translations

from heedful.errors import MissingExtra, UserError
from heedful.gallery.bleu import corpus_bleu
from heedful.gallery.both_ways import BothWays
from heedful.gallery.learning import parameters_of
from heedful.gallery.lexicon import Lexicon, crosses
from heedful.gallery.recurrent_translator import gru_step
from heedful.gallery.seeded import seeded
from heedful.gallery.translating import (
    Budget,
    Said,
    Source,
    Translator,
    by_length,
    fit,
    known,
    score,
    surprises,
    translate,
    with_all,
)
from heedful.gallery.translating_bahdanau import build as build_additive
from heedful.gallery.translating_luong import KINDS
from heedful.gallery.translating_luong import build as build_joined
from heedful.gallery.translating_multihead import Transformer, build_gru
from heedful.gallery.word_alignments import align_examples, linked_share
from heedful.gallery.word_pairs import BEGIN, END, PADDING, UNKNOWN, read_pairs

BUDGET = Budget(epochs=2, words=16, width=5, batch=7, drop=0.1)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    write_translations(folder)
    return read_pairs(folder)


BUILDERS = {
    "additive": lambda corpus: build_additive(corpus, BUDGET, attends=True),
    "nothing read": lambda corpus: build_additive(corpus, BUDGET, attends=False),
    **{kind: lambda corpus, kind=kind: build_joined(corpus, BUDGET, kind=kind) for kind in KINDS},
    "transformer": lambda corpus: Transformer(corpus, BUDGET, heads=4),
    "GRU": lambda corpus: build_gru(corpus, BUDGET),
}


def made(name, corpus):
    with seeded(0):
        return BUILDERS[name](corpus).eval()


def test_words_are_lower_case_marks_are_words_and_seldom_words_are_unknown(tmp_path):
    rows = [('"A dog, a cat."', '"Ein Hund, eine Katze."', "train"), ("A dog.", "Ein Hund.", "train")]
    rows += [("The A.", "Der Hund.", "test2016"), ("No dog.", "Kein Hund.", "test2017")]
    write_table(tmp_path / "multi30k.csv.gz", ("en", "de", "split"), rows)
    corpus = read_pairs(tmp_path)
    assert corpus.train.target[0] == ["a", "dog", ",", "a", "cat", "."]
    assert set(corpus.target.words[4:]) == {"a", "dog", "."}
    assert corpus.train.targets[0].tolist().count(UNKNOWN) == 2  # the comma and the cat, seen once
    assert corpus.train.targets[1].tolist()[3:] == [END, PADDING, PADDING, PADDING]
    assert corpus.test.target == [["the", "a", "."]]
    assert corpus.train.lengths.tolist() == [4, 2]  # marks do not count
    assert (len(corpus.dev), corpus.dev.sources.shape[0]) == (0, 0)


def test_long_sources_are_left_out_and_so_many_pairs_are_learnt_from(corpus, tmp_path):
    write_translations(tmp_path)
    short = read_pairs(tmp_path, longest=5, most=31)
    assert len(short.train) == 31
    assert max(short.test.lengths) == 5 < max(corpus.test.lengths)
    assert 0 < len(short.test) < len(corpus.test)


def test_a_table_without_german_is_refused(tmp_path):
    write_table(tmp_path / "multi30k.csv.gz", ("en", "split"), [("A dog.", "train")])
    with pytest.raises(UserError, match="no column de"):
        read_pairs(tmp_path)


def test_an_epoch_has_every_pair_once_in_batches_of_like_length(corpus):
    with seeded(3):
        batches = corpus.train.of_like_length(16)
    assert sorted(torch.cat(batches).tolist()) == list(range(len(corpus.train)))
    lengths = (corpus.train.sources != PADDING).sum(1).float()
    spread = torch.stack([lengths[rows].std() for rows in batches[:-1]]).mean()
    assert spread < lengths.std() / 2
    sources, targets = corpus.train.batch(batches[0], CPU)
    for numbers in (sources, targets):
        assert (numbers[:, -1] != PADDING).any()  # no longer than the longest


def test_the_lexicon_finds_the_translations_of_words_and_which_stand_in_another_order(corpus):
    lexicon = Lexicon.learn(corpus)
    found = dict(
        zip(corpus.test.source[0], corpus.target.spell(lexicon.translate(corpus.test)[0]), strict=True)
    )
    truth = {"mann": "man", "hund": "dog", "junge": "boy", "frau": "woman", "wirft": "throws"}
    truth |= {"sieht": "sees", "trägt": "carries"}  # words of every sentence cannot be told apart
    met = truth.keys() & found.keys()
    assert len(met) == 2  # who, and what is done
    assert {word: found[word] for word in met} == {word: truth[word] for word in met}
    links = lexicon.links(corpus.test)[0]
    verb = corpus.test.source[0].index(
        next(w for w in corpus.test.source[0] if w in ("wirft", "sieht", "trägt"))
    )
    assert (verb, 2) in links  # it stands last there, and third here
    assert crosses(links)
    assert not crosses([(0, 1), (2, 3)])
    assert crosses([(2, 0), (0, 1)])


def test_chances_of_a_word_sum_to_one(corpus):
    sums = np.asarray(Lexicon.learn(corpus).chances.sum(axis=1)).reshape(-1)
    assert sums[sums > 0] == pytest.approx(1)
    assert (sums > 0).sum() > 10


def test_a_recurrence_both_ways_is_torchs_own_and_padding_changes_nothing():
    with seeded(0):
        ours, theirs = BothWays(3, 5), torch.nn.GRU(3, 5, bidirectional=True, batch_first=True)
        inputs = torch.randn(2, 7, 3)
    named = dict(ours.forwards.named_parameters())
    named |= {f"{name}_reverse": value for name, value in ours.backwards.named_parameters()}
    theirs.load_state_dict(named)
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 4:] = False
    states, last = ours(inputs, mask)
    for row, length in ((0, 7), (1, 4)):
        expected, end = theirs(inputs[row : row + 1, :length])
        torch.testing.assert_close(states[row, :length], expected[0])
        torch.testing.assert_close(last[row], end.flatten())


def test_a_step_is_that_of_torchs_gru():
    with seeded(0):
        cell, inputs, state = torch.nn.GRUCell(3, 5), torch.randn(2, 3), torch.randn(2, 5)
    gates = torch.nn.functional.linear(inputs, cell.weight_ih, cell.bias_ih)
    recurrent = torch.nn.functional.linear(state, cell.weight_hh, cell.bias_hh)
    torch.testing.assert_close(gru_step(gates, recurrent, state), cell(inputs, state))


@pytest.mark.parametrize("name", BUILDERS)
def test_words_one_after_another_are_scored_as_all_at_once(name, corpus):
    model, (sources, targets) = made(name, corpus), corpus.test.batch(torch.arange(5), CPU)
    before = torch.cat([torch.full_like(targets[:, :1], BEGIN), targets[:, :-1]], 1)
    source, state, steps = model.read(sources), None, []
    for place in range(before.shape[1]):
        said, state = model.write(before[:, place : place + 1], source, state)
        steps.append(said)
    together = known(model, sources, targets)
    torch.testing.assert_close(torch.cat([said.logits for said in steps], 1), together.logits)
    if together.weights is not None:
        torch.testing.assert_close(torch.cat([said.weights for said in steps], -2), together.weights)


@pytest.mark.parametrize("name", BUILDERS)
def test_a_source_alone_is_translated_as_in_company_and_padding_is_not_read(name, corpus):
    model = made(name, corpus)
    short = int(corpus.test.lengths.argmin())
    assert corpus.test.lengths[short] < corpus.test.lengths.max()
    sources, targets = corpus.test.batch(torch.arange(len(corpus.test)), CPU)
    alone, target = corpus.test.batch(torch.tensor([short]), CPU)
    said, company = known(model, alone, target), known(model, sources, targets)
    length = target.shape[1]
    torch.testing.assert_close(said.logits[0], company.logits[short, :length])
    if company.weights is not None:
        padded = (sources == PADDING).reshape(len(sources), *[1] * (company.weights.dim() - 2), -1)
        assert company.weights[padded.expand_as(company.weights)].eq(0).all()


def test_models_that_are_compared_have_as_many_parameters(corpus):
    budget = replace(BUDGET, width=24, words=32)
    pairs = [
        [parameters_of(build_additive(corpus, budget, attends=attends)) for attends in (True, False)],
        [parameters_of(build_joined(corpus, budget, kind=kind)) for kind in KINDS],
        [parameters_of(Transformer(corpus, budget, heads=heads)) for heads in (1, 2, 4, 8)],
        [parameters_of(Transformer(corpus, budget, heads=1)), parameters_of(build_gru(corpus, budget))],
    ]
    for counts in pairs:
        assert max(counts) / min(counts) < 1.02


class Parrot(Translator):
    """Says the numbers 4, 5, … in turn, and then the end."""

    def __init__(self, words):
        super().__init__()
        self.words, self.nothing = words, torch.nn.Parameter(torch.zeros(()))

    def read(self, sources):
        return Source(sources.float().unsqueeze(-1), sources[:, 0].float(), sources != PADDING)

    def write(self, before, source, state=None):
        first = 0 if state is None else state
        logits = torch.zeros(*before.shape, 40) + self.nothing
        logits[..., UNKNOWN] = 7.0  # the likeliest, and never said
        for place in range(before.shape[1]):
            logits[:, place, 4 + first + place if first + place < self.words else END] = 5.0
        return Said(logits), first + before.shape[1]


def test_writing_stops_at_the_end_and_never_says_unknown(corpus):
    written = translate(Parrot(3), corpus.test)
    assert len(written) == len(corpus.test)
    assert all(numbers == [4, 5, 6, END] for numbers in written)
    assert corpus.target.spell([4, END, 5]) == [corpus.target.words[4]]


def test_perplexity_is_that_of_the_words_and_the_end(corpus):
    model = Parrot(3)
    surprise, words = surprises(model, corpus.test)
    assert words.tolist() == [len(target) + 1 for target in corpus.test.target]
    own = corpus.test.targets[0][corpus.test.targets[0] != PADDING]
    logits = model.write(own.unsqueeze(0)[:, :], model.read(own.unsqueeze(0)))[0].logits[0]
    expected = -logits.log_softmax(-1).gather(1, own.unsqueeze(1)).sum()
    assert surprise[0] == pytest.approx(float(expected.detach()), rel=1e-5)


def test_bleu_of_the_reference_is_100_and_of_other_words_0():
    said = [["a", "man", "sees", "the", "dog", "."]]
    assert corpus_bleu(said, said) == pytest.approx(100)
    assert corpus_bleu([["x", "y", "z", "u", "v"]], said) < 5
    # By hand: precisions 4/5, 2/4, 1/3, and 1/2 of none of two (smoothed); one word short of six.
    found = corpus_bleu([["a", "man", "sees", "a", "."]], said)
    expected = 100 * math.exp(1 - 6 / 5) * (4 / 5 * 2 / 4 * 1 / 3 * 1 / 4) ** 0.25
    assert found == pytest.approx(expected)


def test_without_sacrebleu_one_sentence_says_what_to_install(monkeypatch):
    load = builtins.__import__

    def refuse(name, *rest, **more):
        if name == "sacrebleu":
            raise ModuleNotFoundError(name)
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"heedful\[gallery\]"):
        corpus_bleu([["a"]], [["a"]])


def test_groups_divide_the_pairs_and_empty_ones_are_left_out(corpus):
    bands = by_length(corpus.test)
    assert sum(chosen.sum() for chosen in bands.values()) == len(corpus.test)
    groups = with_all(bands, corpus.test)
    assert list(groups) == ["all", "1–6 words"]
    with seeded(0):
        found = score(made("dot", corpus), corpus.test, corpus.target, bands)
    assert found["all"] == found["1–6 words"]
    assert 1 < found["all"].perplexity < 100


@pytest.mark.slow
@pytest.mark.parametrize("name", ["additive", "dot", "transformer"])
def test_a_translator_learns_what_to_read_and_beats_the_lexicon(name, corpus):
    budget = Budget(epochs=24, words=32, width=16, batch=8, rate=0.02, drop=0.0)
    build = {
        "additive": lambda: build_additive(corpus, budget, attends=True),
        "dot": lambda: build_joined(corpus, budget, kind="dot"),
        "transformer": lambda: Transformer(corpus, replace(budget), heads=4),
    }[name]
    with seeded(1):
        model = build()
        fit(model, corpus.train, replace(budget, rate=0.005 if name == "transformer" else 0.02))
    found = score(model, corpus.test, corpus.target, {})["all"]
    assert found.bleu > 90
    assert found.perplexity < 1.5
    lexicon = Lexicon.learn(corpus)
    links = lexicon.links(corpus.test)
    assert linked_share(model, corpus.test, links) > 1.5 / 7  # by chance one of about seven
    examples = align_examples(model, corpus)
    assert [len(example["read"]) for example in examples] == [8, 8, 8]  # the longest, with their ends
    for example in examples:
        assert np.shape(example["weights"])[-2:] == (len(example["written"]), 8)
        assert np.array(example["weights"]).sum(-1) == pytest.approx(1, abs=1e-3)


def test_training_is_decided_by_the_seed(corpus):
    results = []
    for seed in (1, 1, 2):
        with seeded(seed):
            model = build_additive(corpus, BUDGET, attends=True)
            fit(model, corpus.train, replace(BUDGET, epochs=1))
        results.append(model.first.weight)
    assert results[0].equal(results[1])
    assert not results[0].equal(results[2])
