"""Rankings of words, and reading again: the ways of leaving out agree, and methods keep their own rules."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from word_subjects import CLOSED, READ_AGAIN, SETTINGS, TEXTS, VOCABULARY, batch_for, many_texts, model

from heedful.errors import UserError
from heedful.models.building import build_model
from heedful.models.classifier import dot_score
from heedful.models.trace import decisions
from heedful.models.word_attention import word_attention
from heedful.trials.erasure.deletion import delete_words
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.rereading import Reader, deletion_is_erasure, log_odds
from heedful.trials.rankings.chance import chance, chance_of
from heedful.trials.rankings.regressions import kernel, lime, random_subsets, weighted_ridge
from heedful.trials.rankings.word_gradients import (
    Doubted,
    gradient_times_input,
    held_logits,
    integrated_gradients,
)
from heedful.trials.rankings.word_rankings import WORD_RANKINGS, rankings_of_words, word_order, word_scores


def all_logits(subject, batch):
    return two_sided(subject.logits(batch)).double()


# Reading again


@pytest.mark.parametrize("name", SETTINGS)
def test_leaving_out_is_what_one_forward_pass_for_each_word_gives(name):
    subject = model(name)
    batch = batch_for(subject)
    found = Reader(subject, batch, places=31).each_out()
    for row, text in enumerate(TEXTS):
        for word in range(int(batch.mask[row].sum())):
            gone = torch.zeros_like(batch.mask)
            gone[row, word] = True
            with torch.no_grad():
                expected = all_logits(subject, delete_words(batch, gone))[row]
            torch.testing.assert_close(found[row, word], expected, msg=f"{text!r} without word {word}")


@pytest.mark.parametrize("name", CLOSED)
def test_the_closed_form_and_reading_again_agree(name):
    subject = model(name)
    batch = batch_for(subject, many_texts())
    closed, again = Reader(subject, batch), Reader(subject, batch, closed=False)
    assert closed.closed
    torch.testing.assert_close(closed.each_out(), again.each_out())
    gone = torch.rand(5, *batch.mask.shape, generator=torch.Generator().manual_seed(3)) < 0.6
    gone[0], gone[1] = False, True  # nothing, and everything
    torch.testing.assert_close(closed.without(gone), again.without(gone))
    order = torch.rand(batch.mask.shape).masked_fill(~batch.mask, 2).argsort(1)
    assert torch.equal(closed.first_flips(order), again.first_flips(order))


@pytest.mark.parametrize("name", READ_AGAIN)
def test_there_is_no_closed_form_where_words_places_or_sparse_weights_depend_on_each_other(name):
    subject = model(name)
    assert not deletion_is_erasure(subject)
    with pytest.raises(UserError, match="no closed form"):
        Reader(subject, batch_for(subject), closed=True)


def test_sparse_weights_would_go_wrong_in_closed_form():
    subject = model("sparse")
    batch = batch_for(subject, many_texts())
    again = Reader(subject, batch).each_out()
    wrong = Reader(subject, batch)
    wrong.closed = True
    assert not torch.allclose(wrong.each_out(), again)


def test_equal_variants_are_read_once_and_in_batches_under_the_budget():
    subject, seen = model("bigru"), []
    batch = batch_for(subject)

    class Watched:
        classes, mixes_tokens = subject.classes, True
        encode, embed, trace = subject.encode, subject.embed, subject.trace

        def logits(self, batch, embedded=None):
            seen.append(tuple(batch.mask.shape))
            return subject.logits(batch, embedded)

    gone = torch.zeros(7, *batch.mask.shape, dtype=torch.bool)
    gone[3:, :, 0] = True  # seven variants of each text, of which two differ
    Reader(Watched(), batch, places=29).without(gone)
    assert sum(rows for rows, _ in seen) == 2 * len(batch)  # and not the batch itself
    assert all(rows * length <= 29 or rows == 1 for rows, length in seen)


@pytest.mark.parametrize("how", ["delete", "unknown"])
@pytest.mark.parametrize("name", ["bigru", "dp"])
def test_the_first_flip_is_that_of_the_plainest_loop(name, how):
    subject = model(name, seed=5)
    batch = batch_for(subject, many_texts(longest=23))
    reader = Reader(subject, batch, how=how)
    order = word_order(word_scores("leave-one-out", subject, batch, how=how), batch)
    sizes = reader.first_flips(order).tolist()
    for row, size in enumerate(sizes):
        expected = -1
        for count in range(1, int(batch.mask[row].sum())):
            gone = torch.zeros_like(batch.mask)
            gone[row, order[row, :count]] = True
            if decisions(reader.without(gone[None])[0, row]) != reader.decided[row]:
                expected = count
                break
        assert size == expected
    assert max(sizes) > 1


def test_a_model_in_training_is_refused():
    with pytest.raises(UserError, match="call eval"):
        Reader(model().train(), batch_for(model()))


def test_log_odds_are_those_of_the_probability():
    logits = torch.randn(5, 3, dtype=torch.float64)
    classes = torch.tensor([0, 1, 2, 0, 1])
    chosen = logits.softmax(1)[torch.arange(5), classes]
    torch.testing.assert_close(log_odds(logits, classes), (chosen / (1 - chosen)).log())


# Attention


@pytest.mark.parametrize("name", ["dp", "bigru", "han-gru", "han-noenc"])
def test_the_attention_to_the_words_of_a_text_sums_to_one(name):
    subject = model(name)
    batch = batch_for(subject)
    weights, read = word_attention(subject, batch)
    torch.testing.assert_close(weights.sum(1), torch.ones(5, dtype=torch.float64))
    assert torch.equal(read, batch.mask)
    assert (weights[~batch.mask] == 0).all()


def test_a_words_attention_in_a_hierarchical_model_is_its_weight_times_its_sentences():
    subject = model("han-gru")
    batch = batch_for(subject, TEXTS[:1])
    final, within = subject.trace(batch), subject.trace(batch, "words")
    weights, _ = word_attention(subject, batch)
    # The text has sentences of 5, 1 and 7 words.
    torch.testing.assert_close(weights[0, 5], final.weights[0, 1])
    torch.testing.assert_close(weights[0, 8], final.weights[0, 2] * within.weights[0, 2, 2])


# Gradients


@pytest.mark.parametrize("name", ["dp", "conv", "bigru", "han-gru", "average"])
@pytest.mark.parametrize("held", [True, False])
def test_gradient_times_input_is_the_slope_of_shrinking_a_word(name, held):
    subject = model(name)
    batch = batch_for(subject)
    found = gradient_times_input(subject, batch, held=held)
    embedded = subject.embed(batch).detach()
    decided = decisions(all_logits(subject, batch))
    step = 1e-6
    for row, word in [(0, 0), (0, 8), (1, 3), (4, 1)]:
        lead = []
        for sign in (1, -1):
            moved = embedded.clone()
            moved[row, word] *= 1 + sign * step
            with torch.no_grad():
                logits = (
                    _with_weights_of(subject, batch, embedded, moved)
                    if held
                    else subject.logits(batch, moved)
                )
            lead.append(log_odds(two_sided(logits), decided)[row])
        torch.testing.assert_close(found[row, word], (lead[0] - lead[1]) / (2 * step), rtol=1e-5, atol=1e-8)


def _with_weights_of(subject, batch, embedded, moved):
    """The logits of moved embeddings under the attention weights of the ones before."""
    if batch.sentences is None:
        weights = subject.trace(batch).weights
        return subject.logits(batch, moved, weights=weights)
    final, within = subject.trace(batch), subject.trace(batch, "words")
    states, sentences = subject.states(moved, batch)
    weights = within.weights[sentences.text, sentences.rank]
    vectors = sentences.spread(subject.words.attend(states, sentences.mask, weights=weights).context)
    documents = subject.sentences.encode(vectors, sentences.present)
    return subject.decide(
        subject.sentences.attend(documents, sentences.present, weights=final.weights).context
    )


def test_holding_attention_changes_no_logit_and_some_gradients():
    for name in ("dp", "bigru", "han-gru"):
        subject = model(name)
        batch = batch_for(subject)
        torch.testing.assert_close(held_logits(subject, batch, subject.embed(batch)), subject.logits(batch))
        free, held = (gradient_times_input(subject, batch, held=held) for held in (False, True))
        assert not torch.allclose(free, held)


def test_uniform_attention_has_the_same_gradient_held_and_free():
    subject = model("uniform")
    batch = batch_for(subject)
    torch.testing.assert_close(
        gradient_times_input(subject, batch), gradient_times_input(subject, batch, held=True)
    )


@pytest.mark.parametrize("name", ["dp", "bigru", "han-gru"])
@pytest.mark.parametrize("baseline", ["zero", "unknown"])
def test_integrated_gradients_add_up_and_say_how_far_they_miss(name, baseline):
    subject = model(name)
    batch = batch_for(subject)
    fine, coarse = (
        integrated_gradients(subject, batch, steps=steps, baseline=baseline, places=97) for steps in (64, 2)
    )
    assert fine.doubt.max() < 1e-4
    assert coarse.doubt.max() > 100 * fine.doubt.max()
    embedded = subject.embed(batch).detach()
    start = torch.zeros_like(embedded)
    if baseline == "unknown":
        start = subject.embedding(torch.ones_like(batch.ids) * batch.mask).detach()
    decided = decisions(all_logits(subject, batch))
    lead = [log_odds(two_sided(subject.logits(batch, point)), decided) for point in (embedded, start)]
    torch.testing.assert_close(fine.scores.sum(1), (lead[0] - lead[1]).detach(), rtol=1e-3, atol=1e-6)
    assert (fine.scores[~batch.mask] == 0).all()


@pytest.mark.parametrize("changes", [{}, {"head": "logits", "head_bias": True}, {"scale": 0.5}])
def test_the_gradient_of_dp_needs_no_backward_pass(changes):
    settings = replace(SETTINGS["dp"], **changes)
    classes = 3 if "head" in changes else 2
    subject = build_model(settings, VOCABULARY, [f"class {k}" for k in range(classes)], seed=3).double()
    batch = batch_for(subject)
    assert dot_score(subject) is not None
    torch.testing.assert_close(
        word_scores("gradient", subject, batch), gradient_times_input(subject, batch), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "dp"])
def test_other_models_have_no_such_gradient(name):
    assert dot_score(model(name)) is None


def test_integrated_gradients_are_captums():
    from captum.attr import IntegratedGradients

    subject = model("bigru")
    batch = batch_for(subject)
    embedded = subject.embed(batch).detach()
    decided = decisions(all_logits(subject, batch))

    def lead(points, mask, decided):
        part = replace(
            batch, ids=batch.ids[:1].expand(len(points), -1), mask=mask, words=None, sentences=None
        )
        return log_odds(two_sided(subject.logits(part, points)), decided)

    theirs = IntegratedGradients(lead).attribute(
        embedded, additional_forward_args=(batch.mask, decided), n_steps=16, method="gausslegendre"
    )
    ours = integrated_gradients(subject, batch, steps=16)
    torch.testing.assert_close(ours.scores, theirs.sum(-1) * batch.mask)


# LIME


@pytest.mark.parametrize("words", [3, 11])
def test_the_ridge_regression_is_scikit_learns(words):
    from sklearn.linear_model import Ridge

    generator = np.random.default_rng(0)
    x = generator.integers(0, 2, (2, 7, words)).astype(float)
    y, weights = generator.random((2, 7)), generator.random((2, 7))
    found, left = weighted_ridge(*map(torch.from_numpy, (x, y, weights)))
    for row in range(2):
        theirs = Ridge(alpha=1.0).fit(x[row], y[row], sample_weight=weights[row])
        np.testing.assert_allclose(found[row], theirs.coef_, atol=1e-12)
        score = theirs.score(x[row], y[row], sample_weight=weights[row])
        np.testing.assert_allclose(left[row], 1 - score, atol=1e-12)


def test_lime_finds_the_words_of_a_subject_that_is_linear_in_them():
    subject = model("uniform")
    with torch.no_grad():  # probabilities are then nearly linear in the score
        subject.head.weight.mul_(0.01)
        subject.head.bias.zero_()
    batch = batch_for(subject, TEXTS[:2])
    found = lime(Reader(subject, batch), samples=400)
    out = word_scores("leave-one-out", subject, batch)
    for row in range(2):
        real = batch.mask[row]
        assert np.corrcoef(found.scores[row, real], out[row, real])[0, 1] > 0.9
    again = lime(Reader(subject, batch), samples=400)
    assert torch.equal(found.scores, again.scores)
    assert not torch.equal(found.scores, lime(Reader(subject, batch), samples=400, seed=1).scores)
    assert ((found.doubt >= 0) & (found.doubt < 1)).all()


def test_near_texts_count_more_in_lime():
    shares = kernel(torch.tensor([1.0, 0.81, 0.25]))
    torch.testing.assert_close(shares, torch.tensor([1.0, np.exp(-0.5 * 0.4**2), np.exp(-0.5 * 4)]).float())


def test_random_sets_never_hold_all_words_and_belong_to_their_text():
    subject = model()
    batch = batch_for(subject)
    sets = random_subsets(batch, samples=101)
    counts, most = sets.sum(-1), (batch.mask.sum(1) - 1)
    assert (counts <= most).all()
    assert (counts[:, most > 0] >= 1).all()
    assert (counts.max(0).values == most).all()
    assert not (sets & ~batch.mask).any()
    alone = replace(batch_for(subject, TEXTS[3:4]), rows=np.array([3]))
    assert torch.equal(random_subsets(alone, samples=101)[:, 0], sets[:, 3, :3])


# Chance, own arrays, orders


def test_chance_belongs_to_the_text_and_the_word():
    batch = replace(batch_for(model()), rows=np.array([11, 3, 7, 2, 100]))
    drawn = chance_of(batch, 5, sample=-3)
    for row, number in enumerate(batch.rows):
        np.testing.assert_array_equal(drawn[row], chance(5, (1, 13), first=int(number), sample=-3)[0])


@pytest.mark.parametrize("name", WORD_RANKINGS)
def test_a_texts_scores_are_the_same_alone_and_in_company(name):
    subject = model("bigru")
    company = batch_for(subject)

    def scores(batch):
        found = word_scores(name, subject, batch, seed=3)
        return found.scores if isinstance(found, Doubted) else found

    together = scores(company)
    for row, text in enumerate(TEXTS):
        alone = replace(batch_for(subject, [text]), rows=np.array([row]))
        torch.testing.assert_close(
            scores(alone)[0], together[row, : alone.mask.shape[1]], atol=1e-9, rtol=1e-6
        )


def test_shuffled_attention_is_attention_in_another_order():
    subject = model("dp")
    batch = batch_for(subject)
    weights, moved = (word_scores(name, subject, batch) for name in ("attention", "shuffled"))
    torch.testing.assert_close(weights.sort(1).values, moved.sort(1).values)
    assert not torch.allclose(weights, moved)
    assert (moved[~batch.mask] == 0).all()


def test_an_order_has_the_highest_first_padding_last_and_ties_by_chance():
    subject = model()
    batch = batch_for(subject)
    scores = torch.zeros(5, 13, dtype=torch.float64)
    scores[0, 7], scores[1, 2], scores[1, 0] = 3, 1, -torch.inf
    order = word_order(scores, batch, seed=1)
    assert order[0, 0] == 7
    assert order[1, 0] == 2
    assert order[1, 6] == 0
    for row in range(5):
        count = int(batch.mask[row].sum())
        assert sorted(order[row, :count].tolist()) == list(range(count))
    assert not torch.equal(order[0], word_order(scores, batch, seed=2)[0])


def test_a_users_own_array_or_function_is_a_ranking():
    subject = model("bigru")
    batch = batch_for(subject)
    array = np.arange(65.0).reshape(5, 13)
    assert torch.equal(word_scores(array, subject, batch), torch.from_numpy(array))
    by_length = word_scores(lambda reader, seed: reader.batch.ids.float(), subject, batch)
    assert torch.equal(by_length, batch.ids.double())
    with pytest.raises(UserError, match=r"one score for each, \(5, 13\)"):
        word_scores(array[:, :-1], subject, batch)
    with pytest.raises(UserError, match="Row 1"):
        word_scores(np.where(array == 14, np.nan, array), subject, batch)
    with pytest.raises(UserError, match="nearest is 'attention'"):
        word_scores("atention", subject, batch)


def test_contributions_of_words_need_a_head_next_to_them():
    subject = model("han-gru")
    with pytest.raises(UserError, match="two levels"):
        word_scores("contribution", subject, batch_for(subject))
    assert "contribution" not in rankings_of_words(Reader(subject, batch_for(subject)))
    assert "contribution" in rankings_of_words(Reader(model(), batch_for(model())))
