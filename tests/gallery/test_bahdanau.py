"""Additive alignment: reading beats remembering, and each text alone is rewritten as in company."""

import pytest
import torch
from matplotlib.figure import Figure

from heedful.gallery.bahdanau import DECODERS, ENTRY, WIDTH, Rewriter
from heedful.gallery.dates import LENGTH, OUTPUTS, PADDING, encode_dates, write_dates
from heedful.gallery.learning import parameters_of
from heedful.gallery.rewriting import Budget, learn_dates
from heedful.gallery.seeded import seeded


def small(attends=True):
    with seeded(0):
        return Rewriter(3, decoder=5, attends=attends)


def test_the_models_have_equal_parameters_to_a_few_percent():
    with_, without = (
        parameters_of(Rewriter(WIDTH, decoder=DECODERS[attends], attends=attends))
        for attends in (True, False)
    )
    assert 1 <= without / with_ < 1.03


def test_a_model_says_where_it_read_each_character():
    dates = write_dates(7, test=False, seed=0)
    written = small()(dates.sources, dates.targets)
    assert written.logits.shape == (7, LENGTH, len(OUTPUTS))
    assert written.weights.shape == (7, LENGTH, dates.sources.shape[1])
    torch.testing.assert_close(written.weights.sum(-1), torch.ones(7, LENGTH))
    padded = (dates.sources == PADDING)[:, None].expand_as(written.weights)
    assert padded.any()
    assert (written.weights[padded] == 0).all()
    assert small(attends=False)(dates.sources).weights is None


@pytest.mark.parametrize("attends", [True, False])
def test_a_text_alone_is_rewritten_as_in_company(attends):
    model = small(attends)
    together = encode_dates(["3.5.98", "the third of May 1998"], ["1998-05-03"] * 2)
    alone = encode_dates(["3.5.98"], ["1998-05-03"])
    torch.testing.assert_close(
        model(alone.sources, alone.targets).logits[0], model(together.sources, together.targets).logits[0]
    )


def test_training_is_decided_by_the_seed_and_leaves_torchs_generator_alone():
    dates = write_dates(37, test=False, seed=0)
    before = torch.get_rng_state()
    results = []
    for seed in (1, 1, 2):
        with seeded(seed):
            model = Rewriter(3, decoder=5, attends=True)
            learn_dates(model, dates, Budget(texts=37, steps=2, batch=5))
        results.append(model.decide.weight)
    assert results[0].equal(results[1])
    assert not results[0].equal(results[2])
    assert torch.get_rng_state().equal(before)


@pytest.mark.slow
def test_alignment_beats_the_last_state_of_the_encoder():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > outcome.baseline + 0.2
    assert [len(text) for text in outcome.picture["texts"]] == [
        weights.shape[1] for weights in outcome.picture["weights"]
    ]
    figure = Figure()
    ENTRY.draw(outcome, figure)
    assert len(figure.axes) == 4  # three texts and the scale
