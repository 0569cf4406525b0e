"""What a word does to the probability of the decision, and the error of that."""

import numpy as np
import pytest
import torch
from small_model import small_model, texts_of

from heedful.errors import UserError
from heedful.highlights.strength import Strengths, strengths
from heedful.models.trace import probabilities
from heedful.trials.erasure.deletion import take_rows
from heedful.trials.erasure.heat_map import LEAST, effects_of, surely
from heedful.trials.erasure.random_deletions import read_deletions
from heedful.trials.erasure.rereading import Reader


def read(texts, **more):
    model = small_model(**more)
    return Reader(model, model.encode(texts))


def exact_effects(reader):
    """φ of every word from all parts of each text, counted one by one."""
    chances = (0.1, 0.3, 0.5, 0.7, 0.9)
    mask = reader.batch.mask
    found = np.zeros(mask.shape)
    for row in range(len(mask)):
        words = int(mask[row].sum())
        kept = (np.arange(2**words)[:, None] >> np.arange(words)) & 1 > 0
        gone = torch.zeros(1, 2**words, mask.shape[1], dtype=torch.bool)
        gone[0, :, :words] = torch.from_numpy(~kept)
        said = probabilities(reader.variants(torch.tensor([row]), gone))[0, :, reader.decided[row]].numpy()
        for p in chances:
            chance = p ** kept.sum(1) * (1 - p) ** (words - kept.sum(1))
            found[row, :words] += (chance * said) @ (kept - p)
    return found / sum(p * (1 - p) for p in chances)


def test_effects_from_random_deletions_are_those_of_all_deletions_within_their_errors():
    reader = read(texts_of(40))
    found, true = strengths(reader, "deletions"), exact_effects(reader)
    z = ((found.effect.numpy() - true) / found.error.numpy())[reader.batch.mask.numpy()]
    assert abs(z.mean()) < 0.2
    assert 0.8 < z.std() < 1.2
    assert (np.abs(z) > 1.96).mean() < 0.09
    assert np.abs(true).max() > 0.2


def test_a_short_text_has_exact_effects():
    reader = read(["gorgeous film scene", "dull story"])
    found = strengths(reader, "deletions")
    assert found.effect.numpy() == pytest.approx(exact_effects(reader), abs=1e-9)
    assert not found.error.any()


def test_the_quick_estimate_agrees_with_that_of_the_audit():
    reader = read(texts_of(30))
    found = strengths(reader, "deletions")
    for deletions in read_deletions(reader, per_word=16):
        rows = torch.from_numpy(deletions.rows)
        other = effects_of(deletions, reader.batch.mask[rows])
        error = (other.error[:, None].square() + found.error[rows].square()).sqrt()
        apart = ((other.mean - found.effect[rows]) / error)[reader.batch.mask[rows]]
        assert apart.abs().max() < 6


def test_leave_one_out_is_the_fall_of_the_probability():
    reader = read(["gorgeous film scene plot", "dull film witty story music"])
    found = strengths(reader, "leave-one-out")
    model = reader.subject
    for text, row in (("gorgeous film scene plot", 0), ("dull film witty story music", 1)):
        words, code = text.split(), int(reader.decided[row])
        whole = probabilities(model.logits(model.encode([text])).detach().double())[0, code]
        for place in range(len(words)):
            rest = " ".join(words[:place] + words[place + 1 :])
            left = probabilities(model.logits(model.encode([rest])).detach().double())[0, code]
            assert found.effect[row, place] == pytest.approx(float(whole - left), abs=1e-6)
    assert not found.error.any()
    assert not found.effect[0, 4:].any()


@pytest.mark.parametrize("way", ["deletions", "leave-one-out"])
def test_neither_padding_nor_company_changes_what_a_word_does(way):
    texts = [*texts_of(5), "dull witty film letter street"]
    whole = read([*texts, "film " * 31])
    together = strengths(whole, way)
    for row in range(len(texts)):
        alone = Reader(whole.subject, take_rows(whole.subject.encode(texts), torch.tensor([row])))
        assert strengths(alone, way).effect[0] == pytest.approx(together.effect[row, :9], abs=1e-6)


def test_one_word_alone_has_its_fall():
    found = strengths(read(["gorgeous", "film scene music"]), "deletions")
    assert found.effect[0, 0] == pytest.approx(
        float(strengths(read(["gorgeous"]), "leave-one-out").effect[0, 0])
    )


def test_noise_is_hardly_ever_called_sure():
    draw = torch.Generator().manual_seed(7)
    error = torch.full((2000, 23), 0.1)
    mask = torch.ones(2000, 23, dtype=torch.bool)
    noise = Strengths(0.1 * torch.randn(2000, 23, generator=draw).double(), error.double())
    assert (
        0.02 < surely(noise.effect, noise.error, mask).any(1).double().mean() < 0.08
    )  # 5 % of texts have a false mark
    small = Strengths(torch.full((1, 3), 0.9 * LEAST).double(), torch.zeros(1, 3).double())
    assert not surely(small.effect, small.error, mask[:1, :3]).any()
    assert surely(2 * small.effect, small.error, mask[:1, :3]).all()


def test_another_way_is_refused():
    with pytest.raises(UserError, match="way to measure strength"):
        strengths(read(["film scene"]), "gradient")
