"""Comprehensiveness, sufficiency, flips, infidelity, sensitivity, against the plainest way to get them."""

import math

import numpy as np
import pytest
import torch
from word_subjects import TEXTS, batch_for, many_texts, model

from heedful.errors import UserError
from heedful.models.trace import decisions, probabilities
from heedful.trials.erasure.deletion import take_out
from heedful.trials.erasure.faithfulness import (
    faithfulness,
    infidelity,
    infidelity_of,
    other_findings,
    sensitivity,
)
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.rereading import Reader
from heedful.trials.erasure.word_erasures import SHARES, WordErasures, word_erasures
from heedful.trials.rankings.word_rankings import scores_with, word_order, word_scores

RANKINGS = ["attention", "leave-one-out", "random", "shuffled"]


def chances(subject, batch):
    with torch.no_grad():
        return probabilities(two_sided(subject.logits(batch)))


@pytest.mark.parametrize("how", ["delete", "unknown"])
@pytest.mark.parametrize("name", ["dp", "bigru", "han-gru", "sparse"])
def test_what_is_lost_at_each_share_is_what_one_text_at_a_time_loses(name, how):
    subject = model(name, seed=2)
    batch = batch_for(subject, many_texts(13))
    found = word_erasures(subject, batch, RANKINGS, how=how, subsets=0)
    before = chances(subject, batch)
    decided = before.argmax(1)
    order = word_order(word_scores("attention", subject, batch, how=how), batch)
    for row in range(len(batch)):
        count = int(batch.mask[row].sum())
        assert found.words[row] == count
        if count == 1:
            assert np.isnan(found.without["attention"][row]).all()
            continue
        for column, share in enumerate(SHARES):
            top = order[row, : math.ceil(round(share * count, 6))]
            gone = torch.zeros_like(batch.mask)
            gone[row, top] = True
            for table, taken in ((found.without, gone), (found.only, batch.mask & ~gone)):
                after = chances(subject, take_out(batch, taken, how=how))[row]
                expected = float(before[row, decided[row]] - after[decided[row]])
                assert table["attention"][row, column] == pytest.approx(expected, abs=1e-9)
            after = chances(subject, take_out(batch, gone, how=how))[row]
            assert found.flips["attention"][row, column] == (decisions(after) != decided[row])


def test_shares_round_up_to_whole_words_and_to_at_least_one():
    subject = model("uniform")
    batch = batch_for(subject, ["w1 w2", "w1 w2 w3 w4 w5 w6 w7", " ".join(["w1"] * 100)])
    seen = []

    def watch(self, gone):
        seen.append(gone.sum(-1))
        return Reader_without(self, gone)

    Reader_without = Reader.without
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reader, "without", watch)
        word_erasures(subject, batch, ["attention"], subsets=0, shares=(0.07, 0.2, 0.5))
    counts = seen[0][:3].T.tolist()
    assert counts == [[1, 1, 1], [1, 2, 4], [7, 20, 50]]  # 0.07 · 100 is 7, though not in floating point


def test_the_random_ranking_is_the_mean_of_its_samples_and_follows_the_seed():
    subject = model("bigru")
    batch = batch_for(subject, many_texts(7))

    def lost(**options):
        return word_erasures(subject, batch, ["random"], subsets=0, **options).without["random"]

    np.testing.assert_array_equal(lost(samples=3), lost(samples=3))
    assert not np.allclose(lost(samples=3), lost(samples=3, seed=1), equal_nan=True)
    assert not np.allclose(lost(samples=3), lost(samples=1), equal_nan=True)


def test_a_corpus_cut_into_other_batches_gives_the_same_rows():
    subject = model("bigru")
    texts = many_texts(11)
    whole = word_erasures(subject, batch_for(subject, texts), until_flip=True, draws=2).to_frame()
    parts = []
    for first in range(0, 11, 4):
        batch = batch_for(subject, texts[first : first + 4])
        object.__setattr__(batch, "rows", np.arange(first, first + len(batch)))
        parts.append(word_erasures(subject, batch, until_flip=True, draws=2))
    joined = WordErasures.joined(parts).to_frame()
    assert list(joined.columns) == list(whole.columns)
    np.testing.assert_allclose(joined.to_numpy(float), whole.to_numpy(float), atol=1e-9)


def test_erasures_survive_the_way_through_a_frame():
    subject = model("dp")
    found = word_erasures(
        subject,
        batch_for(subject),
        own={"my-own": lambda reader, seed: reader.batch.ids.double()},
        until_flip=True,
    )
    again = WordErasures.from_frame(found.to_frame())
    assert again.shares == found.shares
    assert "my-own" in again.without
    for kind in ("without", "only", "flips", "infidelity", "until_flip", "doubt"):
        ours, theirs = getattr(found, kind), getattr(again, kind)
        assert list(ours) == list(theirs)
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name])


