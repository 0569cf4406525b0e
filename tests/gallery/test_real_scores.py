"""`scores` on bAbI: keys begin with variance 1 at any width, and every score is trained and drawn."""

import pytest
import torch
from made_data import write_babi
from matplotlib.figure import Figure

from heedful.attention import SCORES
from heedful.gallery.babi import read_babi
from heedful.gallery.real_scores import LINES, REAL, Finder


@pytest.fixture
def babi(tmp_path):
    write_babi(tmp_path)
    return read_babi(tmp_path, 1)


@pytest.mark.parametrize("width", [8, 256])
def test_sentences_begin_with_variance_one_however_many_words_they_have(babi, width):
    torch.manual_seed(0)
    spoken = Finder(babi, "dot", width).spoken(torch.nn.Embedding(len(babi.words), width))[1:]
    assert spoken.var().item() == pytest.approx(1, abs=0.35)


@pytest.mark.parametrize("score", SCORES)
def test_a_question_has_the_same_answer_alone_and_in_company(babi, score):
    model = Finder(babi, score, 8).eval()
    few = babi.test.rows(torch.arange(10))
    assert torch.allclose(model(few)[3], model(few.rows(torch.tensor([3])))[0], atol=1e-6)


def test_every_score_has_its_line():
    assert set(LINES) == set(SCORES)


@pytest.mark.slow
def test_the_small_size_learns_on_a_file_of_the_same_form_and_is_drawn(tmp_path):
    write_babi(tmp_path)
    outcome = REAL.train(0, "small", tmp_path, "cpu")
    assert outcome.parameters == outcome.baseline_parameters
    assert max(outcome.table[f"{score}, width 8"] for score in SCORES) > outcome.yardstick + 0.1
    assert (
        outcome.table["dot, width 128: greatest weight at first"]
        > outcome.table["scaled-dot, width 128: greatest weight at first"]
    )
    REAL.draw([outcome, outcome], Figure())
