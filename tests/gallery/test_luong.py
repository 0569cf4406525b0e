"""Global and local attention: every kind writes, and reading beats the last state."""

import pytest
import torch
from matplotlib.figure import Figure

from heedful.gallery.both_ways import turned_round
from heedful.gallery.dates import LENGTH, OUTPUTS, encode_dates, write_dates
from heedful.gallery.learning import parameters_of
from heedful.gallery.luong import BASELINE, ENTRY, FIGURE, KINDS, LONGEST, RATES, WIDER, WIDTH, Rewriter
from heedful.gallery.rewriting import Encoder
from heedful.gallery.seeded import seeded

kinds = pytest.mark.parametrize("kind", KINDS)


def small(kind):
    with seeded(0):
        return Rewriter(3, kind=kind)


@kinds
def test_every_kind_writes_dates_and_says_where_it_read(kind):
    dates = write_dates(7, test=False, seed=0)
    for written in (small(kind)(dates.sources, dates.targets), small(kind)(dates.sources)):
        assert written.logits.shape == (7, LENGTH, len(OUTPUTS))
        assert (written.weights is None) == (kind in (BASELINE, WIDER))
        assert written.weights is None or written.weights.shape == (7, LENGTH, dates.sources.shape[1])
        assert (written.centres is None) == (kind != "local-p")


@kinds
def test_a_date_is_written_step_by_step_as_all_at_once(kind):
    model, dates = small(kind), write_dates(5, test=False, seed=1)
    stepwise = model(dates.sources)
    at_once = model(dates.sources, stepwise.logits.argmax(-1))
    torch.testing.assert_close(stepwise.logits, at_once.logits)
    torch.testing.assert_close(stepwise.weights, at_once.weights)
    torch.testing.assert_close(stepwise.centres, at_once.centres)


@kinds
def test_a_text_alone_is_rewritten_as_in_company(kind):
    together = encode_dates(["3.5.98", "third May 1998"], ["1998-05-03"] * 2)
    alone = encode_dates(["3.5.98"], ["1998-05-03"])
    torch.testing.assert_close(
        small(kind)(alone.sources, alone.targets).logits[0],
        small(kind)(together.sources, together.targets).logits[0],
    )


def test_the_encoder_reads_as_a_bidirectional_recurrence_over_packed_texts_does():
    with seeded(0):
        encoder = Encoder(3)
    dates = write_dates(7, test=False, seed=0)
    both = torch.nn.GRU(16, 3, batch_first=True, bidirectional=True)
    ours = {
        name + end: value
        for end, one in (("", encoder.recurrence.forwards), ("_reverse", encoder.recurrence.backwards))
        for name, value in one.state_dict().items()
    }
    both.load_state_dict(ours)
    lengths = (dates.sources != 0).sum(-1)
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        encoder.characters(dates.sources), lengths, batch_first=True, enforce_sorted=False
    )
    states, last = both(packed)
    padded, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    found, found_last = encoder(dates.sources)
    real = dates.sources != 0
    assert not real.all()
    torch.testing.assert_close(found[real], padded[real])
    torch.testing.assert_close(found_last, torch.cat([last[0], last[1]], -1))


def test_a_text_is_turned_round_in_its_own_slots():
    mask = torch.tensor([[True, True, True, False], [True, False, False, False]])
    assert turned_round(mask).tolist() == [[2, 1, 0, 3], [0, 1, 2, 3]]


def test_no_text_is_longer_than_the_longest():
    assert write_dates(5000, test=False, seed=0).sources.shape[1] <= LONGEST


def test_no_kind_has_more_parameters_than_its_baseline():
    counts = {kind: parameters_of(Rewriter(WIDTH, kind=kind)) for kind in KINDS}
    assert counts["dot"] == counts["local-m"] == counts[BASELINE]
    for kind in ("general", "concat", "local-p", "location"):
        assert counts[BASELINE] < counts[kind] <= counts[WIDER]
    assert counts[WIDER] < 1.01 * counts["general"]  # of the three that have most, the one with least


def test_every_kind_has_a_rate_that_was_tried_for_it():
    assert RATES.keys() == KINDS.keys()
    assert set(RATES.values()) <= {0.01, 0.02, 0.03, 0.04}


@pytest.mark.slow
def test_global_attention_beats_the_last_state_of_the_encoder():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > outcome.baseline + 0.1
    assert outcome.table.keys() == {FIGURE, "local-p", BASELINE}
    figure = Figure()
    ENTRY.draw(outcome, figure)
    assert len(outcome.picture["centres"]) == len(outcome.picture["texts"]) == 3