def test_findings_carry_count_interval_and_both_baselines():
    subject = model("dp", seed=2)
    found = word_erasures(subject, batch_for(subject, many_texts(41)), until_flip=True, draws=2)
    alone = found.alone
    assert alone > 0
    for measure in ("comprehensiveness", "sufficiency", "decision flips"):
        first, *_ = faithfulness(found, measure, ["attention"], coordinates={"corpus": "made"})
        assert first.count == 41 - alone
        assert first.interval is not None
        assert first.baselines.keys() == {"random", "shuffled"}
        assert f"{alone} instances" in first.measured
        assert first.coordinates == {"corpus": "made", "ranking": "attention"}
    one, *_ = faithfulness(found, "comprehensiveness", ["attention"], shares=[0.2])
    assert one.value == pytest.approx(np.nanmean(found.without["attention"][:, 3]))
    names = {finding.name for finding in other_findings(found)}
    assert names == {"infidelity", "sensitivity", "words until flip", "own error"}
    with pytest.raises(UserError, match=r"no share 0\.3"):
        faithfulness(found, shares=[0.3])


def test_leaving_out_beats_attention_beats_worst_first():
    subject = model("dp", seed=2)
    batch = batch_for(subject, many_texts(41))
    worst = {"worst": lambda reader, seed: -scores_with(reader, "leave-one-out")}
    means = {
        finding.coordinates["ranking"]: finding.value
        for finding in faithfulness(word_erasures(subject, batch, own=worst), "comprehensiveness")
    }
    assert means["leave-one-out"] > means["random"] > means["worst"]


def test_infidelity_is_none_for_scores_that_tell_all_and_one_for_scores_that_tell_nothing():
    generator = torch.Generator().manual_seed(0)
    removed = torch.rand(17, 3, 5, generator=generator) < 0.5
    scores = torch.randn(3, 5, generator=generator, dtype=torch.float64)
    fall = (scores * removed).sum(-1)
    torch.testing.assert_close(infidelity_of(7 * scores, removed, fall), torch.zeros(3).double())
    torch.testing.assert_close(infidelity_of(-scores, removed, fall), torch.ones(3).double())
    torch.testing.assert_close(infidelity_of(0 * scores, removed, fall), torch.ones(3).double())
    assert infidelity_of(scores, removed, 0 * fall).isnan().all()


def test_infidelity_prefers_leaving_out_to_its_opposite():
    subject = model("bigru")
    batch = batch_for(subject, TEXTS[:2])
    scores = word_scores("leave-one-out", subject, batch)
    good, bad = infidelity(subject, batch, scores), infidelity(subject, batch, -scores)
    assert (good < bad).all()


def test_sensitivity_is_zero_for_scores_that_do_not_move_and_grows_with_noise():
    subject = model("bigru")
    batch = batch_for(subject, TEXTS[:2])
    still = sensitivity(subject, batch, lambda reader, seed: reader.batch.mask.double())
    assert (still == 0).all()
    # The scores of the words that were replaced do not count.
    known = sensitivity(subject, batch, lambda reader, seed: (reader.batch.ids > 1).double())
    assert (known == 0).all()
    little, much = (sensitivity(subject, batch, "attention", share=share) for share in (0.01, 0.9))
    assert (little > 0).all()
    assert (much > little).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"shares": []}, "Shares of the words"),
        ({"shares": [1.5]}, "Shares of the words"),
        ({"own": {"attention": None}}, "new name"),
        ({"own": {"mine_5": None}}, "new name"),
        ({"rankings": ["limee"]}, "nearest is 'lime'"),
        ({"how": "replace"}, "no way to take out words"),
    ],
)
def test_a_wrong_question_is_said(options, sentence):
    subject = model()
    with pytest.raises(UserError, match=sentence):
        word_erasures(subject, batch_for(subject), **options)


def test_words_that_are_not_read_never_come_into_view():
    """A subject that reads five words: the sixth must not move into view when one of the first is deleted."""
    inner = model("dp")
    batch = batch_for(inner, TEXTS[:2])

    class ShortSighted:
        classes, mixes_tokens = inner.classes, False
        seen = 0

        def encode(self, texts):
            return inner.encode(texts)

        def embed(self, batch):
            return inner.embed(batch)

        def _near(self, batch):
            near = torch.zeros_like(batch.mask)
            near[:, :5] = True
            self.seen = max(self.seen, int(batch.mask.sum(1).max()))
            return take_out(batch, ~near)

        def logits(self, batch, embedded=None):
            return inner.logits(self._near(batch))

        def trace(self, batch, level="final"):
            return inner.trace(self._near(batch))

    subject = ShortSighted()
    own = np.arange(26.0).reshape(2, 13)
    found = word_erasures(subject, batch, ["attention", "leave-one-out", "random"], own={"mine": own})
    near = torch.zeros_like(batch.mask)
    near[:, :5] = True
    alone = word_erasures(
        inner, take_out(batch, ~near), ["attention", "leave-one-out", "random"], own={"mine": own[:, :5]}
    )
    np.testing.assert_array_equal(found.words, [5, 5])
    for name in found.without:
        np.testing.assert_allclose(found.without[name], alone.without[name], atol=1e-9)
