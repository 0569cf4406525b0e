"""Questions that can be asked of somebody else's model: noise, dropout, halves of the deletions, the head."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from heedful.auditing.questions import QUESTIONS
from heedful.auditing.questions.head import even
from heedful.auditing.questions.noise import rewritten
from heedful.auditing.steady import Painted, compared
from heedful.data.pairs import paired
from heedful.models.dropout import dropping, drops
from heedful.models.trace import Trace
from heedful.trials.erasure.heat_map import halves_agree
from heedful.trials.erasure.random_deletions import CHANCES, HALVES, PARTS, Deletions


def test_noise_keeps_every_word_and_writes_each_text_of_a_pair_twice():
    assert rewritten("A Good film.", "case") == "a good film."
    assert rewritten("a good film", "case") == "A good film"
    assert rewritten("a good film", "spacing") == "a  good  film"
    assert rewritten(paired("a b", "c"), "twice") == paired("a b a b", "c c")


def test_dropout_is_on_for_a_while_repeats_by_its_seed_and_leaves_nothing_behind():
    model = nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5), nn.Linear(5, 2)).eval()
    given, before = torch.ones(7, 3), torch.get_rng_state()
    plain = model(given)
    with dropping(model, seed=1):
        first = model(given)
        assert not model.training
    with dropping(model, seed=1):
        assert torch.equal(model(given), first)
    assert not torch.equal(first, plain)
    with pytest.raises(RuntimeError), dropping(model, seed=2):
        raise RuntimeError
    assert torch.equal(model(given), plain)
    assert torch.equal(torch.get_rng_state(), before)
    assert drops(model)
    assert not drops(nn.Linear(2, 2))


def test_a_map_is_compared_only_where_all_words_are_still_there():
    mask = torch.tensor([[True, True, True], [True, True, False], [True, False, False]])
    own = Painted(torch.tensor([[0.1, 0.7, 0.2], [0.6, 0.4, 0], [1.0, 0, 0]]), mask, torch.tensor([0, 1, 0]))
    fewer = mask.clone()
    fewer[1, 1] = False
    other = Painted(own.scores.clone(), fewer, torch.tensor([0, 0, 0]))
    found = compared(own, other, "case")
    assert found["top_case"][0] == 1
    assert found["tau_case"][0] == pytest.approx(1)
    assert np.isnan(found["top_case"][1:]).all()  # a word has gone; one word has nothing to compare
    assert found["kept_case"].tolist() == [1, 0, 1]


def test_a_map_of_a_text_too_long_for_it_is_compared_with_nothing():
    mask = torch.ones(2, 2, dtype=torch.bool)
    scores, decided = torch.tensor([[0.1, 0.7], [0.6, 0.4]]), torch.tensor([0, 1])
    whole = Painted(scores, mask, decided)
    cut = Painted(scores.masked_fill(torch.tensor([[True], [False]]), torch.nan), mask, decided)
    for own, other in ((whole, cut), (cut, whole)):
        assert np.isnan(compared(own, other, "case")["top_case"]).tolist() == [True, False]


def _deletions(effects: torch.Tensor, noise: float, *, times: int = 4) -> Deletions:
    draw = torch.Generator().manual_seed(0)
    count, many = len(effects), times * HALVES * PARTS * len(CHANCES)
    chance = torch.tensor(CHANCES, dtype=torch.float64).repeat(many // len(CHANCES))
    kept = torch.rand(count, many, effects.shape[1], generator=draw, dtype=torch.float64) < chance[:, None]
    said = (kept * effects[:, None]).sum(-1) + noise * torch.randn(
        count, many, generator=draw, dtype=torch.float64
    )
    return Deletions(np.arange(count), kept, said, torch.zeros(count, many, dtype=torch.bool), complete=False)


def test_halves_of_deletions_agree_where_words_decide_and_not_where_chance_does():
    effects = torch.randn(11, 13, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    mask = torch.ones(11, 13, dtype=torch.bool)
    assert halves_agree(_deletions(effects, 0.0), mask).min() > 0.95
    assert halves_agree(_deletions(0 * effects, 1.0), mask).abs().mean() < 0.5


def test_even_weights_keep_what_marks_have_and_share_the_rest_out():
    weights = torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64)
    trace = Trace(
        weights,
        torch.ones(1, 3, 2, dtype=torch.float64),
        torch.ones(1, 3, dtype=torch.bool),
        nn.Linear(2, 2).double(),
        items=torch.tensor([[-1, 0, 1]]),
    )
    torch.testing.assert_close(even(trace), torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64))


def test_none_of_them_decides():
    assert {one.id for one in QUESTIONS if one.of_others} == {"head", "noise", "dropout", "halves"}
    assert [one.id for one in QUESTIONS if one.decides] == ["foretells"]


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
    from tiny_transformers import classifier, learn, make_corpus, save, wordpiece

    import heedful

    corpus, tokenizer = make_corpus(600), wordpiece()
    network = classifier("bert", tokenizer, hidden_dropout_prob=0.1)
    learn(network, tokenizer, corpus)
    folder = tmp_path_factory.mktemp("others")
    save(network, tokenizer, folder / "mine")
    return heedful.audit(f"hf:{folder / 'mine'}", corpus, out=folder / "audit", limit=60)


@pytest.mark.slow
def test_they_are_asked_of_somebodys_model_and_shown(audit):
    found = {one.id: one for one in audit.answers}
    assert [one.number for one in audit.answers] == list(range(1, len(QUESTIONS) + 1))
    for name in ("head", "noise", "dropout", "halves"):
        assert found[name].outcome != "not asked", found[name].answer
        assert found[name].finding.interval is not None
    case = next(one for one in found["noise"].evidence if one.coordinates.get("changed") == "case")
    assert case.value == 1  # its tokenizer makes all letters small
    assert 0 <= found["head"].finding.value <= 1
    page = (audit.folder / "index.html").read_text(encoding="utf-8")
    assert "Does it stay when the model drops parts of itself?" in page


@pytest.mark.slow
def test_a_black_box_is_asked_whether_its_map_lies_on_words_of_a_class(tmp_path):
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
    from tiny_transformers import BAD, CLASSES, GOOD, make_corpus

    import heedful
    from heedful.models.black_box import BlackBox

    def predict(texts: list[str]) -> np.ndarray:
        counts = [sum((w in GOOD) - (w in BAD) for w in text.lower().strip(".").split()) for text in texts]
        return 1 / (1 + np.exp(-np.array(counts, dtype=float)))

    found = heedful.audit(
        BlackBox(predict, classes=CLASSES), make_corpus(300), out=tmp_path / "audit", limit=60
    )
    asked = {one.id: one for one in found.answers}
    assert asked["labels"].outcome == "yes"
    assert asked["labels"].finding.value > 0.8  # such words move it; some are in texts of both classes
    assert asked["noise"].outcome == "yes"
    assert asked["dropout"].outcome == asked["head"].outcome == "not asked"
