"""Location-sensitive attention: utterances and how they are judged, and reading long ones in order."""

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from heedful.gallery.learning import parameters_of
from heedful.gallery.listener import KINDS, Written, dictate
from heedful.gallery.location import ENTRY, Budget, build, learn_to_write
from heedful.gallery.seeded import seeded
from heedful.gallery.utterances import (
    END,
    FEATURES,
    LASTING,
    PAUSE,
    SYMBOLS,
    Utterances,
    draw_sounds,
    draw_utterances,
    edits,
    symbol_error,
)

kinds = pytest.mark.parametrize("kind", KINDS)


def drawn(count=7, *, seed=0, shortest=2, longest=5, noise=0.2):
    return draw_utterances(
        count, sounds=draw_sounds(3), seed=seed, shortest=shortest, longest=longest, noise=noise
    )


def built(kind):
    with seeded(0):
        return build(kind)


def test_sounds_are_of_length_one_and_none_is_near_another():
    sounds = draw_sounds(1)
    assert sounds.shape == (len(SYMBOLS), FEATURES)
    np.testing.assert_allclose(sounds @ sounds.T, np.eye(len(SYMBOLS)), atol=1e-12)


def test_frames_hold_the_sound_of_their_symbol_and_pauses_none():
    utterances, sounds = drawn(50, noise=0), draw_sounds(3)
    for row in range(50):
        for frame, owner in zip(utterances.frames[row], utterances.owners[row].tolist(), strict=True):
            expected = sounds[utterances.symbols[row, owner]] if owner >= 0 else np.zeros(FEATURES)
            np.testing.assert_allclose(frame.numpy(), expected, atol=1e-6)


def test_symbols_come_in_order_each_for_a_while_with_a_pause_after_it():
    utterances = drawn(50)
    for owners, mask, symbols in zip(utterances.owners, utterances.mask, utterances.symbols, strict=True):
        said = int(((symbols >= 0) & (symbols < END)).sum())
        assert 2 <= said <= 5
        assert symbols[said] == END
        assert (symbols[said + 1 :] == -1).all()
        real = owners[mask].tolist()
        assert sorted(set(real)) == list(range(-1, said))
        spoken = [owner for owner in real if owner >= 0]
        assert spoken == sorted(spoken)
        assert all(LASTING[0] <= spoken.count(place) <= LASTING[1] for place in range(said))
        assert said * PAUSE[0] <= real.count(-1) <= said * PAUSE[1]
        assert (owners[~mask] == -1).all()


def test_chosen_utterances_are_cut_to_the_longest_of_them():
    utterances = drawn(50)
    shortest = int(utterances.mask.sum(-1).argmin())
    one = utterances.rows(torch.tensor([shortest]))
    assert one.mask.all()
    assert (one.symbols >= 0).all()
    assert one.frames.shape[1] == one.owners.shape[1] < utterances.frames.shape[1]


def test_one_seed_draws_the_same_utterances_and_another_draws_others():
    assert drawn(seed=1).frames.equal(drawn(seed=1).frames)
    assert not drawn(seed=1).symbols.equal(drawn(seed=2).symbols)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [([], [], 0), ([1, 2], [], 2), ([1, 2, 3], [1, 3], 1), ([1, 2, 3], [2, 3, 1], 2), ([1, 1], [2, 2], 2)],
)
def test_edits_count_insertions_removals_and_changes(one, other, expected):
    assert edits(one, other) == edits(other, one) == expected


def test_the_symbol_error_counts_faults_before_the_end_for_each_symbol_said():
    said = torch.tensor([[0, 1, 2, END], [3, END, -1, -1]])
    written = torch.tensor([[0, 2, END, 4], [3, 4, 4, 4]])  # one missing; three too many, and no end
    assert symbol_error(written, said, end=END) == pytest.approx((1 + 3) / 4)
    assert symbol_error(said.clamp(min=0), said, end=END) == 0


def test_a_dictation_judges_where_the_greatest_weights_lie():
    utterances = Utterances(
        frames=torch.zeros(2, 8, FEATURES),
        mask=torch.ones(2, 8, dtype=torch.bool),
        symbols=torch.tensor([[0, 1, END], [1, 1, END]]),
        owners=torch.tensor([[0, 0, -1, -1, 1, 1, 1, -1]] * 2),
    )

    def reads(*peaks):
        weights = torch.nn.functional.one_hot(torch.tensor(peaks), 8).float()
        logits = torch.nn.functional.one_hot(utterances.symbols, END + 1).float()
        return dictate(lambda given, steps: Written(logits, weights), utterances, end=END)

    assert reads([0, 5, 0], [1, 6, 7]) == (1, 1, 0)  # where the end is read does not count
    assert reads([2, 3, 7], [2, 7, 7]) == (1, 1, 0)  # nor does a pause beside the symbol
    assert reads([3, 2, 7], [0, 4, 7]) == (0.5, 0.5, 0)  # back, and both too far
    assert reads([5, 5, 7], [4, 0, 7]) == (0.25, 0, 0)  # to stay is not to go on


@kinds
def test_every_kind_writes_and_says_where_it_read(kind):
    utterances = drawn()
    written = built(kind)(utterances, 3)
    assert written.logits.shape == (7, 3, END + 1)
    assert written.weights.shape == (7, 3, utterances.mask.shape[1])
    torch.testing.assert_close(written.weights.sum(-1), torch.ones(7, 3))
    assert (written.weights.transpose(1, 2)[~utterances.mask] == 0).all()


@kinds
def test_an_utterance_alone_is_written_as_in_company(kind):
    utterances, model = drawn(), built(kind)
    shortest = utterances.mask.sum(-1).argmin().unsqueeze(0)
    together, alone = model(utterances, 5), model(utterances.rows(shortest), 5)
    torch.testing.assert_close(alone.logits, together.logits[shortest])


@kinds
def test_symbols_are_written_after_the_given_ones_as_after_its_own(kind):
    utterances, model = drawn(), built(kind)
    own = model(utterances, 5)
    given = model(utterances, 5, own.logits.argmax(-1))
    torch.testing.assert_close(given.logits, own.logits)


def test_all_kinds_have_equal_parameters_to_a_percent():
    counts = [parameters_of(built(kind)) for kind in KINDS]
    assert max(counts) / min(counts) < 1.01


def test_training_is_decided_by_the_seed_and_leaves_torchs_generator_alone():
    before = torch.get_rng_state()
    budget = Budget(utterances=7, steps=2, tested=1, batch=3)
    one, two, other = (
        learn_to_write("hybrid", drawn(), seed=seed, budget=budget, rate=0.01).recur.weight_hh
        for seed in (1, 1, 2)
    )
    assert one.equal(two)
    assert not one.equal(other)
    assert torch.get_rng_state().equal(before)


@pytest.mark.slow
def test_hybrid_attention_reads_long_utterances_in_order_where_content_alone_does_not():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > outcome.baseline + 0.1
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.01
    figure = Figure()
    ENTRY.draw(outcome, figure)
    assert len(figure.axes) == 3  # two kinds and the scale
