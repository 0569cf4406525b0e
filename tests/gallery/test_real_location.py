"""`location` on real speech: strings are made of takes, warped templates find digits, kinds are equal."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from made_data import write_digits
from matplotlib.figure import Figure

from heedful.errors import UserError
from heedful.gallery.learning import parameters_of
from heedful.gallery.listener import KINDS
from heedful.gallery.long_strings import BUDGETS, LONG, build, over_long, strings_by_length
from heedful.gallery.real_location import REAL
from heedful.gallery.spoken_digits import END, FILE, STACKED, draw_strings, quietest, read_takes, spoken
from heedful.gallery.templates import Templates, distances, make_templates, spell_out, template_error


@pytest.fixture
def folder(tmp_path):
    write_digits(tmp_path)
    return tmp_path


def drawn(takes, count=5, lengths=(3, 6), seed=1):
    return draw_strings(takes, count, lengths=lengths, chance=np.random.default_rng(seed))


def test_takes_are_split_as_the_file_says(folder):
    learnt, tested = read_takes(folder)
    assert set(tested.index) == {0, 1}
    assert set(learnt.index) == {2, 3, 4}
    assert len(learnt.frames) == len(learnt) == 3 * 3 * 10
    one = learnt.rows((learnt.speaker == 1) & (learnt.digit == 4))
    assert [len(frames) for frames in one.frames] == [len(one.frames[0])] * 3
    np.testing.assert_allclose(learnt.scale, np.concatenate(learnt.frames).std(0), rtol=1e-5)


def test_a_string_is_its_takes_with_pauses_of_the_quietest_frame():
    pieces = [np.arange(12.0).reshape(6, 2), 20 + np.arange(14.0).reshape(7, 2)]
    frames, owners = spoken(pieces, [2, 1], np.array([2.0, 4.0]))
    whole = np.concatenate([pieces[0], pieces[0][:1], pieces[0][:1], pieces[1], pieces[1][:1]])
    scaled = (whole - whole.mean(0)) / (2, 4)
    np.testing.assert_allclose(frames, scaled.reshape(4, STACKED * 2))
    assert owners.tolist() == [0, -1, 1, 1]  # frames 2, 6, 10 and 14 of 10 ms
    assert quietest(pieces[1]).tolist() == [20, 21]


def test_strings_are_of_one_speaker_of_the_lengths_asked_for_and_end(folder):
    learnt, _ = read_takes(folder)
    strings = drawn(learnt, 20)
    said = (strings.symbols >= 0).sum(-1) - 1
    assert said.min() >= 3
    assert said.max() <= 6
    assert (strings.symbols.gather(1, said.unsqueeze(1)) == END).all()
    assert torch.equal(strings.frames, drawn(learnt, 20).frames)
    assert not torch.equal(strings.symbols, drawn(learnt, 20, seed=2).symbols)
    assert (strings.frames[~strings.mask] == 0).all()
    for owners, count in zip(strings.owners, said, strict=True):
        assert set(owners.tolist()) >= set(range(int(count)))
        real = owners[owners >= 0]
        assert (real.diff() >= 0).all()


@pytest.mark.parametrize(("speaker", "lasting"), [(0, 4), (1, 5), (2, 6)])
def test_the_test_strings_are_of_the_speakers_given_and_always_the_same(folder, speaker, lasting):
    own = read_takes(folder)[1]
    own = own.rows(own.speaker == speaker)
    for name, strings in strings_by_length(own, 3).items():
        assert torch.equal(strings.frames, strings_by_length(own, 3)[name].frames)
        for owners, symbols in zip(strings.owners, strings.symbols, strict=True):
            digits = int((symbols >= 0).sum()) - 1
            assert abs(int((owners >= 0).sum()) / digits - lasting) < 0.5


def test_a_damaged_file_gets_one_sentence(folder):
    whole = (folder / FILE).read_bytes()
    with np.load(folder / FILE) as file:
        held = dict(file)
    np.savez(folder / FILE, **{name: held[name] for name in held if name != "speaker"})
    with pytest.raises(UserError, match="has no array speaker"):
        read_takes(folder)
    np.savez(folder / FILE, **{**held, "frames": held["frames"][:-1]})
    with pytest.raises(UserError, match="as many frames as its lengths"):
        read_takes(folder)
    for content in (whole[:300], b"", b"nothing"):
        (folder / FILE).write_bytes(content)
        with pytest.raises(UserError, match="cannot be read as arrays"):
            read_takes(folder)


def test_templates_explain_a_string_of_stretched_digits_and_leave_pauses_out():
    levels = np.array([[0.0], [5], [1], [6], [2], [-9]])
    templates = Templates(levels, np.array([1, 3, 4, 5]), np.array([7, 3, 4, -1]))
    string = np.array([[-9.0], [1], [1], [6], [6], [6], [-9], [0], [5], [0], [5], [2], [2]])
    assert spell_out(string, templates) == [3, 7, 7, 4]
    assert spell_out(string[:6], templates) == [3]


def test_distances_are_euclidean():
    chance = np.random.default_rng(3)
    some, others = chance.normal(size=(5, 3)), chance.normal(size=(7, 3))
    expected = np.linalg.norm(some[:, None] - others, axis=-1)
    np.testing.assert_allclose(distances(some, others), expected, atol=1e-9)


def test_templates_of_the_same_voices_write_made_digits_almost_without_fault(folder):
    learnt, tested = read_takes(folder)
    assert template_error(make_templates(learnt, 1), drawn(tested, 4, (5, 9)), end=END) < 0.1


def test_all_kinds_have_equal_parameters_to_a_percent():
    counts = [parameters_of(build(kind)) for kind in KINDS]
    assert max(counts) / min(counts) < 1.01


def test_long_strings_count_alike_and_short_ones_do_not():
    assert over_long({"3–6 digits": 9, **dict.fromkeys(LONG, 0.25)}) == 0.25


@pytest.mark.slow
def test_the_small_size_is_trained_and_drawn_and_its_new_voice_goes_by_the_seed(folder, monkeypatch):
    monkeypatch.setitem(BUDGETS, "small", replace(BUDGETS["small"], steps=120))
    outcome = REAL.train(1, "small", folder, "cpu")
    assert outcome.picture["voice"] == "bo"
    assert outcome.figure < 0.9
    assert outcome.table["known voices, 3–6 digits, error, hybrid"] < 0.6
    assert outcome.yardstick == outcome.table["known voices, 12–20 digits, error, templates"]
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.01
    figure = Figure()
    REAL.draw([outcome, outcome], figure)
    assert len(figure.axes) == 6  # three kinds, their scale, and two of errors
