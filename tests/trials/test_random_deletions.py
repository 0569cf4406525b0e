"""Random deletions: how they are dealt out, that they belong to the text, and how they are counted."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from word_subjects import batch_for, many_texts, model

from heedful.trials.erasure.random_deletions import (
    CHANCES,
    ENUMERATED,
    HALVES,
    PARTS,
    TIMES,
    UNIT,
    budget_of,
    chances,
    draw,
    read_deletions,
)
from heedful.trials.erasure.rereading import Reader

LONG = " ".join(f"w{number % 29}" for number in range(97))


def reader_of(texts, name="dp", **more):
    subject = model(name)
    return Reader(subject, batch_for(subject, texts), **more)


@pytest.mark.parametrize(
    ("words", "per_word", "most", "found"),
    [(8, 8, 640, 80), (10, 8, 640, 80), (11, 8, 640, 160), (80, 8, 640, 640), (300, 8, 640, 640),
     (40, 1, 640, 80), (100, 8, 79, 80), (100, 8, 160, 160), (100, 8, 239, 160)],
)  # fmt: skip
def test_deletions_come_in_units_of_80(words, per_word, most, found):
    assert UNIT == 80 == PARTS * HALVES * TIMES * len(CHANCES)
    assert budget_of(np.array([words]), per_word=per_word, most=most).tolist() == [found]


def test_the_second_of_a_pair_is_the_mirror_of_the_first():
    batch = batch_for(model(), [LONG])
    kept = draw(batch, np.array([0]), 160)[0].view(-1, TIMES, HALVES, PARTS, len(CHANCES), 97)
    assert (kept[:, 1].flip(3) == ~kept[:, 0]).all()
    assert chances(160).tolist() == list(CHANCES) * 32


def test_a_word_stays_as_often_as_its_chance_says():
    batch = batch_for(model(), [LONG])
    kept = draw(batch, np.array([0]), 640)[0].view(-1, len(CHANCES), 97)
    stays = kept.double().mean((0, 2)).numpy()
    assert stays == pytest.approx(CHANCES, abs=0.015)
    assert kept.double().mean((0, 1)).std() < 0.05  # no word more than another


def test_deletions_belong_to_the_text_whatever_stands_beside_it():
    texts = many_texts(5, 23, seed=1)
    batch = batch_for(model(), texts)
    alone = replace(batch_for(model(), [texts[3]]), rows=np.array([3]))
    words = int(batch.mask[3].sum())
    whole = draw(batch, np.array([1, 3]), 80)[1]
    assert (whole[:, :words] == draw(alone, np.array([0]), 80)[0]).all()
    assert not whole[:, words:].any()
    assert not (draw(alone, np.array([0]), 80, seed=1) == draw(alone, np.array([0]), 80)).all()
    assert not (draw(alone, np.array([0]), 80, sample=1) == draw(alone, np.array([0]), 80)).all()


def test_short_texts_are_read_in_all_their_parts_and_those_of_one_word_not_at_all():
    texts = ["w1", "w2 w3", "w1 w2 w3 w4 w5 w6 w7", "w1 w2 w3 w4 w5 w6 w7 w8"]
    found = {one.rows[0]: one for one in read_deletions(reader_of(texts))}
    assert sorted(found) == [1, 2, 3]
    assert ENUMERATED == 7
    assert [found[row].complete for row in (1, 2, 3)] == [True, True, False]
    assert [found[row].evaluations for row in (1, 2, 3)] == [4, 128, 80]
    assert len({tuple(part.tolist()) for part in found[2].kept[0, :, :7]}) == 128
    assert not found[1].kept[0, :, 2:].any()


def test_every_part_is_counted_by_its_chance():
    found = next(one for one in read_deletions(reader_of(["w2 w3"])) if one.complete)
    both = found.kept[0].sum(1)
    for number, p in enumerate(CHANCES):
        assert found.chance[number, 0][both == 2].item() == pytest.approx(p * p)
        assert found.chance[number, 0][both == 1].tolist() == pytest.approx([p * (1 - p)] * 2)
        assert found.chance[number, 0][both == 0].item() == pytest.approx((1 - p) ** 2)
    assert found.chance.dtype == torch.float64


def test_each_drawn_deletion_counts_alike_at_its_p():
    (found,) = read_deletions(reader_of([LONG]))
    assert found.chance.sum(2).numpy() == pytest.approx(np.ones((5, 1)))
    assert found.chance.shape == (5, 1, 640)
    assert (found.chance.argmax(0)[0] == torch.arange(640) % 5).all()


@pytest.mark.parametrize("how", ["delete", "unknown"])
@pytest.mark.parametrize("name", ["dp", "bigru"])
def test_what_is_said_is_the_probability_of_the_decided_class_of_the_text_that_is_left(name, how):
    subject = model(name)
    text = "w1 w4 w8 w2 w9 w11 w3 w5 w20"
    reader = Reader(subject, batch_for(subject, [text]), how=how)
    (found,) = read_deletions(reader)
    decided = reader.decided.item()
    for place in (0, 17, 41, 79):
        kept = [
            word if stays else "unheard"
            for word, stays in zip(text.split(), found.kept[0, place], strict=True)
            if stays or how == "unknown"
        ]
        logits = subject.logits(subject.encode([" ".join(kept) or "unheard"])).double()
        logits = torch.stack([torch.zeros(1), logits[:, 0]], 1) if logits.shape[1] == 1 else logits
        assert found.said[0, place].item() == pytest.approx(logits.softmax(1)[0, decided].item(), abs=1e-9)
        assert found.lost[0, place].item() == (logits.argmax(1).item() != decided)


def test_the_share_that_loses_the_decision_is_counted_by_chance():
    (found,) = read_deletions(reader_of(["w2 w3 w4"]))
    by_hand = sum(
        found.lost[0, place] * np.mean([p**k * (1 - p) ** (3 - k) for p in CHANCES])
        for place, k in enumerate(found.kept[0].sum(1).tolist())
    )
    assert found.share_lost.item() == pytest.approx(float(by_hand))
    (drawn,) = read_deletions(reader_of([LONG]))
    assert drawn.share_lost.item() == pytest.approx(drawn.lost.double().mean().item())
